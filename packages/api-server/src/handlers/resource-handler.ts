/** The verbs on resources. Contract: docs/behaviour/api-server/requests.md and storage-and-watch.md. */
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { applyPatchBody } from './apply-body.ts'
import { managerName } from '../apply/index.ts'
import { ApiError, type Authorizer, type SubresourceCall, type SubresourceHandler } from '../contracts.ts'
import type { Answer } from '../http/answer.ts'
import { badRequest, conflict, forbidden, notFound, unclassified } from '../http/errors.ts'
import { headerOf } from '../http/exchange.ts'
import { inputType } from '../http/negotiation.ts'
import { bodySize, checkBodySize, isEmptyBody, parseBody, type ParsedBody, type ProtobufDecoder } from '../http/request-body.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import { decodeObject } from '../schema/index.ts'
import type { Store } from '../storage/store.ts'
import { listAnswer, objectAnswer, watchTransform } from './answers.ts'
import type { ResourceCall } from './call.ts'
import { decodeDraft, type Decoding, type ExpectedKind } from './decoding.ts'
import type { Deleted, Deleter } from './deletion.ts'
import type { FieldManagement } from './field-management.ts'
import { selectionOf } from './field-selector.ts'
import { listPage, type ListRequest } from './list.ts'
import { storageKey, type ObjectWriter, type Target, type WriteContext, type Written } from './object-writer.ts'
import { deleteOptionsFromBody, deleteOptionsFromQuery, listOptions, parseVersion, writeOptions, type DeleteOptions, type ListOptions, type WriteOptions } from './options.ts'
import { parsePatch, patchObject, patchTypeOf, type PatchType } from './patch.ts'
import { reachRevision } from './revisions.ts'
import { prepareWatch, type PreparedWatch } from './watch.ts'

export interface ResourceHandlerParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  readonly registry: ResourceRegistry
  readonly writer: ObjectWriter
  readonly deleter: Deleter
  readonly fields: FieldManagement
  readonly authorizer: Authorizer
  readonly decodeProtobuf: ProtobufDecoder
}

/** Kinds whose deletion answers with the object even when it is gone. */
const ANSWERS_WITH_OBJECT = new Set(
  [
    'Pod Service ServiceAccount PodTemplate PersistentVolume PersistentVolumeClaim ResourceQuota Namespace StorageClass CSIDriver',
    'CSINode VolumeAttachment VolumeAttributesClass ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass DeviceTaintRule',
  ].flatMap((line) => line.split(' ')),
)

export class ResourceHandler {
  readonly #parts: ResourceHandlerParts

  /** Running watches of custom resources. */
  readonly #watches = new Map<ServedResource, Set<() => void>>()

  constructor(parts: ResourceHandlerParts) {
    this.#parts = parts
    parts.registry.onChange((changed) => {
      for (const [resource, stops] of this.#watches) {
        const { group, version, resource: plural } = changed.info
        const { info } = resource
        if (resource === changed && parts.registry.get(group, version, plural) === resource) continue
        if (info.group !== group || info.version !== version || info.resource !== plural) continue
        this.#watches.delete(resource)
        for (const stop of [...stops]) stop()
      }
    })
  }

  async get(call: ResourceCall): Promise<Answer> {
    const { store, clock } = this.#parts
    const asked = call.info.query.get('resourceVersion') ?? ''
    if (asked !== '') {
      const version = parseVersion(asked)
      if (typeof version === 'object') throw unclassified(`resourceVersion: Invalid value: ${JSON.stringify(asked)}: ${version.error}`)
      await reachRevision(store, clock, version)
    }
    const { resource, namespace, name } = call
    const entry = store.get({ collection: resource.storage.collection, key: storageKey(resource, namespace, name) })
    if (entry === undefined) throw notFound(resource.info, name)
    return this.#objectAnswer(call, 200, entry.object)
  }

