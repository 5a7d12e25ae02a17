/**
 * One sync of a StatefulSet. Step numbers are those of
 * docs/behaviour/controllers/statefulset-controller.md; steps 1 (stale cache) and 2 (object is gone) are
 * the shell's.
 */
import { controllerOf, nextAvailabilityCheckOfMs, resources } from '@gyropilot/api'
import type { LabelQuery, Pod, StatefulSet, StatefulSetStatus } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { borrowedRecheckMs } from '../revision-support/borrowed-revision.ts'
import { sortedRevisions } from '../revision-support/revision-order.ts'
import { adoptRevisions } from '../revision-support/write-revision.ts'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import { claim } from '../workload-support/claim.ts'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { STALE_CLAIM_RECHECK_MS } from './config.ts'
import { managePods } from './manage-pods.ts'
import type { ManageRules } from './manage-pods.ts'
import type { ObservedStatefulSet } from './observe.ts'
import { isNamedBy } from './pod-identity.ts'
import { determineRevisions, truncateHistory } from './revisions.ts'
import { isStatusCurrent, statusOf } from './status.ts'

/** Attempts of a status that meets conflicts. */
const STATUS_ATTEMPTS = 5

export interface StatefulSetSettings extends Omit<ManageRules, 'nowMs'> {
  /** Feature gate StatefulSetSemanticRevisionComparison. */
  readonly semanticRevisions: boolean
  onInvalidSelector?(set: StatefulSet, error: unknown): void
}

export function* reconcile(
  observed: ObservedStatefulSet,
  settings: StatefulSetSettings,
): Reconcile {
  const { set } = observed
  // 3. A selector that cannot be understood will not get better by a retry.
  let query: LabelQuery
  try {
    query = selectorQuery(set.spec?.selector)
  } catch (error) {
    settings.onInvalidSelector?.(set, error)
    return
  }
  // 4.
  const revisions = observed.revisions.filter(({ metadata }) => query.matches(metadata?.labels))
  const orphans = revisions.filter((revision) => controllerOf(revision) === undefined)
  const adopted = yield* adoptRevisions(set, resources.statefulsets, orphans)
  if (!adopted.ok) return { error: adopted.error }
  // 5.
  const matches = (pod: Pod): boolean => query.matches(pod.metadata?.labels) && isNamedBy(set, pod)
  const claimed = yield* claim(
    // What is adopted often lacks a label, and the cache does not know its new version yet.
    {
      owner: set,
      ownerType: resources.statefulsets,
      type: resources.pods,
      matches,
      asAnswered: true,
    },
    observed.pods,
  )
  if (claimed.error !== undefined) return { error: claimed.error }
  const nowMs = yield* currentTimeMs()
  // 6. to 9.
  const synced = yield* sync(observed, revisions, claimed.objects, { ...settings, nowMs })
  if (synced.error !== undefined) return { error: synced.error }
  // 10. Pods become available without an event; nobody else would look again.
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const { readyReplicas = 0, availableReplicas = 0 } = synced.status ?? {}
  const waitMs =
    minReadySeconds > 0 && readyReplicas !== availableReplicas
      ? (nextAvailabilityCheckOfMs(
          claimed.objects,
          minReadySeconds,
          nowMs,
          yield* currentTimeMs(),
        ) ?? minReadySeconds * 1000)
      : Infinity
  const requeueAfterMs = Math.min(waitMs, synced.recheckMs ?? Infinity)
  return requeueAfterMs === Infinity ? undefined : { requeueAfterMs }
}

interface Synced {
  readonly status?: StatefulSetStatus
  readonly error?: unknown
  /** Something that brings no event is waited for. */
  readonly recheckMs?: number | undefined
}

function* sync(
  observed: ObservedStatefulSet,
  unsorted: ObservedStatefulSet['revisions'],
  pods: readonly Pod[],
  settings: StatefulSetSettings & ManageRules,
): Reconcile<Synced> {
  const { set } = observed
  // 6.
  const revisions = sortedRevisions(unsorted)
  const determined = yield* determineRevisions(set, revisions, {
    semanticRevisions: settings.semanticRevisions,
    cached: (name) => observed.revision(name),
  })
  if (!determined.ok) {
    const { currentRevision, updateRevision } = set.status ?? {}
    const inUse = [currentRevision, updateRevision]
    const { error } = yield* truncateHistory(set, revisions, pods, inUse)
    return { error: together(determined.error, error) }
  }
  const { current, update, collisionCount } = determined.object
  const names = { current: current.metadata?.name ?? '', update: update.metadata?.name ?? '' }
  // 7.
  const managed = yield* managePods(set, pods, determined.object, observed, settings)
  // 8.
  const status = statusOf(set, managed.counts, { ...names, collisionCount })
  const statusError = yield* writeStatus(observed, status)
  // 9.
  const inUse = [names.current, names.update]
  const truncated = yield* truncateHistory(set, revisions, pods, inUse)
  const error = together(managed.error, statusError, truncated.error)
  const recheckMs = managed.waitsForClaim ? STALE_CLAIM_RECHECK_MS : borrowedRecheckMs(update, set)
  return { status, error, recheckMs }
}

function together(...errors: readonly unknown[]): unknown {
  return aggregateErrors(errors.filter((error) => error !== undefined))
}

/**
 * Writes the status if it changed. After a conflict again, the same status, on what the cache has by then,
 * for as long as that is something new.
 */
function* writeStatus(
  { set, current }: ObservedStatefulSet,
  status: StatefulSetStatus,
): Reconcile<unknown> {
  if (isStatusCurrent(set, status)) return undefined
  let target = set
  for (let attempt = 1; ; attempt += 1) {
    const updated = yield* write(updateStatus(resources.statefulsets, { ...target, status }))
    if (updated.ok) return undefined
    const next = current()
    const isNews =
      next !== undefined &&
      next.metadata?.uid === set.metadata?.uid &&
      next.metadata?.resourceVersion !== target.metadata?.resourceVersion
    if (!isConflict(updated.error) || !isNews || attempt === STATUS_ATTEMPTS) return updated.error
    target = next
  }
}
