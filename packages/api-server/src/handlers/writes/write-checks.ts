/** What is compared between a request and the object it would replace, and how large an object may be. */
import { deepEqual } from '@gyropilot/api'
import { conflict, invalid, STALE, unclassified } from '../../http/errors.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { StoredEntry } from '../../storage/store.ts'
import { storageError, storagePrefix } from '../../registry/storage-errors.ts'
import { parseVersion } from '../options.ts'
import { storageKey, type Target, type WriteContext } from './writes.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

/** etcd's limit for one request, which the server's clients know. */
const LARGEST_OBJECT_BYTES = 1_572_864
/** Smaller requests cannot make an object that large, nor patches that are smaller together. */
const SIZE_CHECK_FROM_BYTES = 65_536

export function checkUid(target: Target, metadata: Draft, stored: Stored, dryRun: boolean): void {
  const sent = metadata['uid']
  const current = stored['metadata'].uid
  if (!sent || sent === current) return
  const text = `Precondition failed: UID in precondition: ${sent}, UID in object meta: ${current}`
  throw conflict(target.resource.info, target.name, storageErrorOf(target, text, dryRun))
}

export function storageErrorOf(
  { resource, namespace, name }: Target,
  why: string,
  dryRun: boolean,
): string {
  const { info, custom } = resource
  const prefix = custom ? `${info.group}/${info.resource}` : storagePrefix(info.resource)
  return storageError(`${prefix}/${storageKey(resource, namespace, name)}`, why, dryRun)
}

/** What is created has no version yet. A text that is none does not count: kube-apiserver passes over it too. */
export function checkNoVersion(text: string): void {
  const version = parseVersion(text)
  if (typeof version === 'number' && version > 0)
    throw unclassified('resourceVersion should not be set on objects to be created')
}

/** Whether the request insists on the version it named; throws when that is not the current one. */
export function checkVersion(
  { resource, name }: Target,
  draft: Draft,
  entry: StoredEntry,
  put: boolean,
): boolean {
  const version = checkVersionText(draft['metadata'].resourceVersion ?? '')
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

/** The version as a number, 0 for none. Throws 500 for what is no version. */
export function checkVersionText(text: string): number {
  const version = text === '' ? 0 : parseVersion(text)
  if (typeof version === 'object') throw unclassified(version.error)
  return version
}

/** What a POST is not read for, and admission does not see. */
const GIVEN_BY_SERVER = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
] as const

export function dropGivenByServer(metadata: Draft): void {
  for (const field of GIVEN_BY_SERVER) delete metadata[field]
}

/** Owner references that are there twice count once: as the client sent them, and once more when admission is through with them. */
export function deduplicateOwners(
  metadata: Draft,
  { warn }: Pick<WriteContext, 'warn'>,
  when: 'sent' | 'admitted',
): void {
  const owners = metadata['ownerReferences'] as Draft[] | undefined
  if (owners === undefined || owners.length < 2) return
  const kept: Draft[] = []
  // Only those that name the same object are compared: there may be thousands.
  const byObject = new Map<string, Draft[]>()
  const repeated: string[] = []
  for (const owner of owners) {
    const named = [owner['uid'], owner['apiVersion'], owner['kind'], owner['name']].join('\n')
    const known = byObject.get(named)
    if (known?.some((other) => deepEqual(other, owner))) {
      repeated.push(owner['uid'])
      continue
    }
    kept.push(owner)
    if (known === undefined) byObject.set(named, [owner])
    else known.push(owner)
  }
  if (repeated.length === 0) return
  metadata['ownerReferences'] = kept
  const told = when === 'sent' ? '' : ' after mutating admission happens'
  warn(
    `.metadata.ownerReferences contains duplicate entries${told}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  )
}

/** What patches may have added to a stored object since it was measured; absent: nothing. */
const unmeasuredBytes = new WeakMap<Stored, number>()

/**
 * Objects beyond etcd's limit are refused; book-keeping of fields is given up first, but not by who applies. Measured is only what can be
 * that large, since it takes as long as to answer with the object: after large bodies, after patches that are large together, after JSON
 * patches, which copy, and whenever it was half that large. Returns the bytes that `rememberUnmeasured` is for.
 */
export function checkSize(draft: Draft, stored: Stored | undefined, context: WriteContext): number {
  const { bodyBytes, patch } = context
  const before = stored === undefined ? 0 : (unmeasuredBytes.get(stored) ?? 0)
  const added = before + bodyBytes
  if (added < SIZE_CHECK_FROM_BYTES && patch !== 'json') return patch === undefined ? before : added
  let size = encodedSize(draft)
  if (size > LARGEST_OBJECT_BYTES && patch !== 'apply') {
    delete draft['metadata'].managedFields
    size = encodedSize(draft)
  }
  if (size > LARGEST_OBJECT_BYTES) throw unclassified('etcdserver: request is too large')
  return size > LARGEST_OBJECT_BYTES / 2 ? SIZE_CHECK_FROM_BYTES : 0
}

/** Of what was stored, for its next write. */
export function rememberUnmeasured(object: Stored, bytes: number): void {
  if (bytes > 0) unmeasuredBytes.set(object, bytes)
}

function encodedSize(value: unknown): number {
  return Buffer.byteLength(stringifyExact(value))
}

/**
 * What admission has made of managedFields stands only where it can be read; else those from before it do. Bytes of the
 * fields are not looked at.
 */
export function keepManagedFields(
  before: readonly Stored[] | undefined,
  metadata: Draft,
  context: WriteContext,
): void {
  const entries: readonly Stored[] | undefined = metadata['managedFields']
  if (entries === before || entries === undefined) return
  const problem = entries.map(managedFieldsProblem).find((found) => found !== undefined)
  if (problem === undefined) return
  if (before === undefined) delete metadata['managedFields']
  else metadata['managedFields'] = before
  context.warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  )
}

function managedFieldsProblem(
  { operation, apiVersion, fieldsType }: Stored,
  index: number,
): string | undefined {
  if (operation !== 'Apply' && operation !== 'Update')
    return 'operation must be `Apply` or `Update`'
  if (!apiVersion) return 'apiVersion must not be empty'
  if (!fieldsType) return `missing fieldsType in managed fields entry ${index}`
  if (fieldsType !== 'FieldsV1')
    return `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`
  return undefined
}
