/**
 * Nobody has a policy read parameters for them that they may not read themselves. kube-apiserver checks this in the storage
 * of the four kinds of policies and bindings, when nothing else is wrong with them. Contract:
 * docs/behaviour/api-server/subresources-and-admission.md, "Authorization".
 */
import { semanticEqual } from '@gyropilot/api'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Stored } from '@gyropilot/schema/objects'
import { GROUP } from '../auth/identity.ts'
import type { AdmissionPlugin, AdmissionRequest, UserInfo } from '../contracts.ts'
import { invalid } from '../http/errors.ts'
import { groupAndVersionOf } from './policies/params.ts'
import { read } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const POLICY_GROUP = 'admissionregistration.k8s.io'
const POLICIES = new Set(['validatingadmissionpolicies', 'mutatingadmissionpolicies'])
const POLICIES_OF_BINDINGS: ReadonlyMap<string, string> = new Map([
  ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'],
  ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'],
])

export function parameterAuthorization(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PolicyParameterAuthorization',
    handles: ({ operation, resource, subresource, user }) =>
      resource.group === POLICY_GROUP &&
      // An apply to the status of a policy that is not there creates it.
      (operation === 'CREATE' || (operation === 'UPDATE' && subresource === '')) &&
      !user.groups.includes(GROUP.masters),
    validate(request) {
      const errors = new FieldErrors()
      const { resource } = request.resource
      if (POLICIES.has(resource)) checkPolicy(world, request, errors)
      else if (POLICIES_OF_BINDINGS.has(resource)) checkBinding(world, request, errors)
      if (errors.list.length === 0) return
      const { kind } = request.resource
      throw invalid(POLICY_GROUP, kind, request.object!['metadata'].name, errors.list)
    },
  }
}

function checkPolicy(world: AdmissionWorld, request: AdmissionRequest, errors: FieldErrors): void {
  const { object, oldObject, user } = request
  const paramKind: Stored | undefined = object!['spec'].paramKind
  if (!paramKind || semanticEqual(paramKind, oldObject?.['spec'].paramKind)) return
  const asked = { verb: 'get', ...resourceOf(world, paramKind), namespace: '*', name: '*' }
  if (isAllowed(world, user, asked)) return
  const { kind, apiVersion } = paramKind
  errors.forbidden(
    'spec.paramKind',
    `user ${described(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  )
}

/** As kube-apiserver does: every update is judged, whatever it changes. */
function checkBinding(world: AdmissionWorld, request: AdmissionRequest, errors: FieldErrors): void {
  const { object, user, resource } = request
  const { policyName, paramRef } = object!['spec']
  if (!paramRef) return
  const verb = paramRef.name ? 'get' : 'list'
  const policies = POLICIES_OF_BINDINGS.get(resource.resource)!
  const policy = read(world, `${policies}.${POLICY_GROUP}`, policyName)
  const paramKind: Stored | undefined = policy?.['spec'].paramKind
  const wanted = resourceOf(world, paramKind)
  const namespace = paramRef.namespace || '*'
  if (isAllowed(world, user, { verb, ...wanted, namespace, name: paramRef.name ?? '' })) return
  const who = described(user)
  const everything = `to determine minimum required permissions and user ${who} does not have "${verb}" permission for all groups, versions and resources`
  const onObject = 'permission on the object referenced by paramRef'
  if (policy === undefined)
    errors.forbidden('spec.paramRef', `unable to get policy ${policyName} ${everything}`)
  else if (paramKind && wanted.resource === '*') {
    const kind = `&{${paramKind['apiVersion']} ${paramKind['kind']}}`
    errors.forbidden('spec.paramRef', `unable to resolve paramKind ${kind} ${everything}`)
  } else if (policies.startsWith('validating'))
    errors.forbidden('spec.paramRef', `user ${who} does not have "${verb}" ${onObject}`)
  // kube-apiserver says it the wrong way round.
  else errors.forbidden('spec.paramRef', `user ${verb} does not have "${who}" ${onObject}`)
}

interface Resource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** What cannot be told is everything that it may be. */
function resourceOf({ registry }: AdmissionWorld, paramKind: Stored | undefined): Resource {
  if (!paramKind) return { group: '*', version: '*', resource: '*' }
  const [group, version] = groupAndVersionOf(paramKind)
  const served = registry?.byKind(group, version, paramKind['kind'])
  return { group, version, resource: served?.info.resource ?? '*' }
}

function isAllowed(
  { authorizer }: AdmissionWorld,
  user: UserInfo,
  asked: Resource & { verb: string; namespace: string; name: string },
): boolean {
  const rest = { user, subresource: '', path: '', isResourceRequest: true }
  return authorizer.authorize({ ...asked, ...rest }).allowed
}

/** As Go prints what it knows of somebody, because the message shows it so. */
function described({ name, uid = '', groups, extra }: UserInfo): string {
  const extras = Object.keys(extra)
    .toSorted()
    .map((key) => `${key}:[${extra[key]!.join(' ')}]`)
  return `&{${name} ${uid} [${groups.join(' ')}] map[${extras.join(' ')}]}`
}
