/**
 * Creates and updates objects: the steps from a decoded draft to a committed revision, the same for clients, in-process
 * callers and the server itself. Contract: docs/behaviour/api-server/requests.md, "Order of checks" 12-15.
 */
import { keepTimesOfNoop } from '@gyropilot/apply'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { integerBetween, uuid } from '@gyropilot/foundation'
import {
  alreadyExists,
  conflict,
  foreignNamespace,
  generateNameExhausted,
  notFound,
  STALE,
} from '../../http/errors.ts'
import type { AdmissionRequest } from '../../contracts.ts'
import { cloneJson, shareUnchanged } from '../../registry/equality.ts'
import type { RuleContext } from '../../registry/kind-rules.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import {
  prepareCreate,
  prepareUpdate,
  validateCreate,
  validateUpdate,
} from '../../registry/strategy.ts'
import { encodedObject } from '../../storage/encoding.ts'
import type { Store, StoredEntry, StoreEvent, StoreKey } from '../../storage/store.ts'
import { admissionRequest, type AdmissionChain } from './admission-chain.ts'
import { NOTHING_TAKEN, type Allocations } from './allocations.ts'
import { checkDeadline } from '../limits/deadline.ts'
import type { FieldManagement } from '../../field-management/field-management-call.ts'
import {
  checkNoVersion,
  checkSize,
  checkUid,
  checkVersion,
  checkVersionText,
  deduplicateOwners,
  dropGivenByServer,
  keepManagedFields,
  storageErrorOf,
} from './write-checks.ts'
import {
  requestedKey,
  storageKey,
  type Target,
  type UpdateRequest,
  type WriteContext,
  type Written,
} from './writes.ts'

const GENERATED_ATTEMPTS = 8
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const LONGEST_PREFIX = 58

interface ObjectWriterParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  readonly admission: AdmissionChain
  readonly allocations: Allocations
  readonly fields: FieldManagement
  readonly featureEnabled: (gate: string) => boolean
}

