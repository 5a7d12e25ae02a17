import type { Clock, MetricsRegistry } from '@gyropilot/foundation'
import { PriorityQueue } from '../workqueue/priority-queue.ts'
import type { AddOptions, PrioritizedItem } from '../workqueue/priority-queue.ts'
import type { RateLimiter } from '../workqueue/rate-limiter.ts'
import { RateLimitingQueue } from '../workqueue/rate-limiting-queue.ts'
import { keyOfRequest } from './request.ts'
import type { Request } from './request.ts'

/** What handlers add requests to. */
export interface RequestQueue {
  add(request: Request, options?: AddOptions): void
}

/** What the loop of a controller needs of a queue of keys. */
export interface KeyQueue {
  readonly length: number
  addWithOptions(options: AddOptions, ...keys: readonly string[]): void
  get(): Promise<PrioritizedItem | undefined>
  done(key: string): void
  forget(key: string): void
  requeues(key: string): number
  shutDown(): void
}

interface KeyQueueOptions {
  readonly clock: Clock
  readonly name: string
  readonly metrics: MetricsRegistry
  readonly rateLimiter?: RateLimiter
}

/** With priorities by default: what changes now goes before the backlog of a start. */
export function keyQueue(usePriorities: boolean, options: KeyQueueOptions): KeyQueue {
  return usePriorities ? new PriorityQueue(options) : plainQueue(options)
}

/** First come, first served; priorities are not looked at. */
function plainQueue({ name, ...options }: KeyQueueOptions): KeyQueue {
  const queue = new RateLimitingQueue({ ...options, name, controller: name })
  return {
    get length() {
      return queue.length
    },
    addWithOptions({ afterMs = 0, rateLimited = false }, ...keys) {
      for (const key of keys) {
        if (rateLimited) queue.addRateLimited(key)
        else if (afterMs > 0) queue.addAfter(key, afterMs)
        else queue.add(key)
      }
    },
    async get() {
      const item = await queue.get()
      return item && { key: item.key, priority: 0 }
    },
    done: (key) => queue.done(key),
    forget: (key) => queue.forget(key),
    requeues: (key) => queue.requeues(key),
    shutDown: () => queue.shutDown(),
  }
}

/** `priority`: of adds that say none. */
export function requestQueue(keys: KeyQueue, priority: number): RequestQueue {
  return {
    add: (request, options) => keys.addWithOptions({ priority, ...options }, keyOfRequest(request)),
  }
}
