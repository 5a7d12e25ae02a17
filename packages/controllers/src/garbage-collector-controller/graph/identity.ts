/** What tells one object from all others, as seen on the object or as claimed by a reference to it. Pure. */
import type { KubernetesObject, OwnerReference } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'

/** The part of a reference that says which object is meant. */
type Coordinates = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name' | 'uid'>

export interface ObjectIdentity extends Coordinates {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
}

/** `apiVersion` and `kind` are those of the watched resource: objects reduced to their metadata do not tell them. */
export function identityOf(
  object: KubernetesObject,
  type: Pick<ObjectIdentity, 'apiVersion' | 'kind'>,
): ObjectIdentity {
  const { name = '', namespace = '', uid = '' } = object.metadata ?? {}
  return { apiVersion: type.apiVersion, kind: type.kind, name, namespace, uid }
}

export function identityOfReference(
  { apiVersion, kind, name, uid }: Coordinates,
  namespace: string,
): ObjectIdentity {
  return { apiVersion, kind, name, namespace, uid }
}

export function sameCoordinates(one: Coordinates, other: Coordinates): boolean {
  return (
    one.uid === other.uid &&
    one.name === other.name &&
    one.kind === other.kind &&
    one.apiVersion === other.apiVersion
  )
}

export function sameIdentity(one: ObjectIdentity, other: ObjectIdentity): boolean {
  return one.namespace === other.namespace && sameCoordinates(one, other)
}

export function identityKey({ apiVersion, kind, namespace, name, uid }: ObjectIdentity): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid])
}

/** By kind, apiVersion, namespace, name, uid. */
export function compareIdentities(one: ObjectIdentity, other: ObjectIdentity): number {
  return (
    compareStrings(one.kind, other.kind) ||
    compareStrings(one.apiVersion, other.apiVersion) ||
    compareStrings(one.namespace, other.namespace) ||
    compareStrings(one.name, other.name) ||
    compareStrings(one.uid, other.uid)
  )
}

/** `[v1/Pod, namespace: a, name: b, uid: c]`, the form of events and logs. */
export function identityText(identity: ObjectIdentity): string {
  const { apiVersion, kind, namespace, name, uid } = identity
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
}
