/**
 * Which pods, PodGroups and claims an event concerns.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Watches and keys.
 */
import { POD_GROUPS, keyOf, namedClaims, podClaimNames, resources } from '@gyropilot/api'
import type { ClaimUser, Pod, PodGroup, ResourceClaim, ResourceClaimTemplate } from '@gyropilot/api'
import { keyOfDeleted, lastStateOf } from '@gyropilot/runtime'
import type { Lister, Watch } from '@gyropilot/runtime'
import { podsOfGroup } from '../workload-support/group-pod-index.ts'
import { sharingGroupOf } from './claim-users.ts'
import { claimKey, podGroupKey, podKey } from './keys.ts'
import { isPodDone, needsWork, usesClaims } from './pod-state.ts'
import { groupNeedsWork } from './sync-group.ts'
import { usersOfClaim, usersOfTemplate } from './user-indexes.ts'

export interface Caches {
  readonly pods: Lister<Pod>
  readonly claims: Lister<ResourceClaim>
  /** Absent with the gate off. */
  readonly groups: Lister<PodGroup> | undefined
}

/** Told of what comes by, beside the keys. */
export interface Witness {
  /** A pod or a PodGroup. */
  userGone(uid: string): void
  /** The cache has it now, or no longer. */
  claimSeen(key: string): void
}

type Keys = readonly string[]

export function podWatch(caches: Caches, witness: Pick<Witness, 'userGone'>): Watch<Pod> {
  const keys = (pod: Pod): Keys => keysOfPod(pod, caches)
  return {
    type: resources.pods,
    ...userEvents(keys, (pod) => (usesClaims(pod) ? podClaimNames(pod) : undefined), witness),
  }
}

export function groupWatch(caches: Caches, witness: Pick<Witness, 'userGone'>): Watch<PodGroup> {
  const keys = (group: PodGroup): Keys => keysOfGroup(group, caches)
  return { type: POD_GROUPS, ...userEvents(keys, namedClaims, witness) }
}

/** `claimsOf`: undefined for who has to do with none. */
function userEvents<T extends ClaimUser>(
  keysOfUser: (user: T) => Keys,
  claimsOf: (user: T) => readonly string[] | undefined,
  witness: Pick<Witness, 'userGone'>,
): Required<Pick<Watch<T>, 'onAdd' | 'onUpdate' | 'onDelete'>> {
  const gone = (user: T | undefined): Keys => {
    const claims = user && claimsOf(user)
    if (claims === undefined) return []
    witness.userGone(user?.metadata?.uid ?? '')
    return claims.map((name) => claimKey(`${user?.metadata?.namespace}/${name}`))
  }
  return {
    onAdd: keysOfUser,
    // Another one under the name: the old one is gone, and nobody says so.
    onUpdate: (previous, user) =>
      previous.metadata?.uid === user.metadata?.uid
        ? keysOfUser(user)
        : new Set([...gone(previous), ...keysOfUser(user)]),
    onDelete: (deleted) => gone(lastStateOf(deleted)),
  }
}

export function claimWatch(
  caches: Caches,
  witness: Pick<Witness, 'claimSeen'>,
): Watch<ResourceClaim> {
  const users = (key: string): Keys => keysOfUsers(usersOfClaim, key, caches)
  const changed = (claim: ResourceClaim): Keys => {
    const key = keyOf(claim)
    witness.claimSeen(key)
    return [claimKey(key), ...users(key)]
  }
  return {
    type: resources.resourceclaims,
    onAdd: changed,
    onUpdate: (_, claim) => changed(claim),
    onDelete(deleted) {
      const key = keyOfDeleted(deleted)
      witness.claimSeen(key)
      return users(key)
    },
  }
}

export function templateWatch(caches: Caches): Watch<ResourceClaimTemplate> {
  const users = (template: ResourceClaimTemplate): Keys =>
    keysOfUsers(usersOfTemplate, keyOf(template), caches)
  return {
    type: resources.resourceclaimtemplates,
    onAdd: users,
    onUpdate: (_, template) => users(template),
  }
}

function keysOfUsers(
  usersOf: <T extends ClaimUser>(users: Lister<T>, key: string) => readonly T[],
  key: string,
  caches: Caches,
): Keys {
  const { pods, groups } = caches
  const ofPods = usersOf(pods, key).flatMap((pod) => keysOfPod(pod, caches))
  if (groups === undefined) return ofPods
  const ofGroups = usersOf(groups, key).flatMap((group) => keysOfGroup(group, caches))
  return [...new Set([...ofPods, ...ofGroups])]
}

function keysOfPod(pod: Pod, { claims, groups }: Caches): Keys {
  if (!usesClaims(pod)) return []
  const { namespace } = pod.metadata ?? {}
  const claimNamed = (name: string) => claims.get(namespace, name)
  const group = sharingGroupOf(pod, groups)
  return [
    ...(isPodDone(pod) ? podClaimNames(pod).map((name) => claimKey(`${namespace}/${name}`)) : []),
    ...(needsWork(pod, claimNamed, group) ? [podKey(keyOf(pod))] : []),
  ]
}

/** Its own, and those of the pods that may wait for it. */
function keysOfGroup(group: PodGroup, caches: Caches): Keys {
  const key = keyOf(group)
  const claimNamed = (name: string) => caches.claims.get(group.metadata?.namespace, name)
  return [
    ...(groupNeedsWork(group, claimNamed) ? [podGroupKey(key)] : []),
    ...podsOfGroup(caches.pods, key).flatMap((pod) => keysOfPod(pod, caches)),
  ]
}
