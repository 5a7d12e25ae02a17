/** Deletion of one object. Contract: docs/behaviour/api-server/storage-and-watch.md, "Deletion". */
import type { Clock } from '@gyropilot/foundation'
import { formatTime } from '@gyropilot/foundation'
import { conflict, notFound, preconditionMismatch } from '../../http/errors.ts'
import type { ApiError } from '../../contracts.ts'
import { emptyObjectOf } from '../../registry/empty-objects.ts'
import { cloneJson } from '../../registry/equality.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import { withRevision } from '../../storage/revision-log.ts'
import type { Store, StoredEntry } from '../../storage/store.ts'
import type { AdmissionChain } from './admission-chain.ts'
import type { Allocations } from './allocations.ts'
import { checkDeadline } from '../limits/deadline.ts'
import type { DeleteOptions } from '../options.ts'
import { storageErrorOf } from './write-checks.ts'
import { requestedKey, type Target, type WriteContext } from './writes.ts'

const LAST_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59)

export interface Deleted {
  /** The object as it was last, in the stored version. */
  readonly object: Stored
  /** False: it still exists, waiting for finalizers or its grace period. */
  readonly removed: boolean
  readonly entry?: StoredEntry
  /** The answer is the object, whatever answers of the kind are. */
  readonly shown?: boolean
}

/** Nothing keeps the object any more. */
interface Due {
  readonly due: StoredEntry
  /** It was decided on the way of an update, and is asked about as what is there now. */
  readonly askedAgain: boolean
}

export class Deleter {
  readonly #store: Store
  readonly #clock: Clock
  readonly #admission: AdmissionChain
  readonly #allocations: Allocations

  constructor(store: Store, clock: Clock, admission: AdmissionChain, allocations: Allocations) {
    this.#store = store
    this.#clock = clock
    this.#admission = admission
    this.#allocations = allocations
  }

  /** `admitted`: as admission sees it; of a collection no object has a name there. `unasked`: it sees nothing of it. */
  async delete(
    target: Target,
    options: DeleteOptions,
    context: WriteContext,
    admitted: Target | 'unasked' = target,
  ): Promise<Deleted> {
    const { resource, namespace, name } = target
    const key = {
      collection: resource.storage.collection,
      key: requestedKey(resource, namespace, name),
    }
    for (;;) {
      const entry = this.#store.get(key)
      if (entry === undefined) throw notFound(resource.info, name)
      checkPreconditions(target, entry.object, options)
      // A deletion is a write, too: what cannot be converted cannot be deleted.
      await resource.storage.conversion?.prepare([entry.object])
      if (!context.dryRun) await resource.storage.conversion?.checkStorable(entry.object)
      const decidedContext =
        admitted === 'unasked'
          ? undefined
          : this.#admittedContext(resource, entry, options, context)
      if (decidedContext === 'unmoved') return { object: entry.object, removed: false, entry }
      // Each of a collection is asked about with what was sent for all of it.
      const asked =
        admitted === 'unasked' || decidedContext === undefined
          ? undefined
          : { target: admitted, context: admitted === target ? decidedContext : context }
      if (asked !== undefined) await this.#admit(asked.target, asked.context, entry)
      checkDeadline(context.deadline)
      // Admission may have taken its time: the decision below is made on what is there now.
      if (this.#store.get(key) !== entry) continue
      const decided = this.#decide(target, entry, options, context)
      if (!('due' in decided)) return decided
      const { due } = decided
      if (asked !== undefined && decided.askedAgain && !context.dryRun) {
        await this.#admit(asked.target, asked.context, due)
        const now = this.#store.get(key)
        if (now === undefined) return { object: due.object, removed: true }
        // What came meanwhile may be a namesake, or be kept by somebody: all is decided anew.
        if (now !== due) continue
      }
      return this.#remove(resource, due, context)
    }
  }

  async #admit(admitted: Target, context: WriteContext, { object }: StoredEntry): Promise<void> {
    const { fromStored } = admitted.resource.storage
    await this.#admission.admitDelete(admitted, context, fromStored?.(object) ?? object)
  }

