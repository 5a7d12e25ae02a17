/**
 * Which requests a webhook or a policy is for: rules, selectors, and the version in which it wants to see the object.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, Webhooks.
 */
import { labelQueryOf } from '@gyropilot/api'
import type { LabelSelector } from '@gyropilot/api'
import type { AdmissionRequest, ResourceInfo } from '../contracts.ts'
import { notFound } from '../http/errors.ts'
import type { Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import type { AdmissionWorld } from './world.ts'

interface MatchRule {
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly operations?: readonly string[]
  readonly scope?: string
  /** Policies only. */
  readonly resourceNames?: readonly string[]
}

export interface MatchCriteria {
  readonly rules: readonly MatchRule[]
  /** Requests that one of these matches are left out. */
  readonly excluded?: readonly MatchRule[]
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
}

/** Configurations of admission are never subject to it: a mistake could not be taken back. */
const EXEMPT_GROUP = 'admissionregistration.k8s.io'
const REVIEW_GROUPS = ['authentication.k8s.io', 'authorization.k8s.io']

export function isExempt({ resource }: AdmissionRequest): boolean {
  return resource.group === EXEMPT_GROUP
}

/** Reviews only ask: policies do not see them. */
export function isReview({ resource }: AdmissionRequest): boolean {
  return REVIEW_GROUPS.includes(resource.group)
}

/**
 * The resource in the version that a rule names, which may be another than the request's; undefined when the request is
 * none of the configuration's business. Throws ApiError when the namespace is gone.
 */
export function matchingVersion(
  request: AdmissionRequest,
  criteria: MatchCriteria,
  world: Pick<AdmissionWorld, 'store' | 'registry'>,
): ResourceInfo | undefined {
  const version = matchRules(request, criteria, world.registry)
  if (version === undefined) return undefined
  if (!matchesNamespace(request, criteria.namespaceSelector, world)) return undefined
  return matchesObject(request, criteria.objectSelector) ? version : undefined
}

function matchRules(
  request: AdmissionRequest,
  { rules, excluded = [], matchPolicy }: MatchCriteria,
  registry: ResourceRegistry | undefined,
): ResourceInfo | undefined {
  const { resource } = request
  if (excluded.some((rule) => ruleMatches(rule, request, resource))) return undefined
  if (rules.some((rule) => ruleMatches(rule, request, resource))) return resource
  if (matchPolicy === 'Exact' || registry === undefined) return undefined
  const served = registry.get(resource.group, resource.version, resource.resource)
  if (served === undefined) return undefined
  const others = equivalents(registry, served)
  if (excluded.some((rule) => others.some((other) => ruleMatches(rule, request, other.info))))
    return undefined
  return others.find(({ info }) => rules.some((rule) => ruleMatches(rule, request, info)))?.info
}

/** Other versions and groups that show the same objects. */
function equivalents(registry: ResourceRegistry, { info, storage }: ServedResource) {
  return registry
    .all()
    .filter(
      (other) =>
        other.storage.collection === storage.collection &&
        (other.info.version !== info.version || other.info.group !== info.group),
    )
}

function ruleMatches(rule: MatchRule, request: AdmissionRequest, resource: ResourceInfo): boolean {
  return (
    includes(rule.operations, request.operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    matchesScope(rule.scope, resource) &&
    matchesResource(rule.resources, resource.resource, request.subresource) &&
    matchesName(rule.resourceNames, request.name)
  )
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value))
}

function matchesScope(scope: string | undefined, { namespaced }: ResourceInfo): boolean {
  return scope === undefined || scope === '*' || scope === (namespaced ? 'Namespaced' : 'Cluster')
}

function matchesName(names: readonly string[] | undefined, name: string): boolean {
  return names === undefined || names.length === 0 || names.includes(name)
}

function matchesResource(
  resources: readonly string[] | undefined,
  resource: string,
  subresource: string,
): boolean {
  return (resources ?? []).some((pattern) => {
    const [wanted = '', part = ''] = pattern.split('/')
    if (wanted !== '*' && wanted !== resource) return false
    return part === '*' || part === subresource
  })
}

/** The namespace's labels decide: of one that is created or updated those it will have. What is in no namespace always matches. */
function matchesNamespace(
  request: AdmissionRequest,
  selector: LabelSelector | undefined,
  world: Pick<AdmissionWorld, 'store'>,
): boolean {
  const query = labelQueryOf(selector ?? {})
  if (isEmptySelector(selector)) return true
  if (isNamespace(request) && request.subresource === '' && request.object !== undefined)
    return query.matches(request.object['metadata']?.labels ?? {})
  if (request.namespace === '') return true
  const namespace = world.store.get({ collection: 'namespaces', key: request.namespace })?.object
  if (namespace === undefined)
    throw notFound({ group: '', resource: 'namespaces', kind: 'Namespace' }, request.namespace)
  return query.matches(namespace['metadata'].labels ?? {})
}

function isNamespace({ resource }: AdmissionRequest): boolean {
  return resource.group === '' && resource.resource === 'namespaces'
}

/** The namespace in which the object is; undefined for objects in none. */
export function namespaceOf(
  request: AdmissionRequest,
  { store }: Pick<AdmissionWorld, 'store'>,
): Stored | undefined {
  if (request.namespace === '' || isNamespace(request)) return undefined
  return store.get({ collection: 'namespaces', key: request.namespace })?.object
}

/** One of the two states is enough, so that taking a label away does not take the object out of sight. */
function matchesObject(
  { object, oldObject }: AdmissionRequest,
  selector: LabelSelector | undefined,
): boolean {
  if (isEmptySelector(selector)) return true
  const query = labelQueryOf(selector ?? {})
  return [object, oldObject].some(
    (state: Stored | undefined) =>
      state?.['metadata'] !== undefined && query.matches(state['metadata'].labels ?? {}),
  )
}

function isEmptySelector(selector: LabelSelector | undefined): boolean {
  return (
    Object.keys(selector?.matchLabels ?? {}).length === 0 &&
    (selector?.matchExpressions ?? []).length === 0
  )
}
