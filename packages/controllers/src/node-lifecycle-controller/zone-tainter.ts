/**
 * Puts NoExecute taints on nodes, zone by zone, as fast as the state of each zone allows.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, D, Zone tainter.
 */
import type { Node } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { sleep } from '@gyropilot/foundation'
import type { Reconcile } from '@gyropilot/runtime'
import { NOT_READY, UNREACHABLE, hasTaint } from './condition-taints.ts'
import { NO_CONDITION_PAUSE_MS, TAINTING_PERIOD_MS } from './config.ts'
import { readyOf } from './heartbeat.ts'
import { swapTaints } from './node-writes.ts'
import { ZoneQueue } from './zone-queue.ts'

interface ZoneTainterOptions {
  readonly clock: Clock
  /** Taints per second of a zone that is new. */
  readonly perSecond: number
  nodeNamed(name: string): Node | undefined
  /** Answers what the rules answer. */
  perform<R>(rules: Reconcile<R>): Promise<R>
  onTainted(zone: string): void
}

/** What is left in the cluster of a node's state: the taint that says it, and the one that does not. */
export function noExecuteTaintOf(
  status: string | undefined,
): { readonly add: string; readonly remove: string } | undefined {
  if (status === 'False') return { add: NOT_READY, remove: UNREACHABLE }
  if (status === 'Unknown') return { add: UNREACHABLE, remove: NOT_READY }
  return undefined
}

export class ZoneTainter {
  readonly #options: ZoneTainterOptions
  readonly #queues = new Map<string, ZoneQueue>()
  #passing: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(options: ZoneTainterOptions) {
    this.#options = options
  }

  /** Whether it is new. */
  addZone(zone: string): boolean {
    if (this.#queues.has(zone)) return false
    this.#queues.set(zone, new ZoneQueue(this.#options.clock, this.#options.perSecond))
    return true
  }

  setRate(zone: string, perSecond: number): void {
    this.#queues.get(zone)?.setRate(perSecond)
  }

  /** The node needs this taint; where it had it and has not any more, it gets it anew. */
  queue(zone: string, node: Node, key: string): void {
    const name = node.metadata?.name ?? ''
    const queue = this.#queues.get(zone)
    if (!hasTaint(node, key, 'NoExecute')) queue?.forget(name)
    queue?.add(name)
    if (queue?.isEmpty === false) this.#wake?.()
  }

  remove(zone: string, nodeName: string): void {
    this.#queues.get(zone)?.remove(nodeName)
  }

  /** Looks every 100 ms, and not at all while nobody waits. Ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#isIdle) await this.#work(signal)
      await sleep(this.#options.clock, TAINTING_PERIOD_MS, signal)
      this.#passing = this.pass()
      await this.#passing
    }
  }

  /** No taint is on its way. */
  async settled(): Promise<void> {
    await this.#passing?.catch(() => {})
  }

  /** Also where the cache does not show the taint yet. */
  hasTainted(zone: string, nodeName: string): boolean {
    return this.#queues.get(zone)?.isDone(nodeName) === true
  }

  get #isIdle(): boolean {
    return [...this.#queues.values()].every((queue) => queue.isEmpty)
  }

  async #work(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      this.#wake = () => {
        signal.removeEventListener('abort', stop)
        resolve()
      }
    })
    this.#wake = undefined
  }

  async pass(): Promise<void> {
    for (const [zone, queue] of this.#queues) {
      for (let next = queue.take(); next !== undefined; next = queue.take()) {
        const retryAfterMs = await this.#taint(zone, next.name)
        if (retryAfterMs === undefined) queue.done(next)
        else queue.retry(next, retryAfterMs)
      }
    }
  }

  /** After how many ms to try again; undefined: it is done. */
  async #taint(zone: string, nodeName: string): Promise<number | undefined> {
    const { nodeNamed, perform, onTainted } = this.#options
    const node = nodeNamed(nodeName)
    if (node === undefined) return undefined
    const ready = readyOf(node)
    if (ready === undefined) return NO_CONDITION_PAUSE_MS
    const taint = noExecuteTaintOf(ready.status)
    if (taint === undefined) return undefined
    const error = await perform(swapTaints(node, 'NoExecute', [taint.add], [taint.remove]))
    if (error !== undefined) return 0
    onTainted(zone)
    return undefined
  }
}
