/** Annotations of claims and volumes, set and removed on copies. */
import type { KubernetesObject } from '@gyropilot/api'

export function annotation(object: KubernetesObject, key: string): string | undefined {
  return object.metadata?.annotations?.[key]
}

export function hasAnnotation(object: KubernetesObject, key: string): boolean {
  return annotation(object, key) !== undefined
}

/** The same object where nothing changes. */
export function withAnnotation<T extends KubernetesObject>(
  object: T,
  key: string,
  value: string,
): T {
  if (annotation(object, key) === value) return object
  const annotations = { ...object.metadata?.annotations, [key]: value }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** The same object where nothing changes. */
export function withoutAnnotation<T extends KubernetesObject>(object: T, key: string): T {
  if (!hasAnnotation(object, key)) return object
  const { [key]: _, ...annotations } = object.metadata?.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}
