/**
 * Replacing pods of an older revision, from the highest ordinal down.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Reconcile pods, step 9, and the gate
 * MaxUnavailableStatefulSet.
 */
import { isTerminating, resolveIntOrPercent } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { revisionOf } from './pod-identity.ts'
import { deletePod } from './pod-writes.ts'
import { isUnavailable } from './replicas.ts'
import type { CountingRules } from './status.ts'

export interface RollOutRules {
  /** Feature gate MaxUnavailableStatefulSet. */
  readonly maxUnavailable: boolean
  /** With that gate: how many may be and how many are unavailable. */
  onUnavailable?(set: StatefulSet, most: number, now: number): void
}

interface RolledOut {
  /** So many pods were deleted. */
  readonly deleted: number
  readonly error?: unknown
}

type Counting = Pick<CountingRules, 'minReadySeconds' | 'nowMs' | 'update'>

/** `pods` are those in range by index. */
export function* rollOut(
  set: StatefulSet,
  pods: readonly Pod[],
  { minReadySeconds, nowMs, update }: Counting,
  rules: RollOutRules & { isDeleted(pod: Pod): boolean },
): Reconcile<RolledOut> {
  const isOut = (pod: Pod): boolean =>
    rules.isDeleted(pod) || isUnavailable(pod, minReadySeconds, nowMs)
  const isOld = (pod: Pod): boolean =>
    revisionOf(pod) !== update && !isTerminating(pod) && !rules.isDeleted(pod)
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0
  const candidates = pods.slice(partition).toReversed()
  if (rules.maxUnavailable) {
    const most = mostUnavailable(set, pods.length)
    const unavailable = pods.filter(isOut).length
    rules.onUnavailable?.(set, most, unavailable)
    return yield* deleteAll(set, candidates.filter(isOld).slice(0, Math.max(0, most - unavailable)))
  }
  const next = candidates.find((pod) => isOld(pod) || isOut(pod))
  return next !== undefined && isOld(next) ? yield* deleteAll(set, [next]) : { deleted: 0 }
}

function* deleteAll(set: StatefulSet, pods: readonly Pod[]): Reconcile<RolledOut> {
  let deleted = 0
  for (const pod of pods) {
    const { error } = yield* deletePod(set, pod)
    if (error !== undefined) return { deleted, error }
    deleted += 1
  }
  return { deleted }
}

/** A share is rounded down; at least 1. */
export function mostUnavailable(set: StatefulSet, replicas: number): number {
  const { maxUnavailable } = set.spec?.updateStrategy?.rollingUpdate ?? {}
  return Math.max(1, resolveIntOrPercent(maxUnavailable ?? 1, replicas, 'down'))
}
