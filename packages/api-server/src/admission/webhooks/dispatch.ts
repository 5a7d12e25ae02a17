/** Calls webhooks for one request. Contract: docs/behaviour/api-server/subresources-and-admission.md, Webhooks. */
import { JsonPatchError, applyJsonPatch, deepEqual } from '@gyropilot/api'
import type { JsonPatchOperation } from '@gyropilot/api'
import { jsonKind } from '@gyropilot/schema/decode-scalars'
import { parseExact } from '@gyropilot/foundation/exact-json'
import { goJsonError } from '@gyropilot/schema/go-json-error'
import { uuid } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../../contracts.ts'
import { badRequest, internalError } from '../../http/errors.ts'
import { OutgoingCallError } from '../../http/outgoing-calls/outgoing-calls.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { DecodeError } from '@gyropilot/schema'
import type { WebhookType } from '../decision-metrics.ts'
import type { NamedProgram } from '../expressions.ts'
import { matchingVersion } from '../matching.ts'
import { inVersion, prepareVersion, prepareVersions, replaceObject } from '../object-versions.ts'
import { reinvocations } from '../reinvocation.ts'
import { refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { UnusableClientConfig, callTarget } from './client-config.ts'
import { UndecodableResponse } from './review-header.ts'
import {
  Denial,
  InvalidResponse,
  denialOf,
  reviewOf,
  reviewVersionOf,
  verdictOf,
} from './review.ts'
import type { Verdict } from './review.ts'

const DEFAULT_TIMEOUT_SECONDS = 10

interface Hook {
  readonly webhook: Stored
  readonly seenAs: ResourceInfo
  /** Unique among all webhooks of a pass: names need not be. */
  readonly key: string
  readonly type: WebhookType
}

/** One after the other; each sees what those before have changed. Throws ApiError. */
export async function mutateByWebhooks(
  world: AdmissionWorld,
  request: AdmissionRequest,
  configurations: readonly Stored[],
): Promise<'reinvoke' | undefined> {
  const pass = reinvocations(request)
  for (const webhook of webhooksOf(configurations)) {
    if (!pass.mayRun(webhook.key)) continue
    const hook = await selected(world, request, webhook, 'admit')
    if (hook === undefined) continue
    const changed = await guarded(world, request, hook, () => mutateByOne(world, request, hook))
    const again = hook.webhook['reinvocationPolicy'] === 'IfNeeded'
    pass.ran(hook.key, { changed: changed ?? false, again })
  }
  return pass.needed() ? 'reinvoke' : undefined
}

/** All at once, and all are waited for; the first of them, in time, that refuses decides. Throws ApiError. */
export async function validateByWebhooks(
  world: AdmissionWorld,
  request: AdmissionRequest,
  configurations: readonly Stored[],
): Promise<void> {
  const hooks: Hook[] = []
  for (const webhook of webhooksOf(configurations)) {
    const hook = await selected(world, request, webhook, 'validating')
    if (hook !== undefined) hooks.push(hook)
  }
  const refusals: unknown[] = []
  await Promise.all(
    hooks.map((hook) =>
      guarded(world, request, hook, async () => {
        await ask(world, request, hook)
        return false
      }).catch((reason: unknown) => refusals.push(reason)),
    ),
  )
  if (refusals.length > 0) throw refusals[0]
}

function webhooksOf(configurations: readonly Stored[]): { webhook: Stored; key: string }[] {
  return configurations.flatMap((configuration) =>
    (configuration['webhooks'] ?? []).map((webhook: Stored, index: number) => ({
      webhook,
      key: `webhook/${configuration['metadata'].name}/${index}`,
    })),
  )
}

/** Undefined: the webhook does not want to see the request. */
async function selected(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { webhook, key }: { readonly webhook: Stored; readonly key: string },
  type: WebhookType,
): Promise<Hook | undefined> {
  const seenAs = matchingVersion(
    request,
    {
      rules: webhook['rules'] ?? [],
      matchPolicy: webhook['matchPolicy'],
      namespaceSelector: webhook['namespaceSelector'],
      objectSelector: webhook['objectSelector'],
    },
    world,
  )
  if (seenAs === undefined) return undefined
  await prepareVersions(request, seenAs, world.registry).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    // Whatever its failurePolicy. Mutating webhooks tell it as an error of an error.
    throw internalError(type === 'admit' ? internalError(error.message).message : error.message)
  })
  const conditions: readonly Stored[] = webhook['matchConditions'] ?? []
  const hook = { webhook, seenAs, key, type }
  if (conditions.length > 0 && !(await conditionsHold(world, request, hook))) {
    world.decisions?.excluded(webhook['name'], type, request.operation)
    return undefined
  }
  return hook
}

async function conditionsHold(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { webhook, seenAs, type }: Hook,
): Promise<boolean> {
  const startMs = world.clock.monotonicMs()
  const { matchConditions } = await import('../expressions.ts')
  const { webhookConditions } = await import('./conditions.ts')
  const compiled = webhookConditions(webhook)
  const conditions: readonly NamedProgram[] = 'problem' in compiled ? [] : compiled.conditions
  const outcome =
    'problem' in compiled
      ? { error: compiled.problem }
      : matchConditions(conditions, world, request, seenAs)
  if (outcome === 'match') return true
  const failed = outcome !== 'no-match'
  const { operation } = request
  const name: string = webhook['name']
  world.decisions?.conditions({ kind: 'webhook', name, type, operation, startMs, failed })
  if (!failed || webhook['failurePolicy'] === 'Ignore') return false
  throw refusal(request, outcome.error)
}

