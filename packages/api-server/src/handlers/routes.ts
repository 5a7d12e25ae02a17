/** From a URL and a method to a handler. Contract: docs/behaviour/api-server/requests.md, "URL grammar". */
import type { ApiError, SubresourceCall } from '../contracts.ts'
import {
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  notFound,
  routeNotFound,
} from '../http/errors.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { isWatch } from '../http/request-info.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'

type Operation =
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
  /** The resource is found, but nothing like this can be done with it. */
  readonly refusal?: ApiError
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

/** What is passed on may be anything that the other end knows. */
const PROXY_VERBS: Readonly<Record<string, string>> = {
  ...SUBRESOURCE_VERBS,
  HEAD: 'get',
  OPTIONS: 'get',
}

/** Undefined: nothing at all is known under this path (plain 404). Throws 404 and 405. */
export function findRoute(
  registry: ResourceRegistry,
  method: string,
  info: RequestInfo,
): Route | undefined {
  if (info.doubledSlash) return undefined
  const resource = registry.get(info.group, info.version, info.resource)
  if (!registry.isBuiltInGroup(info.group)) return customRoute(resource, info)
  if (resource === undefined || info.malformed) throw routeNotFound()
  const { namespaced } = resource.info
  const namespace = namespaced ? info.namespace : ''
  if (!namespaced && info.belowNamespace) throw routeNotFound()
  const { name, subresource } = info
  const base = { resource, namespace, name, subresource }
  if (info.watchPath) {
    if (info.parts.length > 1 || !resource.info.verbs.includes('watch')) throw routeNotFound()
    if (name !== '' && namespaced && !info.belowNamespace) throw routeNotFound()
    if (method !== 'GET') throw methodNotAllowed()
    return { ...base, operation: 'watch' }
  }
  // What stands behind an empty name is a subresource of nobody, never the collection.
  const isCollection = name === '' && info.parts.length < 2
  if (isCollection) return { ...base, operation: collectionOperation(method, info, resource) }
  if (namespaced && !info.belowNamespace) throw routeNotFound()
  if (info.parts.length === 1) return { ...base, operation: objectOperation(method, resource) }
  const found = resource.info.subresources.find((candidate) => candidate.name === subresource)
  if (found === undefined || (info.parts.length > 2 && subresource !== 'proxy'))
    throw routeNotFound()
  const verb = subresource === 'proxy' ? PROXY_VERBS[method] : SUBRESOURCE_VERBS[method]
  if (verb === undefined || !found.verbs.includes(verb)) throw methodNotAllowed()
  const refusal = name === '' ? { refusal: badRequest('name must be provided') } : {}
  return { ...base, operation: 'subresource', ...refusal }
}

const CUSTOM_VERBS: ReadonlySet<string> = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
const VERBS_OF_SUBRESOURCES: ReadonlySet<string> = new Set(['get', 'update', 'patch'])

/**
 * Custom resources have no routes of their own: one handler asks which verb it is, and what does not go by resource,
 * scope and subresource it leaves alone. Segments behind the subresource do not count.
 */
function customRoute(resource: ServedResource | undefined, info: RequestInfo): Route | undefined {
  if (resource === undefined || info.malformed) return undefined
  const { verb, namespace, name, subresource } = info
  const acrossNamespaces = verb === 'list' || verb === 'watch'
  const { namespaced } = resource.info
  if (namespaced ? namespace === '' && !acrossNamespaces : namespace !== '') return undefined
  const base = { resource, namespace, name, subresource }
  if (subresource !== '') {
    const known = resource.info.subresources.some((own) => own.name === subresource)
    const supported = VERBS_OF_SUBRESOURCES.has(verb)
    if (known && supported) return { ...base, operation: 'subresource' }
    const refusal = known ? methodNotSupported(resource.info, verb) : notFound(resource.info, name)
    return { ...base, operation: 'subresource', refusal }
  }
  const operation = verb as Operation
  if (!CUSTOM_VERBS.has(verb))
    return { ...base, operation, refusal: methodNotSupported(resource.info, verb) }
  // The name of what is created stands in the body.
  return verb === 'create' ? { ...base, operation, name: '' } : { ...base, operation }
}

function collectionOperation(
  method: string,
  info: RequestInfo,
  { info: { verbs, namespaced } }: ServedResource,
): Operation {
  if (method === 'GET' && verbs.includes('list')) {
    // What cannot be watched is judged as a list before it is refused.
    return isWatch(info.query) && verbs.includes('watch') ? 'watch' : 'list'
  }
  const acrossNamespaces = namespaced && !info.belowNamespace
  // A resource that only takes creates is nowhere but in its namespaces.
  if (acrossNamespaces && !verbs.includes('list')) throw routeNotFound()
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
  return method === 'GET' || method === 'HEAD' ? 'get' : method === 'PUT' ? 'update' : 'patch'
}
