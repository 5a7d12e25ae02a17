/**
 * From owners to their dependents and back: cache indexes by the controlling owner reference, and
 * the owner that an event about a dependent concerns.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, Watches and keys, Resolving
 * owners from events.
 */
import { controllerOf } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference } from '@gyropilot/api'
import type { IndexFunction, Informer, Lister } from '@gyropilot/runtime'

/**
 * The index of pods by controlling owner, shared by all workload controllers: `ns/kind/name/uid`,
 * or `ns` for orphans.
 */
export const POD_CONTROLLER_INDEX = 'podController'
/** The same keys for ReplicaSets. */
export const REPLICA_SET_CONTROLLER_INDEX = 'replicaSetController'
/** The same keys for ControllerRevisions. */
export const CONTROLLER_REVISION_INDEX = 'controllerRevisionController'
/** ReplicaSets by the uid of their controlling owner, across namespaces. */
export const CONTROLLER_UID_INDEX = 'controllerUID'

/**
 * `ns/kind/name/uid` of the controlling owner, or `ns` for an orphan. The owner's apiVersion is no
 * part of it.
 */
export const controllerIndexValues: IndexFunction<KubernetesObject> = (object) => {
  const namespace = object.metadata?.namespace ?? ''
  const reference = controllerOf(object)
  if (reference === undefined) return [namespace]
  return [`${namespace}/${reference.kind}/${reference.name}/${reference.uid}`]
}

export const controllerUidIndexValues: IndexFunction<KubernetesObject> = (object) => {
  const reference = controllerOf(object)
  return reference === undefined ? [] : [reference.uid]
}

/** Registers an index of the kind above under its own name; registering it again is fine. */
export function addControllerIndex<T extends KubernetesObject>(
  informer: Informer<T>,
  name: string,
): void {
  informer.addIndex(name, controllerIndexValues)
}

/**
 * Dependents of the owner and, to be adopted, the orphans of its namespace. Throws on an owner
 * without name or uid.
 */
export function ownedAndOrphaned<T extends KubernetesObject>(
  lister: Lister<T>,
  index: string,
  owner: KubernetesObject,
  ownerKind: string,
): readonly T[] {
  const orphans = lister.byIndex(index, owner.metadata?.namespace ?? '')
  return [...ownedOnly(lister, index, owner, ownerKind), ...orphans]
}

/** Dependents of the owner, without orphans. */
export function ownedOnly<T extends KubernetesObject>(
  lister: Lister<T>,
  index: string,
  owner: KubernetesObject,
  ownerKind: string,
): readonly T[] {
  const { namespace, name, uid } = owner.metadata ?? {}
  if (!namespace || !name || !uid || !ownerKind) {
    throw new Error(
      `namespace, name, uid and kind of an owner must be known, got ${namespace}, ${name}, ${uid}, ${ownerKind}`,
    )
  }
  return lister.byIndex(index, `${namespace}/${ownerKind}/${name}/${uid}`)
}

/**
 * The cached owner that a reference means. A wrong kind, or another uid under the same name, means:
 * not ours.
 */
export function resolveController<T extends KubernetesObject>(
  owners: Lister<T>,
  ownerKind: string,
  namespace: string | undefined,
  reference: OwnerReference | undefined,
): T | undefined {
  if (reference === undefined || reference.kind !== ownerKind) return undefined
  const owner = owners.get(namespace, reference.name)
  return owner?.metadata?.uid === reference.uid ? owner : undefined
}

/** Same content of the controlling reference, or none on both sides. */
export function sameController(left: KubernetesObject, right: KubernetesObject): boolean {
  const a = controllerOf(left)
  const b = controllerOf(right)
  if (a === undefined || b === undefined) return a === b
  return (
    a.uid === b.uid &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.blockOwnerDeletion === b.blockOwnerDeletion
  )
}

export function sameLabels(left: KubernetesObject, right: KubernetesObject): boolean {
  const a = left.metadata?.labels ?? {}
  const b = right.metadata?.labels ?? {}
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
