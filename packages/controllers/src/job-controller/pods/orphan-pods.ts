/**
 * Pods that no running Job will ever count lose the tracking finalizer, which nobody else would take away.
 * Contract: docs/behaviour/controllers/job-controller.md, Watches and keys, Sync (Orphan Pods).
 */
import {
  apiVersionOf,
  controllerOf,
  hasFinalizer,
  isTerminating,
  labelQueryOf,
  resources,
} from '@gyropilot/api'
import type { Job, LabelSelector, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Lister, Reconcile, Watch } from '@gyropilot/runtime'
import { isJobFinished } from '../../workload-support/job-finish.ts'
import { resolveController } from '../../workload-support/ownership.ts'
import { podsMatching } from '../../workload-support/pod-label-index.ts'
import { MAX_PODS_PER_SYNC } from '../config.ts'
import { TRACKING_FINALIZER } from '../../workload-support/job-tracking.ts'
import { externalController } from '../job-state.ts'
import type { JobListers } from '../observe.ts'
import { releasePods } from './removal.ts'

/** One pod, or all pods that a selector matches. */
type OrphanKey =
  | { readonly namespace: string; readonly pod: string }
  | { readonly namespace: string; readonly selector: LabelSelector }

export function keyOfPod(pod: Pod): string {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  return JSON.stringify({ namespace, pod: name } satisfies OrphanKey)
}

export function keysOfSelector(job: Job): readonly string[] {
  const { metadata, spec } = job
  if (spec?.selector === undefined) return []
  const { namespace = '' } = metadata ?? {}
  return [JSON.stringify({ namespace, selector: spec.selector } satisfies OrphanKey)]
}

export const jobOrphanWatch: Watch<Job> = {
  type: resources.jobs,
  onUpdate: (_previous, current) => (isJobFinished(current) ? keysOfSelector(current) : []),
  onDelete: (job) => (job instanceof DeletedFinalStateUnknown ? [] : keysOfSelector(job)),
}

export function podOrphanWatch(jobs: Lister<Job>): Watch<Pod> {
  const keys = (pod: Pod): readonly string[] => {
    if (!hasFinalizer(pod, TRACKING_FINALIZER)) return []
    const reference = controllerOf(pod)
    if (reference === undefined) return [keyOfPod(pod)]
    const owner = resolveController(jobs, 'Job', pod.metadata?.namespace, reference)
    // A pod may come after the end of its Job was seen: a sync whose cache did not show that yet made it, and the Job's pods have been looked through.
    const isForgotten = owner === undefined ? isTerminating(pod) : isJobFinished(owner)
    return isForgotten ? [keyOfPod(pod)] : []
  }
  return {
    type: resources.pods,
    onAdd: keys,
    onUpdate: (previous, current) =>
      previous.metadata?.resourceVersion === current.metadata?.resourceVersion ? [] : keys(current),
  }
}

export interface ObservedOrphans {
  readonly pods: readonly { readonly pod: Pod; readonly job: Job | undefined }[]
}

export function observeOrphans(key: string, listers: JobListers): ObservedOrphans {
  return {
    pods: candidates(JSON.parse(key) as OrphanKey, listers.pods)
      .filter((pod) => hasFinalizer(pod, TRACKING_FINALIZER))
      .map((pod) => {
        const { namespace } = pod.metadata ?? {}
        return { pod, job: resolveController(listers.jobs, 'Job', namespace, controllerOf(pod)) }
      }),
  }
}

function candidates(key: OrphanKey, pods: Lister<Pod>): readonly Pod[] {
  if ('selector' in key) return podsMatching(pods, key.namespace, labelQueryOf(key.selector))
  const pod = pods.get(key.namespace, key.pod)
  return pod === undefined ? [] : [pod]
}

export function* reconcileOrphans({ pods }: ObservedOrphans): Reconcile {
  const orphans = pods.filter(({ pod, job }) => isOrphan(pod, job)).map(({ pod }) => pod)
  for (let from = 0; from < orphans.length; from += MAX_PODS_PER_SYNC) {
    const outcomes = yield* releasePods(orphans.slice(from, from + MAX_PODS_PER_SYNC))
    const failure = outcomes.find((outcome) => !outcome.ok)
    if (failure?.ok === false) return { error: failure.error }
  }
  return
}

/** A Job that runs needs the finalizer, and so may the controller of another kind, or another's Job. */
function isOrphan(pod: Pod, job: Job | undefined): boolean {
  const reference = controllerOf(pod)
  if (reference === undefined) return true
  const { kind, apiVersion } = reference
  if (kind !== resources.jobs.kind || apiVersion !== apiVersionOf(resources.jobs)) return false
  return job === undefined || (externalController(job) === undefined && isJobFinished(job))
}
