/**
 * metadata.managedFields as a list of owners. Contract: docs/behaviour/api-server/patch-and-apply.md, Managed fields.
 */
import { compareStrings } from '@gyropilot/foundation'
import { EMPTY, difference, isEmpty, parseFieldSet, union } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { isShared, shared } from './shared-field-sets.ts'
import { deepEqual, own } from '@gyropilot/api'

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: unknown
  readonly subresource?: string
}

type Operation = 'Apply' | 'Update'

/** One owner and what it owns. */
export interface Owner {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
  /** The stored entry, while it is unchanged. */
  readonly entry?: ManagedFieldsEntry
}

/** Owners by identity: manager, operation and subresource, and for updates the apiVersion too. */
export type Owners = Map<string, Owner>

export function identityOf(
  owner: Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>,
): string {
  const version = owner.operation === 'Update' ? owner.apiVersion : ''
  return `${owner.operation}\n${owner.manager}\n${owner.subresource}\n${version}`
}

/** Entries from the store: written by this module, so their field sets are canonical. */
export function ownersOfStored(entries: readonly ManagedFieldsEntry[] | undefined | null): Owners {
  const owners: Owners = new Map()
  for (const entry of entries ?? []) {
    const owner = ownerOf(entry, (entry.fieldsV1 ?? EMPTY) as FieldSet)
    if (owner === undefined) return new Map()
    owners.set(identityOf(owner), owner)
  }
  return owners
}

/** Entries from a client. Undefined when one of them is not understood. */
export function ownersOfRequest(entries: readonly ManagedFieldsEntry[]): Owners | undefined {
  const owners: Owners = new Map()
  for (const entry of entries) {
    const fields =
      entry.fieldsV1 === undefined || entry.fieldsV1 === null
        ? EMPTY
        : parseFieldSet(entry.fieldsV1)
    const owner = fields === undefined ? undefined : ownerOf(entry, fields)
    if (owner === undefined) return undefined
    const canonical = { ...owner, entry: undefined }
    owners.set(identityOf(owner), canonical)
  }
  return owners
}

function ownerOf(entry: ManagedFieldsEntry, fields: FieldSet): Owner | undefined {
  const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType } = entry
  if (operation !== 'Apply' && operation !== 'Update') return undefined
  if (apiVersion === '' || fieldsType !== 'FieldsV1') return undefined
  return { manager, operation, apiVersion, subresource, time: time ?? undefined, fields, entry }
}

/** The list as it is stored: Apply entries first, then by time, manager, apiVersion and subresource. */
export function entriesOf(owners: Owners): ManagedFieldsEntry[] {
  return [...owners.values()].toSorted(compareOwners).map(entryOf)
}

function compareOwners(a: Owner, b: Owner): number {
  return (
    compareStrings(a.operation, b.operation) ||
    compareStrings(a.time ?? '', b.time ?? '') ||
    compareStrings(a.manager, b.manager) ||
    compareStrings(a.apiVersion, b.apiVersion) ||
    compareStrings(a.subresource, b.subresource)
  )
}

/** By field set, what was written last with it: the pods of one Deployment that start within a second have equal entries. */
const lastEntries = new WeakMap<FieldSet, ManagedFieldsEntry>()

function entryOf(owner: Owner): ManagedFieldsEntry {
  if (owner.entry !== undefined) return owner.entry
  const fields = shared(owner.fields)
  const last = lastEntries.get(fields)
  if (last !== undefined && standsFor(last, owner)) return last
  const { manager, operation, apiVersion, time, subresource } = owner
  const entry = Object.freeze({
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource === '' ? {} : { subresource }),
  })
  if (isShared(fields)) lastEntries.set(fields, entry)
  return entry
}

function standsFor(entry: ManagedFieldsEntry, owner: Owner): boolean {
  return (
    entry.time === owner.time &&
    (entry.manager ?? '') === owner.manager &&
    entry.operation === owner.operation &&
    entry.apiVersion === owner.apiVersion &&
    (entry.subresource ?? '') === owner.subresource
  )
}

/** The owner with other fields; its stored entry no longer stands for it. */
export function withFields(owner: Owner, fields: FieldSet): Owner {
  return fields === owner.fields ? owner : { ...owner, fields, entry: undefined }
}

