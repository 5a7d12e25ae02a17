import type { KubernetesObject } from '@gyropilot/api'
import { splitKey } from '@gyropilot/api'

/** What to reconcile: no event, no object. Whatever happened in the meantime is in the cache. */
export interface Request {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** The request of an object itself. */
export function requestFor(object: KubernetesObject): Request {
  return { namespace: object.metadata?.namespace ?? '', name: object.metadata?.name ?? '' }
}

/** The key in queues: `namespace/name`, or `name` without a namespace. */
export function keyOfRequest({ namespace, name }: Request): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

/** The inverse of `keyOfRequest`; throws on a key with more than one slash. */
export function requestOfKey(key: string): Request {
  const { namespace = '', name } = splitKey(key)
  return { namespace, name }
}
