/** Endpoints with a handler of their own: subresources that are not the object, and virtual resources. */
import { deepEqual } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import {
  ApiError,
  type PassedCall,
  type SubresourceCall,
  type SubresourceHandler,
} from '../contracts.ts'
import type { Answer } from '../http/answer.ts'
import { badRequest, methodNotSupported, namespaceMissing, unclassified } from '../http/errors.ts'
import { isWatch, withoutLastSlashes } from '../http/request-info.ts'
import type { ParsedBody } from '../http/request-body.ts'
import { headerOf } from '../http/exchange.ts'
import { cloneJson } from '../registry/equality.ts'
import { inputType } from '../http/negotiation.ts'
import { checkBodySize } from '../http/request-body.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { AdmissionChain } from './writes/admission-chain.ts'
import { listAnswer, notAList, objectAnswer } from './answers/answers.ts'
import { applyPatchBody } from './writes/apply-body.ts'
import type { ResourceCall } from './call.ts'
import { connectionOptions, connectionQuery } from './connection-options.ts'
import { decodeDraft, type Decoding, type ExpectedKind } from './bodies/decoding.ts'
import type { FieldManagement } from '../field-management/field-management-call.ts'
import { writeOptions, type WriteOptions } from './options.ts'
import { appliedDraft, patchObject } from './writes/patch.ts'
import { deduplicateOwners, dropGivenByServer } from './writes/write-checks.ts'
import { reachAskedVersion, refuseExport } from './reads/get.ts'
import { listRequestOf, matches } from './reads/list.ts'
import type { Store } from '../storage/store.ts'
import {
  checkName,
  checkNamespace,
  expectedKind,
  patchTypeOfCall,
  patchBodyOf,
  type RequestBodies,
} from './bodies/request-bodies.ts'
import {
  admissionOptions,
  managerOf,
  NO_WRITE_OPTIONS,
  targetOf,
  writeContextOf,
} from './writes/write-context.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

interface SubresourceEndpointParts {
  readonly store: Store
  readonly clock: Clock
  readonly admission: AdmissionChain
  readonly fields: FieldManagement
  readonly bodies: RequestBodies
}

/** Options are in the query; what a body holds is for the other end. */
const CONNECTIONS = new Set(['exec', 'attach', 'portforward', 'proxy'])

const NO_OWNERS: readonly Draft[] = []

/** Calls the handler; `appliedFields` are those of server-side apply, or what is left of owners where none can be told. */
type Invoke = (
  options: WriteOptions,
  body: Draft | undefined,
  verb?: SubresourceCall['method'],
  appliedFields?: readonly Draft[],
) => ReturnType<SubresourceHandler['handle']>

/** Larger bodies were not read to their end. Throws 413. */
function passedCallOf({ request, info }: ResourceCall): PassedCall {
  checkBodySize(request)
  const questionMark = request.path.indexOf('?')
  const whole = questionMark < 0 ? request.path : request.path.slice(0, questionMark)
  // Behind the name and `proxy` of the URL; counted from the front, since names may be escaped.
  const rest = info.parts.length - 2
  const segments = withoutLastSlashes(whole).split('/')
  const ownPath = segments.slice(0, segments.length - rest).join('/')
  const { body } = request
  return {
    path: whole.slice(ownPath.length),
    query: questionMark < 0 ? '' : request.path.slice(questionMark),
    ownPath,
    headers: request.headers,
    signal: request.signal,
    body:
      body === undefined
        ? undefined
        : 'bytes' in body
          ? body.bytes
          : Buffer.from(stringifyExact(body.json)),
  }
}

function warningsOf({ warnings }: ResourceCall): { warn(text: string): void } {
  return { warn: (text) => warnings.add(text) }
}

/** Of the object that a subresource belongs to. Throws 400. */
function requireNamespace({ resource, namespace, name }: ResourceCall): void {
  if (resource.info.namespaced && namespace === '' && name !== '') throw namespaceMissing()
}

