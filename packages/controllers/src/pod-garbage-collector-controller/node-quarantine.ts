/**
 * Nodes that pods name and the cache does not have wait here before the server is asked for them: a
 * cache may be late, and what is deleted without grace does not come back.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md, Sync, step 3.
 */
import type { Clock, MetricsRegistry } from '@gyropilot/foundation'
import { DelayingQueue } from '@gyropilot/runtime'
import { QUARANTINE_MS, QUARANTINE_QUEUE } from './config.ts'

export class NodeQuarantine {
  readonly #queue: DelayingQueue

  constructor(clock: Clock, metrics: MetricsRegistry) {
    this.#queue = new DelayingQueue({ clock, metrics, name: QUARANTINE_QUEUE })
  }

  /** A name that waits already keeps its earlier time. */
  enter(nodeName: string): void {
    this.#queue.addAfter(nodeName, QUARANTINE_MS)
  }

  /** Names whose time is over; each is handed out once. */
  *leave(): Iterable<string> {
    for (let item = this.#queue.take(); item !== undefined; item = this.#queue.take()) {
      yield item.key
      this.#queue.done(item.key)
    }
  }

  shutDown(): void {
    this.#queue.shutDown()
  }
}
