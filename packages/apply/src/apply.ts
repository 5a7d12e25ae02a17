/** Server-side apply. Contract: docs/behaviour/api-server/patch-and-apply.md, Apply; step numbers are those of the page. */
import { ApiError } from '@gyropilot/schema/api-error'
import { formatTime } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { checkConfiguration, checkObject, problemText } from './configuration-check.ts'
import type { FieldFilter } from './compare.ts'
import { conflictError } from './conflicts.ts'
import type { Conflicts } from './conflicts.ts'
import {
  difference,
  equals,
  intersection,
  isEmpty,
  recursiveDifference,
  union,
} from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { fieldsOf } from './fields-of.ts'
import { KUBECTL_MANAGER, fieldsLastApplied, recordLastApplied } from './last-applied.ts'
import {
  capUpdateOwners,
  entriesOf,
  identityOf,
  ownersOfStored,
  takeFrom,
  withFields,
} from './managers.ts'
import type { Owner, Owners } from './managers.ts'
import { merge } from './merge.ts'
import { adaptToSchema } from './schema-change.ts'
import { removeFields, withStructFields } from './remove.ts'
import { deepEqual } from '@gyropilot/api'
import { UNMANAGED_FIELDS } from './unmanaged-fields.ts'
import { Comparisons, mustFit, recordUpdate } from './update.ts'
import type { OtherVersion, TypedKind } from './update.ts'

export interface ApplyRequest {
  readonly kind: TypedKind
  /** The stored object in the version of the request; undefined: apply creates it. */
  readonly live: Stored | undefined
  /** The body as it was sent: no defaults, nulls kept. */
  readonly configuration: Stored
  readonly manager: string
  readonly force: boolean
  readonly apiVersion: string
  /** The kind that the endpoint takes: `Deployment`, `Scale`. */
  readonly kindName: string
  readonly subresource: string
  readonly filter: FieldFilter
  readonly nowMs: number
}

export interface ApplyResult {
  /** To be defaulted and decoded like any body; its managedFields are those to store. May hold nulls. */
  readonly object: Draft
  /** False: neither the object nor an owner changed. */
  readonly changed: boolean
}

/** Throws ApiError: 400 for a body that is not of the endpoint, 500 for one that breaks the schema or is applied to one that does, 409 for conflicts. */
export function applyPatch(asked: ApplyRequest): ApplyResult {
  checkBody(asked)
  // `/v1` is a way to write `v1`.
  const sent = { ...asked.configuration, apiVersion: asked.apiVersion }
  const request = { ...asked, configuration: withoutManagers(sent) }
  const { kind, manager, configuration } = request
  const live = request.live ?? kind.zeroValue
  const owners = ownersOfStored(request.live?.metadata?.managedFields)
  if (kind.schemaChanges === true) adaptToSchema(owners, kind, request.apiVersion, request.live)
  if (owners.size === 0 && request.live !== undefined)
    ownBeforeFirstApply(owners, request, request.live)
  const { managedFields: _, ...metadata } = live.metadata ?? {}
  const before: Stored = { ...live, metadata }
  const outcome = mergeConfiguration(owners, request, before)
  capUpdateOwners(outcome.owners)
  const object: Draft = { ...outcome.object, metadata: { ...outcome.object.metadata } }
  const entries = entriesOf(outcome.owners)
  if (entries.length > 0) object.metadata.managedFields = entries
  if (manager === KUBECTL_MANAGER) recordLastApplied(object, configuration)
  const stored = request.live?.metadata?.managedFields ?? []
  return {
    object,
    changed:
      request.live === undefined || !deepEqual(object, request.live) || !deepEqual(entries, stored),
  }
}

function withoutManagers(configuration: Stored): Stored {
  if (configuration.metadata?.managedFields === undefined) return configuration
  const { managedFields: _, ...metadata } = configuration.metadata
  return { ...configuration, metadata }
}

const TEXTS = ['manager', 'operation', 'apiVersion', 'fieldsType', 'subresource'] as const

/** What is no list of objects, or has no texts where they should be, names none. */
function namesManagers(managedFields: unknown): boolean {
  const isEntry = (entry: unknown): boolean =>
    typeof entry === 'object' &&
    entry !== null &&
    !Array.isArray(entry) &&
    TEXTS.every((name) => typeof ((entry as Stored)[name] ?? '') === 'string')
  return Array.isArray(managedFields) && managedFields.every(isEntry)
}