function decodedAs(body: ParsedBody, decoding: Decoding): Draft {
  try {
    return decodeDraft(body, decoding)
  } catch (error) {
    return refuseAs(decoding.expected, error)
  }
}

/** The reference cannot tell what is wrong with the scale of a custom resource: it does not find the name of its own type. */
function refuseAs({ customScale }: ExpectedKind, error: unknown): never {
  if (customScale === true && error instanceof ApiError && error.code === 400)
    throw badRequest(
      'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:781"',
    )
  throw error
}

/** Whether anything but owners is another. */
function hasChanged(applied: Stored, current: Stored): boolean {
  const said = ({ metadata, ...rest }: Stored): object => {
    const { managedFields: _managedFields, ...own } = metadata as Stored
    return { ...rest, metadata: own }
  }
  return !deepEqual(said(applied), said(current))
}

/** Nor can the reference compare a scale of a custom resource with what was applied to it, once that changes anything. */
function notConvertible({ metadata }: Stored): ApiError {
  const { namespace = '', name = '' } = metadata ?? {}
  return unclassified(
    `failed to convert new object (${namespace}/${name}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`,
  )
}

export class SubresourceEndpoint {
  readonly #parts: SubresourceEndpointParts

  constructor(parts: SubresourceEndpointParts) {
    this.#parts = parts
  }

