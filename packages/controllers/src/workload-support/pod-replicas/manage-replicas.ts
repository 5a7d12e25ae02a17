/**
 * Brings the number of pods to spec.replicas: creates in slow-start batches, or deletes the pods
 * that are missed least.
 * Contract: docs/behaviour/controllers/replicaset-controller.md, Manage replicas.
 */
import { isPodActive } from '@gyropilot/api'
import type { Pod, ResourceType } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { currentTimeMs } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { sortForDeletion } from '../deletion-ranking.ts'
import { createPods, deletePods, isNamespaceTerminating, podFromTemplate } from '../pod-control.ts'
import type { ObservedReplicas } from './observe.ts'
import type { ReplicaOwner, ReplicaOwnerKind } from './replica-owner.ts'

/** Most pods that one sync creates, or deletes. */
export const BURST_REPLICAS = 500

export interface ManageReplicasSettings {
  readonly burstReplicas: number
  /** Feature gate PodDeletionCost. */
  readonly deletionCost: boolean
  /** Told when pods were refused because the namespace is being emptied. */
  onNamespaceTerminating?(owner: ReplicaOwner): void
  /** Told of the pods that a sort chose. */
  onSortedDeletion?(all: readonly Pod[], chosen: readonly Pod[], nowMs: number): void
}

/** Returns the first error. */
export function* manageReplicas<Owner extends ReplicaOwner>(
  observed: ObservedReplicas<Owner>,
  pods: readonly Pod[],
  { type }: ReplicaOwnerKind<Owner>,
  settings: ManageReplicasSettings,
): Reconcile<unknown> {
  const difference = pods.length - (observed.owner.spec?.replicas ?? 1)
  if (difference < 0)
    return yield* createMissing(
      observed,
      Math.min(-difference, settings.burstReplicas),
      type,
      settings,
    )
  if (difference > 0)
    return yield* deleteSurplus(
      observed,
      pods,
      Math.min(difference, settings.burstReplicas),
      settings,
    )
  return undefined
}

function* createMissing(
  { key, owner }: ObservedReplicas,
  count: number,
  ownerType: ResourceType,
  settings: ManageReplicasSettings,
): Reconcile<unknown> {
  const pod = podFromTemplate(owner.spec?.template ?? {}, owner, ownerType)
  const outcomes = yield* createPods(owner, Array<Pod>(count).fill(pod), key)
  if (outcomes.some((outcome) => !outcome.ok && isNamespaceTerminating(outcome.error)))
    settings.onNamespaceTerminating?.(owner)
  return firstError(outcomes, isNamespaceTerminating)
}

function* deleteSurplus(
  observed: ObservedReplicas,
  pods: readonly Pod[],
  count: number,
  settings: ManageReplicasSettings,
): Reconcile<unknown> {
  let chosen = pods
  if (count < pods.length) {
    const nowMs = yield* currentTimeMs()
    const rankOf = rankByNode(observed.relatedPods())
    const sorted = sortForDeletion(pods, { rankOf, nowMs, deletionCost: settings.deletionCost })
    chosen = sorted.slice(0, count)
    settings.onSortedDeletion?.(sorted, chosen, nowMs)
  }
  const outcomes = yield* deletePods(observed.owner, chosen, observed.key)
  return firstError(outcomes, isNotFound)
}

/** How many active related pods share the pod's node; pods without a node share the empty name. */
function rankByNode(relatedPods: readonly Pod[]): (pod: Pod) => number {
  const counts = new Map<string, number>()
  for (const pod of relatedPods) {
    if (!isPodActive(pod)) continue
    const node = pod.spec?.nodeName ?? ''
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  return (pod) => counts.get(pod.spec?.nodeName ?? '') ?? 0
}

function firstError(outcomes: readonly Outcome[], ignored: (error: unknown) => boolean): unknown {
  for (const outcome of outcomes) if (!outcome.ok && !ignored(outcome.error)) return outcome.error
  return undefined
}
