/** One sync of a claim. Step numbers are those of docs/behaviour/controllers/resourceclaim-controller.md, claim key. */
import {
  controllerOf,
  hasFinalizer,
  isTerminating,
  resources,
  withoutFinalizer,
} from '@gyropilot/api'
import type { Pod, ResourceClaim, ResourceClaimConsumerReference } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { getLive, remove, update, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { FINALIZER } from './config.ts'
import { isPodDone } from './pod-state.ts'

export interface ObservedClaim {
  readonly kind: 'claim'
  readonly claim: ResourceClaim
  /** Cached, of the claim's namespace. */
  podNamed(name: string): Pod | undefined
  /** Whether a pod of this uid was seen to be deleted. */
  isRememberedGone(podUid: string): boolean
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
  const { apiGroup = '', resource, name, uid } = consumer
  if (apiGroup !== '' || resource !== 'pods') return true
  const cached = observed.podNamed(name)
  return cached?.metadata?.uid === uid ? !isPodDone(cached) : yield* isThere(name, uid, observed)
}

/** For a pod that is not cached under its name, or not it: the cache may be behind the claim, and only the server knows. */
function* isThere(
  name: string,
  uid: string,
  { claim, isRememberedGone }: ObservedClaim,
): Reconcile<boolean | Error> {
  if (isRememberedGone(uid)) return false
  const live = yield* getLive(resources.pods, claim.metadata?.namespace, name)
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

/** Of a claim made for a pod that is done, or that has a successor of its name. One that is not cached is left to garbage collection. */
function* isOwnerOver(observed: ObservedClaim): Reconcile<boolean | Error> {
  const owner = controllerOf(observed.claim)
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Pod') return false
  const cached = observed.podNamed(owner.name)
  if (cached === undefined) return false
  if (cached.metadata?.uid === owner.uid) return isPodDone(cached)
  const lives = yield* isThere(owner.name, owner.uid, observed)
  return lives instanceof Error ? lives : !lives
}
