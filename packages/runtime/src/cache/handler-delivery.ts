import type { KubernetesObject } from '@gyropilot/api'
import type { Clock, Logger } from '@gyropilot/foundation'
import { Deque, sleep } from '@gyropilot/foundation'
import type { DeletedFinalStateUnknown, EventHandler } from '../informer.ts'
import { Turn } from '../turn.ts'
import { Latch } from './latch.ts'

/** One object of these is shared by the buffers of all handlers. */
export type Notification<T extends KubernetesObject> =
  | { readonly kind: 'add'; readonly object: T; readonly isInInitialList: boolean }
  | { readonly kind: 'update'; readonly previous: T; readonly object: T }
  | { readonly kind: 'delete'; readonly object: T | DeletedFinalStateUnknown<T> }

export interface HandlerDeliveryOptions<T extends KubernetesObject> {
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

/**
 * Between an informer and one handler: an unbounded buffer, delivered one by one in order. A handler that returns a promise
 * is waited for. A slow handler costs memory and holds up nobody else; one that throws loses that notification and is
 * given the next after a second.
 */
export class HandlerDelivery<T extends KubernetesObject> {
  readonly synced = new Latch()
  readonly #options: HandlerDeliveryOptions<T>
  readonly #buffer = new Deque<Notification<T>>()
  readonly #stop = new AbortController()
  #delivering = false
  #initialAddsDue = 0

  constructor(options: HandlerDeliveryOptions<T>) {
    this.#options = options
  }

  notify(notification: Notification<T>): void {
    if (this.#stop.signal.aborted) return
    if (notification.kind === 'add' && notification.isInInitialList) this.#initialAddsDue++
    this.#buffer.pushBack(notification)
    if (this.#delivering) return
    this.#delivering = true
    queueMicrotask(() => void this.#deliver())
  }

  /** To be called when the informer has synced. */
  checkSynced(): void {
    if (this.#options.informerSynced.isOpen && this.#initialAddsDue === 0) this.synced.open()
  }

  /** What was not delivered is dropped. */
  stop(): void {
    this.#stop.abort()
    this.#buffer.clear()
  }

  async #deliver(): Promise<void> {
    const { logger, clock } = this.#options
    const turn = new Turn(clock)
    let delivered = 0
    for (let next = this.#buffer.popFront(); next !== undefined; next = this.#buffer.popFront()) {
      const startMs = this.#buffer.size > LONG_BUFFER ? clock.monotonicMs() : undefined
      try {
        const pending = this.#call(next) as unknown
        if (pending instanceof Promise) await pending
      } catch (error) {
        logger.error(error, 'An event handler failed; its notification is lost', {
          notification: next.kind,
        })
        await sleep(clock, PAUSE_AFTER_FAILURE_MS, this.#stop.signal).catch(() => {})
      }
      if (startMs !== undefined && clock.monotonicMs() - startMs > SLOW_CALL_MS) {
        logger.info('A slow event handler has a long buffer', { pending: this.#buffer.size })
      }
      if (next.kind === 'add' && next.isInInitialList) {
        this.#initialAddsDue--
        this.checkSynced()
      }
      if (++delivered % NOTIFICATIONS_PER_LOOK === 0) {
        const yielding = turn.yieldIfLong()
        if (yielding !== undefined) await yielding
      }
    }
    this.#delivering = false
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
