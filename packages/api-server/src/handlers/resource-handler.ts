/** The verbs on resources. Contract: docs/behaviour/api-server/requests.md and storage-and-watch.md. */
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { applyPatchBody } from './apply-body.ts'
import { ApiError, type Authorizer } from '../contracts.ts'
import type { Answer } from '../http/answer.ts'
import { badRequest, conflict, forbidden, notFound, unclassified } from '../http/errors.ts'
import { headerOf } from '../http/exchange.ts'
import { inputType } from '../http/negotiation.ts'
import { checkBodySize, isEmptyBody } from '../http/request-body.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import { DecodeError, decodeObject } from '../schema/index.ts'
import type { Store } from '../storage/store.ts'
import { listAnswer, objectAnswer, watchTransform } from './answers.ts'
import type { ResourceCall } from './call.ts'
import { decodeDraft } from './decoding.ts'
import type { Deleted, Deleter } from './deletion.ts'
import type { FieldManagement } from './field-management.ts'
import { selectionOf } from './field-selector.ts'
import { listPage, type ListRequest } from './list.ts'
import {
  storageKey,
  type ObjectWriter,
  type Target,
  type WriteContext,
  type Written,
} from './object-writer.ts'
import {
  deleteOptionsFromBody,
  deleteOptionsFromQuery,
  listOptions,
  parseVersion,
  writeOptions,
  type DeleteOptions,
  type ListOptions,
  type WriteOptions,
} from './options.ts'
import { patchObject, type PatchType } from './patch.ts'
import {
  checkName,
  checkNamespace,
  patchTypeOfCall,
  patchValueOf,
  type RequestBodies,
} from './request-bodies.ts'
import { reachRevision } from './revisions.ts'
import { prepareWatch, type PreparedWatch } from './watch.ts'
import { targetOf, writeContextOf } from './write-context.ts'

