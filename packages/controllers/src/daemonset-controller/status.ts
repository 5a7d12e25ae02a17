/**
 * Status of a DaemonSet.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Status and conditions.
 */
import { isPodAvailable, isPodReady, resources } from '@gyropilot/api'
import type { DaemonSet, DaemonSetStatus, Node, Pod } from '@gyropilot/api'
import { getLive, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { compareDaemonPods, isUpdatedTo } from './daemon-pod.ts'
import type { DecideNode } from './node-decision.ts'
import type { PodsByNode } from './pods-by-node.ts'

/** What is counted anew each time. */
export type Counts = Required<
  Omit<DaemonSetStatus, 'collisionCount' | 'conditions' | 'observedGeneration'>
>

interface CountInput {
  readonly daemonSet: DaemonSet
  readonly hash: string
  readonly nodes: readonly Node[]
  readonly pods: PodsByNode
  readonly decide: DecideNode
  readonly nowMs: number
}

/** Of several pods of a node the first counts: bound before waiting, then the oldest. */
export function countsOf({ daemonSet, hash, nodes, pods, decide, nowMs }: CountInput): Counts {
  const isUpdated = isUpdatedTo(daemonSet, hash)
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0
  let [desired, current, misscheduled, ready, available, updated] = [0, 0, 0, 0, 0, 0]
  for (const node of nodes) {
    const pod = first(pods.get(node.metadata?.name ?? ''))
    if (!decide(daemonSet, node).shouldRun) {
      if (pod !== undefined) misscheduled += 1
      continue
    }
    desired += 1
    if (pod === undefined) continue
    current += 1
    if (isPodReady(pod)) ready += 1
    if (isPodAvailable(pod, minReadySeconds, nowMs)) available += 1
    if (isUpdated(pod)) updated += 1
  }
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  }
}

function first(pods: readonly Pod[] | undefined): Pod | undefined {
  if (pods === undefined || pods.length <= 1) return pods?.[0]
  return pods.toSorted(compareDaemonPods)[0]
}

/**
 * Writes the counts if they changed, after a refusal once more on the live object. The generation
 * counts as observed only by a sync that could act on it. Answers the error, if any.
 */
export function* writeCounts(
  daemonSet: DaemonSet,
  counts: Counts,
  options: { readonly observesGeneration: boolean },
): Reconcile<unknown> {
  const generation = options.observesGeneration ? daemonSet.metadata?.generation : undefined
  if (isCurrent(daemonSet, counts, generation)) return undefined
  const written = yield* write(
    updateStatus(resources.daemonsets, withCounts(daemonSet, counts, generation)),
  )
  if (written.ok) return undefined
  const { namespace, name = '', uid } = daemonSet.metadata ?? {}
  const live = yield* getLive(resources.daemonsets, namespace, name)
  if (!live.ok) return live.error
  // A namesake would have a generation as observed that it has not come to.
  if (live.object.metadata?.uid !== uid) return written.error
  const again = yield* write(
    updateStatus(resources.daemonsets, withCounts(live.object, counts, generation)),
  )
  return again.ok ? undefined : again.error
}

function isCurrent({ status }: DaemonSet, counts: Counts, generation: number | undefined): boolean {
  const known = status as Partial<Counts> | undefined
  const isSame = (Object.keys(counts) as (keyof Counts)[]).every(
    (name) => (known?.[name] ?? 0) === counts[name],
  )
  return isSame && (status?.observedGeneration ?? 0) >= (generation ?? 0)
}

/** Three of the counts are absent when they are zero. */
function withCounts(
  daemonSet: DaemonSet,
  counts: Counts,
  generation: number | undefined,
): DaemonSet {
  const { updatedNumberScheduled, numberAvailable, numberUnavailable, ...always } = counts
  const { collisionCount, conditions, observedGeneration = 0 } = daemonSet.status ?? {}
  const observed = generation ?? observedGeneration
  const status: DaemonSetStatus = {
    ...always,
    ...(observed === 0 ? {} : { observedGeneration: observed }),
    ...(updatedNumberScheduled === 0 ? {} : { updatedNumberScheduled }),
    ...(numberAvailable === 0 ? {} : { numberAvailable }),
    ...(numberUnavailable === 0 ? {} : { numberUnavailable }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined ? {} : { conditions }),
  }
  return { ...daemonSet, status }
}
