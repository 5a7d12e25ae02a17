/**
 * Sorts the pods of a Job by what they mean for it.
 * Contract: docs/behaviour/controllers/job-controller.md, Sync 10-12.
 */
import { hasFinalizer, isPodActive, isPodReady, isPodTerminating } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import { TRACKING_FINALIZER } from '../../workload-support/job-tracking.ts'
import { IndexSet } from '../index-set.ts'
import { hasBackoffPerIndex, isIndexed } from '../job-state.ts'
import { isFailureIgnored, isPodFailed, matchFailurePolicy } from './pod-failure-policy.ts'
import { completionIndexOf, earlierFailuresOf } from './pod-index.ts'
import { finishTimeMs } from './pod-backoff.ts'

export interface PodCounts {
  readonly all: readonly Pod[]
  readonly active: readonly Pod[]
  readonly terminating: readonly Pod[]
  /** Failed in any way that the Job's policies know, tracked or not. */
  readonly failedPods: readonly Pod[]
  /** Pods with the finalizer, less those whose release is on its way. */
  readonly held: readonly Pod[]
  /** Held pods that are not in the status yet. */
  readonly newSucceeded: readonly Pod[]
  readonly newFailed: readonly Pod[]
  /** With those of the status. */
  readonly succeeded: number
  /** With those of the status, without ignored failures. */
  readonly failed: number
  readonly ready: number
  /** Of an indexed Job. */
  readonly indexes?: IndexCounts
}

export interface IndexCounts {
  /** As the status has them, cut at the completions. */
  readonly knownSucceeded: IndexSet
  readonly succeeded: IndexSet
  readonly active: IndexSet
  readonly terminating: IndexSet
  /** With a back-off limit per index. */
  readonly failed?: IndexSet
  /** With a back-off limit per index: the failed pod that the replacement's counts are taken from, by index. */
  readonly lastFailed: ReadonlyMap<number, Pod>
}

export function countPods(
  job: Job,
  pods: readonly Pod[],
  awaitedRemovals: ReadonlySet<string>,
): PodCounts {
  const indexed = isIndexed(job)
  const held = pods.filter(
    (pod) => hasFinalizer(pod, TRACKING_FINALIZER) && !awaitedRemovals.has(uidOf(pod)),
  )
  const valid = indexed ? held.filter((pod) => completionIndexOf(pod, job) !== undefined) : held
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {}
  const [knownSucceeded, knownFailed] = [new Set(succeeded), new Set(failed)]
  const newSucceeded = valid.filter(
    (pod) => pod.status?.phase === 'Succeeded' && !knownSucceeded.has(uidOf(pod)),
  )
  const newFailed = valid.filter((pod) => isPodFailed(pod, job) && !knownFailed.has(uidOf(pod)))
  const active = pods.filter(isPodActive)
  const terminating = pods.filter(isPodTerminating)
  const indexes = indexed ? countIndexes(job, { active, terminating, valid }) : undefined
  const countedSucceeded = (job.status?.succeeded ?? 0) + newSucceeded.length + succeeded.length
  return {
    all: pods,
    active,
    terminating,
    failedPods: pods.filter((pod) => isPodFailed(pod, job)),
    held,
    newSucceeded,
    newFailed,
    succeeded: indexes?.succeeded.size ?? countedSucceeded,
    failed:
      (job.status?.failed ?? 0) +
      newFailed.filter((pod) => !isFailureIgnored(pod, job)).length +
      failed.length,
    ready: active.filter(isPodReady).length,
    ...(indexes === undefined ? {} : { indexes }),
  }
}

interface IndexedPods {
  readonly active: readonly Pod[]
  readonly terminating: readonly Pod[]
  readonly valid: readonly Pod[]
}

function countIndexes(job: Job, { active, terminating, valid }: IndexedPods): IndexCounts {
  const completions = job.spec?.completions ?? 0
  const indexesOf = (pods: readonly Pod[]): IndexSet =>
    IndexSet.of(
      pods.map((pod) => completionIndexOf(pod, job)).filter((index) => index !== undefined),
    )
  const knownSucceeded = IndexSet.parse(job.status?.completedIndexes, completions)
  const knownFailed = IndexSet.parse(job.status?.failedIndexes, completions)
  const succeeded = knownSucceeded.union(
    indexesOf(
      valid.filter(
        // An index that has failed stays failed: the status cannot have it on both sides.
        (pod) =>
          pod.status?.phase === 'Succeeded' && !knownFailed.has(completionIndexOf(pod, job)!),
      ),
    ),
  )
  const counts = {
    knownSucceeded,
    succeeded,
    active: indexesOf(active),
    terminating: indexesOf(terminating),
  }
  if (!hasBackoffPerIndex(job)) return { ...counts, lastFailed: new Map() }
  const lost = valid.filter(
    (pod) => isPodFailed(pod, job) && !succeeded.has(completionIndexOf(pod, job)!),
  )
  const failed = knownFailed.union(indexesOf(lost.filter((pod) => failsItsIndex(pod, job))))
  const lastFailed = new Map<number, Pod>()
  for (const pod of lost) {
    const index = completionIndexOf(pod, job)!
    if (failed.has(index) || counts.active.has(index)) continue
    const other = lastFailed.get(index)
    if (other === undefined || isLater(pod, other)) lastFailed.set(index, pod)
  }
  return { ...counts, failed, lastFailed }
}

/** By a rule, or because it was the last try. */
function failsItsIndex(pod: Pod, job: Job): boolean {
  const action = matchFailurePolicy(pod, job)?.action
  if (action === 'FailIndex') return true
  if (action === 'Ignore') return false
  return earlierFailuresOf(pod).counted >= (job.spec?.backoffLimitPerIndex ?? 0)
}

/** Of two failed pods of an index: the one that knows of more failures. */
function isLater(pod: Pod, other: Pod): boolean {
  const [a, b] = [earlierFailuresOf(pod), earlierFailuresOf(other)]
  const more =
    a.counted + a.ignored - b.counted - b.ignored || finishTimeMs(pod) - finishTimeMs(other)
  return more !== 0 ? more > 0 : (pod.metadata?.name ?? '') > (other.metadata?.name ?? '')
}

export function uidOf(pod: Pod): string {
  return pod.metadata?.uid ?? ''
}
