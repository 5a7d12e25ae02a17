/**
 * Nobody gives away rights that they do not have. Runs last among the mutating plug-ins: kube-apiserver checks this in the
 * storage of the four RBAC kinds, after mutation and before validation.
 */
import { semanticEqual } from '@gyropilot/api'
import { GROUP } from '../auth/identity.ts'
import { describeRules, quotedList, uncoveredRules } from '../auth/rbac-rules.ts'
import type { PolicyRule } from '../auth/rbac-rules.ts'
import type { AdmissionPlugin, AdmissionRequest, ApiError } from '../contracts.ts'
import { forbidden, notFound } from '../http/errors.ts'
import type { AdmissionWorld } from './world.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'
const KINDS = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'])
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

function checkRole(world: AdmissionWorld, request: AdmissionRequest): void {
  const { object, oldObject, resource } = request
  const rules: PolicyRule[] = object!['rules'] ?? []
  const isSame = (field: string): boolean =>
    semanticEqual(object![field] ?? [], oldObject?.[field] ?? [])
  if (oldObject !== undefined && isSame('rules') && isSame('aggregationRule')) return
  if (hasVerb(world, request, 'escalate', resource.resource, nameOf(request))) return
  if (object!['aggregationRule'] !== undefined && !isSame('aggregationRule')) {
    const { rules: held } = world.authorizer.rulesFor(request.user, '')
    if (uncoveredRules(held, EVERYTHING).length > 0) {
      throw forbiddenFor(request, 'must have cluster-admin privileges to use the aggregationRule')
    }
  }
  checkHeld(world, request, rules)
}

function checkBinding(world: AdmissionWorld, request: AdmissionRequest): void {
  const { object, oldObject } = request
  const roleRef = object!['roleRef'] ?? {}
  const isUnchanged =
    oldObject !== undefined &&
    semanticEqual(oldObject['roleRef'], roleRef) &&
    semanticEqual(oldObject['subjects'] ?? [], object!['subjects'] ?? [])
  if (isUnchanged) return
  const plural = roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
  if (hasVerb(world, request, 'bind', plural, roleRef.name ?? '')) return
  const rules = world.authorizer.roleRules(roleRef.kind, request.namespace, roleRef.name)
  if (rules === undefined) throw notFound(request.resource, roleRef.name ?? '')
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
