/**
 * Ownership after a create, an update or a patch other than apply: what the request changed goes to its manager.
 * Contract: docs/behaviour/api-server/patch-and-apply.md, Managed fields.
 */
import { formatTime } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { givenValue } from '@gyropilot/schema/decode'
import { ApiError } from '@gyropilot/schema/api-error'
import { compare } from './compare.ts'
import { checkConfiguration, checkObject, problemText } from './configuration-check.ts'
import type { FieldFilter } from './compare.ts'
import type { Comparison } from './comparison.ts'
import { isEmpty, union } from './field-set.ts'
import {
  asksForReset,
  capUpdateOwners,
  entriesOf,
  identityOf,
  ownersOfRequest,
  ownersOfStored,
  takeFrom,
} from './managers.ts'
import type { ManagedFieldsEntry, Owners } from './managers.ts'
import type { MergeType } from './merge-type.ts'
import { adaptToSchema } from './schema-change.ts'
import { deepEqual } from '@gyropilot/api'

/** The type of an object, and how its entries of other versions are judged. */
export interface TypedKind {
  readonly type: MergeType
  /**
   * Of custom resources: stored field sets may have been made under another schema. Versions differ in their schemas
   * only, and whether objects fit all of them is not known.
   */
  readonly schemaChanges?: boolean
  /** Where versions differ in more than their schemas: objects are converted by `inVersion`. */
  readonly converts?: boolean
  /** The object of this kind that nobody has filled in. */
  readonly zeroValue: Readonly<Record<string, unknown>>
  /**
   * For entries of another apiVersion of the kind: its type, and the object converted to it. Undefined: the version is
   * gone and so are its entries; ApiError: nothing can be recorded. Absent: all versions have the same fields.
   */
  inVersion?(apiVersion: string): OtherVersion | undefined
}

export interface OtherVersion {
  readonly type: MergeType
  /** What the endpoint resets there. Absent: the same as in the version of the request. */
  readonly filter?: FieldFilter
  /** From the version of the request, and back. */
  convert(object: Stored): Stored
  revert(object: Stored): Stored
}

export interface UpdateRequest {
  readonly kind: TypedKind
  /** The stored object in the version of the request; undefined for a create. */
  readonly live: Stored | undefined
  /** After defaulting and before admission. Its metadata.managedFields is what the client sent, and is replaced. */
  readonly updated: Draft
  readonly manager: string
  readonly apiVersion: string
  /** Empty for the object itself. */
  readonly subresource: string
  readonly filter: FieldFilter
  readonly nowMs: number
}

/** Sets `updated.metadata.managedFields`. */
export function updateManagedFields(request: UpdateRequest): void {
  const { updated } = request
  const owners = ownersBefore(request)
  const metadata = (updated.metadata ??= {})
  delete metadata.managedFields
  // An object without entries stays untracked until somebody applies.
  if (owners.size === 0 && request.live !== undefined) return
  if (!recordWhereDescribed(owners, request)) return
  capUpdateOwners(owners)
  const entries = entriesOf(owners)
  if (entries.length > 0) metadata.managedFields = entries
}

/**
 * False for what cannot be described in paths, which is not tracked: objects with an item that nothing names, and custom resources
 * that the schema of some owner's version does not describe.
 */
