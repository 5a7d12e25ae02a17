import type { Clock, MetricsRegistry } from '@gyropilot/foundation'
import { Fifo } from '@gyropilot/foundation'
import { noQueueMetrics, queueMetrics } from './queue-metrics.ts'
import type { QueueMetrics } from './queue-metrics.ts'
import { NO_REASONS, withReason } from './reasons.ts'
import type { Reason } from './reasons.ts'

/** Only the clock is needed. */
export interface WorkQueueOptions {
  readonly clock: Clock
  /** The `name` label of its metrics. A queue without a name has none. */
  readonly name?: string
  readonly metrics?: MetricsRegistry
  /** The `controller` label: metrics then have controller-runtime's form (labels name and controller, depth by priority). */
  readonly controller?: string
  /** Default: first come, first served. */
  readonly order?: QueueOrder
}

/** The order in which keys are handed out. `push` is called only for keys that are not in it. */
export interface QueueOrder {
  readonly length: number
  push(key: string): void
  /** The next key, which leaves. */
  pop(): string | undefined
  /** A key was added that waits already: an order that counts adds may move it. */
  touch(key: string): void
}

/** A key handed to a worker, and why it was queued. */
export interface QueueItem {
  readonly key: string
  readonly reasons: readonly Reason[]
}

/**
 * Hands keys to workers: each key is queued at most once and is never at two workers at a time. A key that is added while
 * a worker has it is handed out again after `done`.
 * Contract: docs/behaviour/runtime/workqueue.md, Queue.
 */
export class WorkQueue {
  protected readonly clock: Clock
  protected readonly queueMetrics: QueueMetrics
  readonly #order: QueueOrder
  /** Keys that need work, queued or not. */
  readonly #dirty = new Map<string, readonly Reason[]>()
  readonly #processing = new Set<string>()
  readonly #waiters: (() => void)[] = []
  readonly #drainWaiters: (() => void)[] = []
  #shuttingDown = false

  constructor(options: WorkQueueOptions) {
    const { clock, name, metrics, controller } = options
    this.clock = clock
    this.#order = options.order ?? firstComeFirstServed()
    this.queueMetrics =
      name === undefined || metrics === undefined
        ? noQueueMetrics
        : queueMetrics(metrics, name, clock, controller)
    if (this.takesForLater) this.queueMetrics.mayRetry()
  }

  /** Whether keys can be added that are not due yet. */
  protected get takesForLater(): boolean {
    return false
  }

  /** Keys that wait for a worker: neither those at one, nor delayed ones. */
  get length(): number {
    return this.#order.length
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown
  }

  add(key: string, reason?: Reason): void {
    if (this.#shuttingDown) return
    const known = this.#dirty.get(key)
    this.#dirty.set(key, withReason(known ?? NO_REASONS, reason))
    if (known !== undefined) {
      if (!this.#processing.has(key)) this.#order.touch(key)
      return
    }
    this.queueMetrics.added(key)
    if (!this.#processing.has(key)) this.#enqueue(key)
  }

  /** Waits for a key. Undefined: shut down and empty. Every key must be given back with `done`, exactly once. */
  async get(): Promise<QueueItem | undefined> {
    while (this.#order.length === 0) {
      if (this.#shuttingDown) return undefined
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
    return this.take()
  }

  /** The next key, or undefined when none is waiting now. */
  take(): QueueItem | undefined {
    const key = this.#order.pop()
    if (key === undefined) return undefined
    const reasons = this.#dirty.get(key) ?? NO_REASONS
    this.#processing.add(key)
    this.#dirty.delete(key)
    this.queueMetrics.taken(key)
    return { key, reasons }
  }

  done(key: string): void {
    this.queueMetrics.done(key)
    this.#processing.delete(key)
    if (this.#dirty.has(key)) this.#enqueue(key)
    else if (this.#processing.size === 0) this.#endDrain()
  }

  /** Adds are ignored from now on; keys already queued are still handed out. Does not wait for workers. */
  shutDown(): void {
    this.#beginShutdown()
    this.#endDrain()
  }

  /** As `shutDown`, then waits until no worker has a key. A later `shutDown` ends the wait. */
  async shutDownWithDrain(): Promise<void> {
    this.#beginShutdown()
    if (this.#processing.size > 0)
      await new Promise<void>((resolve) => this.#drainWaiters.push(resolve))
  }

  #beginShutdown(): void {
    this.#shuttingDown = true
    this.queueMetrics.stop()
    for (const wake of this.#waiters.splice(0)) wake()
  }

  #endDrain(): void {
    for (const wake of this.#drainWaiters.splice(0)) wake()
  }

  #enqueue(key: string): void {
    this.#order.push(key)
    // The worker takes the key in its own turn: adds of the same key until then are still one run.
    this.#waiters.shift()?.()
  }
}

function firstComeFirstServed(): QueueOrder {
  const keys = new Fifo<string>()
  return {
    get length() {
      return keys.size
    },
    push: (key) => keys.push(key),
    pop: () => keys.shift(),
    touch() {},
  }
}