/** Steps 1 and 2. */
function checkBody(request: ApplyRequest): void {
  const { configuration, apiVersion, kindName } = request
  const { metadata } = configuration
  const sentVersion = textOf(configuration.apiVersion)
  const sentKind = textOf(configuration.kind)
  const withGroup = (version: string): string => (version.includes('/') ? version : `/${version}`)
  if (withGroup(sentVersion) !== withGroup(apiVersion) || sentKind !== kindName) {
    // What is no version at all takes the kind with it.
    const unreadable = sentVersion.split('/').length > 2
    const shown = unreadable ? '/, Kind=' : `${withGroup(sentVersion)}, Kind=${sentKind}`
    throw new ApiError(400, 'BadRequest', `invalid object type: ${shown}`)
  }
  if (namesManagers(metadata?.managedFields)) {
    throw new ApiError(400, 'BadRequest', 'metadata.managedFields must be nil')
  }
  checkTypes(request)
}

/** What is applied, and what it is applied to when that is a custom resource or has no owners, as lists without keys leave it. */
function checkTypes(request: ApplyRequest): void {
  const { configuration, kind, live } = request
  const isTracked = (live?.metadata?.managedFields?.length ?? 0) > 0
  const mayMisfit = live !== undefined && (kind.schemaChanges === true || !isTracked)
  const misfits = mayMisfit ? checkObject(kind.type, live) : []
  const untracked = 'failed to create manager for existing fields: failed to convert new object'
  if (misfits.length > 0 && !isTracked)
    throw untyped(request, live, misfits, untracked, ' to smd typed')
  const problems = checkConfiguration(kind.type, configuration)
  if (problems.length > 0)
    throw untyped(request, configuration, problems, 'failed to create typed patch object')
  if (misfits.length > 0)
    throw untyped(request, live, misfits, 'failed to create typed live object')
}