function recordWhereDescribed(owners: Owners, request: UpdateRequest): boolean {
  const { kind, live, updated, apiVersion } = request
  if (kind.schemaChanges !== true) return recordUpdate(owners, request)
  if ([updated, live].some((object) => checkObject(kind.type, object).length > 0)) return false
  try {
    adaptToSchema(owners, kind, apiVersion, live)
    return recordUpdate(owners, request)
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** The entries on which the request builds: its own when it sends valid ones, else those stored. */
function ownersBefore(request: UpdateRequest): Owners {
  const stored: readonly ManagedFieldsEntry[] | undefined = request.live?.metadata?.managedFields
  if (request.subresource !== '') return ownersOfStored(stored)
  // The decoder leaves out an empty list, which asks for no tracking.
  const sent = givenValue(request.updated.metadata, 'managedFields')
  if (!Array.isArray(sent)) return ownersOfStored(stored)
  // An empty list in a custom resource is read as none at all.
  if (sent.length === 0 && request.kind.schemaChanges === true) return ownersOfStored(stored)
  if (asksForReset(sent)) return new Map()
  if (deepEqual(sent, stored)) return ownersOfStored(stored)
  const owners = ownersOfRequest(sent)
  return owners === undefined || owners.size === 0 ? ownersOfStored(stored) : owners
}

/** What `recordUpdate` needs of a request; also the shape of the imagined update before a first apply. */
type RecordedUpdate = Pick<
  UpdateRequest,
  'kind' | 'live' | 'updated' | 'manager' | 'apiVersion' | 'subresource' | 'filter' | 'nowMs'
>

/** Moves what changed to the request's manager, in `owners`. False: some of it has no path. */
export function recordUpdate(owners: Owners, request: RecordedUpdate): boolean {
  const before = request.live ?? request.kind.zeroValue
  const comparisons = new Comparisons(
    request.kind,
    request.apiVersion,
    before,
    request.updated,
    request.filter,
  )
  const change = comparisons.of(request.apiVersion)!
  for (const [identity, owner] of owners) {
    const seen = comparisons.of(owner.apiVersion)
    if (seen === undefined) {
      owners.delete(identity)
      continue
    }
    takeFrom(owners, identity, seen.touched)
    if (isEmpty(owner.fields)) owners.delete(identity)
  }
  const { taken } = change
  if (isEmpty(taken)) return !change.isPartial
  const { manager, apiVersion, subresource, nowMs } = request
  const self = { manager, operation: 'Update' as const, apiVersion, subresource }
  const identity = identityOf(self)
  const previous = owners.get(identity)
  const fields = previous === undefined ? taken : union(previous.fields, taken)
  owners.set(identity, { ...self, time: formatTime(nowMs), fields })
  return !change.isPartial
}

/** The difference between two states, in each version in which somebody owns something. */
export class Comparisons {
  readonly #kind: TypedKind
  readonly #before: Stored
  readonly #after: Stored
  readonly #filter: FieldFilter
  readonly #apiVersion: string
  readonly #known = new Map<string, Comparison | undefined>()

  constructor(
    kind: TypedKind,
    apiVersion: string,
    before: Stored,
    after: Stored,
    filter: FieldFilter,
  ) {
    this.#kind = kind
    this.#apiVersion = apiVersion
    this.#before = before
    this.#after = after
    this.#filter = filter
  }

  /** Undefined when the version is gone. */
  of(apiVersion: string): Comparison | undefined {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion)
    const comparison = this.#compare(apiVersion)
    this.#known.set(apiVersion, comparison)
    return comparison
  }

  #compare(apiVersion: string): Comparison | undefined {
    const { type, inVersion } = this.#kind
    if (apiVersion === this.#apiVersion)
      return compare(type, this.#before, this.#after, this.#filter)
    if (inVersion === undefined) return this.of(this.#apiVersion)
    const other = inVersion.call(this.#kind, apiVersion)
    if (other === undefined) return undefined
    const after = other.convert(this.#after)
    // The object before was looked at when the owners' schemas were.
    if (this.#kind.schemaChanges === true)
      mustFit(other.type, after, 'failed to convert new object')
    return compare(other.type, other.convert(this.#before), after, other.filter ?? this.#filter)
  }
}

/** What comes into another version has to fit its schema, where nothing may stand twice. Throws ApiError. */
export function mustFit(type: MergeType, converted: Stored, what: string): void {
  const problems = checkConfiguration(type, converted)
  if (problems.length > 0) throw new ApiError(500, '', `${what}: ${problemText(problems)}`)
}
