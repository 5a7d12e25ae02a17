/**
 * Creates and updates objects: the steps from a decoded draft to a committed revision, the same for clients, in-process
 * callers and the server itself. Contract: docs/behaviour/api-server/requests.md, "Order of checks" 12-15.
 */
import { keepTimesOfNoop } from '@gyropilot/apply'
import { conflict, notFound, STALE } from '../../http/errors.ts'
import type { AdmissionRequest } from '../../contracts.ts'
import { shareUnchanged } from '../../registry/equality.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import { prepareUpdate, validateUpdate } from '../../registry/strategy.ts'
import type { StoredEntry } from '../../storage/store.ts'
import { admissionRequest } from './admission-chain.ts'
import { NOTHING_TAKEN } from './allocations.ts'
import { checkDeadline } from '../limits/deadline.ts'
import { ObjectCreator } from './object-creator.ts'
import {
  checkSize,
  rememberUnmeasured,
  checkUid,
  checkVersion,
  checkVersionText,
  deduplicateOwners,
  dropGivenByServer,
  storageErrorOf,
} from './write-checks.ts'
import {
  fieldsCall,
  mutate,
  ruleContext,
  servedView,
  storedDraft,
  warn,
  withVersion,
} from './write-steps.ts'
import type { WriteParts } from './write-steps.ts'
import {
  requestedKey,
  type Target,
  type UpdateRequest,
  type WriteContext,
  type Written,
} from './writes.ts'

export class ObjectWriter {
  readonly #parts: WriteParts
  readonly #creator: ObjectCreator

  constructor(parts: WriteParts) {
    this.#parts = parts
    this.#creator = new ObjectCreator(parts)
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
    return this.#creator.create(target, draft, context, fieldsManaged)
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
        return this.#creator.create(
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
    resource.rules.defaultTimes?.(servedDraft, this.#parts.clock.nowMs())
    const metadata = (servedDraft['metadata'] ??= {}) as Draft
    if (resource.info.namespaced) metadata['namespace'] = target.namespace
    else delete metadata['namespace']
    if (request.put === true) {
      deduplicateOwners(metadata, context, 'sent')
      checkUid(target, metadata, stored, context.dryRun)
    }
    if (context.manager !== undefined && request.fieldsManaged !== true) {
      const call = fieldsCall(this.#parts, target, current, servedDraft, context)
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
      await mutate(this.#parts, seen, target, servedDraft, context, view)
    }
    const draft = storedDraft(resource, servedDraft)
    const insists = checkVersion(target, draft, entry, request.put === true)
    request.checkKind?.(servedDraft)
    const rules = ruleContext(this.#parts, context, target)
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
    const unmeasured = context.dryRun ? 0 : checkSize(draft, stored, context)
    const shared = shareUnchanged(draft, stored) as Stored
    if (shared === stored) return { object: stored, entry, created: false }
    if (context.dryRun) return { object: shared, entry: undefined, created: false }
    checkDeadline(context.deadline)
    const event = store.commit(key, (revision) => withVersion(shared, revision))
    rememberUnmeasured(event.object, unmeasured)
    return { object: event.object, entry: event.entry, created: false }
  }
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

/** True when nothing keeps a terminating object any more. */
function isFinished({ info }: ServedResource, draft: Draft, stored: Stored): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = stored['metadata']
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false
  if ((draft['metadata'].finalizers ?? []).length > 0) return false
  return (
    info.kind !== 'Namespace' || info.group !== '' || (draft['spec']?.finalizers ?? []).length === 0
  )
}
