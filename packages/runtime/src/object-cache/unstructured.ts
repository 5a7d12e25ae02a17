import type { ResourceType, UnstructuredObject } from '@gyropilot/api'

/** A type whose objects have no shape of their own here. */
export interface UnstructuredType extends ResourceType<UnstructuredObject> {
  readonly unstructured: true
}

/** The type without its shape: a cached client reads it from the API server, unless told otherwise. */
export function unstructured(type: ResourceType): UnstructuredType {
  const { group, version, resource, kind, namespaced } = type
  return { group, version, resource, kind, namespaced, unstructured: true }
}

export function isUnstructured(type: ResourceType): boolean {
  return (type as Partial<UnstructuredType>).unstructured === true
}
