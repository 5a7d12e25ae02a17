/**
 * What happens to every object on its way into the store, whatever its kind: metadata that the server owns, generation,
 * the kind's own rules, validation. Contract: docs/behaviour/api-server/storage-and-watch.md, "Writes".
 */
import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { invalid } from '../http/errors.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { emptyStatus, spelledAs } from '@gyropilot/schema'
import { givesEmpty } from '@gyropilot/schema/given-value'
import { semanticallyEqual } from './equality.ts'
import {
  checkChangedMetadata,
  checkNewMetadata,
  checkNamesLast,
  checksMetadataLast,
} from './metadata-checks.ts'
import type { RuleContext } from './kind-rules.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { dropDisabledFields } from './feature-gates.ts'
import { keep } from './kept-field.ts'
import { prepareSubresource } from './object-subresources.ts'
import type { ServedResource } from './resource-registry.ts'

/** Metadata that a create takes from the client is cut to what a client may say; the server fills in the rest. */
export function prepareCreate(
  resource: ServedResource,
  draft: Draft,
  context: RuleContext & { readonly uid: string },
): void {
  const metadata = (draft['metadata'] ??= {}) as Draft
  delete metadata['resourceVersion']
  metadata['uid'] = context.uid
  metadata['creationTimestamp'] = formatTime(context.nowMs)
  if (!resource.custom)
    dropDisabledFields(resource.info.kind, draft, undefined, context.featureEnabled)
  if (resource.rules.prepareForCreate !== undefined) resource.rules.prepareForCreate(draft, context)
  else if (resource.hasStatus) resetStatus(resource, draft)

  if (hasGeneration(resource)) metadata['generation'] = 1
}

/** The status of an object that nobody has acted on. */
function resetStatus({ info, custom }: ServedResource, draft: Draft): void {
  const status = custom ? undefined : emptyStatus(info)
  if (status === undefined) delete draft['status']
  else draft['status'] = status
}

export function validateCreate(resource: ServedResource, draft: Draft, context: RuleContext): void {
  const errors = new FieldErrors()
  const isLast = checksMetadataLast(resource)
  resource.rules.validateFirst?.(draft, errors, context)
  if (!isLast) checkNewMetadata(resource, draft, errors)
  resource.rules.validate?.(draft, errors, context)
  if (isLast && errors.list.length === 0) checkNewMetadata(resource, draft, errors)
  if (errors.list.length === 0) checkNamesLast(draft, errors)
  refuse(resource, draft, errors)
}

/** The object itself, and subresources that take fields of it which gates may guard. */
const TAKES_GATED_FIELDS: ReadonlySet<string> = new Set([
  '',
  'status',
  'ephemeralcontainers',
  'resize',
])

/** Restores what no update changes, lets the endpoint's rules reset their part, and counts the generation. */
export function prepareUpdate(
  resource: ServedResource,
  draft: Draft,
  stored: Stored,
  context: RuleContext,
): void {
  restoreMetadata(draft, stored)
  const { rules } = resource
  const subresource = context.subresource ?? ''
  if (!resource.custom && TAKES_GATED_FIELDS.has(subresource))
    dropDisabledFields(resource.info.kind, draft, stored, context.featureEnabled)
  if (subresource !== '') prepareSubresource(resource, draft, stored, context)
  else {
    if (resource.hasStatus && rules.prepareForUpdate === undefined) keep(draft, stored, 'status')
    rules.prepareForUpdate?.(draft, stored, context)
  }
  let generation: number | bigint | undefined = stored['metadata'].generation
  if (generation === undefined) return
  if (
    subresource !== 'status' &&
    hasGeneration(resource) &&
    generationChanged(resource, draft, stored)
  ) {
    draft['metadata'].generation = ++generation
  }
}

export function validateUpdate(
  resource: ServedResource,
  draft: Draft,
  before: Stored,
  context: RuleContext,
): void {
  const errors = new FieldErrors()
  const { rules } = resource
  const stored = comparable(resource, draft, before)
  const subresource = context.subresource ?? ''
  const own = subresource === 'status' ? rules.status : rules.subresources?.[subresource]
  const lookAgain =
    own?.metadataUnchecked === true
      ? undefined
      : checkChangedMetadata(resource, draft, stored, errors, subresource)
  if (subresource === '') {
    const { updateOrder = 'validate-first' } = rules
    if (updateOrder === 'validate-first') {
      rules.validate?.(draft, errors, context)
      lookAgain?.()
    }
    rules.validateUpdate?.(draft, stored, errors, context)
    if (updateOrder === 'update-first') {
      lookAgain?.()
      rules.validate?.(draft, errors, context)
    }
  } else {
    own?.validateUpdate?.(draft, stored, errors, context)
    lookAgain?.()
  }
  refuse(resource, draft, errors)
}

/** The kind is named by the group that it is stored in. */
function refuse({ info, storage }: ServedResource, draft: Draft, errors: FieldErrors): void {
  if (errors.list.length === 0) return
  const slash = storage.apiVersion.indexOf('/')
  const group = storage.apiVersion.slice(0, Math.max(slash, 0))
  throw invalid(group, info.kind, draft['metadata']?.name ?? '', errors.list)
}

function restoreMetadata(draft: Draft, stored: Stored): void {
  const metadata = (draft['metadata'] ??= {}) as Draft
  const before = stored['metadata'] as Stored
  if (!metadata['uid']) metadata['uid'] = before['uid']
  metadata['creationTimestamp'] = before['creationTimestamp']
  if (before['generation'] === undefined) delete metadata['generation']
  else metadata['generation'] = before['generation']
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds']) {
    // The time is put back whatever was sent; another period is refused below.
    const isSent = field !== 'deletionTimestamp' && (metadata[field] ?? undefined) !== undefined
    if (before[field] !== undefined && !isSent) metadata[field] = before[field]
    else if (metadata[field] === null) delete metadata[field]
  }
}

/** Kinds with a status have one unless their rules say otherwise; others only when their rules name the part that counts. */
function hasGeneration({ rules, hasStatus }: ServedResource): boolean {
  if (rules.generationOf === null) return false
  return rules.generationOf !== undefined || hasStatus
}

function generationChanged(resource: ServedResource, draft: Draft, stored: Stored): boolean {
  const part = resource.rules.generationOf ?? specOf
  // Of custom resources an empty list is another value than none. What the schema has lost since counts no more. What was
  // converted has only the defaults of the version that it was stored in: those of this one count as a change, each time.
  if (resource.custom) {
    const { conversion, fromStored } = resource.storage
    const seen = conversion === undefined ? (fromStored?.(stored) ?? stored) : stored
    return !deepEqual(part(draft), part(seen))
  }
  if (resource.rules.generationCountsEmpty === true && givesEmpty(draft, 'metadata')) return true
  const before = comparable(resource, draft, stored)
  return !semanticallyEqual(part(draft), part(before))
}

/** What was stored, as rules compare it: amounts and not their texts count. */
function comparable(
  { custom, storage, info }: ServedResource,
  draft: Draft,
  stored: Stored,
): Stored {
  return custom ? stored : spelledAs(stored, draft, storage.apiVersion, info.kind)
}

function specOf(object: Stored): unknown {
  return object['spec']
}