  /** A handler of its own for a subresource, or for a whole virtual resource. */
  async answer(
    call: ResourceCall,
    handler: SubresourceHandler,
    server: SubresourceCall['server'],
  ): Promise<Answer> {
    const { method: given } = call.request
    const method = (given === 'HEAD' ? 'GET' : given) as SubresourceCall['method']
    const expected = expectedKind(call)
    const base = {
      resource: call.resource.info,
      subresource: call.subresource,
      namespace: call.namespace,
      name: call.name,
    }
    // Of connections that which admission leaves.
    let { query } = call.info
    const common = {
      ...base,
      user: call.user,
      nowMs: this.#parts.clock.nowMs(),
      server,
    }
    const described = (
      ...[options, body, verb = method, appliedFields]: Parameters<Invoke>
    ): SubresourceCall => ({
      ...common,
      query,
      appliedFields,
      warn: (text) => call.warnings.add(text),
      method: verb,
      isForPatch: verb === 'GET' && method === 'PATCH',
      body,
      dryRun: options.dryRun,
      ...(call.subresource === 'proxy' ? { passed: passedCallOf(call) } : {}),
      manager: managerOf(call, options),
      admissionOptions: admissionOptions(call, options),
    })
    const invoke: Invoke = async (...asked) => {
      requireNamespace(call)
      return handler.handle(described(...asked))
    }
    const { group, resource } = call.resource.info
    const parentOf = (): Stored | undefined =>
      server.get(group, resource, call.namespace, call.name)
    const connects = CONNECTIONS.has(call.subresource)
    if (connects) {
      // Whatever it says.
      if (query.has('dryRun')) throw badRequest('dryRun is not supported')
      query = await this.#admitConnection(call)
    }
    if (method === 'GET' && call.subresource === '' && call.name === '')
      return this.#listed(call, await invoke(NO_WRITE_OPTIONS, undefined))
    if (method === 'GET' && !connects && call.subresource !== 'log') await this.#judgeGet(call)
    if (connects || method === 'GET' || method === 'DELETE') {
      return this.#handlerAnswer(call, await invoke(NO_WRITE_OPTIONS, undefined))
    }
    if (method === 'PATCH')
      return this.#handlerAnswer(call, await this.#patchThrough(call, expected, invoke, parentOf))
    const { options, body, isOwnerless } = await this.#sent(call, handler, expected, (...sent) => {
      handler.check?.(described(...sent))
      requireNamespace(call)
    })
    const owners = isOwnerless ? NO_OWNERS : undefined
    return this.#handlerAnswer(call, await invoke(options, body, method, owners))
  }

  /** A view has the versions of what it is a view of, a virtual resource has none. */
  async #judgeGet(call: ResourceCall): Promise<void> {
    refuseExport(call.info.query)
    if (call.subresource === '') return
    requireNamespace(call)
    await reachAskedVersion(this.#parts, call.resource, call.info.query)
  }

  /** The query by which the connection is made: that of the request, unless admission has changed its options. */
  async #admitConnection(call: ResourceCall): Promise<URLSearchParams> {
    const { subresource } = call
    const { query } = call.info
    const path = subresource === 'proxy' ? passedCallOf(call).path : ''
    const { info: resource } = call.resource
    const options = connectionOptions({ resource, subresource, query, path })
    const sent = cloneJson(options)
    await this.#parts.admission.admitConnect(
      targetOf(call),
      writeContextOf(call, NO_WRITE_OPTIONS, undefined),
      options,
    )
    return deepEqual(options, sent) ? query : connectionQuery({ subresource, query }, options)
  }

  /** What a POST or PUT sends, judged: its options, its body, and whether it is of no version in which owners could be told. */
  async #sent(
    call: ResourceCall,
    handler: SubresourceHandler,
    expected: ReturnType<typeof expectedKind>,
    check: (options: WriteOptions, body: Draft) => void,
  ): Promise<{
    readonly options: WriteOptions
    readonly body: Draft
    readonly isOwnerless: boolean
  }> {
    const created = call.request.method === 'POST'
    const inputTypeOf = () => inputType(headerOf(call.request.headers, 'content-type'))
    const firstType = created ? inputTypeOf() : undefined
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, created ? 'CreateOptions' : 'UpdateOptions')
    const type = firstType ?? inputTypeOf()
    const parsed = await this.#parts.bodies
      .parse(call, type, expected.kind)
      .catch((error: unknown) => refuseAs(expected, error))
    const body = decodedAs(parsed, this.#parts.bodies.decoding(call, expected, options))
    if (created) handler.defaults?.(body)
    checkNamespace(call, body)
    const metadata = (body['metadata'] ??= {}) as Draft
    if (call.namespace !== '') metadata['namespace'] = call.namespace
    if (created && handler.sendsIdentity !== true) dropGivenByServer(metadata)
    deduplicateOwners(metadata, warningsOf(call), 'sent')
    if (!created) checkName(call, body)
    else {
      this.#recordOwnership(call, options, body)
      const context = writeContextOf(call, options, parsed)
      await this.#parts.admission.admitBody(targetOf(call), context, body, () =>
        check(options, body),
      )
    }
    const { apiVersion } = (parsed.value ?? {}) as { readonly apiVersion?: unknown }
    return { options, body, isOwnerless: expected.customScale === true && !apiVersion }
  }

  /** A virtual resource has no pages and no versions, but options are judged and labels and names are selected. */
  #listed(call: ResourceCall, answer: Awaited<ReturnType<SubresourceHandler['handle']>>): Answer {
    const watched = isWatch(call.info.query)
    const { resource, selection } = listRequestOf(call, watched)
    if (watched) throw methodNotSupported(resource.info, 'watch')
    const { items, ...list } = answer.body as Stored & { readonly items: readonly Stored[] }
    const selected = items.filter((item) => matches(resource, selection, item))
    return this.#handlerAnswer(call, { ...answer, body: { ...list, items: selected } })
  }

  /** Bodies that are never stored say to admission, and where they are answered, who sent what, as created objects do. */
  #recordOwnership(call: ResourceCall, options: WriteOptions, draft: Draft): void {
    const { resource, subresource } = call
    const manager = managerOf(call, options)
    const nowMs = this.#parts.clock.nowMs()
    // No webhook converts what is not stored.
    void this.#parts.fields.update({
      resource,
      subresource,
      before: undefined,
      draft,
      manager,
      nowMs,
      warn: (text) => call.warnings.add(text),
    })
  }

  /** PATCH of a view: read it, patch it, write it, again when another write came between. */
  async #patchThrough(
    call: ResourceCall,
    expected: ExpectedKind,
    invoke: Invoke,
    parentOf: () => Stored | undefined,
  ): ReturnType<SubresourceHandler['handle']> {
    const type = patchTypeOfCall(call)
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'PatchOptions', type === 'apply')
    const decoding = this.#parts.bodies.decoding(call, expected, options)
    for (;;) {
      const { body: current } = await invoke(NO_WRITE_OPTIONS, undefined, 'GET')
      const version = (current as Stored)['metadata']?.resourceVersion
      let draft: Draft
      let appliedFields: readonly Draft[] | undefined
      if (type === 'apply') {
        const { configuration, tellRepeated } = await applyPatchBody(
          call.request,
          options.fieldValidation,
          (text) => call.warnings.add(text),
        )
        draft = await this.#parts.fields.apply({
          resource: call.resource,
          subresource: call.subresource,
          namespace: call.namespace,
          name: call.name,
          current: current as Stored,
          parent: parentOf(),
          configuration,
          manager: options.fieldManager,
          force: options.force === true,
          nowMs: this.#parts.clock.nowMs(),
          warn: (text) => call.warnings.add(text),
        })
        tellRepeated()
        if (expected.customScale === true && hasChanged(draft, current as Stored))
          throw notConvertible(configuration)
        appliedFields = draft['metadata'].managedFields ?? []
        draft = appliedDraft(draft, configuration, decoding)
      } else
        draft = patchObject(type, patchBodyOf(call, type, decoding), current as Stored, decoding)
      deduplicateOwners((draft['metadata'] ??= {}) as Draft, warningsOf(call), 'admitted')
      checkNamespace(call, draft)
      checkName(call, draft)
      try {
        return await invoke(options, draft, 'PATCH', appliedFields)
      } catch (error) {
        const own = draft['metadata']?.resourceVersion !== version
        if (
          own ||
          !(
            error instanceof ApiError &&
            error.code === 409 &&
            error.message.includes('the object has been modified')
          )
        )
          throw error
      }
    }
  }

  #handlerAnswer(
    call: ResourceCall,
    answer: Awaited<ReturnType<SubresourceHandler['handle']>>,
  ): Answer {
    const { code, body, contentType, headers } = answer
    const base = { status: code, headers }
    if (answer.connection !== undefined) {
      if (headerOf(call.request.headers, 'upgrade') === undefined)
        throw badRequest('Upgrade request required')
      return { ...base, body: { kind: 'connection', target: answer.connection } }
    }
    // There is no metadata of a log.
    const isObject = code !== 204 && contentType === undefined
    const { transformation } = call.output
    if (!isObject && transformation !== undefined) {
      if (transformation.as === 'PartialObjectMetadataList') throw notAList('rest.LocationStreamer')
      throw unclassified('object does not implement the Object interfaces')
    }
    if (code === 204) return { ...base, body: { kind: 'empty' } }
    if (contentType !== undefined) {
      if (typeof body === 'string')
        return { ...base, body: { kind: 'bytes', bytes: Buffer.from(body), contentType } }
      return {
        ...base,
        body: { kind: 'stream', chunks: body as AsyncIterable<Uint8Array>, contentType },
      }
    }
    const nowMs = this.#parts.clock.nowMs()
    const { kind, items, metadata } = body as Stored
    // Virtual resources answer lists of their own; only those that are transformed need a second look.
    if (kind === call.resource.listKind && call.output.transformation !== undefined)
      return { ...listAnswer(call, items, metadata, nowMs), headers }
    return { ...objectAnswer(call, code, body as Stored, nowMs), headers }
  }
}
