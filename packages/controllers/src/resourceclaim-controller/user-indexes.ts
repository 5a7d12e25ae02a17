/** Pods and PodGroups by the claims and templates that they name, and claims by whom they were made for. */
import { controllerOf, namedClaims, podClaimNames } from '@gyropilot/api'
import type { ClaimUser, Pod, PodGroup, ResourceClaim } from '@gyropilot/api'
import type { IndexFunction, Informer, Lister } from '@gyropilot/runtime'
import { addGroupPodIndex } from '../workload-support/group-pod-index.ts'
import { typeOfOwner } from './claim-users.ts'

const CLAIM_INDEX = 'podResourceClaim'
const TEMPLATE_INDEX = 'podResourceClaimTemplate'
const OWNER_INDEX = 'resourceClaimOwner'

const claimsOfPod: IndexFunction<Pod> = (pod) =>
  podClaimNames(pod).map((name) => `${pod.metadata?.namespace}/${name}`)

const claimsOfGroup: IndexFunction<PodGroup> = (group) =>
  namedClaims(group).map((name) => `${group.metadata?.namespace}/${name}`)

const templatesOf: IndexFunction<ClaimUser> = ({ metadata, spec }) =>
  (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName }) =>
    resourceClaimTemplateName === undefined
      ? []
      : [`${metadata?.namespace}/${resourceClaimTemplateName}`],
  )

const ownerOfClaim: IndexFunction<ResourceClaim> = (claim) => {
  const owner = controllerOf(claim)
  return owner !== undefined && typeOfOwner(owner) !== undefined ? [owner.uid] : []
}

/** `groups`: absent with the gate off. */
export function addIndexes(
  pods: Informer<Pod>,
  claims: Informer<ResourceClaim>,
  groups: Informer<PodGroup> | undefined,
): void {
  pods.addIndex(CLAIM_INDEX, claimsOfPod)
  pods.addIndex(TEMPLATE_INDEX, templatesOf)
  claims.addIndex(OWNER_INDEX, ownerOfClaim)
  if (groups === undefined) return
  addGroupPodIndex(pods)
  groups.addIndex(CLAIM_INDEX, claimsOfGroup)
  groups.addIndex(TEMPLATE_INDEX, templatesOf)
}

export function usersOfClaim<T extends ClaimUser>(users: Lister<T>, key: string): readonly T[] {
  return users.byIndex(CLAIM_INDEX, key)
}

export function usersOfTemplate<T extends ClaimUser>(users: Lister<T>, key: string): readonly T[] {
  return users.byIndex(TEMPLATE_INDEX, key)
}

export function claimsMadeFor(
  claims: Lister<ResourceClaim>,
  userUid: string,
): readonly ResourceClaim[] {
  return claims.byIndex(OWNER_INDEX, userUid)
}