  async list(call: ResourceCall): Promise<Answer> {
    const { store, clock } = this.#parts
    const request = this.#listRequest(call, false)
    const page = await listPage(store, clock, request)
    const items = page.entries.map(({ object }) => this.#view(call.resource, object))
    const { revision, continue: token, remainingItemCount } = page
    const metadata = {
      resourceVersion: String(revision),
      ...(token === undefined ? {} : { continue: token }),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    }
    return listAnswer(call, items, metadata, clock.nowMs())
  }

  watch(call: ResourceCall): Answer {
    const { clock } = this.#parts
    const prepared = prepareWatch(this.#parts, this.#listRequest(call, true))
    const watch = call.resource.custom ? this.#untilRedefined(prepared) : prepared
    return { status: 200, body: { kind: 'watch', watch, transform: watchTransform(call, () => clock.nowMs()) } }
  }

  /** A watch ends when the definition of its resource changes or goes: what follows would have another form. */
  #untilRedefined(watch: PreparedWatch): PreparedWatch {
    return {
      ...watch,
      start: (sink) => {
        const stops = this.#watches.get(watch.resource) ?? new Set()
        this.#watches.set(watch.resource, stops)
        const stop = watch.start({
          send: (type, object) => sink.send(type, object),
          ready: () => sink.ready(),
          end: () => {
            stops.delete(stop)
            sink.end()
          },
        })
        stops.add(stop)
        return stop
      },
    }
  }

  #listRequest(call: ResourceCall, watch: boolean): ListRequest {
    const { resource, namespace, name, info } = call
    const options: ListOptions = listOptions(info.query, watch)
    return { resource, namespace, options, selection: selectionOf(resource, options, name) }
  }

  async create(call: ResourceCall): Promise<Answer> {
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'CreateOptions')
    const body = await this.#parse(call, type, call.resource.info.kind)
    const draft = decodeDraft(body, this.#decoding(call, call.resource.info, options))
    checkNamespace(call, draft)
    const written = await this.#parts.writer.create(this.#target(call), draft, this.#context(call, options, body))
    return this.#objectAnswer(call, 201, written.object)
  }

  async update(call: ResourceCall): Promise<Answer> {
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'UpdateOptions')
    const body = await this.#parse(call, type, call.resource.info.kind)
    const draft = decodeDraft(body, this.#decoding(call, call.resource.info, options))
    checkName(call, draft)
    checkNamespace(call, draft)
    const createsMissing = call.resource.rules.createOnUpdate === true && call.subresource === ''
    let first = true
    const written = await this.#parts.writer.update(
      this.#target(call),
      {
        put: true,
        beforeCreate: createsMissing ? () => this.#mayCreate(call) : undefined,
        makeDraft: () => {
          const own = first ? draft : undefined
          first = false
          return own === undefined ? decodeDraft(body, this.#decoding(call, call.resource.info, { ...options, fieldValidation: 'Ignore' })) : own
        },
      },
      this.#context(call, options, body),
    )
    return this.#objectAnswer(call, written.created ? 201 : 200, written.object)
  }

