/**
 * Creates and updates objects: the steps from a decoded draft to a committed revision, the same for clients, in-process
 * callers and the server itself. Contract: docs/behaviour/api-server/requests.md, "Order of checks" 12-15.
 */
import type { AdmissionPlugin, AdmissionRequest, AllocationHook, UserInfo } from '../contracts.ts'
import { keepTimesOfNoop } from '../apply/index.ts'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { integerBetween, uuid } from '@gyropilot/foundation'
import {
  alreadyExists,
  conflict,
  generateNameExhausted,
  invalid,
  notFound,
  STALE,
  unclassified,
} from '../http/errors.ts'
import { cloneJson, shareUnchanged } from '../registry/equality.ts'
import type { Draft, RuleContext, Stored } from '../registry/kind-rules.ts'
import type { ServedResource } from '../registry/resource-registry.ts'
import {
  prepareCreate,
  prepareUpdate,
  validateCreate,
  validateUpdate,
} from '../registry/strategy.ts'
import type { Store, StoredEntry } from '../storage/store.ts'
import type { FieldManagement } from './field-management.ts'
import { parseVersion } from './options.ts'

/** The request on whose behalf an object is written. */
export interface WriteContext {
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The options of the request, for admission. */
  readonly options: Readonly<Record<string, unknown>>
  /** Undefined: ownership of fields is not recorded (bindings, the server's own resets). */
  readonly manager: string | undefined
  /** Patches: an empty list of managedFields asks for no tracking. */
  readonly emptyListResets?: boolean
  /** Bytes of the request body; 0 within the process. */
  readonly bodyBytes: number
  warn(message: string): void
}

export interface Target {
  readonly resource: ServedResource
  readonly namespace: string
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
}

export interface Written {
  /** In the stored version. */
  readonly object: Stored
  /** Undefined for dry runs and removed objects. */
  readonly entry: StoredEntry | undefined
  readonly created: boolean
}

export interface UpdateRequest {
  /** Makes the wanted object from the current one, both in the served version. Called again when another write came first. */
  makeDraft(current: Stored | undefined): Draft | Promise<Draft>
  /** Called when the object is absent and may be created: throws when the user may not. Absent: 404. */
  readonly beforeCreate?: () => void
  /** PUT: a foreign uid is a conflict. Patches leave it to validation. */
  readonly put?: boolean
  /** Ownership was decided by server-side apply, or is not to be recorded. */
  readonly fieldsManaged?: boolean
  /** Skips the endpoint's resets and the generation (bindings). */
  readonly internal?: boolean
}

const GENERATED_ATTEMPTS = 8
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const LONGEST_PREFIX = 58
/** etcd's limit for one request, which the server's clients know. */
const LARGEST_OBJECT_BYTES = 1_572_864
/** Smaller requests cannot make an object that large, short of thousands of them. */
const SIZE_CHECK_FROM_BYTES = 65_536

export interface ObjectWriterParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  readonly admission: readonly AdmissionPlugin[]
  readonly allocations: readonly AllocationHook[]
  readonly fields: FieldManagement
  readonly featureEnabled: (gate: string) => boolean
}

export class ObjectWriter {
  readonly #parts: ObjectWriterParts
  readonly #uids: RandomSource
  readonly #suffixes: RandomSource

  constructor(parts: ObjectWriterParts) {
    this.#parts = parts
    this.#uids = parts.random.fork('uids')
    this.#suffixes = parts.random.fork('generated-names')
  }

