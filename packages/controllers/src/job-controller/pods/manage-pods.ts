/**
 * Brings the active pods of a Job to what is wanted now: removes, or else creates.
 * Contract: docs/behaviour/controllers/job-controller.md, Pod management.
 */
import type { Job, Pod } from '@gyropilot/api'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { createPods, isNamespaceTerminating } from '../../workload-support/pod-control.ts'
import { BATCH_PERIOD_MS, MAX_PODS_PER_SYNC } from '../config.ts'
import type { IndexCounts, PodCounts } from './count-pods.ts'
import { hasBackoffPerIndex, isSuspended } from '../job-state.ts'
import type { CreationReason, SyncAction } from '../metrics.ts'
import { remainingBackoffMs, remainingIndexBackoffMs } from './pod-backoff.ts'
import type { BackoffRecord } from './pod-backoff.ts'
import { isFailureIgnored, replacesOnlyFailed } from './pod-failure-policy.ts'
import { earlierFailuresOf } from './pod-index.ts'
import type { IndexFailures } from './pod-index.ts'
import { podForIndex, podForJob } from './pod-object.ts'
import { removePods } from './removal.ts'
import { surplusPods } from './surplus-pods.ts'

interface ManageInput {
  readonly key: string
  readonly job: Job
  readonly counts: PodCounts
  readonly backoff: BackoffRecord
  readonly nowMs: number
  /** The PodGroup that new pods are scheduled with. */
  readonly podGroupName?: string
  onCreated?(reason: CreationReason, succeeded: boolean): void
}

export interface Managed {
  /** Active pods afterwards. */
  readonly active: number
  readonly removed: number
  readonly removedReady: number
  readonly action: SyncAction
  readonly error?: unknown
  /** Nothing more can be done before. */
  readonly requeueAfterMs?: number
}

export function* managePods(input: ManageInput): Reconcile<Managed> {
  const { job, counts } = input
  const active = counts.active.length
  if (isSuspended(job)) return yield* remove(input, counts.active)
  const wanted = wantedActive(job, counts)
  const surplus = surplusPods(job, counts.active, active - wanted, MAX_PODS_PER_SYNC)
  if (surplus.length > 0) return yield* remove(input, surplus)
  const terminating = replacesOnlyFailed(job) ? counts.terminating.length : 0
  const missing = wanted - active - terminating
  if (missing <= 0) return unchanged(active, 'tracking')
  return yield* createMissing(input, Math.min(missing, MAX_PODS_PER_SYNC))
}

function unchanged(active: number, action: SyncAction, requeueAfterMs?: number): Managed {
  const base = { active, removed: 0, removedReady: 0, action }
  return requeueAfterMs === undefined ? base : { ...base, requeueAfterMs }
}

/** Without completions the first success ends the work: who runs may finish. */
function wantedActive({ spec }: Job, { active, succeeded }: PodCounts): number {
  const parallelism = spec?.parallelism ?? 1
  if (spec?.completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(spec.completions - succeeded, parallelism))
}

function* remove({ key, job, counts }: ManageInput, pods: readonly Pod[]): Reconcile<Managed> {
  const { count, ready, error } = yield* removePods(job, pods, key)
  return {
    active: counts.active.length - count,
    removed: count,
    removedReady: ready,
    action: 'pods_deleted',
    ...(error === undefined ? {} : { error }),
  }
}

function* createMissing(input: ManageInput, missing: number): Reconcile<Managed> {
  const { key, job, counts, backoff, nowMs, onCreated } = input
  const active = counts.active.length
  if (!hasBackoffPerIndex(job)) {
    const waitMs = remainingBackoffMs(backoff, nowMs)
    if (waitMs > 0) return unchanged(active, 'pods_created', Math.max(waitMs, BATCH_PERIOD_MS))
  }
  const { pods, waitMs } = podsToCreate(input, missing)
  if (pods.length === 0) return unchanged(active, 'pods_created', waitMs)
  const outcomes = yield* createPods(job, pods, key)
  const reason = creationReason(job, counts)
  const failures = outcomes.filter(
    (outcome) => !outcome.ok && !isNamespaceTerminating(outcome.error),
  )
  for (const outcome of outcomes) if (outcome.ok) onCreated?.(reason, true)
  for (const outcome of failures) if (!outcome.ok && outcome.attempted) onCreated?.(reason, false)
  const { active: now, ...rest } = unchanged(active, 'pods_created', waitMs)
  return { ...rest, active: now + pods.length - failures.length, ...firstError(failures) }
}

function firstError([failure]: readonly Outcome[]): { readonly error?: unknown } {
  return failure === undefined || failure.ok ? {} : { error: failure.error }
}

interface Creation {
  readonly pods: readonly Pod[]
  /** Until the first index that waits for its back-off may start. */
  readonly waitMs?: number
}

function podsToCreate(input: ManageInput, missing: number): Creation {
  const { job, counts, nowMs } = input
  const base = podForJob(job, input.podGroupName)
  const { indexes } = counts
  if (indexes === undefined) return { pods: Array<Pod>(missing).fill(base) }
  const chosen = indexesToStart(job, indexes, missing)
  if (indexes.failed === undefined)
    return { pods: chosen.map((index) => podForIndex(base, job, index)) }
  const pods: Pod[] = []
  let waitMs: number | undefined
  for (const index of chosen) {
    const last = indexes.lastFailed.get(index)
    const remainingMs = last === undefined ? 0 : remainingIndexBackoffMs(last, nowMs)
    if (remainingMs <= 0) pods.push(podForIndex(base, job, index, failuresBefore(job, last)))
    else waitMs = Math.min(waitMs ?? Infinity, remainingMs)
  }
  return waitMs === undefined ? { pods } : { pods, waitMs: Math.max(waitMs, BATCH_PERIOD_MS) }
}

/** The lowest that are neither done nor at work. */
function indexesToStart(job: Job, indexes: IndexCounts, count: number): readonly number[] {
  let busy = indexes.succeeded.union(indexes.active)
  if (indexes.failed !== undefined) busy = busy.union(indexes.failed)
  if (replacesOnlyFailed(job)) busy = busy.union(indexes.terminating)
  return busy.missing(count, job.spec?.completions ?? 0)
}

/** With the failure that the new pod replaces. */
function failuresBefore(job: Job, last: Pod | undefined): IndexFailures {
  if (last === undefined) return { counted: 0, ignored: 0 }
  const { counted, ignored } = earlierFailuresOf(last)
  return isFailureIgnored(last, job)
    ? { counted, ignored: ignored + 1 }
    : { counted: counted + 1, ignored }
}

function creationReason(job: Job, { failed, terminating }: PodCounts): CreationReason {
  if (job.spec?.podReplacementPolicy === 'Failed' && failed > 0) return 'recreate_failed'
  return failed > 0 || terminating.length > 0 ? 'recreate_terminating_or_failed' : 'new'
}
