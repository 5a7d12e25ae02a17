/**
 * Nodes of one zone that wait for their NoExecute taint, one for each token.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, D, Queueing.
 */
import type { Clock } from '@gyropilot/foundation'

/** Holds one token at most. At rate 0 there never is one. */
class TokenBucket {
  readonly #clock: Clock
  readonly #perSecond: number
  #tokens: number
  #filledMs: number

  constructor(clock: Clock, perSecond: number, tokens: number) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#tokens = perSecond > 0 ? tokens : 0
    this.#filledMs = clock.monotonicMs()
  }

  get hasToken(): boolean {
    const nowMs = this.#clock.monotonicMs()
    // Rounded, so that ten tenths are one.
    const refilled = this.#tokens + ((nowMs - this.#filledMs) * this.#perSecond) / 1000
    this.#tokens = Math.min(1, Math.round(refilled * 1e9) / 1e9)
    this.#filledMs = nowMs
    return this.#tokens >= 1
  }

  take(): boolean {
    if (!this.hasToken) return false
    this.#tokens -= 1
    return true
  }
}

interface QueuedNode {
  readonly name: string
  notBeforeMs: number
}

export class ZoneQueue {
  readonly #clock: Clock
  #bucket: TokenBucket
  /** By name, who is next first: all nodes are added or removed in every pass. */
  #waiting = new Map<string, QueuedNode>()
  /** Waiting, or tainted and not forgotten since. */
  readonly #seen = new Set<string>()

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock
    this.#bucket = new TokenBucket(clock, perSecond, 1)
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Who waits already keeps its place. */
  add(name: string): void {
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    if (!this.#waiting.has(name))
      this.#waiting.set(name, { name, notBeforeMs: this.#clock.monotonicMs() })
  }

  /** The node may be added again although it was done. */
  forget(name: string): void {
    this.#seen.delete(name)
  }

  /** Tainted, and not forgotten since. */
  isDone(name: string): boolean {
    return this.#seen.has(name) && !this.#waiting.has(name)
  }

  remove(name: string): void {
    this.#seen.delete(name)
    this.#waiting.delete(name)
  }

  /** The next node, for a token; it stays in the queue until `done`. */
  take(): QueuedNode | undefined {
    const [head] = this.#waiting.values()
    if (head === undefined || !this.#bucket.take()) return undefined
    return head.notBeforeMs > this.#clock.monotonicMs() ? undefined : head
  }

  done(node: QueuedNode): void {
    if (this.#waiting.get(node.name) === node) this.#waiting.delete(node.name)
  }

  /** Behind those that may go earlier. */
  retry(node: QueuedNode, afterMs: number): void {
    node.notBeforeMs = this.#clock.monotonicMs() + afterMs
    const inOrder = [...this.#waiting].toSorted(([, a], [, b]) => a.notBeforeMs - b.notBeforeMs)
    this.#waiting = new Map(inOrder)
  }

  /** Who waited for a token still does. */
  setRate(perSecond: number): void {
    this.#bucket = new TokenBucket(this.#clock, perSecond, this.#bucket.hasToken ? 1 : 0)
  }
}
