/**
 * Which Jobs an event concerns.
 * Contract: docs/behaviour/controllers/job-controller.md, Watches and keys.
 */
import {
  controllerOf,
  hasFinalizer,
  isTerminating,
  keyOf,
  parseTime,
  resources,
} from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Expectations, Lister, QueueKey, Watch } from '@gyropilot/runtime'
import { isJobFinished } from '../workload-support/job-finish.ts'
import { selectsOrphan } from '../workload-support/label-selector.ts'
import { resolveController, sameController, sameLabels } from '../workload-support/ownership.ts'
import { podKey } from '../workload-support/pod-control.ts'
import { BATCH_PERIOD_MS } from './config.ts'
import { TRACKING_FINALIZER } from '../workload-support/job-tracking.ts'
import { externalController } from './job-state.ts'
import type { JobMemory } from './memory.ts'
import type { JobMetrics } from './metrics.ts'

interface WatchState {
  readonly expectations: Expectations
  readonly memory: JobMemory
  readonly metrics: JobMetrics
  nowMs(): number
}

export function jobWatch({ expectations, memory, metrics, nowMs }: WatchState): Watch<Job> {
  return {
    type: resources.jobs,
    onAdd(job) {
      const controller = externalController(job)
      if (controller !== undefined) metrics.managedElsewhere(controller)
      return [keyOf(job)]
    },
    onUpdate(previous, current) {
      const key = keyOf(current)
      if (previous.metadata?.uid !== current.metadata?.uid) expectations.delete(key)
      // Nothing is left to do for it, so nothing need be known of it.
      if (isJobFinished(current)) {
        memory.forget(key)
        return []
      }
      const sameSpec = previous.metadata?.generation === current.metadata?.generation
      const keys: QueueKey[] = [sameSpec ? { key, afterMs: BATCH_PERIOD_MS } : key]
      const deadlineMs = newDeadlineMs(previous, current)
      if (deadlineMs !== undefined) keys.push({ key, afterMs: Math.max(0, deadlineMs - nowMs()) })
      return keys
    },
    onDelete(job) {
      const key = keyOfDeleted(job)
      // Another of its name may be there before the key is worked on, which then never sees that this one went.
      expectations.delete(key)
      return [key]
    },
  }
}

/** When a running Job must end, if an update has said so. */
function newDeadlineMs(previous: Job, current: Job): number | undefined {
  const seconds = current.spec?.activeDeadlineSeconds
  const startMs = parseTime(current.status?.startTime)
  if (seconds === undefined || seconds === previous.spec?.activeDeadlineSeconds) return undefined
  return startMs === undefined ? undefined : startMs + Number(seconds) * 1000
}

export function podWatch(jobs: Lister<Job>, state: WatchState): Watch<Pod> {
  const { expectations, memory, metrics } = state
  const ownerOf = (pod: Pod): Job | undefined =>
    resolveController(jobs, 'Job', pod.metadata?.namespace, controllerOf(pod))
  const later = (job: Job): QueueKey => ({ key: keyOf(job), afterMs: BATCH_PERIOD_MS })
  const matching = (pod: Pod): readonly QueueKey[] =>
    jobs
      .list(pod.metadata?.namespace)
      .filter((job) => selectsOrphan(job.spec?.selector, pod))
      .map(later)
  const observeRelease = (job: Job, pod: Pod, isGone: boolean): void => {
    if (isGone || !hasFinalizer(pod, TRACKING_FINALIZER))
      memory.removalObserved(keyOf(job), pod.metadata?.uid ?? '')
  }

  const leaving = (pod: Pod, isGone: boolean): readonly QueueKey[] => {
    const owner = ownerOf(pod)
    if (owner === undefined || isJobFinished(owner)) return []
    expectations.deletionObserved(keyOf(owner), podKey(pod))
    observeRelease(owner, pod, isGone)
    return [later(owner)]
  }

  const updated = (previous: Pod, current: Pod): readonly QueueKey[] => {
    const controllerChanged = !sameController(previous, current)
    const keys: QueueKey[] = []
    const formerOwner = controllerChanged ? ownerOf(previous) : undefined
    if (formerOwner !== undefined) {
      observeRelease(formerOwner, current, false)
      keys.push(later(formerOwner))
    }
    if (controllerOf(current) === undefined) {
      if (controllerChanged || !sameLabels(previous, current)) keys.push(...matching(current))
      return keys
    }
    const owner = ownerOf(current)
    if (owner === undefined) return keys
    observeRelease(owner, current, false)
    return [...keys, later(owner)]
  }

  return {
    type: resources.pods,
    onAdd(pod) {
      metrics.podSeen(undefined, pod)
      if (isTerminating(pod)) return leaving(pod, false)
      if (controllerOf(pod) === undefined) return matching(pod)
      const owner = ownerOf(pod)
      if (owner === undefined) return []
      expectations.creationObserved(keyOf(owner))
      return [later(owner)]
    },
    onUpdate(previous, current) {
      if (previous.metadata?.resourceVersion === current.metadata?.resourceVersion) return []
      metrics.podSeen(previous, current)
      return isTerminating(current) ? leaving(current, false) : updated(previous, current)
    },
    onDelete(pod) {
      if (pod instanceof DeletedFinalStateUnknown) return []
      metrics.podSeen(pod, undefined)
      return leaving(pod, true)
    },
  }
}
