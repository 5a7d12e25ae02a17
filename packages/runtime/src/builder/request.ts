import type { KubernetesObject } from '@gyropilot/api'

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

/**
 * The key in queues: `namespace/name`, or `name` without a namespace. A name may be anything, also of something outside the
 * cluster: one with a slash and no namespace is `/name`. No namespace has a slash.
 */
export function keyOfRequest({ namespace, name }: Request): string {
  return namespace === '' && !name.includes('/') ? name : `${namespace}/${name}`
}

/** The inverse of `keyOfRequest`. */
export function requestOfKey(key: string): Request {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) }
}
