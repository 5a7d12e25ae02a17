import type { KubernetesObject, ObjectMeta, ResourceType } from '@gyropilot/api'
import { apiVersionOf } from '@gyropilot/api'

/** Changes objects before they are queued and stored; builds new ones and must accept its own results. May throw. */
export type Transform<T extends KubernetesObject> = (object: T) => T

export interface ObjectShape {
  readonly apiVersion: string
  readonly kind: string
}

const METADATA: ObjectShape = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' }

/** What cached objects of a type are named. */
export function shapeOf(type: ResourceType): ObjectShape {
  return { apiVersion: apiVersionOf(type), kind: type.kind }
}

/** What the objects of a type are named in what the server sends. */
export function sentShapeOf(type: ResourceType, metadataOnly: boolean): ObjectShape {
  return metadataOnly ? METADATA : shapeOf(type)
}

/**
 * What objects are made into unless an informer has a transform of its own: without metadata.managedFields, often the
 * largest part and of no use to controllers, and with apiVersion and kind, which items of a list lack. One shallow copy of
 * the object and of its metadata, everything below stays shared; an object that needs neither is returned as it is.
 */
export function lean<T extends KubernetesObject>(object: T, shape: ObjectShape): T {
  if (object.metadata?.managedFields === undefined) return withKind(object, shape)
  const { managedFields: _, ...metadata } = object.metadata
  return { ...withKind(object, shape), metadata }
}

/** Events and owner references of cached objects need apiVersion and kind, and of metadata those of what it is of. */
export function withKind<T extends KubernetesObject>(object: T, shape: ObjectShape): T {
  if (object.kind === METADATA.kind)
    return { ...object, apiVersion: shape.apiVersion, kind: shape.kind }
  if (object.kind !== undefined && object.apiVersion !== undefined) return object
  return { apiVersion: shape.apiVersion, kind: shape.kind, ...object }
}

/**
 * Drops managedFields of an object that is the caller's alone, which saves `lean` the copy of the whole. Not by `delete`:
 * V8 would turn the metadata into a hash table of twice the size.
 */
export function dropManagedFields(object: KubernetesObject): void {
  if (object.metadata?.managedFields === undefined) return
  const { managedFields: _, ...metadata } = object.metadata
  ;(object as { metadata?: ObjectMeta }).metadata = metadata
}
