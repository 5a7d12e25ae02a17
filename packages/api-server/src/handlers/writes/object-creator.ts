/**
 * Creates objects: from a draft that is the writer's to a committed revision.
 * Contract: docs/behaviour/api-server/requests.md, "Order of checks" 12-15.
 */
import type { RandomSource } from '@gyropilot/foundation'
import { integerBetween, uuid } from '@gyropilot/foundation'
import { alreadyExists, generateNameExhausted } from '../../http/errors.ts'
import type { AdmissionRequest } from '../../contracts.ts'
import { cloneJson } from '../../registry/equality.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { prepareCreate, validateCreate } from '../../registry/strategy.ts'
import { encodedObject } from '../../storage/encoding.ts'
import type { StoreEvent, StoreKey } from '../../storage/store.ts'
import { admissionRequest } from './admission-chain.ts'
import { NOTHING_TAKEN } from './allocations.ts'
import { checkDeadline } from '../limits/deadline.ts'
import { checkNoVersion, checkSize, deduplicateOwners, rememberUnmeasured } from './write-checks.ts'
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
import { storageKey, type Target, type WriteContext, type Written } from './writes.ts'

const GENERATED_ATTEMPTS = 8
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const LONGEST_PREFIX = 58

/** For a try with one generated name. Entries of managedFields are shared with other objects and not edited: they are no copies. */
function copyForTry(draft: Draft): Draft {
  const { managedFields, ...metadata } = draft['metadata']
  const copy = cloneJson({ ...draft, metadata })
  if (managedFields !== undefined) (copy['metadata'] as Draft)['managedFields'] = managedFields
  return copy
}

export class ObjectCreator {
  readonly #parts: WriteParts
  readonly #uids: RandomSource
  readonly #suffixes: RandomSource

  constructor(parts: WriteParts) {
    this.#parts = parts
    this.#uids = parts.random.fork('uids')
    this.#suffixes = parts.random.fork('generated-names')
  }

  /** What a PUT or an apply makes is judged with all that it names. */
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
    if (!fieldsManaged) deduplicateOwners(metadata, context, 'sent')
    resource.rules.defaultTimes?.(draft, this.#parts.clock.nowMs())
    if (context.manager !== undefined && !fieldsManaged) {
      const managed = this.#parts.fields.update(
        fieldsCall(this.#parts, target, undefined, draft, context),
      )
      if (managed !== undefined) await managed
    }
    const request = admissionRequest('CREATE', target, context, draft, undefined)
    await mutate(this.#parts, request, target, draft, context)
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
    const rules = ruleContext(this.#parts, context, target)
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
        // Another object than admission saw, of which views are known that nothing was written in.
        const object = version === '' ? { ...encoded } : withVersion(encoded, version)
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
    const unmeasured = checkSize(draft, undefined, context)
    checkDeadline(context.deadline)
    const event = this.#parts.store.commit(key, (revision) => {
      const object = withVersion(draft, revision)
      if (context.answersJson === true) encodedObject(object)
      return object
    })
    rememberUnmeasured(event.object, unmeasured)
    return event
  }

  #generateName(prefix: string): string {
    let suffix = ''
    for (let i = 0; i < SUFFIX_LENGTH; i++)
      suffix += SUFFIX_ALPHABET[integerBetween(this.#suffixes, 0, SUFFIX_ALPHABET.length)]!
    return Buffer.from(prefix).subarray(0, LONGEST_PREFIX).toString() + suffix
  }
}
