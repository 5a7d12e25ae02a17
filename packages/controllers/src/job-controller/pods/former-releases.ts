/**
 * Whether pods that the cache shows with their finalizer still have it.
 *
 * A process knows of its own releases, and waits for their events. Of those of the leader before it knows nothing: a list
 * from before them (resourceVersion 0 answers with any) shows pods that were counted, let go and are to be counted again,
 * while the Job has them in its counters already. Managers list the latest; who hands over informers of his own may not.
 * Contract: docs/behaviour/controllers/job-controller.md, Sync 9a.
 */
import { hasFinalizer, isPodActive, resources } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import { StaleCacheError, listLive } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { selectorQuery } from '../../workload-support/label-selector.ts'
import { TRACKING_FINALIZER } from '../../workload-support/job-tracking.ts'
import type { ObservedJob } from '../observe.ts'
import { uidOf } from './count-pods.ts'

/**
 * One live list of the Job's pods, and only if one of these is about to be counted. A StaleCacheError when such a pod is free or
 * gone: what the cache shows is from before that, and the pod's event brings the Job back.
 */
export function* findFormerRelease(
  { key, job, awaitedRemovals, showsFormerReleases }: ObservedJob,
  pods: readonly Pod[],
): Reconcile<unknown> {
  if (showsFormerReleases) return undefined
  const counting = aboutToBeCounted(job, pods, awaitedRemovals)
  if (counting.length === 0) return undefined
  const labelSelector = selectorQuery(job.spec?.selector).toString()
  const listed = yield* listLive(resources.pods, job.metadata?.namespace, { labelSelector })
  if (!listed.ok) return listed.error
  const held = listed.object.items.filter((pod) => hasFinalizer(pod, TRACKING_FINALIZER))
  const heldUids = new Set(held.map(uidOf))
  const free = counting.find((pod) => !heldUids.has(uidOf(pod)))
  if (free === undefined) return undefined
  const behind = `${free.metadata?.name} is shown with a finalizer that it has lost`
  return new StaleCacheError(key, resources.pods, behind)
}

/** Held pods that have ended or are on their way out, and are neither in the status nor on their way to lose the finalizer. */
function aboutToBeCounted(
  job: Job,
  pods: readonly Pod[],
  awaitedRemovals: ReadonlySet<string>,
): readonly Pod[] {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {}
  const known = new Set([...awaitedRemovals, ...succeeded, ...failed])
  return pods.filter(
    (pod) => hasFinalizer(pod, TRACKING_FINALIZER) && !isPodActive(pod) && !known.has(uidOf(pod)),
  )
}
