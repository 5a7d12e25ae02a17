/** Judges a request by the quotas of its namespace. Contract: docs/behaviour/controllers/resourcequota-controller.md, Admission half. */
import {
  addQuantities,
  compareQuantities,
  countedNames,
  excessOf,
  matchesScopes,
  parseQuantity,
  resourcesNamed,
  scopeRequirementsOf,
} from '@gyropilot/api'
import type {
  Quantity,
  QuotaRequest,
  ResourceList,
  ScopeRequirement,
  UsageEvaluator,
  UsageFacts,
} from '@gyropilot/api'
import type { AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { refusal } from '../world.ts'

/** What may be consumed only where a quota limits it. */
export interface LimitedResource {
  readonly group: string
  readonly resource: string
  /** Parts of names of consumed resources. */
  readonly matchContains?: readonly string[]
  readonly matchScopes?: readonly ScopeRequirement[]
}

/** A request and what it takes to judge it. */
export interface Judged {
  readonly request: AdmissionRequest
  readonly evaluator: UsageEvaluator
  readonly facts: UsageFacts
}

/** A request as the evaluators see it. Undefined: not one that quotas are about. */
export function quotaRequestOf(request: AdmissionRequest): QuotaRequest | undefined {
  const { operation, subresource, object, oldObject } = request
  if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined
  return { operation, subresource, object, ...(oldObject && { oldObject }) }
}

/**
 * The quotas after the request, those that it charges replaced. All of them must allow it. Throws ApiError.
 */
export function quotasAfter(
  quotas: readonly Stored[],
  judged: Judged,
  limited: readonly LimitedResource[] = [],
): readonly Stored[] {
  const { request, evaluator, facts } = judged
  const relevant = quotas.filter((quota) => isRelevant(quota, evaluator, request.object!))
  for (const quota of relevant) checkReady(quota, judged)
  checkScopesAreCovered(relevant, judged, limited)
  const usage = evaluator.usage(request.object!, facts)
  const negative = namesWhere(usage, (amount) => parseQuantity(amount).sign < 0)
  if (negative.length > 0)
    throw refusal(request, `quota usage is negative for resource(s): ${negative.join(',')}`)
  const delta =
    request.oldObject === undefined
      ? usage
      : excessOf(usage, evaluator.usage(request.oldObject, facts))
  checkConsumptionIsCovered(relevant, delta, judged, limited)
  return quotas.map((quota) => {
    if (!relevant.includes(quota)) return quota
    // What is new to a quota counts in full.
    const isNew =
      request.oldObject !== undefined && !isRelevant(quota, evaluator, request.oldObject)
    return charged(quota, isNew ? usage : delta, judged)
  })
}

function hardNames(quota: Stored, evaluator: UsageEvaluator): readonly string[] {
  return countedNames(evaluator, Object.keys(quota['status']?.hard ?? {}))
}

function isRelevant(quota: Stored, evaluator: UsageEvaluator, object: Stored): boolean {
  return (
    hardNames(quota, evaluator).length > 0 &&
    matchesScopes(evaluator, object, scopeRequirementsOf(quota))
  )
}

function checkReady(quota: Stored, { request, evaluator }: Judged): void {
  const { name } = quota['metadata']
  const names = hardNames(quota, evaluator)
  const unstated = evaluator.unstated?.(request.object!, names) ?? []
  if (unstated.length > 0)
    throw refusal(request, `failed quota: ${name}: must specify ${unstated.join('; ')}`)
  const used: ResourceList = quota['status'].used ?? {}
  if (names.some((entry) => used[entry] === undefined))
    throw refusal(request, `status unknown for quota: ${name}, resources: ${names.join(',')}`)
}

/** The quota with its usage raised, or itself when nothing is asked of it. */
function charged(quota: Stored, usage: ResourceList, { request, evaluator }: Judged): Stored {
  const { hard, used } = quota['status']
  const counted = resourcesNamed(usage, hardNames(quota, evaluator))
  const asked = namesWhere(counted, (amount) => !parseQuantity(amount).isZero)
  if (asked.length === 0) return quota
  const after: Record<string, string> = {}
  for (const name of asked) after[name] = addQuantities(used[name], counted[name]!)
  const exceeded = asked.filter((name) => compareQuantities(after[name]!, hard[name]) > 0)
  if (exceeded.length > 0 && request.subresource !== 'status') {
    const show = (list: ResourceList): string =>
      exceeded.map((name) => `${name}=${list[name]}`).join(',')
    throw refusal(
      request,
      `exceeded quota: ${quota['metadata'].name}, requested: ${show(counted)}, used: ${show(used)}, limited: ${show(hard)}`,
    )
  }
  return { ...quota, status: { ...quota['status'], used: { ...used, ...after } } }
}

function limitsOf(
  { resource }: AdmissionRequest,
  limited: readonly LimitedResource[],
): readonly LimitedResource[] {
  return limited.filter(
    (entry) => entry.group === resource.group && entry.resource === resource.resource,
  )
}

function checkScopesAreCovered(
  relevant: readonly Stored[],
  { request, evaluator }: Judged,
  limited: readonly LimitedResource[],
): void {
  const scopes = limitsOf(request, limited).flatMap(({ matchScopes = [] }) =>
    matchScopes.filter((scope) => evaluator.matchesScope(request.object!, scope)),
  )
  const covered = new Set(relevant.flatMap(scopeRequirementsOf).map(scopeText))
  const uncovered = scopes.map(scopeText).filter((text) => !covered.has(text))
  if (uncovered.length > 0)
    throw refusal(request, `insufficient quota to match these scopes: [${uncovered.join(' ')}]`)
}

function scopeText({ scopeName, operator, values = [] }: ScopeRequirement): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`
}

function checkConsumptionIsCovered(
  relevant: readonly Stored[],
  delta: ResourceList,
  { request, evaluator }: Judged,
  limited: readonly LimitedResource[],
): void {
  const parts = limitsOf(request, limited).flatMap(({ matchContains = [] }) => matchContains)
  const consumed = namesWhere(
    delta,
    (amount, name) => !parseQuantity(amount).isZero && parts.some((part) => name.includes(part)),
  )
  const covered = new Set(relevant.flatMap((quota) => hardNames(quota, evaluator)))
  const uncovered = consumed.filter((name) => !covered.has(name))
  if (uncovered.length > 0)
    throw refusal(request, `insufficient quota to consume: ${uncovered.join(',')}`)
}

/** Sorted. */
function namesWhere(
  list: ResourceList,
  holds: (amount: Quantity, name: string) => boolean,
): readonly string[] {
  return Object.keys(list)
    .filter((name) => holds(list[name]!, name))
    .toSorted()
}
