import type { Clock, MetricsRegistry, Timer } from '@gyropilot/foundation'
import { EntryHeap } from './entry-heap.ts'
import { noQueueMetrics, queueMetrics } from './queue-metrics.ts'
import type { QueueMetrics } from './queue-metrics.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { ExponentialRateLimiter } from './rate-limiters.ts'

/** Only the clock is needed. */
export interface PriorityQueueOptions {
  readonly clock: Clock
  /** The `name` and `controller` labels of its metrics. A queue without a name has none. */
  readonly name?: string
  readonly metrics?: MetricsRegistry
  /** Default: 5 ms..1000 s per key, without a bucket over all. */
  readonly rateLimiter?: RateLimiter
}

/** When and before whom a key is handed out. */
export interface AddOptions {
  /** Not handed out before. Default 0. */
  readonly afterMs?: number
  /** Wait as long as the rate limiter says; with `afterMs` too the shorter of both. */
  readonly rateLimited?: boolean
  /** Higher goes first. Default 0. */
  readonly priority?: number
}

/** A key handed out, with the priority it had. */
export interface PrioritizedItem {
  readonly key: string
  readonly priority: number
}

/** Replaced, never changed: see EntryHeap. */
interface Entry {
  readonly key: string
  readonly priority: number
  readonly sequence: number
  /** Undefined: ready. */
  readonly readyMs: number | undefined
}

/**
 * Hands out the key of the highest priority, the oldest first among equals. A key is in it once, with the highest priority
 * and the shortest delay that it was added with; a raised one stands behind those that had that priority before. Added
 * while a worker has it, it is handed out again after `done`.
 * Contract: docs/behaviour/runtime/workqueue.md, Priority queue.
 */
export class PriorityQueue {
  readonly #clock: Clock
  readonly #rateLimiter: RateLimiter
  readonly #metrics: QueueMetrics
  readonly #entries = new Map<string, Entry>()
  readonly #ready = new EntryHeap<Entry>({
    current: this.#entries,
    compare: (a, b) => b.priority - a.priority || a.sequence - b.sequence,
  })
  /** Those of one moment are released together, and then stand in the order of `#ready`. */
  readonly #delayed = new EntryHeap<Entry>({
    current: this.#entries,
    compare: (a, b) => (a.readyMs ?? 0) - (b.readyMs ?? 0),
  })
  readonly #processing = new Set<string>()
  readonly #waiters: (() => void)[] = []
  #readyCount = 0
  #sequence = 0
  #timer: Timer | undefined
  #timerDueMs = Infinity
  #shuttingDown = false

  constructor({ clock, name, metrics, rateLimiter }: PriorityQueueOptions) {
    this.#clock = clock
    this.#rateLimiter = rateLimiter ?? new ExponentialRateLimiter(5, 1000_000)
    this.#metrics =
      name === undefined || metrics === undefined
        ? noQueueMetrics
        : queueMetrics(metrics, name, clock, name)
    this.#metrics.mayRetry()
  }

  /** Keys that are ready; those that wait for their time or are only at a worker do not count. */
  get length(): number {
    return this.#readyCount
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown
  }

  add(key: string): void {
    this.addWithOptions({}, key)
  }

  addAfter(key: string, afterMs: number): void {
    this.addWithOptions({ afterMs }, key)
  }

  addRateLimited(key: string): void {
    this.addWithOptions({ rateLimited: true }, key)
  }

  addWithOptions(options: AddOptions, ...keys: readonly string[]): void {
    if (this.#shuttingDown) return
    for (const key of keys) this.#add(key, options.priority ?? 0, this.#delayMs(key, options))
  }

  /** Waits for a key. Undefined: shut down. Every key must be given back with `done`, exactly once. */
  async get(): Promise<PrioritizedItem | undefined> {
    while (!this.#shuttingDown) {
      const item = this.take()
      if (item !== undefined) return item
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
    return undefined
  }

  /** The next key, or undefined when none is ready now. */
  take(): PrioritizedItem | undefined {
    const entry = this.#ready.pop()
    if (entry === undefined) return undefined
    const { key, priority } = entry
    this.#entries.delete(key)
    this.#readyCount--
    this.#processing.add(key)
    this.#metrics.taken(key, priority)
    return { key, priority }
  }

  done(key: string): void {
    this.#metrics.done(key)
    this.#processing.delete(key)
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.readyMs === undefined) this.#offer(entry)
  }

  forget(key: string): void {
    this.#rateLimiter.forget(key)
  }

  requeues(key: string): number {
    return this.#rateLimiter.requeues(key)
  }

  /** Nothing is handed out any more, also of what is ready. Does not wait for workers. */
  shutDown(): void {
    if (this.#shuttingDown) return
    this.#shuttingDown = true
    this.#timer?.cancel()
    this.#metrics.stop()
    for (const wake of this.#waiters.splice(0)) wake()
  }

  /** The same as `shutDown`. */
  async shutDownWithDrain(): Promise<void> {
    this.shutDown()
  }

  #delayMs(key: string, { afterMs = 0, rateLimited }: AddOptions): number {
    if (!rateLimited) return Math.max(0, afterMs)
    const limitedMs = this.#rateLimiter.whenMs(key)
    return afterMs > 0 ? Math.min(afterMs, limitedMs) : limitedMs
  }

  #add(key: string, priority: number, delayMs: number): void {
    if (delayMs > 0) this.#metrics.retried()
    const readyMs = delayMs > 0 ? this.#clock.monotonicMs() + delayMs : undefined
    const known = this.#entries.get(key)
    if (known === undefined) {
      this.#put({ key, priority, sequence: this.#sequence++, readyMs }, undefined)
      return
    }
    const raised = priority > known.priority
    const sooner = known.readyMs !== undefined && (readyMs ?? -Infinity) < known.readyMs
    if (!raised && !sooner) return
    if (raised && known.readyMs === undefined) this.#metrics.moved(known.priority, priority)
    const entry: Entry = {
      key,
      priority: raised ? priority : known.priority,
      sequence: raised ? this.#sequence++ : known.sequence,
      readyMs: sooner ? readyMs : known.readyMs,
    }
    this.#put(entry, known)
  }

  #put(entry: Entry, replaced: Entry | undefined): void {
    this.#entries.set(entry.key, entry)
    if (entry.readyMs !== undefined) {
      this.#delayed.push(entry)
      this.#arm()
      return
    }
    if (replaced === undefined || replaced.readyMs !== undefined) {
      this.#readyCount++
      this.#metrics.added(entry.key, entry.priority)
    }
    if (!this.#processing.has(entry.key)) this.#offer(entry)
  }

  #offer(entry: Entry): void {
    this.#ready.push(entry)
    this.#waiters.shift()?.()
  }

  #arm(): void {
    const next = this.#delayed.peek()
    if (next?.readyMs === undefined || next.readyMs >= this.#timerDueMs) return
    this.#timer?.cancel()
    this.#timerDueMs = next.readyMs
    this.#timer = this.#clock.after(next.readyMs - this.#clock.monotonicMs(), () => this.#release())
  }

  #release(): void {
    this.#timerDueMs = Infinity
    const nowMs = this.#clock.monotonicMs()
    for (let next = this.#delayed.peek(); next !== undefined && (next.readyMs ?? 0) <= nowMs;) {
      this.#delayed.pop()
      this.#put({ ...next, readyMs: undefined }, next)
      next = this.#delayed.peek()
    }
    this.#arm()
  }
}
