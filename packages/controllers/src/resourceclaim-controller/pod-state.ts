/** What of a pod decides about its claims. Pure. Contract: docs/behaviour/controllers/resourceclaim-controller.md. */
import {
  isClaimFor,
  isPodFinished,
  isReservedFor,
  isTerminating,
  podClaimName,
} from '@gyropilot/api'
import type { Pod, ResourceClaim } from '@gyropilot/api'
import { isShared, sharedClaim, userOfEntry } from './claim-users.ts'
import type { SharingGroup } from './claim-users.ts'

/** It neither uses its claims nor ever will: over, or deleted before it had a node. */
export function isPodDone(pod: Pod): boolean {
  return isPodFinished(pod) || (isTerminating(pod) && !pod.spec?.nodeName)
}

/** Has to do with claims at all. */
export function usesClaims({ spec, status }: Pod): boolean {
  return (
    (spec?.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined
  )
}

/** Something is to be made, recorded or reserved for it, as far as the cache tells. */
export function needsWork(
  pod: Pod,
  claimNamed: (name: string) => ResourceClaim | undefined,
  group?: SharingGroup,
): boolean {
  if (isTerminating(pod) || group === 'unknown') return false
  return (pod.spec?.resourceClaims ?? []).some((entry) => {
    const resolved = podClaimName(pod, entry)
    if (isShared(group, entry)) {
      // Claims of the group are made for its own key.
      if (sharedClaim(pod, group, entry)?.isNew === true) return true
    } else if (resolved.state === 'unresolved') return true
    if (resolved.state !== 'named') return false
    const claim = claimNamed(resolved.name)
    if (claim === undefined)
      return resolved.isGenerated && !isPodFinished(pod) && !isShared(group, entry)
    if (!wantsReservations(pod) || claim.status?.allocation === undefined) return false
    const { user } = userOfEntry(pod, group, entry)
    return !(resolved.isGenerated && !isClaimFor(claim, user)) && !isReservedFor(claim, user)
  })
}

/** It is on a node. What is reserved for a pod that is over would only be taken back, and the devices with it. */
export function wantsReservations(pod: Pod): boolean {
  return Boolean(pod.spec?.nodeName) && !isPodFinished(pod)
}