  /** `unmoved`: nothing comes of this request, and nobody is asked. */
  #admittedContext(
    resource: ServedResource,
    { object }: StoredEntry,
    options: DeleteOptions,
    context: WriteContext,
  ): WriteContext | 'unmoved' {
    if (isTerminatingNamespace(resource, object)) return 'unmoved'
    if (isDeletedByUid(resource)) return withUid(context, object)
    if (resource.rules.gracePeriodSeconds === undefined) return context
    const draft: Draft = { ...object, metadata: { ...object['metadata'] } }
    const grace = gracefully(resource, draft, options, this.#clock.nowMs())
    if (grace === 'pending') return 'unmoved'
    if (grace === 'none') return context
    const gracePeriodSeconds = draft['metadata'].deletionGracePeriodSeconds
    return { ...context, options: { ...context.options, gracePeriodSeconds } }
  }

  #decide(
    target: Target,
    entry: StoredEntry,
    options: DeleteOptions,
    context: WriteContext,
  ): Deleted | Due {
    const { resource } = target
    const stored = entry.object
    if (isNamespace(resource) && outlivesDeletion(stored))
      return this.#terminateNamespace(resource, entry, options, context)
    const draft = cloneJson(stored) as Draft
    if (resource.rules.terminate?.(draft, this.#clock.nowMs()) === true) {
      const written = this.#write(resource, entry, draft, context)
      return { object: written.object, removed: false, entry: written.entry }
    }
    const grace = gracefully(resource, draft, options, this.#clock.nowMs())
    if (grace === 'pending') return { object: stored, removed: false, entry }
    const finalizers = finalizersAfter(resource, stored, options)
    const waiting = finalizers.length > 0
    if (grace === 'none' && !waiting) return this.#removeAsStored(target, entry, options, context)
    if (!sameList(finalizers, stored['metadata'].finalizers ?? [])) setFinalizers(draft, finalizers)
    if (grace === 'none') markTerminating(draft, this.#clock.nowMs())
    const written = this.#write(resource, entry, draft, context)
    if (waiting || (grace === 'started' && draft['metadata'].deletionGracePeriodSeconds > 0)) {
      return { object: written.object, removed: false, entry: written.entry }
    }
    // A dry run has written no entry.
    return { due: written.entry ?? { ...entry, object: written.object }, askedAgain: true }
  }

  /**
   * What nothing keeps goes as it is stored: finalizers that the propagation policy has taken away are in its last state. Upstream does
   * so on the way of an update that is not written, which two requests notice: a dry run gets an object of which nothing was read, and a
   * precondition on the version is held against none.
   */
  #removeAsStored(
    target: Target,
    entry: StoredEntry,
    { preconditions }: DeleteOptions,
    context: WriteContext,
  ): Deleted | Due {
    const { object } = entry
    const hadFinalizers = (object['metadata'].finalizers ?? []).length > 0
    if (hadFinalizers) {
      const version = preconditions?.resourceVersion ?? undefined
      if (context.dryRun) return { object: nothingOf(target.resource), removed: true, shown: true }
      if (version !== undefined) throw unreadVersion(target, object)
    }
    return { due: entry, askedAgain: hadFinalizers }
  }

  /** A namespace lives on until its contents are gone: only its phase and deletionTimestamp change. */
  #terminateNamespace(
    resource: ServedResource,
    entry: StoredEntry,
    options: DeleteOptions,
    context: WriteContext,
  ): Deleted {
    const stored = entry.object
    if (stored['metadata'].deletionTimestamp !== undefined)
      return { object: stored, removed: false, entry }
    const draft = cloneJson(stored) as Draft
    draft['metadata'].deletionTimestamp = formatTime(this.#clock.nowMs())
    draft['status'] = { ...draft['status'], phase: 'Terminating' }
    setFinalizers(draft, finalizersAfter(resource, stored, options))
    const written = this.#write(resource, entry, draft, context)
    return { object: written.object, removed: false, entry: written.entry }
  }

  /** Commits the draft when it differs from what is stored. */
  #write(
    resource: ServedResource,
    entry: StoredEntry,
    draft: Draft,
    context: WriteContext,
  ): { object: Stored; entry: StoredEntry | undefined } {
    if (sameDeletionState(draft, entry.object)) return { object: entry.object, entry }
    if (context.dryRun) return { object: draft, entry: undefined }
    const key = { collection: resource.storage.collection, key: entry.key }
    const event = this.#store.commit(key, (revision) => withRevision(draft, revision))
    return { object: event.object, entry: event.entry }
  }

  #remove(resource: ServedResource, { object, key }: StoredEntry, context: WriteContext): Deleted {
    if (context.dryRun) return { object, removed: true }
    const event = this.#store.commit(
      { collection: resource.storage.collection, key },
      () => undefined,
    )
    this.#allocations.released(resource, event.object)
    return { object: event.object, removed: true }
  }
}