/** An object that its own schema does not describe; `what` and `end` stand around its names. */
function untyped(
  { apiVersion, kindName }: ApplyRequest,
  object: Stored | undefined,
  problems: readonly string[],
  what: string,
  end = '',
): ApiError {
  const name = `${textOf(object?.metadata?.namespace)}/${textOf(object?.metadata?.name)}`
  const type = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kindName}`
  return new ApiError(500, '', `${what} (${name}; ${type})${end}: ${problemText(problems)}`)
}

/** Values of another type count as absent here; the schema refuses them. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Step 10: what an untracked object holds belongs to somebody from now on. */
function ownBeforeFirstApply(owners: Owners, request: ApplyRequest, live: Stored): void {
  const { kind, apiVersion, subresource, filter, nowMs } = request
  const manager = 'before-first-apply'
  recordUpdate(owners, {
    kind,
    live: undefined,
    updated: live,
    manager,
    apiVersion,
    subresource,
    filter,
    nowMs,
  })
}

interface Outcome {
  readonly object: Stored
  readonly owners: Owners
}

/** Steps 3 to 6. */
function mergeConfiguration(ownersBefore: Owners, request: ApplyRequest, live: Stored): Outcome {
  const { kind, apiVersion, manager, subresource, filter, configuration } = request
  const owners = new Map(ownersBefore)
  const self = { manager, operation: 'Apply' as const, apiVersion, subresource }
  const identity = identityOf(self)
  const previous = owners.get(identity)
  const sent = filtered(fieldsOf(kind.type, configuration), filter)
  const merged = merge(kind.type, live, configuration) as Stored
  // With the unmanaged paths, so that pruning does not take apiVersion and kind for fields that nobody sends.
  owners.set(identity, { ...self, time: undefined, fields: sent })
  const object = prune(kind, request.apiVersion, merged, owners, previous)
  const comparisons = new Comparisons(kind, apiVersion, live, object, filter)
  settleConflicts(owners, identity, comparisons, request, live)
  const fields = difference(sent, UNMANAGED_FIELDS)
  const changed = !deepEqual(object, live)
  if (isEmpty(fields)) owners.delete(identity)
  else if (!changed && previous !== undefined && previous.apiVersion === apiVersion) {
    owners.set(identity, equals(fields, previous.fields) ? previous : withFields(previous, fields))
  } else {
    // An unchanged object gives its applier no new time, and a new one none at all.
    const time = changed ? formatTime(request.nowMs) : previous?.time
    owners.set(identity, { ...self, time, fields })
  }
  return { object, owners }
}

function filtered(fields: FieldSet, { ignored }: FieldFilter): FieldSet {
  return ignored === undefined ? fields : recursiveDifference(fields, ignored)
}

/** Step 5: takes what changes from its owners, or refuses. */
function settleConflicts(
  owners: Owners,
  applier: string,
  comparisons: Comparisons,
  request: ApplyRequest,
  live: Stored,
): void {
  const conflicts: { owner: Owner; fields: FieldSet }[] = []
  for (const [identity, owner] of owners) {
    if (identity === applier) continue
    const seen = comparisons.of(owner.apiVersion)
    if (seen === undefined) {
      owners.delete(identity)
      continue
    }
    const fields = intersection(owner.fields, union(seen.modified, seen.added))
    if (!isEmpty(fields)) conflicts.push({ owner, fields })
  }
  if (conflicts.length > 0 && !request.force) refuseConflicts(conflicts, request, live)
  for (const { owner, fields } of conflicts) takeFrom(owners, identityOf(owner), fields)
  for (const [identity, owner] of owners) {
    if (identity !== applier) takeFrom(owners, identity, comparisons.of(owner.apiVersion)!.removed)
  }
}

function refuseConflicts(conflicts: Conflicts, request: ApplyRequest, live: Stored): void {
  if (request.manager !== KUBECTL_MANAGER) throw conflictError(conflicts)
  const allowed = fieldsLastApplied(request.kind.type, live, request.apiVersion)
  const rest = conflicts.map(({ owner, fields }) => ({
    owner,
    fields: difference(fields, allowed),
  }))
  if (rest.some(({ fields }) => !isEmpty(fields))) throw conflictError(rest)
}

/** Step 4: what the manager applied before and does not send now goes, unless somebody else owns it. */
function prune(
  kind: TypedKind,
  apiVersion: string,
  merged: Stored,
  owners: Owners,
  previous: Owner | undefined,
): Stored {
  if (previous === undefined || isEmpty(previous.fields)) return merged
  const same: OtherVersion = {
    type: kind.type,
    convert: (object) => object,
    revert: (object) => object,
  }
  const versionOf = (version: string): OtherVersion | undefined =>
    version === apiVersion ? same : kind.inVersion?.(version)
  const ownVersion = kind.inVersion === undefined ? same : versionOf(previous.apiVersion)
  if (ownVersion === undefined) return merged
  const { type } = ownVersion
  const converted = ownVersion.convert(merged)
  let current = apiVersion
  const enter = (version: string, form: OtherVersion, what: string): void => {
    if (kind.schemaChanges === true && version !== current)
      mustFit(form.type, form.convert(merged), `failed to prune fields: ${what}`)
    current = version
  }
  enter(previous.apiVersion, ownVersion, NOT_LAST_APPLIED)
  const last = withStructFields(type, previous.fields)
  let pruned = ownVersion.revert((removeFields(type, converted, last) ?? {}) as Stored)
  for (const [version, fields] of fieldsByVersion(owners, previous.apiVersion, kind)) {
    const form = versionOf(version)
    if (form === undefined) continue
    enter(version, form, `${NOT_ADDED_BACK} ${version}`)
    pruned = form.revert(withOwnedFields(form, merged, pruned, fields))
  }
  const gone = difference(
    withStructFields(type, fieldsOf(type, converted)),
    withStructFields(type, fieldsOf(type, ownVersion.convert(pruned))),
  )
  // Only what the previous apply owned may go, however little of the rest has an owner.
  const rest = removeFields(type, converted, intersection(gone, last))
  return ownVersion.revert((rest ?? {}) as Stored)
}

const NOT_LAST_APPLIED = 'failed to convert merged object to last applied version'
const NOT_ADDED_BACK = 'failed add back owned items: failed to convert merged object at version'

/** What anybody owns in each version, in `first` at first. Where all versions are alike they count as that one. */
function fieldsByVersion(owners: Owners, first: string, kind: TypedKind): Map<string, FieldSet> {
  const fields = new Map<string, FieldSet>([[first, {}]])
  for (const owner of owners.values()) {
    const version = kind.inVersion === undefined ? first : owner.apiVersion
    fields.set(version, union(fields.get(version) ?? {}, owner.fields))
  }
  return fields
}

/** What was pruned and has an owner comes back; in the form of the owner's version. */
function withOwnedFields(
  { type, convert }: OtherVersion,
  merged: Stored,
  pruned: Stored,
  owned: FieldSet,
): Stored {
  const before = convert(merged)
  const all = withStructFields(type, fieldsOf(type, before))
  const left = withStructFields(type, fieldsOf(type, convert(pruned)))
  const kept = union(left, withStructFields(type, owned))
  return (removeFields(type, before, difference(all, kept)) ?? {}) as Stored
}
