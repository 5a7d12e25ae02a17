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

/** A mark counts by being there: one that somebody has set stays as it is. The same object where nothing changes. */
export function withMark<T extends KubernetesObject>(object: T, key: string, value: string): T {
  return hasAnnotation(object, key) ? object : withAnnotation(object, key, value)
}

/** The same object where nothing changes. */
export function withoutAnnotation<T extends KubernetesObject>(object: T, key: string): T {
  if (!hasAnnotation(object, key)) return object
  const { [key]: _, ...annotations } = object.metadata?.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}