/** Takes paths from an owner; one that is left with nothing goes. */
export function takeFrom(owners: Owners, identity: string, fields: FieldSet): void {
  const owner = owners.get(identity)
  if (owner === undefined || isEmpty(fields)) return
  const rest = difference(owner.fields, fields)
  if (isEmpty(rest)) owners.delete(identity)
  else if (rest !== owner.fields) owners.set(identity, withFields(owner, rest))
}

const MAX_UPDATE_OWNERS = 10
const ANCIENT_CHANGES = 'ancient-changes'

/** Keeps at most ten Update entries: the oldest are merged into one per apiVersion. */
export function capUpdateOwners(owners: Owners): void {
  const updates = [...owners].filter(([, owner]) => owner.operation === 'Update')
  let excess = updates.length - MAX_UPDATE_OWNERS
  if (excess <= 0) return
  updates.sort(
    ([idA, a], [idB, b]) => compareStrings(a.time ?? '', b.time ?? '') || compareStrings(idA, idB),
  )
  const firstOfVersion = new Map<string, string>()
  for (const [identity, owner] of updates) {
    if (excess <= 0) return
    const { apiVersion } = owner
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, identity)
      continue
    }
    const bucket = {
      manager: ANCIENT_CHANGES,
      operation: 'Update' as const,
      apiVersion,
      subresource: '',
    }
    const bucketIdentity = identityOf(bucket)
    const before = owners.get(bucketIdentity) ?? owners.get(first)!
    if (before.manager !== ANCIENT_CHANGES) owners.delete(first)
    owners.delete(identity)
    const fields = union(before.fields, owner.fields)
    owners.set(bucketIdentity, { ...bucket, time: owner.time, fields })
    excess--
  }
}

/** An empty list, or one entry with nothing in it: the ways to ask for no tracking. */
export function asksForReset(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length > 1) return false
  return Object.values(entries[0] ?? {}).every(
    (value) => value === undefined || value === null || value === '',
  )
}

/** The manager of a request: the fieldManager parameter, else the product name of the user agent. */
export function managerName(
  fieldManager: string | undefined,
  userAgent: string | undefined,
): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager
  const slash = (userAgent ?? '').indexOf('/')
  const product = slash < 0 ? (userAgent ?? '') : userAgent!.slice(0, slash)
  let name = ''
  let bytes = 0
  for (const character of product) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue
    bytes += utf8Length(character.codePointAt(0)!)
    if (bytes > 128) break
    name += character
  }
  return name === '' ? 'unknown' : name
}

function utf8Length(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4
}

/**
 * Gives `updated` the managedFields of `stored` when nothing but their times would change, so that the write that follows
 * finds nothing to do. Call it last, after admission and validation.
 */
export function keepTimesOfNoop(stored: ObjectWithMetadata, updated: ObjectWithMetadata): void {
  const before = stored.metadata?.managedFields ?? []
  const after = updated.metadata?.managedFields ?? []
  if (before === after || before.length !== after.length || !sameOwnership(before, after)) return
  // From the end, because status is where objects differ most often.
  for (const field of Object.keys(updated).toReversed()) {
    if (field !== 'metadata' && !deepEqual(updated[field], own(stored, field))) return
  }
  for (const field in stored)
    if (stored[field] !== undefined && own(updated, field) === undefined) return
  const { managedFields: _, resourceVersion: _1, ...left } = stored.metadata ?? {}
  const { managedFields: _2, resourceVersion: _3, ...right } = updated.metadata ?? {}
  if (updated.metadata !== undefined && deepEqual(left, right))
    updated.metadata.managedFields = before
}

interface ObjectWithMetadata {
  readonly [field: string]: unknown
  readonly metadata?: {
    managedFields?: readonly ManagedFieldsEntry[]
    readonly resourceVersion?: string
  }
}

/** By identity and not by place, because the order follows the times. */
function sameOwnership(
  before: readonly ManagedFieldsEntry[],
  after: readonly ManagedFieldsEntry[],
): boolean {
  const left = ownersOfStored(before)
  const right = ownersOfStored(after)
  if (left.size !== right.size) return false
  for (const [identity, owner] of right) {
    const other = left.get(identity)
    if (other === undefined || other.apiVersion !== owner.apiVersion) return false
    if (!deepEqual(other.fields, owner.fields)) return false
  }
  return true
}
