/** One sync of a pod. Step numbers are those of docs/behaviour/controllers/resourceclaim-controller.md, pod key. */
import {
  isClaimFor,
  isReservedFor,
  isTerminating,
  keyOf,
  podClaimName,
  resources,
} from '@gyropilot/api'
import type { ClaimUser, Pod, PodGroup, ResourceClaim } from '@gyropilot/api'
import { updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { consumerOf, isShared, sharedClaim, userOfEntry } from './claim-users.ts'
import type { ObservedUser, SharingGroup, UserType } from './claim-users.ts'
import { wantsReservations } from './pod-state.ts'
import { ensureClaim, ensureClaims, recordClaims } from './user-claims.ts'
import type { ClaimTools, Claims } from './user-claims.ts'

export interface ObservedPod extends ObservedUser {
  readonly kind: 'pod'
  readonly user: Pod
  readonly group: SharingGroup
}

export function* syncPod(observed: ObservedPod, tools: ClaimTools): Reconcile {
  const { user: pod, group } = observed
  // 1.
  if (isTerminating(pod) || group === 'unknown') return
  // 2.
  const claims = yield* ensureClaims(observed, function* (entry) {
    return isShared(group, entry)
      ? sharedClaim(pod, group, entry)
      : yield* ensureClaim(observed, entry, tools)
  })
  if ('error' in claims) return claims
  // 3.
  const error = yield* recordClaims(observed, claims)
  if (error !== undefined) return { error }
  // 4.
  if (wantsReservations(pod)) return yield* reserve(observed, group, claims)
}

/** 5. The scheduler reserves; this is for pods that came to their node without it. */
function* reserve(
  { user: pod, claimNamed }: ObservedPod,
  group: PodGroup | undefined,
  claims: Claims,
): Reconcile<Verdict | void> {
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const isGenerated = claims.has(entry.name)
    const name = isGenerated ? claims.get(entry.name)?.name : entry.resourceClaimName
    const { type, user } = userOfEntry(pod, group, entry)
    if (name === undefined) {
      const resolved = podClaimName(pod, entry)
      // What the group does not have yet its event will tell.
      if (resolved.state === 'unresolved' && user === pod)
        return { error: new Error(resolved.problem) }
      continue
    }
    const claim = claimNamed(name)
    if (claim === undefined) return
    if (isGenerated && !isClaimFor(claim, user)) return { error: notOurs(claim, type, user) }
    if (claim.status?.allocation === undefined || isReservedFor(claim, user)) continue
    const reservedFor = [...(claim.status.reservedFor ?? []), consumerOf(type, user)]
    const status = { ...claim.status, reservedFor }
    const reserved = yield* write(updateStatus(resources.resourceclaims, { ...claim, status }))
    if (!reserved.ok) return { error: reserved.error }
  }
}

function notOurs(claim: ResourceClaim, { kind }: UserType, user: ClaimUser): Error {
  const what = kind.toLowerCase()
  return new Error(
    `ResourceClaim ${keyOf(claim)} was not created for ${what} ${keyOf(user)} (${what} is not owner)`,
  )
}
