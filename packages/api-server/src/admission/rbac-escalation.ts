/**
 * Nobody gives away rights that they do not have. Runs last among the mutating plug-ins: kube-apiserver checks this in the
 * storage of the four RBAC kinds, after mutation and before validation.
 */
import { semanticEqual } from '@gyropilot/api'
import { GROUP } from '../auth/identity.ts'
import { describeRules, quotedList, uncoveredRules } from '../auth/rbac-rules.ts'
import type { PolicyRule } from '../auth/rbac-rules.ts'
import type { AdmissionPlugin, AdmissionRequest, ApiError } from '../contracts.ts'
import { badRequest, forbidden, notFound, unclassified } from '../http/errors.ts'
import type { Stored } from '../registry/kind-rules.ts'
import type { AdmissionWorld } from './world.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'
const KINDS = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'])
const ROLES_OF: ReadonlyMap<string, string> = new Map([
  ['Role', 'roles'],
  ['ClusterRole', 'clusterroles'],
])
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

export function rbacEscalation(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'RBACEscalationCheck',
    handles: ({ operation, resource, subresource, user }) =>
      resource.group === RBAC_GROUP &&
      KINDS.has(resource.resource) &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      !user.groups.includes(GROUP.masters),
    mutate(request) {
      if (request.resource.resource.endsWith('roles')) checkRole(world, request)
      else checkBinding(world, request)
    },
  }
}

/** An update is judged as a create is, whatever it changes, so that nobody brings back what has been taken from a role meanwhile. */
function checkRole(world: AdmissionWorld, request: AdmissionRequest): void {
  const { object, oldObject, resource } = request
  if (isForCollection(object!, oldObject)) return
  // A right to certain names is none to what has no name yet.
  const { nameInPath = nameOf(request) } = request
  if (hasVerb(world, request, 'escalate', resource.resource, nameInPath)) return
  checkHeld(world, request, object!['rules'] ?? [])
  if (!aggregates(object) && !aggregates(oldObject)) return
  const { rules: held } = world.authorizer.rulesFor(request.user, '')
  if (uncoveredRules(held, EVERYTHING).length > 0)
    throw forbiddenFor(request, 'must have cluster-admin privileges to use the aggregationRule')
}

function aggregates(role: Stored | undefined): boolean {
  return (role?.['aggregationRule']?.clusterRoleSelectors ?? []).length > 0
}

/** What a garbage collector writes: owners and finalizers, and nothing else. */
function isForCollection(object: Stored, oldObject: Stored | undefined): boolean {
  return oldObject !== undefined && semanticEqual(withoutOwners(object), withoutOwners(oldObject))
}

function withoutOwners({ metadata, kind: _kind, apiVersion: _apiVersion, ...rest }: Stored) {
  const { ownerReferences: _, finalizers: _f, managedFields: _m, ...others } = metadata
  return { ...rest, metadata: others }
}

function checkBinding(world: AdmissionWorld, request: AdmissionRequest): void {
  const { object, oldObject } = request
  if (isForCollection(object!, oldObject)) return
  const { kind = '', name = '' } = object!['roleRef'] ?? {}
  const plural = ROLES_OF.get(kind)
  if (plural === undefined)
    throw unclassified(`unsupported role reference kind: ${JSON.stringify(kind)}`)
  if (hasVerb(world, request, 'bind', plural, name)) return
  if (kind === 'Role' && request.namespace === '') throw badRequest('Namespace parameter required.')
  if (name === '') throw badRequest('Name parameter required.')
  const rules = world.authorizer.roleRules(kind, request.namespace, name)
  if (rules === undefined) throw notFound(request.resource, name)
  checkHeld(world, request, rules)
}

function checkHeld(
  world: AdmissionWorld,
  request: AdmissionRequest,
  rules: readonly PolicyRule[],
): void {
  const { user, namespace } = request
  const held = world.authorizer.rulesFor(user, namespace)
  const missing = uncoveredRules(held.rules, rules)
  if (missing.length === 0) return
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups, ' ')})`
  const lines = describeRules(missing).join('\n')
  const tail = held.errors.length === 0 ? '' : `; resolution errors: [${held.errors.join(', ')}]`
  throw forbiddenFor(
    request,
    `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${tail}`,
  )
}

function hasVerb(
  world: AdmissionWorld,
  request: AdmissionRequest,
  verb: string,
  resource: string,
  name: string,
): boolean {
  const { user, namespace } = request
  const base = {
    user,
    verb,
    group: RBAC_GROUP,
    version: 'v1',
    resource,
    subresource: '',
    name,
    path: '',
    isResourceRequest: true,
  }
  return world.authorizer.authorize({ ...base, namespace }).allowed
}

function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.['metadata']?.name || ''
}

function forbiddenFor(request: AdmissionRequest, why: string): ApiError {
  return forbidden(request.resource, nameOf(request), why)
}