function nothingOf({ info, storage }: ServedResource): Stored {
  return { apiVersion: storage.apiVersion, kind: info.kind, metadata: {}, ...emptyObjectOf(info) }
}

function unreadVersion(target: Target, stored: Stored): ApiError {
  const found = stored['metadata'].resourceVersion
  const why = `Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: ${found}`
  return conflict(target.resource.info, target.name, storageErrorOf(target, why, false))
}

/** A namespace does when it is deleted first, and while it has finalizers in its specification. */
function outlivesDeletion({ spec, metadata }: Stored): boolean {
  return metadata.deletionTimestamp === undefined || (spec?.finalizers ?? []).length > 0
}

function isNamespace({ info }: ServedResource): boolean {
  return info.group === '' && info.resource === 'namespaces'
}

/** Nothing comes of deleting it again, and nobody is asked. */
function isTerminatingNamespace(resource: ServedResource, { metadata, spec }: Stored): boolean {
  return (
    isNamespace(resource) &&
    metadata.deletionTimestamp !== undefined &&
    (spec?.finalizers ?? []).length > 0
  )
}

function isDeletedByUid({ info }: ServedResource): boolean {
  const kind = `${info.resource}.${info.group}`
  return kind === 'namespaces.' || kind === 'customresourcedefinitions.apiextensions.k8s.io'
}

/** Namespaces and definitions are deleted as those that were found: their uid is a precondition, which admission sees. */
function withUid(context: WriteContext, { metadata }: Stored): WriteContext {
  const { preconditions, ...options } = context.options as Draft
  return {
    ...context,
    options: { ...options, preconditions: { ...preconditions, uid: metadata.uid } },
  }
}

function checkPreconditions(
  { resource, name }: Target,
  stored: Stored,
  { preconditions }: DeleteOptions,
): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const metadata = stored['metadata']
  const fields = [
    ['UID', uid, metadata.uid],
    ['ResourceVersion', resourceVersion, metadata.resourceVersion],
  ] as const
  for (const [field, wanted, found] of fields) {
    if (wanted === undefined || wanted === null || wanted === found) continue
    // These are deleted in a way of their own.
    if (isDeletedByUid(resource))
      throw conflict(
        resource.info,
        name,
        `Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${found}`,
      )
    // Events are told of as those of the core group, which they are kept as.
    const told =
      resource.storage.collection === 'events' ? { ...resource.info, group: '' } : resource.info
    throw preconditionMismatch(told, name, field, wanted, found)
  }
}

/**
 * Sets the deletion time of a kind that ends gracefully. `started`: it was set or shortened now. `pending`: it runs and
 * this request does not shorten it. `none`: the kind, or this object, ends at once.
 */
