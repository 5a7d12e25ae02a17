/**
 * Takes finished pods into the status, each once, and says which may lose their finalizer.
 *
 * A pod's end is first written beside the counters, by its uid; then the finalizer is taken away; then the uid moves into the
 * counters. Whoever stops in between, the next one finds either the finalizer or the uid, and counts neither twice.
 * Contract: docs/behaviour/controllers/job-controller.md, Tracking and status write 1-4, 6.
 */
import { compareStrings } from '@gyropilot/foundation'
import type { Job, JobStatus, Pod } from '@gyropilot/api'
import { isTerminating } from '@gyropilot/api'
import { MAX_TRACKED_PER_SYNC } from './config.ts'
import { uidOf } from './pods/count-pods.ts'
import type { PodCounts } from './pods/count-pods.ts'
import type { EndState } from './end-state.ts'
import { IndexSet } from './index-set.ts'
import { isIndexed } from './job-state.ts'
import { isPodFailed, matchFailurePolicy } from './pods/pod-failure-policy.ts'
import type { FailureAction } from './pods/pod-failure-policy.ts'
import { completionIndexOf } from './pods/pod-index.ts'

interface TrackInput {
  readonly job: Job
  readonly counts: PodCounts
  /** As far as this sync has got. */
  readonly status: JobStatus
  readonly end?: EndState
}

interface Tracked {
  readonly status: JobStatus
  /** To lose their finalizer once this status is stored. */
  readonly release: readonly Pod[]
  /** There may be more than one sync takes: this is not the end yet. */
  readonly limited: boolean
  /** Of the rules that were met, one entry per pod. */
  readonly policyActions: readonly FailureAction[]
  readonly newSucceededIndexes: number
  readonly newFailedIndexes: number
}

export function trackFinished({ job, counts, status, end }: TrackInput): Tracked {
  const held = new Set(counts.held.map(uidOf))
  const taken = new Tally(job, counts, foldReleased(status, held))
  const release: Pod[] = []
  let limited = false
  for (const pod of inOrder(job, counts.held)) {
    if (!mayRelease(pod, job, counts, end)) continue
    release.push(pod)
    taken.take(pod, end)
    if (taken.size < MAX_TRACKED_PER_SYNC) continue
    limited = true
    break
  }
  return { ...taken.result(), release, limited }
}

/** uids whose pods are free, or gone, move into the counters. */
export function foldReleased(status: JobStatus, held: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const isHeld = (uid: string): boolean => held.has(uid)
  const left = { succeeded: succeeded.filter(isHeld), failed: failed.filter(isHeld) }
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - left.succeeded.length,
    failed: (status.failed ?? 0) + failed.length - left.failed.length,
    uncountedTerminatedPods: left,
  }
}

/** By index, and by name. */
function inOrder(job: Job, pods: readonly Pod[]): readonly Pod[] {
  const indexed = isIndexed(job)
  const entries = pods.map((pod) => ({
    pod,
    index: indexed ? (completionIndexOf(pod, job) ?? -1) : 0,
    name: pod.metadata?.name ?? '',
  }))
  entries.sort((a, b) => a.index - b.index || compareStrings(a.name, b.name))
  return entries.map(({ pod }) => pod)
}

function mayRelease(pod: Pod, job: Job, counts: PodCounts, end: EndState | undefined): boolean {
  if (isTerminating(job) || end !== undefined || pod.status?.phase === 'Succeeded') return true
  if (!isPodFailed(pod, job)) return false
  const index = completionIndexOf(pod, job)
  // Its annotations tell the replacement how often the index has failed.
  return index === undefined || counts.indexes?.lastFailed.get(index) !== pod
}

class Tally {
  readonly #job: Job
  readonly #counts: PodCounts
  readonly #status: JobStatus
  readonly #succeeded: Set<string>
  readonly #failed: Set<string>
  readonly #newIndexes = new Set<number>()
  readonly #policyActions: FailureAction[] = []

  constructor(job: Job, counts: PodCounts, status: JobStatus) {
    this.#job = job
    this.#counts = counts
    this.#status = status
    this.#succeeded = new Set(status.uncountedTerminatedPods?.succeeded)
    this.#failed = new Set(status.uncountedTerminatedPods?.failed)
  }

  get size(): number {
    return this.#newIndexes.size + this.#succeeded.size + this.#failed.size
  }

  take(pod: Pod, end: EndState | undefined): void {
    const uid = uidOf(pod)
    if (pod.status?.phase === 'Succeeded' && !this.#failed.has(uid)) this.#takeSucceeded(pod, uid)
    else if (isPodFailed(pod, this.#job) || end?.succeeded === false) this.#takeFailed(pod, uid)
  }

  #takeSucceeded(pod: Pod, uid: string): void {
    const { indexes } = this.#counts
    if (indexes === undefined) {
      this.#succeeded.add(uid)
      return
    }
    const index = completionIndexOf(pod, this.#job)
    const isNew = index !== undefined && !indexes.knownSucceeded.has(index)
    if (isNew && indexes.succeeded.has(index)) this.#newIndexes.add(index)
  }

  #takeFailed(pod: Pod, uid: string): void {
    if (this.#failed.has(uid) || this.#succeeded.has(uid)) return
    if (isIndexed(this.#job) && completionIndexOf(pod, this.#job) === undefined) return
    const action = matchFailurePolicy(pod, this.#job)?.action
    if (action !== undefined) this.#policyActions.push(action)
    if (action !== 'Ignore') this.#failed.add(uid)
  }

  result(): Omit<Tracked, 'release' | 'limited'> {
    const { indexes } = this.#counts
    const status: JobStatus = {
      ...this.#status,
      uncountedTerminatedPods: { succeeded: [...this.#succeeded], failed: [...this.#failed] },
    }
    const policyActions = this.#policyActions
    if (indexes === undefined)
      return { status, policyActions, newSucceededIndexes: 0, newFailedIndexes: 0 }
    // All of them, also of pods that a later sync releases: an index counts once, whoever brings it.
    const { knownSucceeded, succeeded: completed } = indexes
    const completions = this.#job.spec?.completions ?? 0
    const knownFailed = IndexSet.parse(this.#status.failedIndexes, completions)
    return {
      status: {
        ...status,
        succeeded: completed.size,
        completedIndexes: completed.toString(),
        ...(indexes.failed === undefined ? {} : { failedIndexes: indexes.failed.toString() }),
      },
      policyActions,
      newSucceededIndexes: completed.size - knownSucceeded.size,
      newFailedIndexes: (indexes.failed?.size ?? 0) - knownFailed.size,
    }
  }
}
