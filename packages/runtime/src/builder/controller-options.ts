/** Contract: docs/behaviour/runtime/custom-controllers.md, Builder. */
import type { RateLimiter } from '../workqueue/rate-limiter.ts'
import { controllerErrors } from './errors.ts'

const DEFAULT_CACHE_SYNC_TIMEOUT_MS = 2 * 60_000

/** How a controller runs; controller-runtime's names and defaults. */
export interface ControllerOptions {
  /** Keys that are worked on at one time, each by one worker. Default, also in place of 0 and less: 1. Else than a whole number: CONTROLLER_INVALID. */
  readonly maxConcurrentReconciles?: number
  /** Default: 5 ms..1000 s per key; with the plain queue also 10 keys a second, 100 at once, over all. */
  readonly rateLimiter?: RateLimiter
  /** Default true. False: first come, first served. */
  readonly usePriorityQueue?: boolean
  /** Default true: a panic is an error and retried. False: it ends the manager. */
  readonly recoverPanic?: boolean
  /** Default true: runs on the leader only. */
  readonly needLeaderElection?: boolean
  /** Default, also in place of 0: 2 min; then the start fails. */
  readonly cacheSyncTimeoutMs?: number
  /** Aborts the signal of a reconcile that takes longer. Default, also in place of 0: none. */
  readonly reconciliationTimeoutMs?: number
  /** Fill caches and the queue before leadership, for a faster takeover. Default false. */
  readonly enableWarmup?: boolean
  /** Several controllers of one name share their metrics. Default false: the second one is refused. */
  readonly skipNameValidation?: boolean
}

export interface LoopLimits {
  readonly workerCount: number
  readonly cacheSyncTimeoutMs: number
  /** Undefined: none. */
  readonly reconciliationTimeoutMs: number | undefined
}

/**
 * What the options come to. A zero is one that nobody set, as in Go; what is no number comes of a computation that went
 * wrong, and would make a controller that never works and does not say so.
 */
export function limitsOf(options: ControllerOptions): LoopLimits {
  const {
    maxConcurrentReconciles = 1,
    cacheSyncTimeoutMs = 0,
    reconciliationTimeoutMs = 0,
  } = options
  if (!Number.isInteger(maxConcurrentReconciles))
    refuse(`maxConcurrentReconciles must be a whole number, not ${maxConcurrentReconciles}`)
  for (const [name, timeoutMs] of Object.entries({ cacheSyncTimeoutMs, reconciliationTimeoutMs }))
    if (Number.isNaN(timeoutMs)) refuse(`${name} must be a number, not ${timeoutMs}`)
  return {
    workerCount: Math.max(maxConcurrentReconciles, 1),
    cacheSyncTimeoutMs: cacheSyncTimeoutMs || DEFAULT_CACHE_SYNC_TIMEOUT_MS,
    reconciliationTimeoutMs: reconciliationTimeoutMs > 0 ? reconciliationTimeoutMs : undefined,
  }
}

function refuse(message: string): never {
  throw controllerErrors.make('CONTROLLER_INVALID', message)
}