function gracefully(
  resource: ServedResource,
  draft: Draft,
  options: DeleteOptions,
  nowMs: number,
): 'none' | 'started' | 'pending' {
  const { rules } = resource
  if (rules.gracePeriodSeconds === undefined) return 'none'
  const metadata = draft['metadata'] as Draft
  const running: number | undefined = metadata['deletionGracePeriodSeconds']
  if (metadata['deletionTimestamp'] !== undefined) {
    if (!running) return 'none'
    const asked = options.gracePeriodSeconds
    if (asked === undefined || asked >= running) return 'pending'
    const requestedMs = Date.parse(metadata['deletionTimestamp']) - Number(running) * 1000
    const dueMs = requestedMs + Number(asked) * 1000
    metadata['deletionTimestamp'] = timeText(Math.max(dueMs, nowMs))
    // Time that has passed already does not make a shortened period an immediate one.
    metadata['deletionGracePeriodSeconds'] = dueMs < nowMs && asked !== 0 ? 1 : asked
    return 'started'
  }
  const seconds = rules.gracePeriodSeconds(draft, options.gracePeriodSeconds)
  if (seconds === undefined) return 'none'
  metadata['deletionTimestamp'] = timeText(nowMs + Number(seconds) * 1000)
  metadata['deletionGracePeriodSeconds'] = seconds
  if (metadata['generation'] > 0) metadata['generation']++
  return 'started'
}

/** A grace period may be as long as an int64 is large: no later than the last year that is written with four digits. */
function timeText(timeMs: number): string {
  return formatTime(Math.min(timeMs, LAST_TIME_MS))
}

/** The finalizers that the propagation policy leaves: the two of the garbage collector are taken away, then added as asked. */
function finalizersAfter(
  { rules, info }: ServedResource,
  stored: Stored,
  options: DeleteOptions,
): string[] {
  const current: string[] = stored['metadata'].finalizers ?? []
  const collected = info.resource !== 'events'
  const kept = current.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion')
  const carries = {
    orphan: current.includes('orphan'),
    foreground: current.includes('foregroundDeletion'),
  }
  let orphan: boolean
  let foreground: boolean
  if (options.orphanDependents !== undefined) {
    orphan = options.orphanDependents
    foreground = false
  } else if (options.propagationPolicy !== undefined) {
    orphan = options.propagationPolicy === 'Orphan'
    foreground = options.propagationPolicy === 'Foreground'
  } else {
    orphan = carries.orphan || (!carries.foreground && rules.defaultDeletionPolicy === 'Orphan')
    foreground = carries.foreground
  }
  if (!collected) orphan = foreground = false
  // The same ones stay in the order that they have.
  if (orphan === carries.orphan && foreground === carries.foreground) return current
  return [...kept, ...(orphan ? ['orphan'] : []), ...(foreground ? ['foregroundDeletion'] : [])]
}

function setFinalizers(draft: Draft, finalizers: readonly string[]): void {
  if (finalizers.length === 0) delete draft['metadata'].finalizers
  else draft['metadata'].finalizers = finalizers
}

/** What a deletion that waits for finalizers writes, for kinds without a grace period. */
export function markTerminating(draft: Draft, nowMs: number): void {
  const metadata = draft['metadata'] as Draft
  const since: string | undefined = metadata['deletionTimestamp']
  if (since === undefined && metadata['generation'] > 0) metadata['generation']++
  if (since === undefined || Date.parse(since) > nowMs)
    metadata['deletionTimestamp'] = formatTime(nowMs)
  metadata['deletionGracePeriodSeconds'] = 0
}

function sameDeletionState(draft: Draft, stored: Stored): boolean {
  const a = draft['metadata']
  const b = stored['metadata']
  return (
    a.deletionTimestamp === b.deletionTimestamp &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
    sameList(a.finalizers ?? [], b.finalizers ?? [])
  )
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}
