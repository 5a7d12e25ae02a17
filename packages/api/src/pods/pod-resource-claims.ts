/**
 * Which ResourceClaims a pod uses, and which claims are for it.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, Watches and keys.
 */
import type { Pod, PodResourceClaim } from '../generated/core-v1.ts'
import type { ResourceClaim } from '../generated/resource-v1.ts'
import { isControlledBy } from '../ownership/owner-references.ts'

/** `true` on claims that the scheduler made for extended resources. */
export const EXTENDED_CLAIM_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim'

/** What the status of a pod says about an entry of its `spec.resourceClaims`. */
export type PodClaimName =
  | { readonly state: 'named'; readonly name: string; readonly isGenerated: boolean }
  /** It was found out that the entry needs none. */
  | { readonly state: 'not-needed' }
  | { readonly state: 'unresolved'; readonly problem: string }

export function podClaimName(pod: Pod, entry: PodResourceClaim): PodClaimName {
  if (entry.resourceClaimName !== undefined)
    return { state: 'named', name: entry.resourceClaimName, isGenerated: false }
  if (entry.resourceClaimTemplateName === undefined)
    return unresolved(pod, 'none of the supported fields are set')
  const recorded = pod.status?.resourceClaimStatuses?.find(({ name }) => name === entry.name)
  if (recorded === undefined) return unresolved(pod, 'ResourceClaim not created yet')
  const name = recorded.resourceClaimName
  return name === undefined ? { state: 'not-needed' } : { state: 'named', name, isGenerated: true }
}

function unresolved({ metadata }: Pod, problem: string): PodClaimName {
  return {
    state: 'unresolved',
    problem: `pod "${metadata?.namespace}/${metadata?.name}": ${problem}`,
  }
}

/** Names of the claims in its namespace that a pod is known to use, also the one for its extended resources. */
export function podClaimNames(pod: Pod): readonly string[] {
  const names = (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const resolved = podClaimName(pod, entry)
    return resolved.state === 'named' ? [resolved.name] : []
  })
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  return extended === undefined ? names : [...names, extended]
}

/** Made for this very pod: not for an earlier one of its name. */
export function isClaimFor(claim: ResourceClaim, pod: Pod): boolean {
  return claim.metadata?.namespace === pod.metadata?.namespace && isControlledBy(claim, pod)
}

/** Decided by uid alone. */
export function isReservedFor(claim: ResourceClaim, pod: Pod): boolean {
  return claim.status?.reservedFor?.some(({ uid }) => uid === pod.metadata?.uid) === true
}
