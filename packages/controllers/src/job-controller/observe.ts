/**
 * Gathers what the rules of a Job need from the caches, and from what this process remembers.
 * Contract: docs/behaviour/controllers/job-controller.md, Watches and keys, Sync 2, 5, 8.
 */
import { keyOf } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import type { Expectations, Lister } from '@gyropilot/runtime'
import { POD_CONTROLLER_INDEX, ownedAndOrphaned } from '../workload-support/ownership.ts'
import { observeGang } from './gangs/gang-objects.ts'
import type { GangListers, ObservedGang } from './gangs/gang-objects.ts'
import type { JobMemory } from './memory.ts'
import type { BackoffRecord } from './pods/pod-backoff.ts'

export interface ObservedJob {
  readonly key: string
  readonly job: Job
  /** An earlier sync has written its end, whatever the cache says. */
  readonly knownFinished: boolean
  /** Taken before the pods were listed. */
  readonly expectationsMet: boolean
  /** Pods with this Job's uid as controller, and the orphans of the namespace, in any phase. */
  pods(): readonly Pod[]
  /** uids of pods that were released and are shown with their finalizer. */
  readonly awaitedRemovals: ReadonlySet<string>
  /** Taken before the pods were listed: they show all that the leader before this process has written. */
  readonly showsFormerReleases: boolean
  readonly backoff: BackoffRecord
  /** With the gate WorkloadWithJob only. */
  readonly gang?: ObservedGang
}

export interface JobListers {
  readonly jobs: Lister<Job>
  readonly pods: Lister<Pod>
  readonly gang?: GangListers
}

export function observe(
  key: string,
  listers: JobListers,
  expectations: Expectations,
  memory: JobMemory,
): ObservedJob | undefined {
  const job = listers.jobs.getByKey(key)
  if (job === undefined) return undefined
  const uid = job.metadata?.uid ?? ''
  return {
    key: keyOf(job),
    job,
    knownFinished: memory.isFinished(key, uid),
    expectationsMet: expectations.satisfied(key),
    pods: () => ownedAndOrphaned(listers.pods, POD_CONTROLLER_INDEX, job, 'Job'),
    awaitedRemovals: memory.awaitedRemovals(key, uid),
    showsFormerReleases: memory.hasSeenRelease,
    backoff: memory.backoff(key, uid),
    ...(listers.gang === undefined ? {} : { gang: observeGang(key, listers.gang) }),
  }
}