export interface ResourceHandlerParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  readonly registry: ResourceRegistry
  readonly writer: ObjectWriter
  readonly deleter: Deleter
  readonly fields: FieldManagement
  readonly authorizer: Authorizer
  readonly bodies: RequestBodies
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
        if (resource === changed && parts.registry.get(group, version, plural) === resource)
          continue
        if (info.group !== group || info.version !== version || info.resource !== plural) continue
        this.#watches.delete(resource)
        for (const stop of stops) stop()
      }
    })
  }

  async get(call: ResourceCall): Promise<Answer> {
    const { store, clock } = this.#parts
    const asked = call.info.query.get('resourceVersion') ?? ''
    if (asked !== '') {
      const version = parseVersion(asked)
      if (typeof version === 'object')
        throw unclassified(
          `resourceVersion: Invalid value: ${JSON.stringify(asked)}: ${version.error}`,
        )
      await reachRevision(store, clock, version)
    }
    const { resource, namespace, name } = call
    const entry = store.get({
      collection: resource.storage.collection,
      key: storageKey(resource, namespace, name),
    })
    if (entry === undefined) throw notFound(resource.info, name)
    return this.#objectAnswer(call, 200, entry.object)
  }

  async list(call: ResourceCall): Promise<Answer> {
    const { store, clock } = this.#parts
    const request = this.#listRequest(call, false)
    const page = await listPage(store, clock, request)
    await prepareViews(call.resource, page.entries)
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
    return {
      status: 200,
      body: { kind: 'watch', watch, transform: watchTransform(call, () => clock.nowMs()) },
    }
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
    const body = await this.#parts.bodies.parse(call, type, call.resource.info.kind)
    const draft = decodeDraft(body, this.#parts.bodies.decoding(call, call.resource.info, options))
    checkNamespace(call, draft)
    const written = await this.#parts.writer.create(
      targetOf(call),
      draft,
      writeContextOf(call, options, body),
    )
    return this.#objectAnswer(call, 201, written.object)
  }

  async update(call: ResourceCall): Promise<Answer> {
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'UpdateOptions')
    const body = await this.#parts.bodies.parse(call, type, call.resource.info.kind)
    const draft = decodeDraft(body, this.#parts.bodies.decoding(call, call.resource.info, options))
    checkName(call, draft)
    checkNamespace(call, draft)
    const createsMissing = call.resource.rules.createOnUpdate === true && call.subresource === ''
    let first = true
    const written = await this.#parts.writer.update(
      targetOf(call),
      {
        put: true,
        beforeCreate: createsMissing ? () => this.#mayCreate(call) : undefined,
        makeDraft: () => {
          const own = first ? draft : undefined
          first = false
          return own === undefined
            ? decodeDraft(
                body,
                this.#parts.bodies.decoding(call, call.resource.info, {
                  ...options,
                  fieldValidation: 'Ignore',
                }),
              )
            : own
        },
      },
      writeContextOf(call, options, body),
    )
    return this.#objectAnswer(call, written.created ? 201 : 200, written.object)
  }

  async patch(call: ResourceCall): Promise<Answer> {
    const type = patchTypeOfCall(call)
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'PatchOptions', type === 'apply')
    const written =
      type === 'apply' ? await this.#apply(call, options) : await this.#patch(call, type, options)
    return this.#objectAnswer(call, written.created ? 201 : 200, written.object)
  }

  #patch(
    call: ResourceCall,
    type: Exclude<PatchType, 'apply'>,
    options: WriteOptions,
  ): Promise<Written> {
    const patch = patchValueOf(call, type)
    const decoding = this.#parts.bodies.decoding(call, call.resource.info, options)
    return this.#parts.writer.update(
      targetOf(call),
      {
        makeDraft: (current) => {
          const draft = patchObject(type, patch, current!, decoding)
          checkName(call, draft)
          checkNamespace(call, draft)
          return draft
        },
      },
      { ...writeContextOf(call, options, undefined), emptyListResets: true },
    )
  }

  async #apply(call: ResourceCall, options: WriteOptions): Promise<Written> {
    const configuration = await applyPatchBody(call.request, options.fieldValidation, (text) =>
      call.warnings.add(text),
    )
    const { resource, namespace, name, subresource } = call
    const { fields, clock } = this.#parts
    const decoding = this.#parts.bodies.decoding(call, resource.info, {
      ...options,
      fieldValidation: 'Ignore',
    })
    return this.#parts.writer.update(
      targetOf(call),
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
          const draft = decodeDraft(
            { value: merged, occurrences: undefined, problems: [], bytes: new Uint8Array(0) },
            decoding,
          )
          const metadata = (draft['metadata'] ??= {}) as Draft
          if (managedFields === undefined) delete metadata['managedFields']
          else metadata['managedFields'] = managedFields
          checkName(call, draft)
          checkNamespace(call, draft)
          const uid = metadata['uid']
          if (current === undefined && uid) {
            throw conflict(
              resource.info,
              name,
              `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
            )
          }
          return draft
        },
      },
      writeContextOf(call, options, undefined),
    )
  }

  async delete(call: ResourceCall): Promise<Answer> {
    const options = await this.#deleteOptions(call)
    const deleted = await this.#parts.deleter.delete(
      targetOf(call),
      options,
      this.#deleteContext(call, options),
    )
    return this.#deletedAnswer(call, deleted, options)
  }

  #deletedAnswer(
    call: ResourceCall,
    { object, removed }: Deleted,
    options: DeleteOptions,
  ): Answer | Promise<Answer> {
    const { info } = call.resource
    const status = options.orphanDependents === false && !removed ? 202 : 200
    if (!removed || ANSWERS_WITH_OBJECT.has(info.kind))
      return this.#objectAnswer(call, status, object)
    const details = {
      name: call.name,
      ...(info.group === '' ? {} : { group: info.group }),
      kind: info.resource,
      uid: object['metadata'].uid,
    }
    const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
    return {
      status,
      mediaType: call.output.mediaType,
      pretty: call.pretty,
      body: { kind: 'object', value },
    }
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
    await prepareViews(call.resource, page.entries)
    const items = page.entries.map(({ object }) => this.#view(call.resource, object))
    const metadata = {
      resourceVersion: String(page.revision),
      ...(page.continue === undefined ? {} : { continue: page.continue }),
    }
    return listAnswer(call, items, metadata, clock.nowMs())
  }

  async #deleteOptions(call: ResourceCall): Promise<DeleteOptions> {
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    if (isEmptyBody(call.request)) return deleteOptionsFromQuery(call.info.query)
    const body = await this.#parts.bodies.parse(call, type, 'DeleteOptions')
    const { kind = 'DeleteOptions', apiVersion = 'v1' } = (body.value ?? {}) as {
      kind?: string
      apiVersion?: string
    }
    if (kind !== 'DeleteOptions') {
      throw badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
      )
    }
    return deleteOptionsFromBody(decodedDeleteOptions(body.value ?? {}))
  }

  #mayCreate(call: ResourceCall): void {
    const { resource, namespace, name, user, info } = call
    const { group, version, resource: plural } = resource.info
    const attributes = {
      user,
      verb: 'create',
      group,
      version,
      resource: plural,
      subresource: '',
      namespace,
      name,
      path: info.path,
      isResourceRequest: true,
    }
    if (this.#parts.authorizer.authorize(attributes).allowed) return
    const scope =
      namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
    throw forbidden(
      resource.info,
      name,
      `User ${JSON.stringify(user.name)} cannot create resource ${JSON.stringify(plural)} in API group ${JSON.stringify(group)} ${scope}`,
    )
  }

  #deleteContext({ user, warnings }: ResourceCall, options: DeleteOptions): WriteContext {
    return {
      user,
      dryRun: options.dryRun,
      options: { ...options },
      manager: undefined,
      bodyBytes: 0,
      warn: (text) => warnings.add(text),
    }
  }

  #view(resource: ServedResource, stored: Stored): Stored {
    return resource.storage.fromStored?.(stored) ?? stored
  }

  #objectAnswer(call: ResourceCall, status: number, stored: Stored): Answer | Promise<Answer> {
    const answer = (): Answer =>
      objectAnswer(call, status, this.#view(call.resource, stored), this.#parts.clock.nowMs())
    // Without a webhook there is nothing to wait for.
    const prepared = call.resource.storage.conversion?.prepare([stored])
    return prepared === undefined ? answer() : prepared.then(answer)
  }
}

/** Has the webhook, when there is one, convert all of a list with one call. */
async function prepareViews(
  { storage }: ServedResource,
  entries: readonly { readonly object: Stored }[],
): Promise<void> {
  await storage.conversion?.prepare(entries.map(({ object }) => object))
}

function decodedDeleteOptions(value: unknown): Draft {
  try {
    return decodeObject({ group: '', version: 'v1', kind: 'DeleteOptions' }, value)!.object
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message)
    throw error
  }
}
