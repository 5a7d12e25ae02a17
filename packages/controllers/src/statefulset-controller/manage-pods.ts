/**
 * The pods that a set should have, in the order it wants them. Step numbers are those of
 * docs/behaviour/controllers/statefulset-controller.md, Reconcile pods.
 */
import { isPodFinished, isTerminating } from '@gyropilot/api'
import type { Pod, StatefulSet } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { templateOf } from '../revision-support/revision-data.ts'
import { MOST_PODS_AT_ONCE } from './config.ts'
import { newPod, startOrdinal } from './pod-identity.ts'
import {
  claimIsStale,
  claimOwnersMatch,
  createMissingClaims,
  createPod,
  deletePod,
  fixClaimOwners,
  podMatches,
  updatePod,
} from './pod-writes.ts'
import type { Caches, PodOutcome } from './pod-writes.ts'
import {
  arrange,
  firstUnavailable,
  isCreated,
  isRunningAndReady,
  isUnavailable,
} from './replicas.ts'
import type { Replicas } from './replicas.ts'
import type { SetRevisions } from './revisions.ts'
import { rollOut } from './rolling-update.ts'
import type { RollOutRules } from './rolling-update.ts'
import { countPods } from './status.ts'
import type { CountingRules, PodCounts } from './status.ts'
import { inGrowingBatches } from './together.ts'

interface Managed {
  readonly counts: PodCounts
  readonly error?: unknown
  /** A pod was not created because a claim of the pod before it is still there. */
  readonly waitsForClaim?: boolean
}

export interface ManageRules extends RollOutRules {
  readonly nowMs: number
}

/** Everything that one sync knows of a set while it works on its pods. */
interface Work {
  readonly set: StatefulSet
  readonly replicas: Replicas
  readonly caches: Caches
  readonly minReadySeconds: number
  readonly nowMs: number
  readonly isOrdered: boolean
  waitsForClaim: boolean
  /** Deleted in this sync; the cache does not say so yet. */
  readonly deleted: Set<Pod>
}

/** `stops`: an ordered set leaves everything else for a later sync. */
interface Step extends PodOutcome {
  readonly stops?: boolean
}

const STOP: Step = { stops: true }
const GO_ON: Step = {}

export function* managePods(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: SetRevisions,
  caches: Caches,
  rules: ManageRules,
): Reconcile<Managed> {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const counting: CountingRules = {
    minReadySeconds,
    nowMs: rules.nowMs,
    current: revisions.current.metadata?.name ?? '',
    update: revisions.update.metadata?.name ?? '',
  }
  // 4. A set that is being deleted keeps its pods for the garbage collector.
  if (set.metadata?.deletionTimestamp !== undefined) return { counts: countPods(pods, counting) }
  // 1. and 2.
  const replicas = arrange(set, pods, (ordinal) => missingPod(set, ordinal, revisions))
  const work: Work = {
    set,
    replicas,
    caches,
    minReadySeconds,
    nowMs: rules.nowMs,
    // 5.
    isOrdered: set.spec?.podManagementPolicy !== 'Parallel',
    waitsForClaim: false,
    deleted: new Set(),
  }
  const done = yield* reachRange(work)
  // 8.
  const counts = countPods([...replicas.inRange, ...replicas.condemned], counting)
  const { waitsForClaim } = work
  if (done.error !== undefined || done.stops) return { counts, error: done.error, waitsForClaim }
  if (set.spec?.updateStrategy?.type === 'OnDelete') return { counts, waitsForClaim }
  // 9.
  const rolled = yield* rollOut(set, replicas.inRange, counting, {
    ...rules,
    isDeleted: (pod) => work.deleted.has(pod),
  })
  const currentReplicas = Math.max(0, counts.currentReplicas - rolled.deleted)
  return { counts: { ...counts, currentReplicas }, error: rolled.error, waitsForClaim }
}

/** The pod of this ordinal: of the current revision where the rollout has not come so far, else of the new one. */
function missingPod(set: StatefulSet, ordinal: number, { current, update }: SetRevisions): Pod {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const held =
    type !== 'RollingUpdate'
      ? 0
      : rollingUpdate === undefined || rollingUpdate === null
        ? (set.status?.currentReplicas ?? 0)
        : (rollingUpdate.partition ?? 0)
  const revision = ordinal < startOrdinal(set) + held ? current : update
  const template = templateOf(revision) ?? set.spec!.template
  return newPod(set, ordinal, template, revision.metadata?.name ?? '')
}

