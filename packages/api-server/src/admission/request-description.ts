/** A request as webhooks and expressions see it: the fields of AdmissionRequest in admission.k8s.io/v1, without the objects. */
import type { AdmissionRequest, ResourceInfo, UserInfo } from '../contracts.ts'
import type { Stored } from '../registry/kind-rules.ts'

interface RequestDescription {
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly subResource?: string
  readonly requestKind: GroupVersionKind
  readonly requestResource: GroupVersionResource
  readonly requestSubResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  readonly userInfo: object
  readonly dryRun: boolean
  readonly options: unknown
}

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** `seenAs`: the version that the configuration named, which the objects are in. */
export function describeRequest(
  request: AdmissionRequest,
  seenAs: ResourceInfo,
): RequestDescription {
  const { resource, subresource, namespace, name, operation, user, dryRun, options } = request
  const inNamespace = resource.namespaced || resource.resource === 'namespaces'
  return {
    kind: kindOf(seenAs, subresource),
    resource: resourceOf(seenAs),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindOf(resource, subresource),
    requestResource: resourceOf(resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' || !inNamespace ? {} : { namespace }),
    operation,
    userInfo: userInfoOf(user),
    dryRun,
    options: optionsOf(operation, options),
  }
}

const OPTIONS_KINDS = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
} as const

/** By what comes of the request: a patch updates or creates. */
function optionsOf(
  operation: AdmissionRequest['operation'],
  { apiVersion = 'meta.k8s.io/v1', kind: _kind, force: _force, dryRun, ...options }: Stored,
): object | null {
  if (operation === 'CONNECT') return null
  return {
    kind: OPTIONS_KINDS[operation],
    apiVersion,
    ...(dryRun === undefined || dryRun === false ? {} : { dryRun: ['All'] }),
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  }
}

function kindOf(info: ResourceInfo, subresource: string): GroupVersionKind {
  const part = info.subresources.find((candidate) => candidate.name === subresource)
  const { group, version, kind } = part ?? info
  return { group, version, kind }
}

function resourceOf({ group, version, resource }: ResourceInfo): GroupVersionResource {
  return { group, version, resource }
}

function userInfoOf({ name, uid, groups, extra }: UserInfo): object {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
