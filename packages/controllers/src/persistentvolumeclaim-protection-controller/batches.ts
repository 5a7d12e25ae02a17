import { compareStrings } from '@gyropilot/foundation'
import { ExponentialRateLimiter } from '@gyropilot/runtime'
import { RETRY_MAX_MS, RETRY_MIN_MS } from './config.ts'

/**
 * Claims that wait to be looked at, by namespace, each from a time of its own on: what fails with one claim must not hold up its
 * neighbours. Those that are due are looked at together.
 */
export class Batches {
  /** In milliseconds that passed. */
  readonly #elapsedMs: () => number
  /** By namespace and name: from when on. */
  readonly #dueMs = new Map<string, Map<string, number>>()
  readonly #backOff = new ExponentialRateLimiter(RETRY_MIN_MS, RETRY_MAX_MS)

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /** At once: something has happened. */
  add(namespace: string, name: string): void {
    this.#wait(namespace, name, 0)
  }

  /** The names that are due. They wait on until they are begun with. */
  due(namespace: string): readonly string[] {
    const nowMs = this.#elapsedMs()
    return [...(this.#dueMs.get(namespace) ?? [])]
      .filter(([, dueMs]) => dueMs <= nowMs)
      .map(([name]) => name)
      .sort(compareStrings)
  }

  /** What happens from here on is news. */
  begin(namespace: string, name: string): void {
    const names = this.#dueMs.get(namespace)
    names?.delete(name)
    if (names?.size === 0) this.#dueMs.delete(namespace)
  }

  /** Nothing is left to do but for what has happened meanwhile. */
  succeeded(namespace: string, name: string): void {
    this.#backOff.forget(`${namespace}/${name}`)
  }

  again(namespace: string, name: string, afterMs: number): void {
    this.succeeded(namespace, name)
    this.#wait(namespace, name, this.#elapsedMs() + afterMs)
  }

  failed(namespace: string, name: string): void {
    const afterMs = this.#backOff.whenMs(`${namespace}/${name}`)
    this.#wait(namespace, name, this.#elapsedMs() + afterMs)
  }

  /** Until the next claim of the namespace is due; undefined: none waits. */
  nextInMs(namespace: string): number | undefined {
    const times = [...(this.#dueMs.get(namespace)?.values() ?? [])]
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#elapsedMs())
  }

  #wait(namespace: string, name: string, fromMs: number): void {
    const names = this.#dueMs.get(namespace) ?? new Map<string, number>()
    names.set(name, Math.min(fromMs, names.get(name) ?? fromMs))
    this.#dueMs.set(namespace, names)
  }
}
