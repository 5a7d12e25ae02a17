import type { LabelQuery, Pod } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { NO_HISTORY } from './scaling-history.ts'
import type { ScalingHistory } from './scaling-history.ts'

/** How long the version of the custom metrics API is believed. */
interface KnownVersion {
  readonly version: string
  readonly untilMs: number
}

/** What the controller remembers of all autoscalers, by key. It is lost with the process, as upstream. */
export class AutoscalerMemory {
  readonly #selectors = new Map<string, LabelQuery | undefined>()
  readonly #histories = new Map<string, ScalingHistory>()
  readonly #desired = new Map<string, number>()
  #customMetrics: KnownVersion | undefined

  /** Autoscalers that were seen and not deleted. */
  get count(): number {
    return this.#selectors.size
  }

  /** Until its selector is known, it selects nothing. */
  register(key: string): void {
    if (!this.#selectors.has(key)) this.#selectors.set(key, undefined)
  }

  unregister(key: string): void {
    this.#selectors.delete(key)
    this.#desired.delete(key)
  }

  /** Of those that were seen and not deleted: a sync may end later than its autoscaler. */
  decided(key: string, replicas: number): void {
    if (this.#selectors.has(key)) this.#desired.set(key, replicas)
  }

  /** The last decision of each, by key. */
  get desired(): ReadonlyMap<string, number> {
    return this.#desired
  }

  /** The same: the selector of one that is gone would make every other of these pods ambiguous until the process ends. */
  select(key: string, query: LabelQuery): void {
    if (this.#selectors.has(key)) this.#selectors.set(key, query)
  }

  /** Keys of autoscalers of the namespace that select one of these pods, in order. */
  selecting(namespace: string, pods: readonly Pod[]): readonly string[] {
    const found: string[] = []
    for (const [key, query] of this.#selectors) {
      if (query === undefined || !key.startsWith(`${namespace}/`)) continue
      if (pods.some(({ metadata }) => query.matches(metadata?.labels))) found.push(key)
    }
    return found.sort(compareStrings)
  }

  historyOf(key: string): ScalingHistory {
    return this.#histories.get(key) ?? NO_HISTORY
  }

  remember(key: string, history: ScalingHistory): void {
    this.#histories.set(key, history)
  }

  /** Its key found it gone. */
  forget(key: string): void {
    this.#histories.delete(key)
  }

  customMetricsVersion(elapsedMs: number): string | undefined {
    const known = this.#customMetrics
    return known !== undefined && elapsedMs < known.untilMs ? known.version : undefined
  }

  rememberCustomMetricsVersion(version: string, untilMs: number): void {
    this.#customMetrics = { version, untilMs }
  }
}
