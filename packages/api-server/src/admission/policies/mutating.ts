/** Applies mutating policies to one request. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { JsonPatchError, JsonPatchTestError, applyJsonPatch } from '@gyropilot/api'
import type { JsonPatchOperation } from '@gyropilot/api'
import { PatchObjectError, builtInKind, patchObject } from '@gyropilot/apply'
import type { MergeType } from '@gyropilot/apply'
import { dropUnreadable } from '../../field-management/applied-metadata.ts'
import { unconverted } from '../../field-management/unconverted.ts'
import type { OwnershipSource } from '../../field-management/field-management.ts'
import { CelOptional, CostExceeded, EvaluationError, jsonOf, misnamedObject } from '@gyropilot/cel'
import type { Value } from '@gyropilot/cel'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import { internalError } from '../../http/errors.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { DecodeError } from '@gyropilot/schema'
import { OUT_OF_BUDGET, RequestValues, outcomeOf } from '../expressions.ts'
import { matchingVersion } from '../matching.ts'
import {
  inVersion,
  prepareVersion,
  prepareVersions,
  replaceObject,
  versionProblem,
} from '../object-versions.ts'
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

interface Refusal {
  readonly text: string
  readonly reason: string
}

/** Why policies refuse the request: none keeps the others from being asked. */
class Refusals {
  /** Told first, whenever they are found. */
  readonly ofConfiguration: Refusal[] = []
  readonly ofMutation: Refusal[] = []

  /** The first decides, all are told. They are about the request, not about the object. */
  throwIfAny(request: AdmissionRequest): void {
    const all = [...this.ofConfiguration, ...this.ofMutation]
    const [first] = all
    if (first === undefined) return
    const { details } = refusal(request, first.text)
    const causes = all.map(({ text }) => ({ message: text }))
    throw new ApiError(403, first.reason, first.text, { details: { ...details, causes } })
  }
}

/** Edits the request's object. `reinvoke`: something was mutated, which all other plug-ins have to see. Throws ApiError. */
export async function mutateByPolicies(
  world: AdmissionWorld,
  request: AdmissionRequest,
  policies: readonly Stored[],
  bindings: readonly Stored[],
): Promise<'reinvoke' | undefined> {
  const pass = reinvocations(request)
  const refusals = new Refusals()
  // Selectors see the object as it comes to this pass, whatever the policies make of it.
  const asked: { readonly policy: MutatingPolicy; readonly bound: readonly Bound[] }[] = []
  for (const stored of policies) {
    const policy = mutatingPolicy(stored)
    const own = bindings.filter(({ spec }) => spec.policyName === policy.name)
    if (own.length === 0 || !pass.mayRun(`policy/${policy.name}`)) continue
    const bound = await boundOf(world, request, { policy, stored, refusals }, own)
    if (bound.length > 0) asked.push({ policy, bound })
  }
  for (const { policy, bound } of asked) {
    let applied = false
    for (const each of bound) if (await applyBound(world, request, each)) applied = true
    // Whatever the mutations have made of the object, kube-apiserver takes it for another one.
    pass.ran(`policy/${policy.name}`, {
      changed: applied,
      again: policy.reinvocation === 'IfNeeded',
      sawItself: true,
    })
  }
  refusals.throwIfAny(request)
  return pass.needed() ? 'reinvoke' : undefined
}

/** The bindings through which a policy wants to see the request, with their parameters. */
async function boundOf(
  world: AdmissionWorld,
  request: AdmissionRequest,
  asked: Pick<Bound, 'policy' | 'stored' | 'refusals'>,
  bindings: readonly Stored[],
): Promise<readonly Bound[]> {
  const { policy, stored, refusals } = asked
  const seenAs = matchingVersion(request, policy.criteria, world)
  if (seenAs === undefined) return []
  const problem =
    policy.problem ??
    paramKindProblem(world, stored['spec'].paramKind) ??
    (await versionProblem(request, seenAs, world.registry))
  if (problem !== undefined) {
    const text = `policy ${JSON.stringify(policy.name)} denied request: failed to configure policy: ${problem}`
    if (policy.failurePolicy === 'Fail')
      refusals.ofConfiguration.push({ text, reason: 'Forbidden' })
    return []
  }
  return bindings.flatMap((binding) => {
    if (!bindingMatches(world, request, policy, binding)) return []
    const bound = { ...asked, binding, seenAs }
    let params: Bound['params'] = []
    try {
      params = paramsFor(world, request, stored, binding['spec'].paramRef)
    } catch (error) {
      tolerate(bound, error)
    }
    return params.length === 0 ? [] : [{ ...bound, params }]
  })
}

/** A binding that names no rules has those of its policy. */
function bindingMatches(
  world: AdmissionWorld,
  request: AdmissionRequest,
  policy: MutatingPolicy,
  binding: Stored,
): boolean {
  const { matchResources } = binding['spec']
  if (matchResources === undefined) return true
  const criteria = criteriaOf(matchResources)
  const rules = criteria.rules.length === 0 ? policy.criteria.rules : criteria.rules
  return matchingVersion(request, { ...criteria, rules }, world) !== undefined
}

