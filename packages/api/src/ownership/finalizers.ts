import type { KubernetesObject } from '../object.ts'

export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) === true
}

/** The object with the finalizer at the end; the same object when it is there already. */
export function withFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  if (hasFinalizer(object, finalizer)) return object
  const finalizers = [...(object.metadata?.finalizers ?? []), finalizer]
  return { ...object, metadata: { ...object.metadata, finalizers } }
}

/** The object without the finalizer; the same object when it is not there. */
export function withoutFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  if (!hasFinalizer(object, finalizer)) return object
  const finalizers = object.metadata?.finalizers?.filter((name) => name !== finalizer)
  return { ...object, metadata: { ...object.metadata, finalizers } }
}

/** Deletion was asked for; finalizers or a grace period hold the object. */
export function isTerminating(object: KubernetesObject): boolean {
  return (
    object.metadata?.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null
  )
}
