/** Reads and writes of resources. Contract: docs/behaviour/api-server/requests.md and storage-and-watch.md. */
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { applyCreates, putCreates } from '../registry/object-subresources.ts'
import { applyPatchBody } from './writes/apply-body.ts'
import type { Authorizer } from '../contracts.ts'
import type { Answer } from '../http/answer.ts'
import { conflict, forbidden, notFound } from '../http/errors.ts'
import { headerOf } from '../http/exchange.ts'
import { inputType } from '../http/negotiation.ts'
import { checkBodySize } from '../http/request-body.ts'
import type { PreparedWatch } from '../http/watch-sink.ts'
import type { Draft } from '@gyropilot/schema/objects'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import type { Store } from '../storage/store.ts'
import { listAnswer, watchTransform } from './answers/answers.ts'
import type { ResourceCall } from './call.ts'
import { decodeDraft, refuseForeignKind } from './bodies/decoding.ts'
import type { FieldManagement } from '../field-management/field-management-call.ts'
import { reachAskedVersion, refuseExport } from './reads/get.ts'
import { listPage, listRequestOf } from './reads/list.ts'
import type { ObjectWriter } from './writes/object-writer.ts'
import { writeOptions, type WriteOptions } from './options.ts'
import { appliedDraft, patchObject, type PatchBody, type PatchType } from './writes/patch.ts'
import {
  checkName,
  checkNamespace,
  patchTypeOfCall,
  patchBodyOf,
  type RequestBodies,
} from './bodies/request-bodies.ts'
import { prepareWatch } from './reads/watch.ts'
import { storedAnswer, viewsOf } from './answers/stored-answers.ts'
import { targetOf, writeContextOf } from './writes/write-context.ts'
import { requestedKey, type UpdateRequest, type Written } from './writes/writes.ts'

interface ResourceHandlerParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  readonly registry: ResourceRegistry
  readonly writer: ObjectWriter
  readonly fields: FieldManagement
  readonly authorizer: Authorizer
  readonly bodies: RequestBodies
}

/** Of a subresource only its part of the object counts. */
function kindCheckOf({ subresource }: ResourceCall): Pick<UpdateRequest, 'checkKind'> {
  return subresource === '' ? { checkKind: refuseForeignKind } : {}
}

export class ResourceHandler {
  readonly #parts: ResourceHandlerParts
  readonly #nowMs: () => number
  /** Running watches of custom resources. */
  readonly #watches = new Map<ServedResource, Set<() => void>>()

