/** One sync of a PodGroup: the claims that its pods share. Contract: docs/behaviour/controllers/resourceclaim-controller.md, podgroup key. */
import { isTerminating, podClaimName } from '@gyropilot/api'
import type { PodGroup, ResourceClaim } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import type { ObservedUser } from './claim-users.ts'
import { ensureClaim, ensureClaims, recordClaims } from './user-claims.ts'
import type { ClaimTools } from './user-claims.ts'

export interface ObservedGroup extends ObservedUser {
  readonly kind: 'podgroup'
  readonly user: PodGroup
}

export function* syncGroup(observed: ObservedGroup, tools: ClaimTools): Reconcile {
  if (isTerminating(observed.user)) return
  const claims = yield* ensureClaims(observed, (entry) => ensureClaim(observed, entry, tools))
  if ('error' in claims) return claims
  const error = yield* recordClaims(observed, claims)
  if (error !== undefined) return { error }
}

/** A claim is to be made or recorded for it, as far as the cache tells. */
export function groupNeedsWork(
  group: PodGroup,
  claimNamed: (name: string) => ResourceClaim | undefined,
): boolean {
  if (isTerminating(group)) return false
  return (group.spec?.resourceClaims ?? []).some((entry) => {
    const resolved = podClaimName(group, entry)
    if (resolved.state !== 'named') return resolved.state === 'unresolved'
    return resolved.isGenerated && claimNamed(resolved.name) === undefined
  })
}