/** What a policy that fails means, it says itself; the rest is done in any case. Throws what is no failure of the policy. */
function tolerate(
  { policy, binding, refusals }: Pick<Bound, 'policy' | 'binding' | 'refusals'>,
  error: unknown,
): void {
  if (!(error instanceof MutationError)) throw error
  if (policy.failurePolicy !== 'Fail') return
  const names = `policy '${policy.name}' with binding '${binding['metadata'].name}'`
  const text = `${names} denied request: ${error.message}`
  const list = error.reason === 'Forbidden' ? refusals.ofConfiguration : refusals.ofMutation
  list.push({ text, reason: error.reason })
}

interface Bound {
  readonly policy: MutatingPolicy
  readonly stored: Stored
  readonly binding: Stored
  readonly seenAs: ResourceInfo
  readonly refusals: Refusals
  readonly params: readonly (Stored | undefined)[]
}

/** Whether it had something to mutate. */
async function applyBound(
  world: AdmissionWorld,
  request: AdmissionRequest,
  bound: Bound,
): Promise<boolean> {
  const { policy, seenAs } = bound
  let applied = false
  for (const params of bound.params) {
    await prepareVersions(request, seenAs, world.registry)
    const matched = policyConditions(world, request, { policy, seenAs, params })
    if (matched === 'no-match') continue
    if (matched !== 'match') {
      tolerate(bound, new MutationError(matched.error))
      continue
    }
    applied = true
    for (const mutation of policy.mutations) {
      try {
        await tryMutation(world, request, bound, mutation, params)
      } catch (error) {
        tolerate(bound, error)
      }
    }
  }
  return applied
}

async function tryMutation(...mutation: Parameters<typeof applyMutation>): Promise<void> {
  const [{ clock, decisions }, , { policy, binding }] = mutation
  const startMs = clock.monotonicMs()
  let failed = true
  try {
    await applyMutation(...mutation)
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

async function applyMutation(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { policy, seenAs }: Bound,
  { patch, patchType }: CompiledMutation,
  params: Stored | undefined,
): Promise<void> {
  await prepareVersions(request, seenAs, world.registry)
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
  if (isCustomScale(world, request))
    throw new MutationError('request to convert CR to an invalid group/version: autoscaling/v1')
  refuseOtherVersion(world, request, seenAs)
  await prepareVersion(changed, seenAs, request.resource, world.registry)
  try {
    replaceObject(request, changed, seenAs, world.registry, 'refused')
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    // What a JSON patch makes is decoded strictly, and its policy does not answer for it.
    if (patchType === 'JSONPatch') throw internalError(error.message)
    throw new MutationError(
      `unable to convert unstructured object to ${typeText(changed)}: ${unconverted(error)}`,
    )
  }
}

/**
 * kube-apiserver leads no changed object of a built-in kind back from the version that a policy saw: a policy can only refuse what is sent
 * in another one. Throws MutationError.
 */
function refuseOtherVersion(
  { registry }: AdmissionWorld,
  { resource }: AdmissionRequest,
  seenAs: ResourceInfo,
): void {
  const { group, version, resource: plural, kind } = resource
  if (seenAs.group === group && seenAs.version === version) return
  if (registry?.get(group, version, plural)?.custom === true) return
  const apiVersion = group === '' ? version : `${group}/${version}`
  throw new MutationError(
    seenAs.group === group
      ? `converting (${seenAs.version}.${kind}) to (${version}.${kind}): unknown conversion`
      : `${seenAs.version}.${kind} is not suitable for converting to "${apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
  )
}

/** What patches make of the scale of a custom resource, kube-apiserver takes for the resource itself. */
function isCustomScale(
  { registry }: AdmissionWorld,
  { resource: { group, version, resource }, subresource }: AdmissionRequest,
): boolean {
  return subresource === 'scale' && registry?.get(group, version, resource)?.custom === true
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

/** What a JSONPatch does not say of these is empty, where an operation that is sent as JSON lacks it. */
const UNSAID = { op: '', path: '' }

/** A test that fails leaves the object as it is. */
function patched(current: Stored, operations: unknown): Stored {
  if (!Array.isArray(operations))
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array')
  try {
    const written = operations.map((given) => ({ ...UNSAID, ...(given as JsonPatchOperation) }))
    return applyJsonPatch(current, written) as Stored
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
    const merged = patchObject(type, current, { ...configuration, apiVersion, kind }) as Draft
    if (builtInKind(apiVersion, kind) === undefined) dropUnreadable(merged['metadata'])
    return merged
  } catch (error) {
    if (error instanceof PatchObjectError)
      throw new MutationError(`error applying patch: ${error.message}`)
    throw error
  }
}

/** With the group of the core API, which is none. */
function typeText({ apiVersion, kind }: Stored): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`
}

function mergeTypeOf({ registry }: AdmissionWorld, info: ResourceInfo): MergeType | undefined {
  const served = registry?.get(info.group, info.version, info.resource)
  const custom = served?.definition as OwnershipSource | undefined
  if (custom !== undefined) return custom.ownership.type
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
  return builtInKind(apiVersion, info.kind)?.type
}