  /** `draft` is in the served version and belongs to the writer from now on. */
  async create(
    target: Target,
    draft: Draft,
    context: WriteContext,
    fieldsManaged = false,
  ): Promise<Written> {
    const { resource, namespace } = target
    const metadata = (draft['metadata'] ??= {}) as Draft
    if (resource.info.namespaced) metadata['namespace'] = namespace
    else delete metadata['namespace']
    deduplicateOwners(metadata, context)
    if (context.manager !== undefined && !fieldsManaged)
      this.#parts.fields.update(this.#fieldsCall(target, undefined, draft, context))
    const request = this.#admissionRequest('CREATE', target, context, draft, undefined)
    await this.#mutate(request)
    for (let attempt = 1; ; attempt++) {
      const generated = !metadata['name'] && Boolean(metadata['generateName'])
      const last = !generated || attempt === GENERATED_ATTEMPTS
      const written = await this.#createOnce(
        target,
        last ? draft : cloneJson(draft),
        context,
        generated,
        request,
      )
      if (written !== undefined) return written
      if (last) throw generateNameExhausted(resource.info, draft['metadata'].name)
    }
  }

  async #createOnce(
    target: Target,
    servedDraft: Draft,
    context: WriteContext,
    generated: boolean,
    request: AdmissionRequest,
  ): Promise<Written | undefined> {
    const { resource, namespace } = target
    const { store } = this.#parts
    if (generated)
      servedDraft['metadata'].name = this.#generateName(servedDraft['metadata'].generateName)
    const draft = storedDraft(resource, servedDraft)
    const rules = this.#ruleContext(context, target.subresource)
    const version: string = draft['metadata'].resourceVersion ?? ''
    prepareCreate(resource, draft, { ...rules, uid: uuid(this.#uids) })
    const settle = this.#allocate(resource, draft, undefined, context)
    let stored = false
    try {
      validateCreate(resource, draft, rules)
      warnOf(resource, draft, undefined, context)
      const name: string = draft['metadata'].name
      await this.#validate({ ...request, name, object: servedView(resource, draft) as Draft })
      const encoded = (await resource.storage.conversion?.encode(draft)) ?? draft
      if (version !== '' && version !== '0')
        throw unclassified('resourceVersion should not be set on objects to be created')
      const key = {
        collection: resource.storage.collection,
        key: storageKey(resource, namespace, name),
      }
      const existing = store.get(key)
      if (existing !== undefined) {
        if (generated) return undefined
        throw alreadyExists(
          resource.info,
          name,
          existing.object['metadata'].deletionTimestamp !== undefined,
        )
      }
      if (context.dryRun) return { object: encoded, entry: undefined, created: true }
      checkSize(encoded, context)
      const event = store.commit(key, (revision) => withVersion(encoded, revision))
      stored = true
      return { object: event.object, entry: event.entry, created: true }
    } finally {
      settle(stored)
    }
  }

  async update(target: Target, request: UpdateRequest, context: WriteContext): Promise<Written> {
    const key = {
      collection: target.resource.storage.collection,
      key: storageKey(target.resource, target.namespace, target.name),
    }
    for (;;) {
      const entry = this.#parts.store.get(key)
      if (entry === undefined) {
        if (request.beforeCreate === undefined) throw notFound(target.resource.info, target.name)
        request.beforeCreate()
        return this.create(
          target,
          await this.#draftForCreate(target, request),
          context,
          request.fieldsManaged,
        )
      }
      const written = await this.#updateOnce(target, entry, request, context)
      if (written !== undefined) return written
    }
  }

  async #draftForCreate(target: Target, request: UpdateRequest): Promise<Draft> {
    const draft = await request.makeDraft(undefined)
    const uid = draft['metadata']?.uid
    if (uid) {
      const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: `
      throw conflict(target.resource.info, target.name, storageError(target, text))
    }
    if (draft['metadata'] !== undefined) delete draft['metadata'].resourceVersion
    return draft
  }

  /** Undefined when another write came between and the request does not insist on a version. */
  async #updateOnce(
    target: Target,
    entry: StoredEntry,
    request: UpdateRequest,
    context: WriteContext,
  ): Promise<Written | undefined> {
    const { resource } = target
    const { conversion } = resource.storage
    await conversion?.prepare([entry.object])
    const current = resource.storage.fromStored?.(entry.object) ?? entry.object
    // Where a webhook converts, rules compare what the client sees.
    const stored = conversion === undefined ? entry.object : current
    const servedDraft = await request.makeDraft(current)
    const metadata = (servedDraft['metadata'] ??= {}) as Draft
    if (resource.info.namespaced) metadata['namespace'] = target.namespace
    else delete metadata['namespace']
    if (request.put === true) checkUid(target, metadata, stored)
    deduplicateOwners(metadata, context)
    if (context.manager !== undefined && request.fieldsManaged !== true) {
      this.#parts.fields.update(this.#fieldsCall(target, current, servedDraft, context))
    }
    const admission = this.#admissionRequest('UPDATE', target, context, servedDraft, current)
    await this.#mutate(admission)
    const draft = storedDraft(resource, servedDraft)
    const insists = checkVersion(target, draft, entry, request.put === true)
    const rules = this.#ruleContext(context, target.subresource)
    if (request.internal !== true) prepareUpdate(resource, draft, stored, rules)
    const settle =
      target.subresource === '' ? this.#allocate(resource, draft, stored, context) : NOTHING_TAKEN
    let committed = false
    try {
      validateUpdate(resource, draft, stored, rules)
      if (target.subresource === '') warnOf(resource, draft, stored, context)
      await this.#validate({ ...admission, object: servedView(resource, draft) as Draft })
      const encoded = (await conversion?.encode(draft)) ?? draft
      const now = this.#parts.store.get({ collection: resource.storage.collection, key: entry.key })
      if (now !== entry) {
        if (!insists) return undefined
        throw now === undefined
          ? notFound(resource.info, target.name)
          : conflict(resource.info, target.name, STALE)
      }
      const written = this.#commitUpdate(resource, entry, encoded, context)
      committed = !context.dryRun
      return written
    } finally {
      settle(committed)
    }
  }

  #commitUpdate(
    resource: ServedResource,
    entry: StoredEntry,
    draft: Draft,
    context: WriteContext,
  ): Written {
    const { store } = this.#parts
    const key = { collection: resource.storage.collection, key: entry.key }
    const stored = entry.object
    draft['metadata'].resourceVersion = stored['metadata'].resourceVersion
    if (isFinished(resource, draft, stored)) {
      if (!context.dryRun) {
        store.commit(key, () => undefined)
        this.afterDelete(resource, stored)
      }
      return { object: draft, entry: undefined, created: false }
    }
    keepTimesOfNoop(stored, draft)
    if (draft['metadata'].managedFields?.length === 0) delete draft['metadata'].managedFields
    const shared = shareUnchanged(draft, stored) as Stored
    if (shared === stored) return { object: stored, entry, created: false }
    if (context.dryRun) return { object: shared, entry: undefined, created: false }
    checkSize(draft, context)
    const event = store.commit(key, (revision) => withVersion(shared, revision))
    return { object: event.object, entry: event.entry, created: false }
  }

  afterDelete(resource: ServedResource, stored: Stored): void {
    for (const hook of this.#hooksOf(resource)) hook.released(stored)
  }

  /** Asks admission about a deletion; `stored` is absent before the object was read. */
  async admitDelete(
    target: Target,
    context: WriteContext,
    stored: Stored | undefined,
  ): Promise<void> {
    const request = this.#admissionRequest('DELETE', target, context, undefined, stored)
    if (stored === undefined) await this.#mutate(request)
    else await this.#validate(request)
  }

  /** The body of a subresource or virtual resource that is created: bindings, evictions, token requests, reviews. */
  async admitBody(target: Target, context: WriteContext, body: Draft): Promise<void> {
    const request = this.#admissionRequest('CREATE', target, context, body, undefined)
    await this.#mutate(request)
    await this.#validate(request)
  }

  async admitConnect(target: Target, context: WriteContext): Promise<void> {
    const request = this.#admissionRequest('CONNECT', target, context, undefined, undefined)
    await this.#mutate(request)
    await this.#validate(request)
  }

  async #mutate(request: AdmissionRequest): Promise<void> {
    if (await this.#mutateOnce(request)) await this.#mutateOnce({ ...request, reinvocation: true })
  }

  /** Whether a plug-in asked for another run of all. */
  async #mutateOnce(request: AdmissionRequest): Promise<boolean> {
    let again = false
    for (const plugin of this.#parts.admission) {
      if (plugin.mutate === undefined || !plugin.handles(request)) continue
      const pending = plugin.mutate(request)
      if (pending !== undefined && (await pending) === 'reinvoke') again = true
    }
    return again
  }

  async #validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#parts.admission) {
      if (plugin.validate === undefined || !plugin.handles(request)) continue
      const pending = plugin.validate(request)
      if (pending !== undefined) await pending
    }
  }

  #admissionRequest(
    operation: AdmissionRequest['operation'],
    { resource, subresource, namespace, name }: Target,
    { user, dryRun, options, warn }: WriteContext,
    object: Draft | undefined,
    oldObject: Stored | undefined,
  ): AdmissionRequest {
    const objectName: string = name === '' ? (object?.['metadata']?.name ?? '') : name
    const scope =
      resource.info.resource === 'namespaces' && resource.info.group === '' ? objectName : namespace
    return {
      operation,
      resource: resource.info,
      subresource,
      namespace: scope,
      name: objectName,
      object,
      oldObject,
      user,
      dryRun,
      options,
      warn,
    }
  }

  #fieldsCall(target: Target, before: Stored | undefined, draft: Draft, context: WriteContext) {
    const { resource, subresource } = target
    return {
      resource,
      subresource,
      before,
      draft,
      manager: context.manager!,
      emptyListResets: context.emptyListResets,
      nowMs: this.#parts.clock.nowMs(),
      warn: context.warn,
    }
  }

  #ruleContext({ user }: WriteContext, subresource: string): RuleContext {
    const { clock, featureEnabled } = this.#parts
    return {
      nowMs: clock.nowMs(),
      userName: user.name,
      user,
      featureEnabled,
      ...(subresource === '' ? {} : { subresource }),
    }
  }

  #hooksOf({ info }: ServedResource): readonly AllocationHook[] {
    return this.#parts.allocations.filter(
      (hook) => hook.group === info.group && hook.resource === info.resource,
    )
  }

  /** Takes what the object needs (addresses, ports). To be called once with whether the object was stored. */
  #allocate(
    resource: ServedResource,
    object: Draft,
    oldObject: Stored | undefined,
    context: WriteContext,
  ): (stored: boolean) => void {
    const hooks = this.#hooksOf(resource)
    if (hooks.length === 0) return NOTHING_TAKEN
    const settles: ((stored: boolean) => void)[] = []
    const settleAll = (stored: boolean): void => {
      for (const settle of settles.splice(0)) settle(stored)
    }
    try {
      const nowMs = this.#parts.clock.nowMs()
      for (const hook of hooks)
        settles.push(hook.begin({ object, oldObject, nowMs, dryRun: context.dryRun }))
    } catch (error) {
      settleAll(false)
      throw error
    }
    return settleAll
  }

  #generateName(prefix: string): string {
    let suffix = ''
    for (let i = 0; i < SUFFIX_LENGTH; i++)
      suffix += SUFFIX_ALPHABET[integerBetween(this.#suffixes, 0, SUFFIX_ALPHABET.length)]!
    return Buffer.from(prefix).subarray(0, LONGEST_PREFIX).toString() + suffix
  }
}

export function storageKey({ info }: ServedResource, namespace: string, name: string): string {
  return info.namespaced ? `${namespace}/${name}` : name
}

/** Kinds that are kept in another version get their defaults after the conversion: their rules know only that form. */
function storedDraft({ storage, rules }: ServedResource, draft: Draft): Draft {
  if (storage.toStored === undefined) return draft
  const converted = storage.toStored(draft)
  rules.defaults?.(converted)
  return converted
}

function servedView({ storage }: ServedResource, object: Stored): Stored {
  // Drafts that a webhook will convert are in the served version to the end.
  if (storage.conversion !== undefined) return object
  return storage.fromStored?.(object) ?? object
}

const NOTHING_TAKEN = (): void => {}

function warnOf(
  resource: ServedResource,
  draft: Draft,
  stored: Stored | undefined,
  context: WriteContext,
): void {
  for (const text of resource.rules.warnings?.(draft, stored) ?? []) context.warn(text)
}

/** The version stands beside uid and generation, where the real server writes it. */
function withVersion(object: Stored, revision: number): Stored {
  return { ...object, metadata: { ...object['metadata'], resourceVersion: String(revision) } }
}

/** True when nothing keeps a terminating object any more. */
export function isFinished({ info }: ServedResource, draft: Draft, stored: Stored): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = stored['metadata']
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false
  if ((draft['metadata'].finalizers ?? []).length > 0) return false
  return (
    info.kind !== 'Namespace' || info.group !== '' || (draft['spec']?.finalizers ?? []).length === 0
  )
}

function checkUid(target: Target, metadata: Draft, stored: Stored): void {
  const sent = metadata['uid']
  const current = stored['metadata'].uid
  if (!sent || sent === current) return
  const text = `Precondition failed: UID in precondition: ${sent}, UID in object meta: ${current}`
  throw conflict(target.resource.info, target.name, storageError(target, text))
}

function storageError({ resource, namespace, name }: Target, text: string): string {
  const { info, custom } = resource
  const prefix = custom
    ? `${info.group}/${info.resource}`
    : (STORAGE_PREFIXES[info.resource] ?? info.resource)
  const key = `/registry/${prefix}/${storageKey(resource, namespace, name)}`
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${text}`
}

const STORAGE_PREFIXES: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  ingresses: 'ingress',
}

/** Whether the request insists on the version it named; throws when that is not the current one. */
function checkVersion(
  { resource, name }: Target,
  draft: Draft,
  entry: StoredEntry,
  put: boolean,
): boolean {
  const text: string = draft['metadata'].resourceVersion ?? ''
  const version = text === '' ? 0 : parseVersion(text)
  if (typeof version === 'object') throw unclassified(version.error)
  if (version === 0) {
    if (resource.rules.unconditionalUpdate !== false && !resource.custom) return false
    const { group, resource: plural } = resource.info
    throw invalid(group, plural, name, [
      {
        type: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0: must be specified for an update',
      },
    ])
  }
  if (version !== entry.revision) throw conflict(resource.info, name, STALE)
  return put
}

/** Owner references with one uid count once. */
function deduplicateOwners(metadata: Draft, context: WriteContext): void {
  const owners = metadata['ownerReferences'] as Draft[] | undefined
  if (owners === undefined || owners.length < 2) return
  const seen = new Map<string, Draft>()
  const repeated = new Set<string>()
  for (const owner of owners) {
    if (seen.has(owner['uid'])) repeated.add(owner['uid'])
    else seen.set(owner['uid'], owner)
  }
  if (repeated.size === 0) return
  metadata['ownerReferences'] = [...seen.values()]
  context.warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  )
}

/** Objects beyond etcd's limit are refused; book-keeping of fields is given up first. */
function checkSize(draft: Draft, context: WriteContext): void {
  if (context.bodyBytes < SIZE_CHECK_FROM_BYTES || encodedSize(draft) <= LARGEST_OBJECT_BYTES)
    return
  delete draft['metadata'].managedFields
  if (encodedSize(draft) > LARGEST_OBJECT_BYTES)
    throw unclassified('etcdserver: request is too large')
}

function encodedSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
