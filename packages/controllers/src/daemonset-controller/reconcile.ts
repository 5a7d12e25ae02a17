/**
 * One sync of a DaemonSet. Step numbers are those of
 * docs/behaviour/controllers/daemonset-controller.md; steps 1 (stale cache) and 2 (object is gone) are
 * the shell's.
 */
import { isTerminating, nextAvailabilityCheckOfMs, resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, KubernetesObject, Node, Pod } from '@gyropilot/api'
import { currentTimeMs, recordEvent } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { borrowedRecheckMs } from '../revision-support/borrowed-revision.ts'
import { claim } from '../workload-support/claim.ts'
import type { Claimed } from '../workload-support/claim.ts'
import { selectorQuery } from '../workload-support/label-selector.ts'
import { applyChanges } from './apply-changes.ts'
import { HASH_LABEL } from './daemon-pod.ts'
import {
  FAILED_POD,
  SELECTING_ALL,
  SELECTING_ALL_TEXT,
  SUCCEEDED_POD,
  failedPodText,
  succeededPodText,
} from './events.ts'
import { cleanUpHistory, constructHistory } from './history.ts'
import type { DecideNode } from './node-decision.ts'
import type { ObservedDaemonSet } from './observe.ts'
import { planNodes } from './plan-nodes.ts'
import type { FailedPodBackoff } from './plan-nodes.ts'
import { podsByNode } from './pods-by-node.ts'
import { planRoll } from './rolling-update.ts'
import { countsOf, writeCounts } from './status.ts'

interface DaemonSetSettings {
  readonly decide: DecideNode
  readonly failedPods: FailedPodBackoff
}

/** What the steps after the history share. */
interface Sync {
  readonly observed: ObservedDaemonSet
  readonly settings: DaemonSetSettings
  readonly nodes: readonly Node[]
  readonly hash: string
  readonly old: readonly ControllerRevision[]
  claimPods(): Reconcile<Claimed<Pod>>
}

export function* reconcile(observed: ObservedDaemonSet, settings: DaemonSetSettings): Reconcile {
  const { daemonSet } = observed
  // 3.
  const nodes = observed.nodes()
  // 4.
  if (selectsEverything(daemonSet)) {
    yield* recordEvent(daemonSet, 'Warning', SELECTING_ALL, SELECTING_ALL_TEXT)
    return
  }
  // 5. Its pods are the garbage collector's.
  if (isTerminating(daemonSet)) return
  // 6.
  const matches = selecting(daemonSet)
  const claimPods = (): Reconcile<Claimed<Pod>> =>
    claim(
      { owner: daemonSet, ownerType: resources.daemonsets, type: resources.pods, matches },
      observed.pods(),
    )
  const revisions = observed.revisions()
  const history = yield* constructHistory({ daemonSet, matches, revisions, claimPods })
  if (!history.ok) return { error: history.error }
  // By its label in the cache a pod would be old; its event brings the key back.
  if (history.podsRelabelled) return
  const hash = history.current.metadata?.labels?.[HASH_LABEL] ?? ''
  const sync: Sync = { observed, settings, nodes, hash, old: history.old, claimPods }
  // 7.
  if (!observed.expectationsMet()) return yield* status(sync, { observesGeneration: false })
  // 8. to 10.
  const changed = yield* change(sync)
  // 11.
  const written = yield* status(sync, { observesGeneration: true })
  if (changed.error !== undefined) return { error: changed.error }
  if (written.error !== undefined) return written
  const requeueAfterMs = soonest(
    changed.requeueAfterMs,
    written.requeueAfterMs,
    borrowedRecheckMs(history.current, daemonSet),
  )
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

interface Step {
  readonly error?: unknown
  readonly requeueAfterMs?: number
}

function* change(sync: Sync): Reconcile<Step> {
  const { observed, nodes, hash, old, claimPods } = sync
  const { key, daemonSet } = observed
  const { decide, failedPods } = sync.settings
  const claimed = yield* claimPods()
  if (claimed.error !== undefined) return { error: claimed.error }
  // 8.
  const input = { daemonSet, hash, nodes, decide, nowMs: yield* currentTimeMs() }
  const pods = podsByNode(claimed.objects)
  const plan = planNodes({ ...input, pods, failedPods })
  for (const { pod, node } of plan.ended) {
    if (pod.status?.phase === 'Failed')
      yield* recordEvent(daemonSet, 'Warning', FAILED_POD, failedPodText(pod, node))
    else yield* recordEvent(daemonSet, 'Normal', SUCCEEDED_POD, succeededPodText(pod, node))
  }
  const requeue = plan.waitMs === undefined ? {} : { requeueAfterMs: plan.waitMs }
  const target = { key, daemonSet, hash }
  const managed = yield* applyChanges(target, plan)
  if (managed !== undefined) return { error: managed }
  // 9. What was just asked for must be seen first, or its nodes would count as empty.
  if (daemonSet.spec?.updateStrategy?.type === 'RollingUpdate' && observed.expectationsMet()) {
    const rolled = yield* roll(sync)
    if (rolled !== undefined) return { error: rolled }
  }
  // 10.
  const cleaned = yield* cleanUpHistory(daemonSet, old, claimed.objects)
  return cleaned === undefined ? requeue : { error: cleaned }
}

function* roll({ observed, settings, nodes, hash, claimPods }: Sync): Reconcile<unknown> {
  const { key, daemonSet, nodeNamed } = observed
  const claimed = yield* claimPods()
  if (claimed.error !== undefined) return claimed.error
  const pods = podsByNode(claimed.objects)
  const nowMs = yield* currentTimeMs()
  const { decide } = settings
  try {
    const plan = planRoll({ daemonSet, hash, nodes, pods, decide, nodeNamed, nowMs })
    return yield* applyChanges({ key, daemonSet, hash }, plan)
  } catch (error) {
    return error
  }
}

function* status(
  { observed, settings, nodes, hash, claimPods }: Sync,
  options: { readonly observesGeneration: boolean },
): Reconcile<Step> {
  const { daemonSet } = observed
  const claimed = yield* claimPods()
  if (claimed.error !== undefined) return { error: claimed.error }
  const pods = podsByNode(claimed.objects)
  const nowMs = yield* currentTimeMs()
  const counts = countsOf({ daemonSet, hash, nodes, pods, decide: settings.decide, nowMs })
  const error = yield* writeCounts(daemonSet, counts, options)
  if (error !== undefined) return { error }
  // Pods become available without an event; nobody else would look again.
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0
  if (minReadySeconds > 0 && counts.numberReady !== counts.numberAvailable)
    return { requeueAfterMs: minReadySeconds * 1000 }
  // Counts leave out a new pod beside an old one. The look that its event asked for is lost with the manager, and comes too soon
  // where the clock of a kubelet is ahead.
  const staying = claimed.objects.filter((pod) => !isTerminating(pod))
  const waitMs = nextAvailabilityCheckOfMs(staying, minReadySeconds, nowMs, nowMs)
  return waitMs === undefined ? {} : { requeueAfterMs: waitMs }
}

function selectsEverything({ spec }: DaemonSet): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {}
  if (spec?.selector === undefined) return false
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0
}

function selecting({ spec }: DaemonSet): (object: KubernetesObject) => boolean {
  const query = selectorQuery(spec?.selector)
  return ({ metadata }) => query.matches(metadata?.labels)
}

function soonest(...waitsMs: readonly (number | undefined)[]): number | undefined {
  const known = waitsMs.filter((waitMs) => waitMs !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
