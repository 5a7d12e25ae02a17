import type { KubernetesObject } from './object.ts'

/** What a URL needs to know of a kind. `T` is the shape of its objects; it exists for the type checker only. */
export interface ResourceType<T extends KubernetesObject = KubernetesObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** The plural in URLs: `deployments`. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  readonly shape?: T
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

/** `deployments.apps`, or `pods` for the core group: the form in messages and in RBAC. */
export function groupResourceOf(type: Pick<ResourceType, 'group' | 'resource'>): string {
  return type.group === '' ? type.resource : `${type.resource}.${type.group}`
}

/** The path of a collection, an object or a subresource: `/apis/apps/v1/namespaces/a/deployments/b/status`. */
export function pathOf(
  type: ResourceType,
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  let path = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  if (type.namespaced && namespace !== undefined) path += `/namespaces/${pathSegment(namespace)}`
  path += `/${type.resource}`
  if (name !== undefined) path += `/${pathSegment(name)}`
  if (subresource !== undefined) path += `/${subresource}`
  return path
}

const PLAIN = /^[\w.~-]*$/
/** `$&+,:;=@`, which say nothing within a path. */
const NEEDLESS = /%(?:24|26|2B|2C|3A|3B|3D|40)/g
const LEFT_OUT = /[!'()*]/g

/** One part of a path, written as Go's clients do: audit logs and proxies show and match paths as they were sent (`system:node`). */
export function pathSegment(text: string): string {
  if (PLAIN.test(text)) return text
  return encodeURIComponent(text)
    .replace(NEEDLESS, (escaped) => decodeURIComponent(escaped))
    .replace(LEFT_OUT, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The key of an object in caches, queues and expectations: `namespace/name`, or `name` for cluster scope. */
export function keyOf(object: KubernetesObject): string {
  const { namespace, name } = object.metadata ?? {}
  return namespace ? `${namespace}/${name}` : (name ?? '')
}

/** Takes a key apart. More than one `/` is an error: `unexpected key format: "a/b/c"`. */
export function splitKey(key: string): { namespace: string | undefined; name: string } {
  const parts = key.split('/')
  if (parts.length === 1) return { namespace: undefined, name: key }
  if (parts.length === 2) return { namespace: parts[0]!, name: parts[1]! }
  throw new Error(`unexpected key format: ${JSON.stringify(key)}`)
}
