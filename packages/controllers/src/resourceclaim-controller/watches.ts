/**
 * Which pods and claims an event concerns.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Watches and keys.
 */
import { keyOf, podClaimNames, resources } from '@gyropilot/api'
import type { Pod, ResourceClaim, ResourceClaimTemplate } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Lister, Watch } from '@gyropilot/runtime'
import { claimKey, podKey } from './keys.ts'
import { isPodDone, needsWork, usesClaims } from './pod-state.ts'
import { podsNamingClaim, podsNamingTemplate } from './pod-indexes.ts'

interface Caches {
  readonly pods: Lister<Pod>
  readonly claims: Lister<ResourceClaim>
}

/** Told of what comes by, beside the keys. */
export interface Witness {
  podGone(uid: string): void
  /** The cache has it now, or no longer. */
  claimSeen(key: string): void
}

export function podWatch({ claims }: Caches, witness: Pick<Witness, 'podGone'>): Watch<Pod> {
  const gone = (pod: Pod | undefined): readonly string[] => {
    if (pod === undefined || !usesClaims(pod)) return []
    witness.podGone(pod.metadata?.uid ?? '')
    return claimKeysOf(pod)
  }
  return {
    type: resources.pods,
    onAdd: (pod) => keysOfPod(pod, claims),
    // Another pod under the name: the old one is gone, and nobody says so.
    onUpdate: (previous, pod) =>
      previous.metadata?.uid === pod.metadata?.uid
        ? keysOfPod(pod, claims)
        : new Set([...gone(previous), ...keysOfPod(pod, claims)]),
    onDelete: (deleted) => gone(lastKnown(deleted)),
  }
}

export function claimWatch(
  { pods, claims }: Caches,
  witness: Pick<Witness, 'claimSeen'>,
): Watch<ResourceClaim> {
  const users = (key: string): readonly string[] =>
    podsNamingClaim(pods, key).flatMap((pod) => keysOfPod(pod, claims))
  const changed = (claim: ResourceClaim): readonly string[] => {
    const key = keyOf(claim)
    witness.claimSeen(key)
    return [claimKey(key), ...users(key)]
  }
  return {
    type: resources.resourceclaims,
    onAdd: changed,
    onUpdate: (_, claim) => changed(claim),
    onDelete(deleted) {
      const key = deleted instanceof DeletedFinalStateUnknown ? deleted.key : keyOf(deleted)
      witness.claimSeen(key)
      return users(key)
    },
  }
}

export function templateWatch({ pods, claims }: Caches): Watch<ResourceClaimTemplate> {
  const users = (template: ResourceClaimTemplate): readonly string[] =>
    podsNamingTemplate(pods, keyOf(template)).flatMap((pod) => keysOfPod(pod, claims))
  return {
    type: resources.resourceclaimtemplates,
    onAdd: users,
    onUpdate: (_, template) => users(template),
  }
}

function keysOfPod(pod: Pod, claims: Lister<ResourceClaim>): readonly string[] {
  if (!usesClaims(pod)) return []
  const claimNamed = (name: string) => claims.get(pod.metadata?.namespace, name)
  return [
    ...(isPodDone(pod) ? claimKeysOf(pod) : []),
    ...(needsWork(pod, claimNamed) ? [podKey(keyOf(pod))] : []),
  ]
}

function claimKeysOf(pod: Pod): readonly string[] {
  return podClaimNames(pod).map((name) => claimKey(`${pod.metadata?.namespace}/${name}`))
}

function lastKnown(deleted: Pod | DeletedFinalStateUnknown<Pod>): Pod | undefined {
  return deleted instanceof DeletedFinalStateUnknown ? deleted.object : deleted
}