/** Steps 5 to 7: pods in range from the lowest, then those outside from the highest. */
function* reachRange(work: Work): Reconcile<Step> {
  const { set, caches, isOrdered } = work
  const { inRange, condemned } = work.replicas
  const reached = yield* inOrder(work, inRange, (pod, index) =>
    !isOrdered && isAsWanted(work, pod) ? undefined : reconcilePod(work, pod, index),
  )
  if (reached.error !== undefined || reached.stops) return reached
  // 6.
  const fixed = yield* inOrder(work, condemned, (pod) =>
    claimOwnersMatch(set, pod, caches) ? undefined : fixClaimOwners(set, pod, caches),
  )
  if (fixed.error !== undefined) return fixed
  // 7.
  const first = firstUnavailable(work.replicas, work.minReadySeconds, work.nowMs)
  return yield* inOrder(work, condemned, (pod) =>
    !isOrdered && isTerminating(pod) ? undefined : deleteCondemned(work, pod, first),
  )
}

/** Undefined: there is nothing to do. So are most of many pods in most syncs, and need no rule of their own. */
type PodStep = (pod: Pod, index: number) => Reconcile<Step> | undefined

/** One after the other until one stops; for a Parallel set in growing batches until one fails. */
function* inOrder(work: Work, pods: readonly Pod[], step: PodStep): Reconcile<Step> {
  if (!work.isOrdered) {
    const steps = pods.map((pod, index) => () => step(pod, index))
    return yield* inGrowingBatches(steps, MOST_PODS_AT_ONCE)
  }
  for (const [index, pod] of pods.entries()) {
    const rule = step(pod, index)
    if (rule === undefined) continue
    const done = yield* rule
    if (done.error !== undefined || done.stops) return done
  }
  return GO_ON
}

/** Whether steps 5.a to 5.e find nothing to do for it in a Parallel set. */
function isAsWanted({ set, caches }: Work, pod: Pod): boolean {
  if (isPodFinished(pod) || !isCreated(pod) || pod.status?.phase === 'Pending') return false
  return podMatches(set, pod, caches)
}

/** Steps 5.a to 5.e. */
function* reconcilePod(work: Work, pod: Pod, index: number): Reconcile<Step> {
  const { set, caches, minReadySeconds, nowMs, isOrdered } = work
  if (isPodFinished(pod)) {
    if (isTerminating(pod)) return STOP
    return asStop(yield* deleteOnce(work, pod))
  }
  if (!isCreated(pod)) {
    if (claimIsStale(set, pod, caches)) {
      work.waitsForClaim = true
      return STOP
    }
    const outcome = yield* createPod(set, pod, caches)
    // What the server answered counts in the status of this very sync.
    if (outcome.created !== undefined) work.replicas.inRange[index] = outcome.created
    return asStop(outcome)
  }
  if (pod.status?.phase === 'Pending') {
    const claims = yield* createMissingClaims(set, pod, caches)
    if (claims.error !== undefined) return claims
  }
  if (isOrdered) {
    if (!isRunningAndReady(pod) || isUnavailable(pod, minReadySeconds, nowMs)) return STOP
  }
  return podMatches(set, pod, caches) ? GO_ON : yield* updatePod(set, pod, caches)
}

function* deleteCondemned(work: Work, pod: Pod, first: Pod | undefined): Reconcile<Step> {
  if (isTerminating(pod)) return STOP
  if (work.isOrdered && pod !== first) {
    if (!isRunningAndReady(pod) || isUnavailable(pod, work.minReadySeconds, work.nowMs)) return STOP
  }
  return asStop(yield* deleteOnce(work, pod))
}

function* deleteOnce(work: Work, pod: Pod): Reconcile<PodOutcome> {
  const outcome = yield* deletePod(work.set, pod)
  // After an error the sync goes no further, and nobody asks.
  work.deleted.add(pod)
  return outcome
}

function asStop({ error }: PodOutcome): Step {
  return error === undefined ? STOP : { error }
}
