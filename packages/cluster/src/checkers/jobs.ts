/**
 * Jobs: no pod is counted twice at any time, none is complete too early, and at rest every pod is counted, free, and as many run as should.
 * Contract: docs/behaviour/controllers/job-controller.md.
 */
import type { Job, KubernetesObject, Pod } from '@gyropilot/api'
import {
  controllerOf,
  findCondition,
  hasFinalizer,
  isConditionTrue,
  isPodActive,
  isPodFinished,
  resources,
} from '@gyropilot/api'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Objects } from '../simulated/objects.ts'
import type { Report } from './violation.ts'

/** Of random users; a test may set a longer one. */
const LONGEST_TTL_S = 60
const TRACKING = 'batch.kubernetes.io/job-tracking'

interface Ends {
  readonly succeeded: Set<string>
  readonly failed: Set<string>
}

/**
 * No Job counts more successes, or failures, than pods of its own have come to that end, and none twice: a pod that is on its way out
 * may count as failed, also one that has succeeded meanwhile, which the cache of who counts need not show.
 */
export function jobCounts(report: Report): ClusterObserver {
  const endsByJob = new Map<string, Ends>()

  function seen(pod: Pod, isGone: boolean): void {
    const owner = controllerOf(pod)
    if (owner?.kind !== 'Job') return
    let ends = endsByJob.get(owner.uid)
    if (ends === undefined) {
      ends = { succeeded: new Set(), failed: new Set() }
      endsByJob.set(owner.uid, ends)
    }
    const uid = pod.metadata?.uid ?? ''
    const hasSucceeded = pod.status?.phase === 'Succeeded'
    if (hasSucceeded) ends.succeeded.add(uid)
    if (
      pod.metadata?.deletionTimestamp !== undefined ||
      (!hasSucceeded && (isGone || isPodFinished(pod)))
    )
      ends.failed.add(uid)
  }

  function check(job: Job): void {
    const { succeeded = 0, failed = 0, uncountedTerminatedPods = {} } = job.status ?? {}
    const ends = endsByJob.get(job.metadata?.uid ?? '')
    const most = { succeeded: ends?.succeeded.size ?? 0, failed: ends?.failed.size ?? 0 }
    const counted = {
      succeeded: succeeded + (uncountedTerminatedPods.succeeded?.length ?? 0),
      failed: failed + (uncountedTerminatedPods.failed?.length ?? 0),
    }
    for (const end of ['succeeded', 'failed'] as const)
      if (counted[end] > most[end])
        report('job counts', `${nameOf(job)} counts ${counted[end]} ${end}, ${most[end]} have`)
    const both = counted.succeeded + counted.failed
    const ended = ends === undefined ? 0 : ends.succeeded.union(ends.failed).size
    if (both > ended)
      report('job counts', `${nameOf(job)} counts ${both} pods, ${ended} have ended`)
  }

  /** Later somebody may ask for more completions: when it is said they must be there. */
  function checkEnd(job: Job, before: Job | undefined): void {
    if (!isMet(job) || (before !== undefined && isMet(before))) return
    const { succeeded = 0, uncountedTerminatedPods = {} } = job.status ?? {}
    const counted = succeeded + (uncountedTerminatedPods.succeeded?.length ?? 0)
    const wanted = job.spec?.completions ?? 1
    if (counted < wanted)
      report('job counts', `${nameOf(job)} is complete with ${counted} successes of ${wanted}`)
  }

  return {
    committed({ type, collection, object, previous }) {
      if (collection === 'pods') seen(object as Pod, type === 'deleted')
      else if (collection === 'jobs.batch' && type !== 'deleted') {
        check(object as Job)
        checkEnd(object as Job, previous as Job | undefined)
      }
    },
  }
}

/** With a success policy fewer are enough, and the reason is another one. */
function isMet({ status }: Job): boolean {
  const condition = findCondition(status?.conditions, 'SuccessCriteriaMet')
  return condition?.status === 'True' && condition.reason === 'CompletionsReached'
}

/** At rest. Jobs that another controller manages are its matter. */
export function* jobsAtRest(objects: Objects): Iterable<string> {
  const podsByJob = Map.groupBy(objects.all(resources.pods), (pod) => controllerOf(pod)?.uid ?? '')
  const jobs = new Map(objects.all(resources.jobs).map((job) => [job.metadata?.uid ?? '', job]))
  for (const job of jobs.values()) {
    if (job.spec?.managedBy !== undefined && job.spec.managedBy !== 'kubernetes.io/job-controller')
      continue
    yield* jobAtRest(job, podsByJob.get(job.metadata?.uid ?? '') ?? [])
  }
  for (const pod of objects.all(resources.pods)) {
    if (!hasFinalizer(pod, TRACKING)) continue
    const owner = controllerOf(pod)
    if (owner === undefined || (owner.kind === 'Job' && !jobs.has(owner.uid)))
      yield `${nameOf(pod)} is held for a Job that is not there`
  }
}

function* jobAtRest(job: Job, pods: readonly Pod[]): Iterable<string> {
  const { status = {}, spec } = job
  const active = pods.filter(isPodActive)
  const isOver =
    isConditionTrue(status.conditions, 'Complete') || isConditionTrue(status.conditions, 'Failed')
  const { succeeded: uncounted = [], failed: lost = [] } = status.uncountedTerminatedPods ?? {}
  if (uncounted.length + lost.length > 0) yield `${nameOf(job)} has pods that are not counted`
  if ((status.active ?? 0) !== active.length)
    yield `the status of ${nameOf(job)} says ${status.active ?? 0} active pods, there are ${active.length}`
  for (const pod of pods)
    if (hasFinalizer(pod, TRACKING) && (isOver || isPodFinished(pod)))
      yield `${nameOf(pod)} has ended, or its Job has, and it is still held`
  if (isOver) {
    if (active.length > 0) yield `${nameOf(job)} is over and ${active.length} pods run`
    // Rest is longer than any TTL that is given out here.
    if (
      spec?.ttlSecondsAfterFinished !== undefined &&
      spec.ttlSecondsAfterFinished <= LONGEST_TTL_S
    )
      yield `${nameOf(job)} is over since longer than its TTL`
    return
  }
  if (spec?.suspend === true) {
    if (active.length > 0) yield `${nameOf(job)} is suspended and ${active.length} pods run`
    if (!isConditionTrue(status.conditions, 'Suspended')) yield `${nameOf(job)} does not say so`
    return
  }
  if ((spec?.parallelism ?? 1) > 0) yield `${nameOf(job)} is not over, and nothing happens any more`
}

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata?.namespace}/${metadata?.name}`
}