/** A call that failed: the webhook's failurePolicy decides what that means. */
class CallFailure extends Error {
  /** Of the answer, where that was none of success. */
  readonly status: number

  constructor(message: string, status = 503) {
    super(message)
    this.status = status
  }
}

async function guarded(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { webhook, type }: Hook,
  work: () => Promise<boolean>,
): Promise<boolean | undefined> {
  const { decisions, clock } = world
  const name: string = webhook['name']
  const asked = { name, type, operation: request.operation, startMs: clock.monotonicMs() }
  try {
    const changed = await work()
    decisions?.webhook({ ...asked, code: 200 })
    return changed
  } catch (error) {
    if (error instanceof Denial)
      decisions?.webhook({ ...asked, code: error.code, refusedFor: 'no_error' })
    else if (!(error instanceof CallFailure))
      decisions?.webhook({ ...asked, code: 0, refusedFor: 'apiserver_internal_error' })
    if (!(error instanceof CallFailure)) throw error
    const { message, status: code } = error
    if (webhook['failurePolicy'] === 'Ignore') {
      decisions?.webhook({ ...asked, code })
      decisions?.failedOpen(name, type)
      return undefined
    }
    decisions?.webhook({ ...asked, code, refusedFor: 'calling_webhook_error' })
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${message}`)
  }
}

/** The verdict of a webhook that allows. Throws ApiError when it refuses. */
async function ask(
  world: AdmissionWorld,
  request: AdmissionRequest,
  { webhook, seenAs, type }: Hook,
): Promise<Verdict> {
  const name: string = webhook['name']
  if (request.dryRun && !['None', 'NoneOnDryRun'].includes(webhook['sideEffects']))
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
  const uid = uuid(world.random)
  const objects = {
    object: inVersion(request.object, request.resource, seenAs, world.registry),
    oldObject: inVersion(request.oldObject, request.resource, seenAs, world.registry),
  }
  const version = reviewVersionOf(webhook)
  const answer = await call(world, webhook, reviewOf(version, uid, request, seenAs, objects))
  let verdict: Verdict
  try {
    verdict = verdictOf(version, answer, uid, type === 'admit')
  } catch (error) {
    if (error instanceof UndecodableResponse)
      throw new CallFailure(`failed to call webhook: ${error.message}`)
    if (!(error instanceof InvalidResponse)) throw error
    throw new CallFailure(`received invalid webhook response: ${error.message}`)
  }
  for (const text of verdict.warnings) request.warn(text)
  if (!verdict.allowed) throw denialOf(name, verdict.status)
  return verdict
}

async function call(world: AdmissionWorld, webhook: Stored, body: object): Promise<unknown> {
  const { calls, resolveService } = world
  if (calls === undefined || resolveService === undefined)
    throw new CallFailure('failed to call webhook: this server makes no calls')
  try {
    const seconds: number = webhook['timeoutSeconds'] ?? DEFAULT_TIMEOUT_SECONDS
    const target = callTarget(webhook['clientConfig'] ?? {}, seconds, resolveService)
    return await calls.post({ ...target, body })
  } catch (error) {
    if (error instanceof UnusableClientConfig) throw new CallFailure(error.message)
    const status = error instanceof OutgoingCallError ? error.status : undefined
    throw new CallFailure(`failed to call webhook: ${(error as Error).message}`, status)
  }
}

/** Throws CallFailure for what is no patch. */
function operationsOf({ patch, patchType }: Verdict): readonly JsonPatchOperation[] {
  if (patch === '') return []
  let operations: unknown
  try {
    operations = parseExact(patch)
  } catch {
    throw new CallFailure(`received undecodable patch in webhook response: ${goJsonError(patch)}`)
  }
  if (operations === null) return []
  if (!Array.isArray(operations)) throw undecodablePatch(operations, 'Patch')
  const wrong: unknown = operations.find(
    (operation) => typeof operation !== 'object' || Array.isArray(operation),
  )
  if (wrong !== undefined) throw undecodablePatch(wrong, 'Operation')
  if (operations.length > 0 && patchType !== 'JSONPatch')
    throw new CallFailure(`unsupported patch type ${JSON.stringify(patchType)}`)
  return operations.map((operation: JsonPatchOperation | null) => operation ?? EMPTY_OPERATION)
}

const EMPTY_OPERATION = {} as JsonPatchOperation

function undecodablePatch(value: unknown, type: 'Patch' | 'Operation'): CallFailure {
  return new CallFailure(
    `received undecodable patch in webhook response: json: cannot unmarshal ${jsonKind(value, false)} into Go value of type jsonpatch.${type}`,
  )
}

/** Whether the webhook changed the object. */
async function mutateByOne(
  world: AdmissionWorld,
  request: AdmissionRequest,
  hook: Hook,
): Promise<boolean> {
  const { webhook, seenAs } = hook
  const verdict = await ask(world, request, hook)
  const patch = operationsOf(verdict)
  if (patch.length === 0) return false
  if (request.object === undefined)
    throw internalError(
      `admission webhook ${JSON.stringify(webhook['name'])} attempted to modify the object, which is not supported for this operation`,
    )
  const current = inVersion(request.object, request.resource, seenAs, world.registry)!
  try {
    const changed = applyJsonPatch(current, patch) as Draft
    if (deepEqual(changed, current)) return false
    await prepareVersion(changed, seenAs, request.resource, world.registry)
    replaceObject(request, changed, seenAs, world.registry)
    return true
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (error instanceof JsonPatchError || error instanceof DecodeError)
      throw internalError(error.message)
    throw error
  }
}