  async patch(call: ResourceCall): Promise<Answer> {
    const type = this.#patchType(call)
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'PatchOptions', type === 'apply')
    const written = type === 'apply' ? await this.#apply(call, options) : await this.#patch(call, type, options)
    return this.#objectAnswer(call, written.created ? 201 : 200, written.object)
  }

  #patchType(call: ResourceCall): PatchType {
    return patchTypeOf(headerOf(call.request.headers, 'content-type'), !call.resource.custom)
  }

  #patch(call: ResourceCall, type: Exclude<PatchType, 'apply'>, options: WriteOptions): Promise<Written> {
    const patch = this.#patchValue(call, type)
    const decoding = this.#decoding(call, call.resource.info, options)
    return this.#parts.writer.update(
      this.#target(call),
      {
        makeDraft: (current) => {
          const draft = patchObject(type, patch, current!, decoding)
          checkName(call, draft)
          checkNamespace(call, draft)
          return draft
        },
      },
      { ...this.#context(call, options, undefined), emptyListResets: true },
    )
  }

  #patchValue({ request }: ResourceCall, type: Exclude<PatchType, 'apply'>): unknown {
    if (request.body !== undefined && 'json' in request.body) return request.body.json
    return parsePatch(Buffer.from(request.body?.bytes ?? []).toString(), type).value
  }

  async #apply(call: ResourceCall, options: WriteOptions): Promise<Written> {
    const configuration = await applyPatchBody(call.request, options.fieldValidation, (text) => call.warnings.add(text))
    const { resource, namespace, name, subresource } = call
    const { fields, clock } = this.#parts
    const decoding = this.#decoding(call, resource.info, { ...options, fieldValidation: 'Ignore' })
    return this.#parts.writer.update(
      this.#target(call),
      {
        fieldsManaged: true,
        beforeCreate: subresource === '' ? () => this.#mayCreate(call) : undefined,
        makeDraft: (current) => {
          const merged = fields.apply({
            resource,
            subresource,
            namespace,
            name,
            current,
            configuration,
            manager: options.fieldManager,
            force: options.force === true,
            nowMs: clock.nowMs(),
            warn: (text) => call.warnings.add(text),
          })
          const managedFields = merged['metadata']?.managedFields
          const draft = decodeDraft({ value: merged, occurrences: undefined, problems: [], bytes: NO_BYTES }, decoding)
          const metadata = (draft['metadata'] ??= {}) as Draft
          if (managedFields === undefined) delete metadata['managedFields']
          else metadata['managedFields'] = managedFields
          checkName(call, draft)
          checkNamespace(call, draft)
          const uid = metadata['uid']
          if (current === undefined && uid) {
            throw conflict(resource.info, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
          }
          return draft
        },
      },
      this.#context(call, options, undefined),
    )
  }

  async delete(call: ResourceCall): Promise<Answer> {
    const options = await this.#deleteOptions(call)
    const deleted = await this.#parts.deleter.delete(this.#target(call), options, this.#deleteContext(call, options))
    return this.#deletedAnswer(call, deleted, options)
  }

  #deletedAnswer(call: ResourceCall, { object, removed }: Deleted, options: DeleteOptions): Answer {
    const { info } = call.resource
    const status = options.orphanDependents === false && !removed ? 202 : 200
    if (!removed || ANSWERS_WITH_OBJECT.has(info.kind)) return this.#objectAnswer(call, status, object)
    const details = {
      name: call.name,
      ...(info.group === '' ? {} : { group: info.group }),
      kind: info.resource,
      uid: object['metadata'].uid,
    }
    const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
    return { status, mediaType: call.output.mediaType, pretty: call.pretty, body: { kind: 'object', value } }
  }

  async deleteCollection(call: ResourceCall): Promise<Answer> {
    const { store, clock, deleter } = this.#parts
    const options = await this.#deleteOptions(call)
    const page = await listPage(store, clock, this.#listRequest(call, false))
    const context = this.#deleteContext(call, options)
    for (const { object } of page.entries) {
      const { name, namespace = '' } = object['metadata']
      const target: Target = { resource: call.resource, namespace, name, subresource: '' }
      try {
        await deleter.delete(target, options, context)
      } catch (error) {
        // Somebody else was faster: what was asked for has happened.
        if (!(error instanceof ApiError && error.code === 404)) throw error
      }
    }
    const items = page.entries.map(({ object }) => this.#view(call.resource, object))
    const metadata = { resourceVersion: String(page.revision), ...(page.continue === undefined ? {} : { continue: page.continue }) }
    return listAnswer(call, items, metadata, clock.nowMs())
  }

  async #deleteOptions(call: ResourceCall): Promise<DeleteOptions> {
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    if (isEmptyBody(call.request)) return deleteOptionsFromQuery(call.info.query)
    const body = await this.#parse(call, type, 'DeleteOptions')
    const { kind = 'DeleteOptions', apiVersion = 'v1' } = (body.value ?? {}) as { kind?: string; apiVersion?: string }
    if (kind !== 'DeleteOptions') {
      throw badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
      )
    }
    const decoded = decodeObject({ group: '', version: 'v1', kind: 'DeleteOptions' }, body.value)
    return deleteOptionsFromBody(decoded?.object ?? (body.value as Record<string, unknown>))
  }

  /** A handler of its own for a subresource, or for a whole virtual resource. */
  async subresource(call: ResourceCall, handler: SubresourceHandler, server: SubresourceCall['server']): Promise<Answer> {
    const method = call.request.method as SubresourceCall['method']
    const expected = expectedKind(call)
    const base = { resource: call.resource.info, subresource: call.subresource, namespace: call.namespace, name: call.name }
    const common = { ...base, query: call.info.query, user: call.user, nowMs: this.#parts.clock.nowMs(), server }
    const invoke = async (options: WriteOptions, body: Draft | undefined, verb = method) =>
      handler.handle({ ...common, method: verb, body, dryRun: options.dryRun, manager: managerName(options.fieldManager, headerOf(call.request.headers, 'user-agent')) })
    const connects = CONNECTIONS.has(call.subresource)
    if (connects) await this.#parts.writer.admitConnect(this.#target(call), this.#context(call, NO_WRITE_OPTIONS, undefined))
    if (connects || method === 'GET' || method === 'DELETE') {
      return this.#handlerAnswer(call, await invoke(NO_WRITE_OPTIONS, undefined))
    }
    if (method === 'PATCH') return this.#handlerAnswer(call, await this.#patchThrough(call, expected, invoke))
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, method === 'POST' ? 'CreateOptions' : 'UpdateOptions')
    const parsed = await this.#parse(call, type, expected.kind)
    const body = decodeDraft(parsed, this.#decoding(call, expected, options))
    if (method === 'POST' && RECORDED_BODIES.has(expected.kind)) this.#recordOwnership(call, options, body)
    if (method === 'POST') await this.#parts.writer.admitBody(this.#target(call), this.#context(call, options, parsed), body)
    return this.#handlerAnswer(call, await invoke(options, body))
  }

  /** Bodies that are answered though never stored say who sent what, as created objects do. */
  #recordOwnership(call: ResourceCall, options: WriteOptions, draft: Draft): void {
    const { resource, subresource } = call
    const manager = managerName(options.fieldManager, headerOf(call.request.headers, 'user-agent'))
    draft['metadata'] ??= {}
    const nowMs = this.#parts.clock.nowMs()
    this.#parts.fields.update({ resource, subresource, before: undefined, draft, manager, nowMs, warn: (text) => call.warnings.add(text) })
  }

  /** PATCH of a view: read it, patch it, write it, again when another write came between. */
  async #patchThrough(
    call: ResourceCall,
    expected: ExpectedKind,
    invoke: (options: WriteOptions, body: Draft | undefined, verb?: SubresourceCall['method']) => ReturnType<SubresourceHandler['handle']>,
  ): ReturnType<SubresourceHandler['handle']> {
    const type = this.#patchType(call)
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'PatchOptions', type === 'apply')
    const decoding = this.#decoding(call, expected, options)
    for (;;) {
      const { body: current } = await invoke(NO_WRITE_OPTIONS, undefined, 'GET')
      const version = (current as Stored)['metadata']?.resourceVersion
      let draft: Draft
      if (type === 'apply') {
        const configuration = await applyPatchBody(call.request, options.fieldValidation, (text) => call.warnings.add(text))
        draft = this.#parts.fields.apply({
          resource: call.resource,
          subresource: call.subresource,
          namespace: call.namespace,
          name: call.name,
          current: current as Stored,
          configuration,
          manager: options.fieldManager,
          force: options.force === true,
          nowMs: this.#parts.clock.nowMs(),
          warn: (text) => call.warnings.add(text),
        })
      } else draft = patchObject(type, this.#patchValue(call, type), current as Stored, decoding)
      try {
        return await invoke(options, draft, 'PATCH')
      } catch (error) {
        const own = draft['metadata']?.resourceVersion !== version
        if (own || !(error instanceof ApiError && error.code === 409 && error.message.includes('the object has been modified'))) throw error
      }
    }
  }

  #handlerAnswer(call: ResourceCall, answer: Awaited<ReturnType<SubresourceHandler['handle']>>): Answer {
    const { code, body, contentType, headers } = answer
    const base = { status: code, headers }
    if (code === 204) return { ...base, body: { kind: 'empty' } }
    if (contentType !== undefined) {
      if (typeof body === 'string') return { ...base, body: { kind: 'bytes', bytes: Buffer.from(body), contentType } }
      return { ...base, body: { kind: 'stream', chunks: body as AsyncIterable<Uint8Array>, contentType } }
    }
    return { ...this.#plain(call, code, body as Stored), headers }
  }

  #plain(call: ResourceCall, status: number, value: Stored): Answer {
    return objectAnswer(call, status, value, this.#parts.clock.nowMs())
  }

  #mayCreate(call: ResourceCall): void {
    const { resource, namespace, name, user, info } = call
    const { group, version, resource: plural } = resource.info
    const attributes = { user, verb: 'create', group, version, resource: plural, subresource: '', namespace, name, path: info.path, isResourceRequest: true }
    if (this.#parts.authorizer.authorize(attributes).allowed) return
    const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
    throw forbidden(resource.info, name, `User ${JSON.stringify(user.name)} cannot create resource ${JSON.stringify(plural)} in API group ${JSON.stringify(group)} ${scope}`)
  }

  #parse(call: ResourceCall, type: ReturnType<typeof inputType>, kind: string): Promise<ParsedBody> {
    return parseBody(call.request, type, kind, this.#parts.decodeProtobuf)
  }

  #decoding(call: ResourceCall, expected: ExpectedKind, { fieldValidation }: WriteOptions): Decoding {
    const { group, kind } = call.resource.info
    const own = expected.kind === kind && expected.group === group
    const { registry } = this.#parts
    return { registry, expected, resource: own ? call.resource : undefined, validation: fieldValidation, warn: (text) => call.warnings.add(text) }
  }

  #target({ resource, namespace, name, subresource }: ResourceCall): Target {
    return { resource, namespace, name, subresource }
  }

  #context(call: ResourceCall, options: WriteOptions, body: ParsedBody | undefined): WriteContext {
    const { request, user, warnings } = call
    return {
      user,
      dryRun: options.dryRun,
      options: admissionOptions(call, options),
      manager: managerName(options.fieldManager, headerOf(request.headers, 'user-agent')),
      bodyBytes: body?.bytes.length ?? bodySize(request),
      warn: (text) => warnings.add(text),
    }
  }

  #deleteContext({ user, warnings }: ResourceCall, options: DeleteOptions): WriteContext {
    return { user, dryRun: options.dryRun, options: { ...options }, manager: undefined, bodyBytes: 0, warn: (text) => warnings.add(text) }
  }

  #view(resource: ServedResource, stored: Stored): Stored {
    return resource.storage.fromStored?.(stored) ?? stored
  }

  #objectAnswer(call: ResourceCall, status: number, stored: Stored): Answer {
    return objectAnswer(call, status, this.#view(call.resource, stored), this.#parts.clock.nowMs())
  }
}

