/**
 * One sync of a request. Step numbers are those of
 * docs/behaviour/controllers/resourcepoolstatusrequest-controller.md.
 */
import type {
  ResourceClaim,
  ResourcePoolStatusRequest,
  ResourcePoolStatusRequestStatus,
  ResourceSlice,
} from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, elapsedTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { calculatePools } from './pool-status.ts'
import type { CalculatedPools } from './pool-status.ts'
import { POOL_STATUS_REQUESTS } from './pool-status-request.ts'

export interface ObservedRequest {
  readonly request: ResourcePoolStatusRequest
  slices(): readonly ResourceSlice[]
  claims(): readonly ResourceClaim[]
}

/** Hears of every write that was tried. */
export type OnAnswered = (driver: string, failed: boolean, tookMs: number) => void

export function* reconcile(
  { request, slices, claims }: ObservedRequest,
  onAnswered: OnAnswered,
): Reconcile {
  // 1. An answer is given once.
  if (request.status !== undefined) return
  const startMs = yield* elapsedTimeMs()
  // 2 to 6.
  const calculated = calculatePools(request, slices(), claims())
  // 7. A driver that is at work on its slices will be done soon.
  if (calculated.pools.some(({ validationError }) => validationError !== undefined))
    return { error: new Error('incomplete pools detected, requeueing') }
  // 8.
  const status = completed(calculated, formatTime(yield* currentTimeMs()))
  const outcome = yield* write(updateStatus(POOL_STATUS_REQUESTS, { ...request, status }))
  onAnswered(request.spec?.driver ?? '', !outcome.ok, (yield* elapsedTimeMs()) - startMs)
  return outcome.ok ? undefined : { error: outcome.error }
}

function completed(
  { poolCount, pools }: CalculatedPools,
  nowText: string,
): ResourcePoolStatusRequestStatus {
  return {
    poolCount,
    ...(pools.length > 0 ? { pools } : {}),
    conditions: [
      {
        type: 'Complete',
        status: 'True',
        lastTransitionTime: nowText,
        reason: 'CalculationComplete',
        message: `Calculated status for ${pools.length} pools`,
      },
    ],
  }
}
