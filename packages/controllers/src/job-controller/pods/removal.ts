/**
 * Taking pods away, and taking the tracking finalizer away from pods.
 * Contract: docs/behaviour/controllers/job-controller.md, Sync 16, Pod management 4, Tracking 6.
 */
import { hasFinalizer, isPodReady, resources } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { patch, writeAll } from '@gyropilot/runtime'
import type { Outcome, Reconcile, WriteOf } from '@gyropilot/runtime'
import { deletePods } from '../../workload-support/pod-control.ts'
import { TRACKING_FINALIZER } from '../../workload-support/job-tracking.ts'

interface Removed {
  readonly count: number
  readonly ready: number
  /** The first. */
  readonly error?: unknown
}

/** Without preconditions: it must not conflict with anybody who writes the pod meanwhile. */
function releasing(pod: Pod): WriteOf<Pod> {
  const metadata = { '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] }
  return patch(resources.pods, pod, { type: 'strategic', value: { metadata } })
}

/** Takes the finalizer away where it is, all at once. A pod that is gone has none. */
export function* releasePods(pods: readonly Pod[]): Reconcile<readonly Outcome<Pod>[]> {
  const held = pods.filter((pod) => hasFinalizer(pod, TRACKING_FINALIZER))
  const outcomes = held.length === 0 ? [] : yield* writeAll(held.map(releasing), 'parallel')
  const refused = new Map<Pod, Outcome<Pod>>()
  for (const [index, outcome] of outcomes.entries())
    if (!outcome.ok && !isNotFound(outcome.error)) refused.set(held[index]!, outcome)
  return pods.map((pod) => refused.get(pod) ?? { ok: true, object: pod })
}

/** At the end of a Job: its pods keep the finalizer until they are counted. */
export function* endPods(job: Job, pods: readonly Pod[]): Reconcile<Removed> {
  if (pods.length === 0) return { count: 0, ready: 0 }
  return removed(pods, yield* deletePods(job, pods))
}

/** Pods that there are too many of: they lose the finalizer first, and are counted neither way. */
export function* removePods(job: Job, pods: readonly Pod[], key: string): Reconcile<Removed> {
  if (pods.length === 0) return { count: 0, ready: 0 }
  const released = yield* releasePods(pods)
  const free = pods.filter((_, index) => released[index]!.ok)
  const outcomes = free.length === 0 ? [] : yield* deletePods(job, free, key)
  const { count, ready, error } = removed(free, outcomes)
  const held = released.find((outcome) => !outcome.ok)
  return { count, ready, error: held?.ok === false ? held.error : error }
}

function removed(pods: readonly Pod[], outcomes: readonly Outcome[]): Removed {
  const isGone = (outcome: Outcome): boolean => outcome.ok || isNotFound(outcome.error)
  const gone = pods.filter((_, index) => isGone(outcomes[index]!))
  const failure = outcomes.find((outcome) => !isGone(outcome))
  return {
    count: gone.length,
    ready: gone.filter(isPodReady).length,
    ...(failure?.ok === false ? { error: failure.error } : {}),
  }
}
