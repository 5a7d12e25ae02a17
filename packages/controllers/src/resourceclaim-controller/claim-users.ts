/**
 * Pods, and PodGroups whose pods share claims (gate DRAWorkloadResourceClaims), as those who name claims.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Claims of PodGroups.
 */
import {
  POD_GROUPS,
  apiVersionOf,
  isPodFinished,
  podClaimName,
  podGroupNameOf,
  resources,
} from '@gyropilot/api'
import type {
  ClaimUser,
  OwnerReference,
  Pod,
  PodClaimName,
  PodGroup,
  PodResourceClaim,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimTemplate,
  ResourceType,
} from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'

export type UserType = ResourceType<ClaimUser>

/** Someone who names claims, and what of the cache has to do with them. */
export interface ObservedUser {
  readonly type: UserType
  readonly user: ClaimUser
  /** It needs no other claim in the place of one that is gone. */
  readonly isOver: boolean
  claimNamed(name: string): ResourceClaim | undefined
  templateNamed(name: string): ResourceClaimTemplate | undefined
  /** Cached claims that the user controls. */
  ownClaims(): readonly ResourceClaim[]
}

/** Undefined name: the entry needs no claim. `isNew`: the status does not say it yet. */
export type Entry = { readonly name: string | undefined; readonly isNew: boolean }

/** The PodGroup that shares its claims with a pod. `unknown`: the pod names one that is not cached, whose event is waited for. */
export type SharingGroup = PodGroup | 'unknown' | undefined

/** `groups`: absent with the gate off. */
export function sharingGroupOf(pod: Pod, groups: Lister<PodGroup> | undefined): SharingGroup {
  const name = podGroupNameOf(pod)
  if (groups === undefined || name === undefined) return undefined
  return groups.get(pod.metadata?.namespace, name) ?? 'unknown'
}

/** The group has the very same entry: its claim is the pod's, too. */
export function isShared(group: PodGroup | undefined, entry: PodResourceClaim): group is PodGroup {
  return (
    group?.spec?.resourceClaims?.some(
      ({ name, resourceClaimName, resourceClaimTemplateName }) =>
        name === entry.name &&
        resourceClaimName === entry.resourceClaimName &&
        resourceClaimTemplateName === entry.resourceClaimTemplateName,
    ) === true
  )
}

/** Whose claim an entry of the pod means. */
export function userOfEntry(
  pod: Pod,
  group: PodGroup | undefined,
  entry: PodResourceClaim,
): Pick<ObservedUser, 'type' | 'user'> {
  return isShared(group, entry)
    ? { type: POD_GROUPS, user: group }
    : { type: resources.pods, user: pod }
}

/** The claim of a shared entry. Undefined: it was named by a user, or the group has none yet, whose event will tell. */
export function sharedClaim(pod: Pod, group: PodGroup, entry: PodResourceClaim): Entry | undefined {
  if (entry.resourceClaimTemplateName === undefined) return undefined
  const recorded = podClaimName(pod, entry)
  const ofGroup = podClaimName(group, entry)
  if (recorded.state === 'unresolved')
    return ofGroup.state === 'unresolved' ? undefined : { name: nameOf(ofGroup), isNew: true }
  const isKept = ofGroup.state === 'unresolved' || isPodFinished(pod)
  const name = nameOf(isKept ? recorded : ofGroup)
  return { name, isNew: name !== nameOf(recorded) }
}

function nameOf(resolved: PodClaimName): string | undefined {
  return resolved.state === 'named' ? resolved.name : undefined
}

/** As an entry of `status.reservedFor`. */
export function consumerOf(
  type: UserType,
  { metadata }: ClaimUser,
): ResourceClaimConsumerReference {
  const { name = '', uid = '' } = metadata ?? {}
  return { ...(type.group !== '' && { apiGroup: type.group }), resource: type.resource, name, uid }
}

/** Without `blockOwnerDeletion`. */
export function ownerOf(type: UserType, { metadata }: ClaimUser): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {}
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, controller: true }
}

/** The type of who is named by an owner reference or as a consumer. Undefined: nobody whose claims are made here. */
export function typeOfOwner({
  apiVersion,
  kind,
}: Pick<OwnerReference, 'apiVersion' | 'kind'>): UserType | undefined {
  return USER_TYPES.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion)
}

export function typeOfConsumer({
  apiGroup = '',
  resource,
}: ResourceClaimConsumerReference): UserType | undefined {
  return USER_TYPES.find((type) => type.resource === resource && type.group === apiGroup)
}

const USER_TYPES: readonly UserType[] = [resources.pods, POD_GROUPS]