/** For a try with one generated name. Entries of managedFields are shared with other objects and not edited: they are no copies. */
function copyForTry(draft: Draft): Draft {
  const { managedFields, ...metadata } = draft['metadata']
  const copy = cloneJson({ ...draft, metadata })
  if (managedFields !== undefined) (copy['metadata'] as Draft)['managedFields'] = managedFields
  return copy
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
    const metadata = (draft['metadata'] ??= {}) as Draft
    dropGivenByServer(metadata)
    return this.#create(target, draft, context, fieldsManaged)
  }

  /** What a PUT or an apply makes is judged with all that it names. */
  async #create(
    target: Target,
    draft: Draft,
    context: WriteContext,
    fieldsManaged = false,
  ): Promise<Written> {
    const { resource, namespace } = target
    const metadata = (draft['metadata'] ??= {}) as Draft
    if (resource.info.namespaced) metadata['namespace'] = namespace
    else delete metadata['namespace']
    if (!fieldsManaged) deduplicateOwners(metadata, context, 'sent')
    if (context.manager !== undefined && !fieldsManaged) {
      const managed = this.#parts.fields.update(this.#fieldsCall(target, undefined, draft, context))
      if (managed !== undefined) await managed
    }
    const request = admissionRequest('CREATE', target, context, draft, undefined)
    await this.#mutate(request, target, draft, context)
    for (let attempt = 1; ; attempt++) {
      const generated = !metadata['name'] && Boolean(metadata['generateName'])
      const last = !generated || attempt === GENERATED_ATTEMPTS
      const written = await this.#createOnce(
        target,
        last ? draft : copyForTry(draft),
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
    if (generated) {
      const prefix: string = servedDraft['metadata'].generateName
      const isWhole = resource.rules.keepsGeneratedName === true
      servedDraft['metadata'].name = isWhole ? prefix : this.#generateName(prefix)
    }
    const draft = storedDraft(resource, servedDraft)
    const rules = this.#ruleContext(context, target)
    const version: string = draft['metadata'].resourceVersion ?? ''
    prepareCreate(resource, draft, { ...rules, uid: uuid(this.#uids) })
    const settle =
      target.subresource === ''
        ? this.#parts.allocations.begin(resource, draft, undefined, context.dryRun)
        : NOTHING_TAKEN
    let stored = false
    try {
      validateCreate(resource, draft, rules)
      warn(resource.rules.warnings?.(draft, undefined), context)
      const name: string = draft['metadata'].name
      await this.#parts.admission.validate({
        ...request,
        name,
        object: servedView(resource, draft) as Draft,
      })
      resource.rules.canonicalize?.(draft)
      const encoded = (await resource.storage.conversion?.encode(draft)) ?? draft
      // What a PUT or an apply makes stands where it was asked for, whatever admission made of its name and version.
      if (!context.dryRun && target.name === '') checkNoVersion(version)
      const key = {
        collection: resource.storage.collection,
        key: storageKey(resource, namespace, target.name || name),
      }
      const existing = store.get(key)
      if (existing !== undefined) {
        if (generated) return undefined
        if (draft['metadata'].generateName) throw generateNameExhausted(resource.info, name)
        throw alreadyExists(
          resource.info,
          name,
          existing.object['metadata'].deletionTimestamp !== undefined,
        )
      }
      if (context.dryRun) {
        const object = version === '' ? encoded : withVersion(encoded, version)
        return { object, entry: undefined, created: true }
      }
      const event = this.#commitCreate(key, encoded, context)
      stored = true
      return { object: event.object, entry: event.entry, created: true }
    } finally {
      settle(stored)
    }
  }

  #commitCreate(key: StoreKey, draft: Draft, context: WriteContext): StoreEvent {
    delete draft['metadata'].selfLink
    checkSize(draft, context)
    checkDeadline(context.deadline)
    return this.#parts.store.commit(key, (revision) => {
      const object = withVersion(draft, revision)
      if (context.answersJson === true) encodedObject(object)
      return object
    })
  }

  async update(target: Target, request: UpdateRequest, context: WriteContext): Promise<Written> {
    const key = {
      collection: target.resource.storage.collection,
      key: requestedKey(target.resource, target.namespace, target.name),
    }
    for (;;) {
      const entry = this.#parts.store.get(key)
      if (entry === undefined) {
        if (request.beforeCreate === undefined) throw notFound(target.resource.info, target.name)
        request.beforeCreate()
        return this.#create(
          target,
          await this.#draftForCreate(target, request, context.dryRun),
          context,
          request.fieldsManaged,
        )
      }
      const written = await this.#updateOnce(target, entry, request, context)
      if (written !== undefined) return written
    }
  }

  async #draftForCreate(target: Target, request: UpdateRequest, dryRun: boolean): Promise<Draft> {
    const draft = await request.makeDraft(undefined)
    const { uid, resourceVersion = '' } = draft['metadata'] ?? {}
    if (uid) {
      const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: `
      throw conflict(target.resource.info, target.name, storageErrorOf(target, text, dryRun))
    }
    // Which version it is does not count, but it has to be one.
    checkVersionText(resourceVersion)
    if (draft['metadata'] !== undefined && !dryRun) delete draft['metadata'].resourceVersion
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
    if (request.put === true) {
      deduplicateOwners(metadata, context, 'sent')
      checkUid(target, metadata, stored, context.dryRun)
    }
    if (context.manager !== undefined && request.fieldsManaged !== true) {
      const call = this.#fieldsCall(target, current, servedDraft, context)
      const managed = this.#parts.fields.update({ ...call, appliedFields: request.appliedFields })
      if (managed !== undefined) await managed
    }
    const { admissionView: view } = request
    const shown = (object: Stored): Draft => view?.of(object) ?? (object as Draft)
    const admission = admissionRequest(
      'UPDATE',
      target,
      context,
      view?.sent ?? servedDraft,
      shown(current),
    )
    const judged = request.internal !== true
    if (judged) {
      const seen = view ? this.#owned(admission, target, servedDraft, current) : admission
      await this.#mutate(seen, target, servedDraft, context, view)
    }
    const draft = storedDraft(resource, servedDraft)
    const insists = checkVersion(target, draft, entry, request.put === true)
    request.checkKind?.(servedDraft)
    const rules = this.#ruleContext(context, target)
    if (judged) prepareUpdate(resource, draft, stored, rules)
    const settle =
      target.subresource === ''
        ? this.#parts.allocations.begin(resource, draft, stored, context.dryRun)
        : NOTHING_TAKEN
    let committed = false
    try {
      validateUpdate(resource, draft, stored, rules)
      warn(warningsOfUpdate(target, draft, stored, view !== undefined), context)
      if (judged) {
        // A write that insists on no version has that of what it replaces by now.
        draft['metadata'].resourceVersion ||= stored['metadata'].resourceVersion
        const object = shown(servedView(resource, draft))
        await this.#parts.admission.validate({ ...admission, object })
      }
      resource.rules.canonicalize?.(draft)
      const encoded = (await conversion?.encode(draft)) ?? draft
      if (!this.#isStill(entry, target, insists)) return undefined
      const written = this.#commitUpdate(resource, entry, encoded, context)
      committed = !context.dryRun
      return written
    } finally {
      settle(committed)
    }
  }

  /** Throws 404 or 409 where another write came between and the request insists on a version. */
  #isStill(entry: StoredEntry, { resource, name }: Target, insists: boolean): boolean {
    const { collection } = resource.storage
    const now = this.#parts.store.get({ collection, key: entry.key })
    if (now === entry || !insists) return now === entry
    throw now === undefined ? notFound(resource.info, name) : conflict(resource.info, name, STALE)
  }

  /** Those who may change a Scale see who owns its replicas; those who judge it do not. */
  #owned(
    request: AdmissionRequest,
    { resource }: Target,
    draft: Draft,
    current: Stored,
  ): AdmissionRequest {
    const withOwners = (scale: Stored, parent: Stored): Draft => {
      const managedFields = this.#parts.fields.ofScale(resource, parent['metadata'].managedFields)
      if (managedFields.length === 0) return scale as Draft
      return { ...scale, metadata: { ...scale['metadata'], managedFields } }
    }
    return {
      ...request,
      object: withOwners(request.object!, draft),
      oldObject: withOwners(request.oldObject!, current),
    }
  }

  /** Lets admission change what is to be written, as far as it may. */
  async #mutate(
    request: AdmissionRequest,
    target: Target,
    draft: Draft,
    context: WriteContext,
    view?: UpdateRequest['admissionView'],
  ): Promise<void> {
    const { managedFields } = draft['metadata']
    await this.#parts.admission.mutate(request)
    view?.into(draft, request.object!)
    keepManagedFields(managedFields, (draft['metadata'] ??= {}), context)
    deduplicateOwners(draft['metadata'], context, 'admitted')
    keepNamespace(target, draft)
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
        checkDeadline(context.deadline)
        store.commit(key, () => undefined)
        this.#parts.allocations.released(resource, stored)
      }
      return { object: draft, entry: undefined, created: false }
    }
    // It is shown where nothing is written.
    if (!context.dryRun) delete draft['metadata'].selfLink
    keepTimesOfNoop(stored, draft)
    if (draft['metadata'].managedFields?.length === 0) delete draft['metadata'].managedFields
    const shared = shareUnchanged(draft, stored) as Stored
    if (shared === stored) return { object: stored, entry, created: false }
    if (context.dryRun) return { object: shared, entry: undefined, created: false }
    checkSize(draft, context)
    checkDeadline(context.deadline)
    const event = store.commit(key, (revision) => withVersion(shared, revision))
    return { object: event.object, entry: event.entry, created: false }
  }

  #fieldsCall(target: Target, before: Stored | undefined, draft: Draft, context: WriteContext) {
    const { resource, subresource } = target
    return {
      resource,
      subresource,
      before,
      draft,
      manager: context.manager!,
      nowMs: this.#parts.clock.nowMs(),
      warn: context.warn,
    }
  }

  #ruleContext({ user, warn }: WriteContext, { subresource, namespace }: Target): RuleContext {
    const { clock, featureEnabled, store } = this.#parts
    return {
      namespaceLabels: () =>
        store.get({ collection: 'namespaces', key: namespace })?.object.metadata?.labels,
      nowMs: clock.nowMs(),
      userName: user.name,
      user,
      featureEnabled,
      warn,
      ...(subresource === '' ? {} : { subresource }),
    }
  }

  #generateName(prefix: string): string {
    let suffix = ''
    for (let i = 0; i < SUFFIX_LENGTH; i++)
      suffix += SUFFIX_ALPHABET[integerBetween(this.#suffixes, 0, SUFFIX_ALPHABET.length)]!
    return Buffer.from(prefix).subarray(0, LONGEST_PREFIX).toString() + suffix
  }
}

/** Admission may have taken the namespace away, but not have put another in its place. Throws ApiError. */
function keepNamespace({ resource, namespace }: Target, draft: Draft): void {
  if (!resource.info.namespaced) return
  const metadata = (draft['metadata'] ??= {}) as Draft
  if ((metadata['namespace'] ||= namespace) !== namespace) throw foreignNamespace()
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

/** `throughView`: the object is changed by way of another one, such as its scale. */
function warningsOfUpdate(
  { resource: { rules }, subresource }: Target,
  draft: Draft,
  stored: Stored,
  throughView: boolean,
): readonly string[] | undefined {
  if (subresource === 'status') return rules.status?.warnings?.(draft)
  return subresource === '' || throughView ? rules.warnings?.(draft, stored) : undefined
}

function warn(texts: readonly string[] | undefined, context: WriteContext): void {
  for (const text of texts ?? []) context.warn(text)
}

/** The version stands beside uid and generation, where the real server writes it. */
function withVersion(object: Stored, revision: number | string): Stored {
  return { ...object, metadata: { ...object['metadata'], resourceVersion: String(revision) } }
}

/** True when nothing keeps a terminating object any more. */
function isFinished({ info }: ServedResource, draft: Draft, stored: Stored): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = stored['metadata']
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false
  if ((draft['metadata'].finalizers ?? []).length > 0) return false
  return (
    info.kind !== 'Namespace' || info.group !== '' || (draft['spec']?.finalizers ?? []).length === 0
  )
}
