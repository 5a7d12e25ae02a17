/** Writes that the server does itself, through the rules that hold for clients. */
import type { AdmissionView, ServerInternals, UserInfo, ResourceInfo } from '../contracts.ts'
import { routeNotFound } from '../http/errors.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import type { Store } from '../storage/store.ts'
import { decodeValue } from './bodies/decoding.ts'
import type { Deadline } from './limits/deadline.ts'
import type { Deleter } from './writes/deletion.ts'
import { namespacePrefix } from './reads/list.ts'
import type { ObjectWriter } from './writes/object-writer.ts'
import { storageKey, type Target, type WriteContext } from './writes/writes.ts'
import { deleteOptionsFromBody } from './options.ts'

interface InternalsParts {
  readonly store: Store
  readonly registry: ResourceRegistry
  readonly writer: ObjectWriter
  readonly deleter: Deleter
  /** In whose name the server writes when nobody else is named. */
  readonly self: UserInfo
  /** Absent: the server's own writes have no bound. */
  readonly deadline?: Deadline
}

/** The manager of fields that the server writes. */
const SERVER_MANAGER = 'kube-apiserver'

export class Internals implements ServerInternals {
  readonly store: Store
  readonly #parts: InternalsParts

  constructor(parts: InternalsParts) {
    this.#parts = parts
    this.store = parts.store
  }

  /** The same for what is written on behalf of one request: nothing is after its deadline. */
  within(deadline: Deadline): ServerInternals {
    return new Internals({ ...this.#parts, deadline })
  }

  resource(group: string, resource: string): ResourceInfo | undefined {
    return this.#parts.registry.preferred(group, resource)?.info
  }

  get(group: string, resource: string, namespace: string, name: string): Stored | undefined {
    const served = this.#served(group, resource)
    return this.store.get({
      collection: served.storage.collection,
      key: storageKey(served, namespace, name),
    })?.object
  }

  async view({ group, version, resource }: ResourceInfo, stored: Stored): Promise<Stored> {
    const served = this.#served(group, resource, version)
    await served.storage.conversion?.prepare([stored])
    return served.storage.fromStored?.(stored) ?? stored
  }

  list(group: string, resource: string, namespace = ''): readonly Stored[] {
    const served = this.#served(group, resource)
    const snapshot = this.store.list(served.storage.collection, namespacePrefix(served, namespace))
    return snapshot === 'expired' ? [] : snapshot.entries.map(({ object }) => object)
  }

  async create(
    group: string,
    resource: string,
    object: Draft,
    as: UserInfo,
    options: { dryRun?: boolean } = {},
  ): Promise<Stored> {
    const served = this.#served(group, resource)
    const decoded = decodeValue(
      object,
      { occurrences: undefined },
      { expected: served.info, resource: served },
    )
    const namespace: string = object['metadata']?.namespace ?? ''
    const target: Target = { resource: served, namespace, name: '', subresource: '' }
    const written = await this.#parts.writer.create(
      target,
      decoded.object,
      this.#context(as, options.dryRun === true, SERVER_MANAGER),
    )
    return written.object
  }

  async update(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    change: (draft: Draft) => void,
    options: {
      subresource?: string
      version?: string
      internal?: boolean
      dryRun?: boolean
      as?: UserInfo
      manager?: string
      appliedFields?: readonly Draft[]
      admissionView?: AdmissionView
      admissionOptions?: Readonly<Record<string, unknown>>
      warn?: (message: string) => void
    } = {},
  ): Promise<Stored> {
    const { subresource = '', internal = false, dryRun = false, as = this.#parts.self } = options
    const manager = (options.manager ?? (internal ? '' : SERVER_MANAGER)) || undefined
    const served = this.#served(group, resource, options.version)
    const target: Target = { resource: served, namespace, name, subresource }
    const written = await this.#parts.writer.update(
      target,
      {
        internal,
        appliedFields: options.appliedFields,
        admissionView: options.admissionView,
        makeDraft(current) {
          const draft = cloneJson(current) as Draft
          change(draft)
          return draft
        },
      },
      {
        ...this.#context(as, dryRun, manager, options.warn),
        options: options.admissionOptions ?? {},
      },
    )
    return written.object
  }

  async delete(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    options: Readonly<Record<string, unknown>>,
    as: UserInfo,
    admitted: 'asked' | 'unasked' = 'asked',
  ): Promise<unknown> {
    const target: Target = {
      resource: this.#served(group, resource),
      namespace,
      name,
      subresource: '',
    }
    const parsed = deleteOptionsFromBody(options)
    const deleted = await this.#parts.deleter.delete(
      target,
      parsed,
      this.#context(as, parsed.dryRun, undefined),
      admitted === 'asked' ? target : 'unasked',
    )
    return deleted.object
  }

  /** An instance of a definition that goes: in the background, and nobody is asked. */
  async deleteInstance(resource: ServedResource, namespace: string, name: string): Promise<void> {
    const target: Target = { resource, namespace, name, subresource: '' }
    const options = deleteOptionsFromBody({ propagationPolicy: 'Background' })
    const context = this.#context(this.#parts.self, false, undefined)
    await this.#parts.deleter.delete(target, options, context, 'unasked')
  }

  #served(group: string, resource: string, version?: string): ServedResource {
    const { registry } = this.#parts
    const served =
      version === undefined
        ? registry.preferred(group, resource)
        : registry.get(group, version, resource)
    if (served === undefined) throw routeNotFound()
    return served
  }

  #context(
    user: UserInfo,
    dryRun: boolean,
    manager: string | undefined,
    warn: (message: string) => void = () => {},
  ): WriteContext {
    const { deadline } = this.#parts
    return { user, dryRun, options: {}, manager, bodyBytes: 0, deadline, warn }
  }
}
