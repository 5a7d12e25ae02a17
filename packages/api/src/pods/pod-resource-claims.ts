/**
 * Which ResourceClaims a pod uses, and which claims are for it.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Watches and keys.
 */
import type { Pod, PodResourceClaim } from '../generated/core-v1.ts'
import type { ResourceClaim } from '../generated/resource-v1.ts'
import { isControlledBy } from '../ownership/owner-references.ts'
import type { PodGroup } from '../generated/scheduling-v1alpha2.ts'

/** Who names claims: a pod, or a PodGroup whose pods share them. */
export type ClaimUser = Pod | PodGroup

/** `true` on claims that the scheduler made for extended resources. */
export const EXTENDED_CLAIM_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim'

/** What the status of a pod, or of a PodGroup, says about an entry of its `spec.resourceClaims`. */
export type PodClaimName =
  | { readonly state: 'named'; readonly name: string; readonly isGenerated: boolean }
  /** It was found out that the entry needs none. */
  | { readonly state: 'not-needed' }
  | { readonly state: 'unresolved'; readonly problem: string }

export function podClaimName(user: ClaimUser, entry: PodResourceClaim): PodClaimName {
  if (entry.resourceClaimName !== undefined)
    return { state: 'named', name: entry.resourceClaimName, isGenerated: false }
  if (entry.resourceClaimTemplateName === undefined)
    return unresolved(user, 'none of the supported fields are set')
  const recorded = user.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)
  if (recorded === undefined) return unresolved(user, 'ResourceClaim not created yet')
  const name = recorded.resourceClaimName
  return name === undefined ? { state: 'not-needed' } : { state: 'named', name, isGenerated: true }
}

function unresolved({ metadata }: ClaimUser, problem: string): PodClaimName {
  return {
    state: 'unresolved',
    problem: `pod "${metadata?.namespace}/${metadata?.name}": ${problem}`,
  }
}

/** Names of the claims in its namespace that a pod or a PodGroup names, as far as they are made. */
export function namedClaims(user: ClaimUser): readonly string[] {
  return (user.spec?.resourceClaims ?? []).flatMap((entry) => {
    const resolved = podClaimName(user, entry)
    return resolved.state === 'named' ? [resolved.name] : []
  })
}

/** Names of the claims in its namespace that a pod is known to use, also the one for its extended resources. */
export function podClaimNames(pod: Pod): readonly string[] {
  const names = namedClaims(pod)
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  return extended === undefined ? names : [...names, extended]
}

/** Made for this very pod or PodGroup: not for an earlier one of its name. */
export function isClaimFor(claim: ResourceClaim, user: ClaimUser): boolean {
  return claim.metadata?.namespace === user.metadata?.namespace && isControlledBy(claim, user)
}

/** Decided by uid alone. */
export function isReservedFor(claim: ResourceClaim, user: ClaimUser): boolean {
  return claim.status?.reservedFor?.some(({ uid }) => uid === user.metadata?.uid) === true
}
