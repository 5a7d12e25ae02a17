/** One sync of a claim. Step numbers are those of docs/behaviour/controllers/resourceclaim-controller.md, claim key. */
import {
  controllerOf,
  hasFinalizer,
  isTerminating,
  resources,
  withoutFinalizer,
} from '@gyropilot/api'
import type { ClaimUser, Pod, ResourceClaim, ResourceClaimConsumerReference } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { getLive, remove, update, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { typeOfConsumer, typeOfOwner } from './claim-users.ts'
import type { UserType } from './claim-users.ts'
import { FINALIZER } from './config.ts'
import { isPodDone } from './pod-state.ts'

export interface ObservedClaim {
  readonly kind: 'claim'
  readonly claim: ResourceClaim
  /** Those cached of the claim's namespace, by name. Undefined: nobody looks at them, as at PodGroups with the gate off. */
  usersOf(type: UserType): ((name: string) => ClaimUser | undefined) | undefined
  /** Whether a pod or PodGroup of this uid was seen to be deleted. */
  isRememberedGone(userUid: string): boolean
}

type Consumers = readonly ResourceClaimConsumerReference[]

export function* syncClaim(observed: ObservedClaim): Reconcile {
  const { claim } = observed
  const consumers = claim.status?.reservedFor ?? []
  // 2.
  const kept: ResourceClaimConsumerReference[] = []
  for (const consumer of consumers) {
    const isKept = yield* isStillConsumer(consumer, observed)
    if (isKept instanceof Error) return { error: isKept }
    if (isKept) kept.push(consumer)
  }
  // 3.-4.
  const error = yield* release(claim, consumers, kept)
  if (error !== undefined) return { error }
  // 5.
  if (kept.length > 0 || isTerminating(claim)) return
  const isOver = yield* isOwnerOver(observed)
  if (isOver instanceof Error) return { error: isOver }
  if (!isOver) return
  const deleted = yield* write(remove(resources.resourceclaims, claim))
  // Gone by now is what was wanted.
  if (!deleted.ok && !isNotFound(deleted.error)) return { error: deleted.error }
}

function* isStillConsumer(
  consumer: ResourceClaimConsumerReference,
  observed: ObservedClaim,
): Reconcile<boolean | Error> {
  const type = typeOfConsumer(consumer)
  const userNamed = type && observed.usersOf(type)
  if (type === undefined || userNamed === undefined) return true
  const { name, uid } = consumer
  const cached = userNamed(name)
  return cached?.metadata?.uid === uid
    ? !isDone(type, cached!)
    : yield* isThere(type, name, uid, observed)
}

/** Of a PodGroup nobody but its deletion says so. */
function isDone(type: UserType, user: ClaimUser): boolean {
  return type === resources.pods && isPodDone(user as Pod)
}

/** For who is not cached under its name, or not it: the cache may be behind the claim, and only the server knows. */
function* isThere(
  type: UserType,
  name: string,
  uid: string,
  { claim, isRememberedGone }: ObservedClaim,
): Reconcile<boolean | Error> {
  if (isRememberedGone(uid)) return false
  const live = yield* getLive(type, claim.metadata?.namespace, name)
  if (live.ok) return live.object.metadata?.uid === uid
  if (isNotFound(live.error)) return false
  return live.error instanceof Error ? live.error : new Error(String(live.error))
}

function* release(claim: ResourceClaim, consumers: Consumers, kept: Consumers): Reconcile<unknown> {
  const isHeld = hasFinalizer(claim, FINALIZER)
  if (kept.length < consumers.length) {
    const released = yield* write(
      updateStatus(resources.resourceclaims, withConsumers(claim, kept, isHeld)),
    )
    if (!released.ok) return released.error
    return yield* dropFinalizer(released.object, kept)
  }
  if (!isHeld || !isTerminating(claim) || consumers.length > 0) return undefined
  if (claim.status?.allocation === undefined) return yield* dropFinalizer(claim, kept)
  const deallocated = yield* write(
    updateStatus(resources.resourceclaims, withConsumers(claim, kept, true)),
  )
  return deallocated.ok ? yield* dropFinalizer(deallocated.object, kept) : deallocated.error
}

/** The last consumer gone, its devices are free; but who does not hold the claim did not have them allocated for it. */
function withConsumers(claim: ResourceClaim, kept: Consumers, isHeld: boolean): ResourceClaim {
  const { reservedFor: _, allocation, ...rest } = claim.status ?? {}
  const keepsDevices = allocation !== undefined && !(kept.length === 0 && isHeld)
  return {
    ...claim,
    status: {
      ...rest,
      ...(keepsDevices && { allocation }),
      ...(kept.length > 0 && { reservedFor: kept }),
    },
  }
}

function* dropFinalizer(claim: ResourceClaim, kept: Consumers): Reconcile<unknown> {
  if (kept.length > 0 || claim.status?.allocation !== undefined) return undefined
  if (!hasFinalizer(claim, FINALIZER)) return undefined
  const updated = yield* write(update(resources.resourceclaims, withoutFinalizer(claim, FINALIZER)))
  return updated.ok ? undefined : updated.error
}

/** Of a claim made for who is done, or has a successor of its name. One that is not cached is left to garbage collection. */
function* isOwnerOver(observed: ObservedClaim): Reconcile<boolean | Error> {
  const owner = controllerOf(observed.claim)
  const type = owner && typeOfOwner(owner)
  if (owner === undefined || type === undefined) return false
  const cached = observed.usersOf(type)?.(owner.name)
  if (cached === undefined) return false
  if (cached.metadata?.uid === owner.uid) return isDone(type, cached)
  const lives = yield* isThere(type, owner.name, owner.uid, observed)
  return lives instanceof Error ? lives : !lives
}
