/** Applies mutating policies to one request. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { JsonPatchError, JsonPatchTestError, applyJsonPatch } from '@gyropilot/api'
import type { JsonPatchOperation } from '@gyropilot/api'
import { PatchObjectError, builtInKind, patchObject } from '@gyropilot/apply'
import type { MergeType } from '@gyropilot/apply'
import type { OwnershipSource } from '../../field-management/field-management.ts'
import { CelOptional, CostExceeded, EvaluationError, jsonOf, misnamedObject } from '@gyropilot/cel'
import type { Value } from '@gyropilot/cel'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import { internalError } from '../../http/errors.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { DecodeError } from '@gyropilot/schema'
import { OUT_OF_BUDGET, RequestValues, outcomeOf } from '../expressions.ts'
import { matchingVersion } from '../matching.ts'
import { inVersion, replaceObject } from '../object-versions.ts'
import { reinvocations } from '../reinvocation.ts'
import { refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { criteriaOf, mutatingPolicy } from './compiled-policy.ts'
import type { CompiledMutation, MutatingPolicy } from './compiled-policy.ts'
import { ConfigurationError, paramKindProblem, paramsOf } from './params.ts'
import { policyConditions } from './policy-conditions.ts'

/** Of all expressions of one policy for one request. */
const POLICY_BUDGET = 10_000_000

/** A policy that could not be applied; its failurePolicy decides what that means. */
class MutationError extends Error {
  readonly reason: string

  constructor(message: string, reason = 'Invalid') {
    super(message)
    this.reason = reason
  }
}

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
    const problem = policy.problem ?? paramKindProblem(world, stored['spec'].paramKind)
    if (problem !== undefined) {
      const text = `policy ${JSON.stringify(policy.name)} denied request: failed to configure policy: ${problem}`
      if (policy.failurePolicy === 'Fail') throw refused(request, text, 'Forbidden')
      continue
    }
    let applied = false
    for (const binding of own) {
      const bound = { policy, stored, binding, seenAs }
      tolerated(request, bound, () => {
        if (applyBinding(world, request, bound)) applied = true
      })
    }
    // Whatever the mutations have made of the object, kube-apiserver takes it for another one.
    pass.ran(`policy/${policy.name}`, {
      changed: applied,
      again: policy.reinvocation === 'IfNeeded',
      sawItself: true,
    })
  }
  return pass.needed() ? 'reinvoke' : undefined
}

/** Said of the request, not of the object; its cause is the same text. */
function refused(request: AdmissionRequest, text: string, reason: string): ApiError {
  const { details } = refusal(request, text)
  return new ApiError(403, reason, text, { details: { ...details, causes: [{ message: text }] } })
}

/** What a policy that fails means, it says itself: of one that is ignored the rest is still done. */
function tolerated(request: AdmissionRequest, { policy, binding }: Bound, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof MutationError)) throw error
    if (policy.failurePolicy !== 'Fail') return
    const names = `policy '${policy.name}' with binding '${binding['metadata'].name}'`
    throw refused(request, `${names} denied request: ${error.message}`, error.reason)
  }
}

interface Bound {
  readonly policy: MutatingPolicy
  readonly stored: Stored
  readonly binding: Stored
  readonly seenAs: ResourceInfo
}

/** Whether it had something to mutate. */
function applyBinding(world: AdmissionWorld, request: AdmissionRequest, bound: Bound): boolean {
  const { policy, stored, binding, seenAs } = bound
  const { matchResources, paramRef } = binding['spec']
  if (matchResources !== undefined) {
    const criteria = criteriaOf(matchResources)
    const rules = criteria.rules.length === 0 ? policy.criteria.rules : criteria.rules
    if (matchingVersion(request, { ...criteria, rules }, world) === undefined) return false
  }
  let applied = false
  for (const params of paramsFor(world, request, stored, paramRef)) {
    tolerated(request, bound, () => {
      const matched = policyConditions(world, request, { policy, seenAs, params })
      if (matched === 'no-match') return
      if (matched !== 'match') throw new MutationError(matched.error)
      applied = true
      for (const mutation of policy.mutations)
        tolerated(request, bound, () => tryMutation(world, request, bound, mutation, params))
    })
  }
  return applied
}

function tryMutation(...mutation: Parameters<typeof applyMutation>): void {
  const [{ clock, decisions }, , { policy, binding }] = mutation
  const startMs = clock.monotonicMs()
  let failed = true
  try {
    applyMutation(...mutation)
    failed = false
  } finally {
    decisions?.mutation(policy.name, binding['metadata'].name, failed, startMs)
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
      throw new MutationError(`failed to configure binding: ${error.message}`, 'Forbidden')
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
  const changed =
    patchType === 'JSONPatch'
      ? patched(current, jsonFor(result))
      : applyConfiguration(world, current, result, seenAs)
  try {
    replaceObject(request, changed, seenAs, world.registry, 'refused')
  } catch (error) {
    // What comes out of a patch is decoded strictly, and its policy does not answer for it.
    if (error instanceof DecodeError) throw internalError(error.message)
    throw error
  }
}

/** Throws MutationError for what JSON cannot say. */
function jsonFor(value: Value): unknown {
  try {
    return jsonOf(value instanceof CelOptional ? (value.value ?? null) : value)
  } catch (error) {
    if (error instanceof EvaluationError) throw new MutationError(error.message)
    throw error
  }
}

/** A test that fails leaves the object as it is. */
function patched(current: Stored, operations: unknown): Stored {
  if (!Array.isArray(operations))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array')
  try {
    return applyJsonPatch(current, operations as readonly JsonPatchOperation[]) as Stored
  } catch (error) {
    if (error instanceof JsonPatchTestError) return current
    if (error instanceof JsonPatchError) throw new MutationError(`JSON Patch: ${error.message}`)
    throw error
  }
}

/** Lays the configuration over the object as server-side apply does, without owners. */
function applyConfiguration(
  world: AdmissionWorld,
  current: Stored,
  result: Value,
  info: ResourceInfo,
): Stored {
  const misnamed = misnamedObject(result)
  if (misnamed !== undefined) throw new MutationError(`type mismatch: ${misnamed}`)
  const configuration = jsonFor(result)
  if (typeof configuration !== 'object' || configuration === null)
    throw new MutationError(
      'type mismatch: ApplyConfigurationType.expression should evaluate to Object',
    )
  const { apiVersion, kind } = current
  const type = kind === info.kind ? mergeTypeOf(world, info) : undefined
  try {
    if (type === undefined)
      throw new PatchObjectError(
        `failed to convert patch object to typed object: no corresponding type for ${apiVersion}, Kind=${kind}`,
      )
    return patchObject(type, current, { ...configuration, apiVersion, kind }) as Stored
  } catch (error) {
    if (error instanceof PatchObjectError)
      throw new MutationError(`error applying patch: ${error.message}`)
    throw error
  }
}

function mergeTypeOf({ registry }: AdmissionWorld, info: ResourceInfo): MergeType | undefined {
  const served = registry?.get(info.group, info.version, info.resource)
  const custom = served?.definition as OwnershipSource | undefined
  if (custom !== undefined) return custom.ownership.type
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
  return builtInKind(apiVersion, info.kind)?.type
}