/** Virtual kinds that are echoed: reviews and token requests, unlike bindings and evictions. */
const RECORDED_BODIES = new Set([
  'TokenRequest',
  'TokenReview',
  'SelfSubjectReview',
  'SubjectAccessReview',
  'LocalSubjectAccessReview',
  'SelfSubjectAccessReview',
  'SelfSubjectRulesReview',
])
/** Options are in the query; what a body holds is for the other end. */
const CONNECTIONS = new Set(['exec', 'attach', 'portforward', 'proxy'])
const NO_BYTES = new Uint8Array(0)
const NO_WRITE_OPTIONS: WriteOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined }

/** The kind of the body that an endpoint takes. */
function expectedKind({ resource, subresource }: ResourceCall): ExpectedKind {
  const own = resource.info.subresources.find(({ name }) => name === subresource)
  return subresource === '' || own === undefined ? resource.info : own
}

function admissionOptions({ info }: ResourceCall, options: WriteOptions): Record<string, unknown> {
  const kind = info.verb === 'create' ? 'CreateOptions' : info.verb === 'update' ? 'UpdateOptions' : 'PatchOptions'
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(options.dryRun ? { dryRun: ['All'] } : {}),
    ...(options.fieldManager === '' ? {} : { fieldManager: options.fieldManager }),
    ...(info.query.has('fieldValidation') ? { fieldValidation: options.fieldValidation } : {}),
    ...(options.force === undefined ? {} : { force: options.force }),
  }
}

function checkName({ name }: ResourceCall, draft: Draft): void {
  const own: string = draft['metadata']?.name ?? ''
  if (own === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`)
}

function checkNamespace({ resource, namespace }: ResourceCall, draft: Draft): void {
  if (!resource.info.namespaced) return
  const own: string = draft['metadata']?.namespace ?? ''
  if (own !== '' && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

