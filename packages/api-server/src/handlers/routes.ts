/** From a URL and a method to a handler. Contract: docs/behaviour/api-server/requests.md, "URL grammar". */
import type { SubresourceCall } from '../contracts.ts'
import { methodNotAllowed, routeNotFound } from '../http/errors.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { isWatch } from '../http/request-info.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'

export type Operation =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'subresource'

export interface Route {
  readonly resource: ServedResource
  readonly operation: Operation
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

const SUBRESOURCE_VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Undefined: nothing at all is known under this path (plain 404). Throws 404 and 405. */
export function findRoute(
  registry: ResourceRegistry,
  method: string,
  info: RequestInfo,
): Route | undefined {
  if (!registry.hasGroup(info.group)) return undefined
  const resource = registry.get(info.group, info.version, info.resource)
  if (resource === undefined || info.malformed) throw routeNotFound()
  const { namespaced } = resource.info
  const isNamespaces = info.group === '' && info.resource === 'namespaces'
  const namespace = namespaced ? info.namespace : ''
  if (!namespaced && info.namespace !== '' && !isNamespaces) throw routeNotFound()
  const { name, subresource } = info
  const base = { resource, namespace, name, subresource }
  if (info.watchPath) {
    if (info.parts.length > 1) throw routeNotFound()
    if (method !== 'GET' || !resource.info.verbs.includes('watch')) throw methodNotAllowed()
    return { ...base, operation: 'watch' }
  }
  if (name === '')
    return { ...base, operation: collectionOperation(method, info, resource, namespace) }
  if (namespaced && namespace === '') throw routeNotFound()
  if (subresource === '') return { ...base, operation: objectOperation(method, resource) }
  const found = resource.info.subresources.find((candidate) => candidate.name === subresource)
  if (found === undefined || (info.parts.length > 2 && subresource !== 'proxy'))
    throw routeNotFound()
  const verb = SUBRESOURCE_VERBS[method]
  if (verb === undefined || !found.verbs.includes(verb)) throw methodNotAllowed()
  return { ...base, operation: 'subresource' }
}

function collectionOperation(
  method: string,
  info: RequestInfo,
  { info: { verbs, namespaced } }: ServedResource,
  namespace: string,
): Operation {
  if (method === 'GET' && verbs.includes('list')) {
    if (!isWatch(info.query)) return 'list'
    if (verbs.includes('watch')) return 'watch'
  }
  const acrossNamespaces = namespaced && namespace === ''
  if (!acrossNamespaces) {
    if (method === 'POST' && verbs.includes('create')) return 'create'
    if (method === 'DELETE' && verbs.includes('deletecollection')) return 'deletecollection'
  }
  throw methodNotAllowed()
}

function objectOperation(method: string, { info: { verbs } }: ServedResource): Operation {
  const verb = SUBRESOURCE_VERBS[method]
  if (verb === undefined || verb === 'create' || !verbs.includes(verb)) {
    // A resource that only takes creates has no paths for names.
    if (!verbs.includes('get')) throw routeNotFound()
    throw methodNotAllowed()
  }
  return verb as Operation
}

/** Subresources that answer the object itself and are written by its own rules. */
export function isObjectSubresource({ info }: ServedResource, subresource: string): boolean {
  const own = info.subresources.find(({ name }) => name === subresource)
  return (
    own !== undefined && own.kind === info.kind && own.group === info.group && subresource !== 'log'
  )
}

export function objectSubresourceOperation(
  method: SubresourceCall['method'],
): 'get' | 'update' | 'patch' {
  return method === 'GET' ? 'get' : method === 'PUT' ? 'update' : 'patch'
}
