import type { Timer } from '@gyropilot/foundation'
import { EntryHeap } from './entry-heap.ts'
import { WorkQueue } from './queue.ts'
import type { Reason } from './reasons.ts'

interface WaitingKey {
  readonly key: string
  readonly readyMs: number
  readonly sequence: number
  readonly reason: Reason | undefined
}

/**
 * A queue that can be told to add a key later. Waiting keys are apart from the queue: an add in the meantime neither
 * cancels nor is cancelled by a waiting one, and shutting down forgets them.
 * Contract: docs/behaviour/runtime/workqueue.md, Delaying queue.
 */
export class DelayingQueue extends WorkQueue {
  readonly #waiting = new Map<string, WaitingKey>()
  readonly #byReadyTime = new EntryHeap<WaitingKey>({
    current: this.#waiting,
    compare: (a, b) => a.readyMs - b.readyMs || a.sequence - b.sequence,
  })
  #sequence = 0
  #timer: Timer | undefined
  #timerDueMs = Infinity

  protected override get takesForLater(): boolean {
    return true
  }

  /** Adds the key after `delayMs`; of two delays of a waiting key the one that ends earlier counts. */
  addAfter(key: string, delayMs: number, reason?: Reason): void {
    if (this.shuttingDown) return
    this.queueMetrics.retried()
    // NaN too: among the waiting keys it would stand before all others for ever.
    if (!(delayMs > 0)) {
      this.add(key, reason)
      return
    }
    const readyMs = this.clock.monotonicMs() + delayMs
    const known = this.#waiting.get(key)
    if (known !== undefined && known.readyMs <= readyMs) return
    const entry: WaitingKey = { key, readyMs, sequence: this.#sequence++, reason }
    this.#waiting.set(key, entry)
    this.#byReadyTime.push(entry)
    this.#arm()
  }

  override shutDown(): void {
    this.#timer?.cancel()
    super.shutDown()
  }

  override shutDownWithDrain(): Promise<void> {
    this.#timer?.cancel()
    return super.shutDownWithDrain()
  }

  #addDue(): void {
    this.#timerDueMs = Infinity
    const nowMs = this.clock.monotonicMs()
    for (let next = this.#byReadyTime.peek(); next !== undefined && next.readyMs <= nowMs;) {
      this.#byReadyTime.pop()
      this.#waiting.delete(next.key)
      this.add(next.key, next.reason)
      next = this.#byReadyTime.peek()
    }
    this.#arm()
  }

  #arm(): void {
    const next = this.#byReadyTime.peek()
    if (next === undefined || next.readyMs >= this.#timerDueMs) return
    this.#timer?.cancel()
    this.#timerDueMs = next.readyMs
    this.#timer = this.clock.after(next.readyMs - this.clock.monotonicMs(), () => this.#addDue())
  }
}
