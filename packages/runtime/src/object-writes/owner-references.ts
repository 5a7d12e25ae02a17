/** Contract: docs/behaviour/runtime/custom-controllers.md, Helpers. */
import type { KubernetesObject, OwnerReference, ResourceType } from '@gyropilot/api'
import { apiVersionOf, controllerOf, newControllerRef } from '@gyropilot/api'
import { controllerErrors } from '../builder/errors.ts'

type OwnerType = Pick<ResourceType, 'group' | 'version' | 'kind'>

/** An object that one controller owns cannot be given to another. */
export class AlreadyOwnedError extends Error {
  readonly object: KubernetesObject
  readonly owner: OwnerReference

  constructor(object: KubernetesObject, owner: OwnerReference) {
    const { namespace = '', name = '' } = object.metadata ?? {}
    super(
      `Object ${namespace}/${name} is already owned by another ${owner.kind} controller ${owner.name}`,
    )
    this.name = 'AlreadyOwnedError'
    this.object = object
    this.owner = owner
  }
}

/** The garbage collector waits with a foreground deletion for dependents that block it. */
export interface OwnerReferenceOptions {
  /** Default: true for a controller reference, absent for others. */
  readonly blockOwnerDeletion?: boolean
}

/**
 * The object with `owner` as its controller. A reference to an owner of the same group, kind and name is replaced, so that
 * uid and version are fresh. Throws AlreadyOwnedError, or OWNER_INVALID for an owner in another namespace.
 */
export function withControllerReference<T extends KubernetesObject>(
  object: T,
  owner: KubernetesObject,
  type: OwnerType,
  options: OwnerReferenceOptions = {},
): T {
  checkScopes(object, owner)
  const reference = { ...newControllerRef(owner, type), ...options }
  const controller = controllerOf(object)
  if (controller !== undefined && !isSameOwner(controller, reference))
    throw new AlreadyOwnedError(object, controller)
  return withReference(object, reference)
}

/** The object with `owner` as one of its owners: it goes when all of them are gone. */
export function withOwner<T extends KubernetesObject>(
  object: T,
  owner: KubernetesObject,
  type: OwnerType,
  options: OwnerReferenceOptions = {},
): T {
  checkScopes(object, owner)
  return withReference(object, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
    ...options,
  })
}

/** A reference to an owner of this group, kind and name is there; version and uid do not matter. */
export function hasOwner(
  object: KubernetesObject,
  owner: KubernetesObject,
  type: OwnerType,
): boolean {
  return referenceTo(object, owner, type) !== undefined
}

/** Some owner is its controller. */
export function hasControllerReference(object: KubernetesObject): boolean {
  return controllerOf(object) !== undefined
}

/** Throws OWNER_INVALID when there is no such reference. */
export function withoutOwner<T extends KubernetesObject>(
  object: T,
  owner: KubernetesObject,
  type: OwnerType,
): T {
  const references = object.metadata?.ownerReferences ?? []
  if (references.length === 0) {
    throw controllerErrors.make(
      'OWNER_INVALID',
      `${kindOf(object)} does not have any owner references`,
    )
  }
  const reference = referenceTo(object, owner, type)
  if (reference === undefined) {
    throw controllerErrors.make(
      'OWNER_INVALID',
      `${kindOf(object)} does not have an owner reference for ${type.kind}`,
    )
  }
  const ownerReferences = references.filter((existing) => existing !== reference)
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** As `withoutOwner`; the reference must be the controlling one. */
export function withoutControllerReference<T extends KubernetesObject>(
  object: T,
  owner: KubernetesObject,
  type: OwnerType,
): T {
  const reference = referenceTo(object, owner, type)
  if (reference !== undefined && reference.controller !== true) {
    throw controllerErrors.make(
      'OWNER_INVALID',
      `${type.kind} owner is not the controller reference for ${kindOf(object)}`,
    )
  }
  return withoutOwner(object, owner, type)
}

function referenceTo(
  object: KubernetesObject,
  owner: KubernetesObject,
  type: OwnerType,
): OwnerReference | undefined {
  const wanted = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: owner.metadata?.name ?? '',
  }
  return object.metadata?.ownerReferences?.find((reference) => isSameOwner(reference, wanted))
}

function withReference<T extends KubernetesObject>(object: T, reference: OwnerReference): T {
  const references = object.metadata?.ownerReferences ?? []
  const index = references.findIndex((existing) => isSameOwner(existing, reference))
  const ownerReferences = index < 0 ? [...references, reference] : references.with(index, reference)
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** By group, kind and name: versions change and names come again with another uid. */
function isSameOwner(
  a: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>,
  b: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>,
): boolean {
  return a.name === b.name && a.kind === b.kind && groupOf(a.apiVersion) === groupOf(b.apiVersion)
}

/** `apps` of `apps/v1`, empty for `v1`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

function checkScopes(object: KubernetesObject, owner: KubernetesObject): void {
  const ownerNamespace = owner.metadata?.namespace
  if (!ownerNamespace) return
  const namespace = object.metadata?.namespace
  if (!namespace) {
    throw controllerErrors.make(
      'OWNER_INVALID',
      `cluster-scoped resource must not have a namespace-scoped owner, owner's namespace ${ownerNamespace}`,
    )
  }
  if (namespace !== ownerNamespace) {
    throw controllerErrors.make(
      'OWNER_INVALID',
      `cross-namespace owner references are disallowed, owner's namespace ${ownerNamespace}, obj's namespace ${namespace}`,
    )
  }
}

function kindOf(object: KubernetesObject): string {
  return object.kind ?? 'object'
}
