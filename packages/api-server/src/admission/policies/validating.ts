/** Evaluates validating policies for one request. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { CostExceeded } from '@gyropilot/cel'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { OUT_OF_BUDGET, RequestValues, outcomeOf } from '../expressions.ts'
import { matchingVersion } from '../matching.ts'
import { versionProblem } from '../object-versions.ts'
import { refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { criteriaOf, validatingPolicy } from './compiled-policy.ts'
import type { CompiledValidation, ValidatingPolicy } from './compiled-policy.ts'
import { ConfigurationError, paramKindProblem, paramsOf } from './params.ts'
import { policyConditions } from './policy-conditions.ts'

/** Of all expressions of one policy for one request. */
const POLICY_BUDGET = 10_000_000
const LONGEST_MESSAGE_BYTES = 5 * 1024

interface Failure {
  readonly text: string
  readonly reason: string
  readonly startMs: number
  /** What is done about it, whatever the binding says. */
  readonly action?: 'Allow' | 'Deny'
}

interface Denial extends Pick<Failure, 'text' | 'reason'> {
  readonly policy: string
  readonly binding: string | undefined
}

const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
}

/** Throws ApiError with the first denial, after all policies have been asked. */
export async function validateByPolicies(
  world: AdmissionWorld,
  request: AdmissionRequest,
  policies: readonly Stored[],
  bindings: readonly Stored[],
): Promise<void> {
  const denials: Denial[] = []
  for (const stored of policies) {
    const own = bindings.filter(({ spec }) => spec.policyName === stored['metadata'].name)
    if (own.length === 0) continue
    const policy = validatingPolicy(stored)
    const seenAs = matchingVersion(request, policy.criteria, world)
    if (seenAs === undefined) continue
    const problem = policy.problem ?? paramKindProblem(world, stored['spec'].paramKind)
    if (problem !== undefined) {
      if (policy.failurePolicy === 'Fail')
        denials.push(denialOf(policy, undefined, `failed to configure policy: ${problem}`))
      continue
    }
    const unseen = await versionProblem(request, seenAs, world.registry)
    if (unseen !== undefined) {
      if (policy.failurePolicy === 'Fail')
        denials.push(
          denialOf(
            policy,
            own[0]!['metadata'].name,
            `failed to configure binding: failed to convert object version: ${unseen}`,
          ),
        )
      continue
    }
    for (const binding of own)
      denials.push(...evaluateBinding(world, request, { policy, stored, binding, seenAs }))
  }
  const [first] = denials
  if (first !== undefined) throw refusalFor(request, first)
}

function denialOf({ name }: ValidatingPolicy, binding: string | undefined, text: string): Denial {
  return { policy: name, binding, text, reason: 'Invalid' }
}

interface Bound {
  readonly policy: ValidatingPolicy
  readonly stored: Stored
  readonly binding: Stored
  readonly seenAs: ResourceInfo
}

function evaluateBinding(world: AdmissionWorld, request: AdmissionRequest, bound: Bound): Denial[] {
  const { policy, stored, binding } = bound
  const { matchResources, paramRef, validationActions } = binding['spec']
  if (matchResources !== undefined && !bindingMatches(world, request, matchResources)) return []
  const name: string = binding['metadata'].name
  let params: readonly (Stored | undefined)[]
  try {
    params = paramsOf(world, request, stored['spec'].paramKind, paramRef)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    if (policy.failurePolicy === 'Ignore') return []
    return [denialOf(policy, name, `failed to configure binding: ${error.message}`)]
  }
  const denials: Denial[] = []
  for (const param of params) {
    for (const { text, reason, startMs, action } of failuresOf(world, request, bound, param)) {
      const actions: readonly string[] = action === undefined ? validationActions : [action]
      for (const taken of actions)
        world.decisions?.validation(policy.name, name, taken.toLowerCase(), startMs)
      if (actions.includes('Deny'))
        denials.push({ text, reason, policy: policy.name, binding: name })
      if (actions.includes('Warn'))
        request.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${name}': ${text}`,
        )
    }
  }
  return denials
}

/** A binding that names no rules narrows the policy by its selectors alone. */
function bindingMatches(world: AdmissionWorld, request: AdmissionRequest, match: Stored): boolean {
  const criteria = criteriaOf(match)
  const everything = {
    apiGroups: ['*'],
    apiVersions: ['*'],
    resources: ['*/*'],
    operations: ['*'],
    scope: '*',
  }
  const rules = criteria.rules.length === 0 ? [everything] : criteria.rules
  return matchingVersion(request, { ...criteria, rules }, world) !== undefined
}

function failuresOf(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { policy, seenAs }: Bound,
  params: Stored | undefined,
): Failure[] {
  let startMs = world.clock.monotonicMs()
  const failed = (text: string): Failure => ({
    text,
    reason: 'Invalid',
    startMs,
    ...(policy.failurePolicy === 'Ignore' && { action: 'Allow' }),
  })
  const matched = policyConditions(world, request, { policy, seenAs, params })
  if (matched === 'no-match') return []
  if (matched !== 'match') return policy.failurePolicy === 'Fail' ? [failed(matched.error)] : []
  const values = new RequestValues(world, request, {
    seenAs,
    budget: POLICY_BUDGET,
    variables: policy.variables,
    ...(params === undefined ? {} : { params }),
  })
  const failures: Failure[] = []
  for (const validation of policy.validations) {
    startMs = world.clock.monotonicMs()
    const result = outcomeOf(values, validation.test)
    if (result instanceof CostExceeded) return [failed(OUT_OF_BUDGET)]
    if (result instanceof Error) failures.push(failed(result.message))
    else if (result !== true)
      failures.push({
        text: messageOf(values, validation),
        reason: validation.source['reason'] ?? 'Invalid',
        startMs,
      })
  }
  // There is no audit log to write to, but an expression that fails refuses the request: bindings cannot make it a warning.
  for (const annotation of policy.failurePolicy === 'Fail' ? policy.auditAnnotations : []) {
    startMs = world.clock.monotonicMs()
    const result = outcomeOf(values, annotation)
    if (result instanceof Error) failures.push({ ...failed(result.message), action: 'Deny' })
  }
  return failures
}

function messageOf(
  values: RequestValues,
  { messageExpression, source }: CompiledValidation,
): string {
  if (messageExpression !== undefined) {
    const result = outcomeOf(values, messageExpression)
    const text = typeof result === 'string' ? result.trim() : ''
    const usable =
      text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= LONGEST_MESSAGE_BYTES
    if (usable) return text
  }
  const message: string = source['message']?.trim() ?? ''
  return message === '' ? `failed expression: ${source['expression'].trim()}` : message
}

function refusalFor(
  request: AdmissionRequest,
  { policy, binding, text, reason }: Denial,
): ApiError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`
  const message = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${text}`
  const error = refusal(request, message)
  return new ApiError(CODES[reason] ?? 422, reason, error.message, {
    details: { ...error.details, causes: [...(error.details?.causes ?? []), { message }] },
  })
}
