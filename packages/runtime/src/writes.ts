/** Writes as data, for `write` and `writeAll` of effects.ts. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { DeleteOptions, Patch } from '@gyropilot/client'
import type { WriteOf } from './effects.ts'

/** A write that creates the object, in its own namespace. */
export function create<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
  options: {
    readonly due?: boolean
    readonly metadataOnly?: boolean
    readonly repeated?: boolean
  } = {},
): WriteOf<T> {
  return { verb: 'create', type, namespace: object.metadata?.namespace, object, ...options }
}

/** A write of the whole object; conflicts when it has changed since it was read. */
export function update<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
  subresource?: string,
): WriteOf<T> {
  return { verb: 'update', type, namespace: object.metadata?.namespace, object, subresource }
}

/** A write of the status through its subresource. */
export function updateStatus<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
): WriteOf<T> {
  return update(type, object, 'status')
}

/** A write of a patch to the object that `target` names. */
export function patch<T extends KubernetesObject>(
  type: ResourceType<T>,
  target: KubernetesObject,
  patch: Patch,
  subresource?: string,
): WriteOf<T> {
  const { namespace, name } = target.metadata ?? {}
  return { verb: 'patch', type, namespace, name: name ?? '', patch, subresource }
}

/** A write that makes the fields of `object` its manager's, taking them over where others have them. */
export function apply<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
  fieldManager: string,
  subresource?: string,
): WriteOf<T> {
  const { namespace, name } = object.metadata ?? {}
  return {
    verb: 'apply',
    type,
    namespace,
    name: name ?? '',
    object,
    fieldManager,
    force: true,
    subresource,
  }
}

/** Deletes by name; pass `options.preconditions.uid` unless upstream deletes without. */
export function remove(
  type: ResourceType,
  target: KubernetesObject,
  options?: DeleteOptions,
): WriteOf<KubernetesObject> {
  const { namespace, name } = target.metadata ?? {}
  return { verb: 'delete', type, namespace, name: name ?? '', options }
}
