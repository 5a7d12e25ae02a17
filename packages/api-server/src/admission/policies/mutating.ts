/** Applies mutating policies to one request. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { JsonPatchError, applyJsonPatch, deepEqual } from '@gyropilot/api'
import type { JsonPatchOperation } from '@gyropilot/api'
import { builtInKind, merge } from '@gyropilot/apply'
import type { MergeType } from '@gyropilot/apply'
import type { OwnershipSource } from '../../field-management/field-management.ts'
import { CelOptional, CostExceeded, EvaluationError, jsonOf } from '@gyropilot/cel'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import { cloneJson } from '../../registry/equality.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { DecodeError } from '@gyropilot/schema'
import { OUT_OF_BUDGET, RequestValues, matchConditions, outcomeOf } from '../expressions.ts'
import { matchingVersion } from '../matching.ts'
import { inVersion, replaceObject } from '../object-versions.ts'
import { reinvocations } from '../reinvocation.ts'
import { refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { criteriaOf, mutatingPolicy } from './compiled-policy.ts'
import type { CompiledMutation, MutatingPolicy } from './compiled-policy.ts'
import { ConfigurationError, paramsOf } from './params.ts'

/** Of all expressions of one policy for one request. */
const POLICY_BUDGET = 10_000_000

/** A policy that could not be applied; its failurePolicy decides what that means. */
class MutationError extends Error {}

/** Edits the request's object. `reinvoke`: a policy that allows it ran before a later change. Throws ApiError. */
export function mutateByPolicies(
  world: AdmissionWorld,
  request: AdmissionRequest,
  policies: readonly Stored[],
  bindings: readonly Stored[],
): 'reinvoke' | undefined {
  const pass = reinvocations(request)
  for (const stored of policies) {
    const policy = mutatingPolicy(stored)
    const own = bindings.filter(({ spec }) => spec.policyName === policy.name)
    if (own.length === 0 || !pass.mayRun(`policy/${policy.name}`)) continue
    const seenAs = matchingVersion(request, policy.criteria, world)
    if (seenAs === undefined) continue
    const before = cloneJson(request.object!)
    try {
      if (policy.problem !== undefined)
        throw new MutationError(`failed to configure policy: ${policy.problem}`)
      for (const binding of own) applyBinding(world, request, { policy, stored, binding, seenAs })
    } catch (error) {
      if (!(error instanceof MutationError)) throw error
      if (policy.failurePolicy === 'Fail')
        throw refusal(request, `policy '${policy.name}' denied request: ${error.message}`)
      continue
    }
    const changed = !deepEqual(before, request.object)
    pass.ran(`policy/${policy.name}`, { changed, again: policy.reinvocation === 'IfNeeded' })
  }
  return pass.needed() ? 'reinvoke' : undefined
}

interface Bound {
  readonly policy: MutatingPolicy
  readonly stored: Stored
  readonly binding: Stored
  readonly seenAs: ResourceInfo
}

function applyBinding(world: AdmissionWorld, request: AdmissionRequest, bound: Bound): void {
  const { policy, stored, binding, seenAs } = bound
  const { matchResources, paramRef } = binding['spec']
  if (matchResources !== undefined) {
    const criteria = criteriaOf(matchResources)
    const rules = criteria.rules.length === 0 ? policy.criteria.rules : criteria.rules
    if (matchingVersion(request, { ...criteria, rules }, world) === undefined) return
  }
  for (const params of paramsFor(world, request, stored, paramRef)) {
    const matched = matchConditions(policy.conditions, world, request, seenAs, params)
    if (matched === 'no-match') continue
    if (matched !== 'match') throw new MutationError(matched.error)
    for (const mutation of policy.mutations) applyMutation(world, request, bound, mutation, params)
  }
}

function paramsFor(
  world: AdmissionWorld,
  request: AdmissionRequest,
  stored: Stored,
  reference: Stored | undefined,
): readonly (Stored | undefined)[] {
  try {
    return paramsOf(world, request, stored['spec'].paramKind, reference)
  } catch (error) {
    if (error instanceof ConfigurationError)
      throw new MutationError(`failed to configure binding: ${error.message}`)
    throw error
  }
}

function applyMutation(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { policy, seenAs }: Bound,
  { patch, patchType }: CompiledMutation,
  params: Stored | undefined,
): void {
  const values = new RequestValues(world, request, {
    seenAs,
    budget: POLICY_BUDGET,
    variables: policy.variables,
    ...(params === undefined ? {} : { params }),
  })
  const result = outcomeOf(values, patch)
  if (result instanceof CostExceeded) throw new MutationError(OUT_OF_BUDGET)
  if (result instanceof Error) throw new MutationError(result.message)
  const current = inVersion(request.object, request.resource, seenAs, world.registry)!
  try {
    const json = jsonOf(result instanceof CelOptional ? (result.value ?? null) : result)
    const changed =
      patchType === 'JSONPatch'
        ? (applyJsonPatch(current, operationsOf(json)) as Stored)
        : applyConfiguration(world, current, json, seenAs)
    replaceObject(request, changed, seenAs, world.registry)
  } catch (error) {
    if (error instanceof JsonPatchError) throw new MutationError(`JSON Patch: ${error.message}`)
    if (error instanceof EvaluationError || error instanceof DecodeError)
      throw new MutationError(error.message)
    throw error
  }
}

function operationsOf(json: unknown): readonly JsonPatchOperation[] {
  if (!Array.isArray(json))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array')
  return json as readonly JsonPatchOperation[]
}

/** Lays the configuration over the object as server-side apply does, without owners. */
function applyConfiguration(
  world: AdmissionWorld,
  current: Stored,
  configuration: unknown,
  info: ResourceInfo,
): Stored {
  if (typeof configuration !== 'object' || configuration === null)
    throw new MutationError(
      'type mismatch: ApplyConfigurationType.expression should evaluate to Object',
    )
  const given = configuration as Stored
  for (const field of ['name', 'namespace', 'uid'])
    if (given['metadata']?.[field] !== undefined)
      throw new MutationError(`metadata.${field} may not be changed by an apply configuration`)
  const type = mergeTypeOf(world, info)
  if (type === undefined) throw new MutationError(`no schema for ${info.kind}`)
  const merged = merge(type, current, {
    ...given,
    apiVersion: current['apiVersion'],
    kind: current['kind'],
  })
  return merged as Stored
}

function mergeTypeOf({ registry }: AdmissionWorld, info: ResourceInfo): MergeType | undefined {
  const served = registry?.get(info.group, info.version, info.resource)
  const custom = served?.definition as OwnershipSource | undefined
  if (custom !== undefined) return custom.ownership.type
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
  return builtInKind(apiVersion, info.kind)?.type
}
