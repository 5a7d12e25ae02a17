import type { TransportRequest } from '@gyropilot/client'

/** What faults and checkers need to know of a request. */
export interface RequestFacts {
  /** `controller-manager-1`; the process, not its life. */
  readonly process: string
  /** Which of the process's connections: the user name, or `leader-election`. */
  readonly link: string
  readonly user: string
  readonly method: TransportRequest['method']
  readonly path: string
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'other'
  /** `deployments.apps`; empty for other paths. */
  readonly collection: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  /** Leases of leaders and nodes, and status of nodes: what never rests. */
  readonly isHeartbeat: boolean
}

export function isWrite({ verb }: Pick<RequestFacts, 'verb'>): boolean {
  return verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete'
}

const RESOURCE_PATH =
  /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/
/** `/api/v1/namespaces/a` and `/api/v1/namespaces/a/status` name the namespace itself. */
const NAMESPACE_PATH = /^\/api\/v1\/namespaces(?:\/([^/]+))?(?:\/(status|finalize))?$/

export function requestFacts(
  sender: Pick<RequestFacts, 'process' | 'link' | 'user'>,
  request: Pick<TransportRequest, 'method' | 'path'>,
): RequestFacts {
  const { method, path: target } = request
  const question = target.indexOf('?')
  const path = question < 0 ? target : target.slice(0, question)
  const query = question < 0 ? '' : target.slice(question + 1)
  const parts = partsOf(path)
  const { collection, name } = parts
  const isHeartbeat =
    collection === 'leases.coordination.k8s.io' ||
    (collection === 'nodes' && parts.subresource === 'status')
  const verb = verbOf(method, collection, name, query)
  return { ...sender, method, path: target, ...parts, verb, isHeartbeat }
}

function partsOf(
  path: string,
): Pick<RequestFacts, 'collection' | 'namespace' | 'name' | 'subresource'> {
  const ofNamespace = NAMESPACE_PATH.exec(path)
  if (ofNamespace !== null) {
    const [, name = '', subresource = ''] = ofNamespace
    return { collection: 'namespaces', namespace: '', name, subresource }
  }
  const found = RESOURCE_PATH.exec(path)
  if (found === null) return { collection: '', namespace: '', name: '', subresource: '' }
  const [, group, namespace = '', resource = '', name = '', subresource = ''] = found
  const collection = group === undefined ? resource : `${resource}.${group}`
  return { collection, namespace, name: decodeURIComponent(name), subresource }
}

function verbOf(
  method: TransportRequest['method'],
  collection: string,
  name: string,
  query: string,
): RequestFacts['verb'] {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return 'delete'
    case 'GET':
      if (collection === '') return 'other'
      if (/(?:^|&)watch=(?:true|1)(?:&|$)/.test(query)) return 'watch'
      return name === '' ? 'list' : 'get'
    default:
      return 'other'
  }
}
