import type { Clock, MetricsRegistry } from '@gyropilot/foundation'
import { Fifo } from '@gyropilot/foundation'
import { sequenceMetrics } from '@gyropilot/runtime'
import type { SequenceMetrics } from '@gyropilot/runtime'

interface EventQueueOptions {
  readonly clock: Clock
  readonly metrics: MetricsRegistry
  /** The `name` label of its metrics. */
  readonly name: string
}

/** Handed to the worker, and given back by `done`. */
interface QueuedEvent<Event> {
  /** Workers name what they give back; here there is only one. */
  readonly key: ''
  readonly event: Event
}

interface Waiting<Event> extends QueuedEvent<Event> {
  readonly addedAtMs: number
}

/**
 * Events in their order, for one worker: none may be merged with another or overtake it. A work queue would ask of each whether it
 * is there already, and a start brings one for every object of the cluster.
 */
export class EventQueue<Event> {
  readonly #waiting = new Fifo<Waiting<Event>>()
  readonly #metrics: SequenceMetrics
  #wake: (() => void) | undefined
  #shuttingDown = false

  constructor({ clock, metrics, name }: EventQueueOptions) {
    this.#metrics = sequenceMetrics(metrics, name, clock)
  }

  get length(): number {
    return this.#waiting.size
  }

  /** After the end none comes in. */
  add(event: Event): void {
    if (this.#shuttingDown) return
    this.#waiting.push({ key: '', event, addedAtMs: this.#metrics.added() })
    this.#wake?.()
  }

  /** The next one, once the one before it is done. Undefined: shut down and empty. */
  async get(): Promise<QueuedEvent<Event> | undefined> {
    while (this.#waiting.size === 0) {
      if (this.#shuttingDown) return undefined
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const next = this.#waiting.shift()!
    this.#metrics.taken(next.addedAtMs)
    return next
  }

  done(): void {
    this.#metrics.done()
  }

  /** What waits is still handed out. */
  shutDown(): void {
    if (this.#shuttingDown) return
    this.#shuttingDown = true
    this.#metrics.stop()
    this.#wake?.()
  }
}
