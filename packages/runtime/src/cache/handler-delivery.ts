import type { KubernetesObject } from '@gyropilot/api'
import type { Clock, Logger } from '@gyropilot/foundation'
import { Fifo, sleep } from '@gyropilot/foundation'
import type { EventHandler } from '../informer.ts'
import { yieldIfLong } from '../turn.ts'
import { Latch } from './latch.ts'
import { isInitial } from './notifications.ts'
import type { Notification } from './notifications.ts'

interface HandlerDeliveryOptions<T extends KubernetesObject> {
  readonly handler: EventHandler<T>
  readonly clock: Clock
  readonly logger: Logger
  /** Open when the informer has taken in its first list. */
  readonly informerSynced: Latch
}

const PAUSE_AFTER_FAILURE_MS = 1_000
/** How often the time is looked at. */
const NOTIFICATIONS_PER_LOOK = 64
const LONG_BUFFER = 1_024
const SLOW_CALL_MS = 100
const NOW = Promise.resolve()
const NOTHING: readonly never[] = []

/**
 * Between an informer and one handler: an unbounded buffer, delivered one by one in order. A handler that returns a promise
 * is waited for. A slow handler costs memory and holds up nobody else; one that throws loses that notification and is
 * given the next after a second.
 */
export class HandlerDelivery<T extends KubernetesObject> {
  readonly synced = new Latch()
  readonly #options: HandlerDeliveryOptions<T>
  readonly #buffer = new Fifo<readonly Notification<T>[]>()
  /** What is delivered now, from #next on. */
  #batch: readonly Notification<T>[] = NOTHING
  #next = 0
  #pending = 0
  readonly #stop = new AbortController()
  #delivering = false
  #initialAddsDue = 0
  #delivered = 0

  constructor(options: HandlerDeliveryOptions<T>) {
    this.#options = options
  }

  /** The list must not be changed afterwards. */
  notify(notifications: readonly Notification<T>[]): void {
    if (this.#stop.signal.aborted || notifications.length === 0) return
    for (const notification of notifications) if (isInitial(notification)) this.#initialAddsDue++
    this.#buffer.push(notifications)
    this.#pending += notifications.length
    if (this.#delivering) return
    this.#delivering = true
    // queueMicrotask makes an object for each call, and there are as many calls as handlers and notifications.
    void NOW.then(this.#begin)
  }

  /** To be called when the informer has synced. */
  checkSynced(): void {
    if (this.#options.informerSynced.isOpen && this.#initialAddsDue === 0) this.synced.open()
  }

  /** What was not delivered is dropped. */
  stop(): void {
    this.#stop.abort()
    this.#buffer.clear()
    this.#batch = NOTHING
    this.#next = this.#pending = 0
  }

  /** Most deliveries are of one notification to a handler that makes no promise: they are over without one. */
  readonly #begin = (): void => {
    this.#delivered = 0
    const wait = this.#deliver()
    if (wait !== undefined) void this.#goOnAfter(wait)
  }

  async #goOnAfter(wait: Promise<void>): Promise<void> {
    for (let next: Promise<void> | undefined = wait; next !== undefined; next = this.#deliver())
      await next
  }

  /** Until the buffer is empty, or until something is to be waited for: that is answered. */
  #deliver(): Promise<void> | undefined {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const startMs = this.#pending > LONG_BUFFER ? this.#options.clock.monotonicMs() : undefined
      let pending: unknown
      try {
        pending = this.#call(next)
      } catch (error) {
        pending = Promise.reject(error)
      }
      if (pending instanceof Promise) return this.#waitFor(pending, next, startMs)
      this.#ended(next, startMs)
      const yielding = this.#yieldIfLong()
      if (yielding !== undefined) return yielding
    }
    this.#delivering = false
    return undefined
  }

  #take(): Notification<T> | undefined {
    if (this.#next === this.#batch.length) {
      // Nothing that was delivered is held on to.
      this.#batch = this.#buffer.shift() ?? NOTHING
      this.#next = 0
      if (this.#batch.length === 0) return undefined
    }
    this.#pending--
    return this.#batch[this.#next++]
  }

  async #waitFor(
    pending: Promise<unknown>,
    notification: Notification<T>,
    startMs: number | undefined,
  ): Promise<void> {
    const { logger, clock } = this.#options
    try {
      await pending
    } catch (error) {
      logger.error(error, 'An event handler failed; its notification is lost', {
        notification: notification.kind,
      })
      await sleep(clock, PAUSE_AFTER_FAILURE_MS, this.#stop.signal).catch(() => {})
    }
    this.#ended(notification, startMs)
    await this.#yieldIfLong()
  }

  #ended(notification: Notification<T>, startMs: number | undefined): void {
    const { logger, clock } = this.#options
    if (startMs !== undefined && clock.monotonicMs() - startMs > SLOW_CALL_MS) {
      logger.info('A slow event handler has a long buffer', { pending: this.#pending })
    }
    if (!isInitial(notification)) return
    this.#initialAddsDue--
    this.checkSynced()
  }

  #yieldIfLong(): Promise<void> | undefined {
    if (++this.#delivered % NOTIFICATIONS_PER_LOOK !== 0) return undefined
    return yieldIfLong(this.#options.clock)
  }

  #call(notification: Notification<T>): void {
    const { handler } = this.#options
    switch (notification.kind) {
      case 'add':
        return handler.onAdd?.(notification.object, notification.isInInitialList)
      case 'update':
        return handler.onUpdate?.(notification.previous, notification.object)
      case 'delete':
        return handler.onDelete?.(notification.object)
    }
  }
}
