/**
 * Claiming: which of the objects that a selector may match belong to a controller. Orphans that
 * match are adopted, owned objects that match no more are released.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Claim.
 */
import { isInvalid, isNotFound } from '@gyropilot/client'
import { controllerOf, newControllerRef } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { getLive, patch, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { aggregateErrors, messageOf } from './aggregate-error.ts'

interface ClaimRules<
  T extends KubernetesObject,
  Owner extends KubernetesObject = KubernetesObject,
> {
  /** The controller object, from the cache. */
  readonly owner: Owner
  readonly ownerType: ResourceType<Owner>
  /** Of the candidates. */
  readonly type: ResourceType<T>
  /** The selector first, then whatever else makes an object fit. */
  matches(object: T): boolean
  /** Set when adopting and removed when releasing. */
  readonly finalizers?: readonly string[]
  /** Adopted objects come as the server answered them, for owners that write them next, and not as candidates. */
  readonly asAnswered?: boolean
}

export interface Claimed<T> {
  /** In the order of the candidates. */
  readonly objects: readonly T[]
  /** All refused adoptions and releases as one. The sync should be given up. */
  readonly error?: unknown
}

/**
 * Goes through all candidates, also after an error. Before the first adoption the owner is read
 * live, once: the cache may still show an owner that is gone, and its pods must be left to its
 * successor.
 */
export function* claim<T extends KubernetesObject, Owner extends KubernetesObject>(
  rules: ClaimRules<T, Owner>,
  candidates: readonly T[],
): Reconcile<Claimed<T>> {
  const { owner } = rules
  const objects: T[] = []
  const errors: unknown[] = []
  let adoptionRefused: { readonly reason: Error | undefined } | undefined
  for (const candidate of candidates) {
    switch (claimOf(rules, candidate)) {
      case 'ignore':
        break
      case 'keep':
        objects.push(candidate)
        break
      case 'release': {
        const released = yield* write(releasing(rules, candidate))
        if (!released.ok && !isNotFound(released.error) && !isInvalid(released.error))
          errors.push(released.error)
        break
      }
      case 'adopt': {
        adoptionRefused ??= { reason: yield* whyNotToAdopt(owner, rules.ownerType) }
        if (adoptionRefused.reason !== undefined) {
          errors.push(cannotAdopt(rules.type, candidate, adoptionRefused.reason))
          break
        }
        const adopted = yield* write(adopting(rules, candidate))
        if (adopted.ok) objects.push(rules.asAnswered ? adopted.object : candidate)
        else if (!isNotFound(adopted.error)) errors.push(adopted.error)
      }
    }
  }
  return errors.length === 0 ? { objects } : { objects, error: aggregateErrors(errors) }
}

function claimOf<T extends KubernetesObject, Owner extends KubernetesObject>(
  rules: ClaimRules<T, Owner>,
  candidate: T,
): 'ignore' | 'keep' | 'release' | 'adopt' {
  const { owner } = rules
  const ownerIsBeingDeleted = owner.metadata?.deletionTimestamp !== undefined
  const reference = controllerOf(candidate)
  if (reference !== undefined) {
    if (reference.uid !== owner.metadata?.uid) return 'ignore'
    if (rules.matches(candidate)) return 'keep'
    return ownerIsBeingDeleted ? 'ignore' : 'release'
  }
  if (ownerIsBeingDeleted || candidate.metadata?.deletionTimestamp !== undefined) return 'ignore'
  const ownerNamespace = owner.metadata?.namespace
  if (ownerNamespace && ownerNamespace !== candidate.metadata?.namespace) return 'ignore'
  return rules.matches(candidate) ? 'adopt' : 'ignore'
}

/** The live recheck of the owner: undefined when nothing speaks against adopting. */
export function* whyNotToAdopt(
  owner: KubernetesObject,
  type: ResourceType,
): Reconcile<Error | undefined> {
  const { namespace, name, uid } = owner.metadata ?? {}
  const live = yield* getLive(type, namespace, name ?? '')
  const path = namespace ? `${namespace}/${name}` : name
  if (!live.ok) {
    return new Error(`can't recheck DeletionTimestamp: ${messageOf(live.error)}`, {
      cause: live.error,
    })
  }
  const { uid: liveUid, deletionTimestamp } = live.object.metadata ?? {}
  if (liveUid !== uid) {
    return new Error(
      `can't recheck DeletionTimestamp: original ${type.kind} ${path} is gone: got uid ${liveUid}, wanted ${uid}`,
    )
  }
  if (deletionTimestamp !== undefined)
    return new Error(`${path} has just been deleted at ${deletionTimestamp}`)
  return undefined
}

function cannotAdopt(type: ResourceType, object: KubernetesObject, reason: Error): Error {
  const { namespace, name, uid } = object.metadata ?? {}
  return new Error(`can't adopt ${type.kind} ${namespace}/${name} (${uid}): ${reason.message}`, {
    cause: reason,
  })
}

/**
 * The uid is a precondition: the server refuses with 422 when the name now belongs to another
 * object.
 */
export function adopting<T extends KubernetesObject, Owner extends KubernetesObject>(
  rules: Omit<ClaimRules<T, Owner>, 'matches'>,
  object: T,
) {
  const metadata = {
    uid: object.metadata?.uid,
    ownerReferences: [newControllerRef(rules.owner, rules.ownerType)],
    ...(rules.finalizers === undefined ? {} : { finalizers: rules.finalizers }),
  }
  return patch(rules.type, object, { type: 'strategic', value: { metadata } })
}

function releasing<T extends KubernetesObject, Owner extends KubernetesObject>(
  rules: ClaimRules<T, Owner>,
  object: T,
) {
  const metadata = {
    uid: object.metadata?.uid,
    ownerReferences: [{ $patch: 'delete', uid: rules.owner.metadata?.uid }],
    ...(rules.finalizers === undefined
      ? {}
      : { '$deleteFromPrimitiveList/finalizers': rules.finalizers }),
  }
  return patch(rules.type, object, { type: 'strategic', value: { metadata } })
}
