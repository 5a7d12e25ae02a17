/**
 * Requests do not stay: answered ones are read soon or never, others will not be answered any more.
 * Contract: docs/behaviour/controllers/resourcepoolstatusrequest-controller.md, Concurrency, retries, timing.
 */
import type { ResourcePoolStatusRequest } from '@gyropilot/api'
import { elapsedSince, findCondition } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { currentTimeMs, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { FINISHED_AGE_MS, PENDING_AGE_MS } from './config.ts'
import { POOL_STATUS_REQUESTS } from './pool-status-request.ts'

/** `onFailure` hears of deletions that failed; the next round tries again. */
export function* cleanUp(
  requests: () => readonly ResourcePoolStatusRequest[],
  onFailure: (request: ResourcePoolStatusRequest, error: unknown) => void,
): Reconcile<void> {
  const nowMs = yield* currentTimeMs()
  for (const request of requests()) {
    if (!isExpired(request, nowMs)) continue
    const { uid } = request.metadata ?? {}
    const outcome = yield* write(remove(POOL_STATUS_REQUESTS, request, { preconditions: { uid } }))
    if (!outcome.ok && !isNotFound(outcome.error)) onFailure(request, outcome.error)
  }
}

export function isExpired({ metadata, status }: ResourcePoolStatusRequest, nowMs: number): boolean {
  const created = metadata?.creationTimestamp
  if (status === undefined) return isOlder(created, PENDING_AGE_MS, nowMs)
  const finished =
    findCondition(status.conditions, 'Complete') ?? findCondition(status.conditions, 'Failed')
  const since = finished === undefined ? created : finished.lastTransitionTime
  return isOlder(since, FINISHED_AGE_MS, nowMs)
}

/** A time that is not known never comes to an end. */
function isOlder(time: string | undefined, ageMs: number, nowMs: number): boolean {
  const elapsedMs = elapsedSince(time, nowMs)
  return elapsedMs !== undefined && elapsedMs > ageMs
}
