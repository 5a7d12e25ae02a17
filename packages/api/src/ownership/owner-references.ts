/** Ownership between objects. Contract: docs/behaviour/controllers/shared-controller-utils.md. */
import type { OwnerReference } from '../generated/meta-v1.ts'
import type { KubernetesObject } from '../object.ts'
import { type ResourceType, apiVersionOf } from '../resource-type.ts'

/** The one reference with `controller: true`. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller === true)
}

/** Decided by UID alone: an owner of the same name that was made anew is another one. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  const reference = controllerOf(object)
  return reference !== undefined && reference.uid === owner.metadata?.uid
}

/** Any reference to this owner, controlling or not. */
export function isOwnedBy(object: KubernetesObject, ownerUid: string): boolean {
  return object.metadata?.ownerReferences?.some(({ uid }) => uid === ownerUid) === true
}

/** A controlling reference that also blocks the owner's deletion in the foreground. */
export function newControllerRef(
  owner: KubernetesObject,
  type: Pick<ResourceType, 'group' | 'version' | 'kind'>,
): OwnerReference {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: owner.metadata?.name ?? '',
    uid: owner.metadata?.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** The object with this reference: in the place of the one with the same UID, otherwise at the end. */
export function withOwnerReference<T extends KubernetesObject>(
  object: T,
  reference: OwnerReference,
): T {
  const references = object.metadata?.ownerReferences ?? []
  const known = references.some(({ uid }) => uid === reference.uid)
  const ownerReferences = known
    ? references.map((existing) => (existing.uid === reference.uid ? reference : existing))
    : [...references, reference]
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** The object without references to this owner; the same object when there are none. */
export function withoutOwnerReference<T extends KubernetesObject>(object: T, ownerUid: string): T {
  if (!isOwnedBy(object, ownerUid)) return object
  const ownerReferences = object.metadata?.ownerReferences?.filter(({ uid }) => uid !== ownerUid)
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}
