/** Contract: docs/behaviour/runtime/custom-controllers.md, Builder. */
import { controllerErrors } from './errors.ts'
import type { ControllerOptions } from './reconcile-loop.ts'

const DEFAULT_CACHE_SYNC_TIMEOUT_MS = 2 * 60_000

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