  constructor(parts: ResourceHandlerParts) {
    this.#parts = parts
    this.#nowMs = () => parts.clock.nowMs()
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
    const { query } = call.info
    refuseExport(query)
    const { resource, namespace, name } = call
    const key = {
      collection: resource.storage.collection,
      key: requestedKey(resource, namespace, name),
    }
    await reachAskedVersion(this.#parts, resource, query)
    const entry = this.#parts.store.get(key)
    if (entry === undefined) throw notFound(resource.info, name)
    return storedAnswer(call, 200, entry.object, this.#nowMs, true)
  }

  async list(call: ResourceCall): Promise<Answer> {
    const { store, clock } = this.#parts
    const request = listRequestOf(call, false)
    const page = await listPage(store, clock, request)
    const items = await viewsOf(call.resource, page.entries)
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
    const prepared = prepareWatch(this.#parts, listRequestOf(call, true))
    const mediaType = call.streamType()
    const watch = call.resource.custom ? this.#untilRedefined(call.resource, prepared) : prepared
    return {
      status: 200,
      mediaType,
      body: { kind: 'watch', watch, transform: watchTransform(call, () => clock.nowMs()) },
    }
  }

  /** A watch ends when the definition of its resource changes or goes: what follows would have another form. */
  #untilRedefined(resource: ServedResource, watch: PreparedWatch): PreparedWatch {
    return {
      start: (sink) => {
        const stops = this.#watches.get(resource) ?? new Set()
        this.#watches.set(resource, stops)
        // Some end before they have begun.
        let stop: (() => void) | undefined
        const redefined = (): void => stop?.()
        stops.add(redefined)
        stop = watch.start({
          send: (type, object) => sink.send(type, object),
          isFull: () => sink.isFull(),
          ready: () => sink.ready(),
          end: () => {
            stops.delete(redefined)
            sink.end()
          },
        })
        return stop
      },
    }
  }

  async create(call: ResourceCall): Promise<Answer> {
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'CreateOptions')
    const body = await this.#parts.bodies.parse(call, type, call.resource.info.kind)
    const draft = decodeDraft(body, this.#parts.bodies.decoding(call, call.resource.info, options))
    checkNamespace(call, draft)
    refuseForeignKind(draft)
    const written = await this.#parts.writer.create(
      targetOf(call),
      draft,
      writeContextOf(call, options, body),
    )
    return storedAnswer(call, 201, written.object, this.#nowMs)
  }

  async update(call: ResourceCall): Promise<Answer> {
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'UpdateOptions')
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    const body = await this.#parts.bodies.parse(call, type, call.resource.info.kind)
    const draft = decodeDraft(body, this.#parts.bodies.decoding(call, call.resource.info, options))
    checkNamespace(call, draft)
    checkName(call, draft)
    const createsMissing = putCreates(call.resource, call.subresource)
    let first = true
    const written = await this.#parts.writer.update(
      targetOf(call),
      {
        put: true,
        ...kindCheckOf(call),
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
    return storedAnswer(call, written.created ? 201 : 200, written.object, this.#nowMs)
  }

  async patch(call: ResourceCall): Promise<Answer> {
    const type = patchTypeOfCall(call)
    checkBodySize(call.request)
    const options = writeOptions(call.info.query, 'PatchOptions', type === 'apply')
    const written =
      type === 'apply' ? await this.#apply(call, options) : await this.#patch(call, type, options)
    return storedAnswer(call, written.created ? 201 : 200, written.object, this.#nowMs)
  }

  #patch(
    call: ResourceCall,
    type: Exclude<PatchType, 'apply'>,
    options: WriteOptions,
  ): Promise<Written> {
    const decoding = this.#parts.bodies.decoding(call, call.resource.info, options)
    // Read when there is something to be patched: before that it is not known to be missing.
    let patch: PatchBody | undefined
    return this.#parts.writer.update(
      targetOf(call),
      {
        ...kindCheckOf(call),
        makeDraft: (current) => {
          patch ??= patchBodyOf(call, type, decoding)
          const draft = patchObject(type, patch, current!, decoding)
          checkNamespace(call, draft)
          checkName(call, draft)
          return draft
        },
      },
      writeContextOf(call, options, undefined, type),
    )
  }

  async #apply(call: ResourceCall, options: WriteOptions): Promise<Written> {
    const [body] = await Promise.allSettled([
      applyPatchBody(call.request, options.fieldValidation, (text) => call.warnings.add(text)),
    ])
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
        beforeCreate: applyCreates(resource, subresource) ? () => this.#mayCreate(call) : undefined,
        makeDraft: async (current) => {
          // Told only of what is there to be changed, or may be created.
          if (body.status === 'rejected') throw body.reason
          const { configuration, tellRepeated } = body.value
          const merged = await fields.apply({
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
          tellRepeated()
          const managedFields = merged['metadata']?.managedFields
          const draft = appliedDraft(merged, configuration, decoding)
          const metadata = (draft['metadata'] ??= {}) as Draft
          if (managedFields === undefined) delete metadata['managedFields']
          else metadata['managedFields'] = managedFields
          const uid = metadata['uid']
          if (current === undefined && uid) {
            throw conflict(
              resource.info,
              name,
              `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
            )
          }
          checkNamespace(call, draft)
          checkName(call, draft)
          return draft
        },
      },
      writeContextOf(call, options, undefined, 'apply'),
    )
  }

  #mayCreate(call: ResourceCall): void {
    const { resource, subresource, namespace, name, user, info } = call
    const { group, version, resource: plural } = resource.info
    const attributes = {
      user,
      verb: 'create',
      group,
      version,
      resource: plural,
      subresource,
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
}
