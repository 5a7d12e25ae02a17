/** Objects of admission in the version that a configuration asked for, and back. */
import { ApiError } from '../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../contracts.ts'
import { invalid, unclassified } from '../http/errors.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import { DecodeError, decodeObject } from '@gyropilot/schema'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import type { DecodedObject } from '@gyropilot/schema/decode'

interface Converted {
  /** What was converted: objects of admission are edited. */
  readonly text: string
  readonly object: Stored
}

/** Object -> apiVersion -> what a webhook has made of it. */
const converted = new WeakMap<Stored, Map<string, Converted>>()

/** Has a webhook convert what `inVersion` will be asked for. Undefined: there is nothing to wait for. Throws ApiError. */
export function prepareVersion(
  object: Stored | undefined,
  from: ResourceInfo,
  to: ResourceInfo,
  registry: ResourceRegistry | undefined,
): Promise<void> | undefined {
  if (object === undefined || sameVersion(from, to)) return undefined
  const source = registry?.get(from.group, from.version, from.resource)
  const convert = source?.storage.conversion?.convert
  if (convert === undefined || object['kind'] !== from.kind) return undefined
  const apiVersion = `${to.group}/${to.version}`
  const text = stringifyExact(object)
  let versions = converted.get(object)
  if (versions === undefined) converted.set(object, (versions = new Map()))
  if (versions.get(apiVersion)?.text === text) return undefined
  const known = versions
  return convert(object, apiVersion).then((made) => {
    known.set(apiVersion, { text, object: Object.freeze(made) })
  })
}

/** Both objects of a request in the version that somebody wants to see it in. */
export async function prepareVersions(
  { object, oldObject, resource }: AdmissionRequest,
  seenAs: ResourceInfo,
  registry: ResourceRegistry | undefined,
): Promise<void> {
  await prepareVersion(object, resource, seenAs, registry)
  await prepareVersion(oldObject, resource, seenAs, registry)
}

/** Why the objects cannot be seen in a version; undefined: they are prepared. */
export async function versionProblem(
  request: AdmissionRequest,
  seenAs: ResourceInfo,
  registry: ResourceRegistry | undefined,
): Promise<string | undefined> {
  try {
    await prepareVersions(request, seenAs, registry)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

/** The object as it reads in another served version; what a webhook converts has been prepared. Undefined stays undefined. */
export function inVersion(
  object: Stored | undefined,
  from: ResourceInfo,
  to: ResourceInfo,
  registry: ResourceRegistry | undefined,
): Stored | undefined {
  if (object === undefined || sameVersion(from, to) || registry === undefined) return object
  const source = registry.get(from.group, from.version, from.resource)
  const target = registry.get(to.group, to.version, to.resource)
  if (source === undefined || target === undefined) return object
  if (source.custom) return customVersion(object, source, `${to.group}/${to.version}`)
  const draft = cloneJson(object) as Draft
  const stored = source.storage.toStored?.(draft) ?? draft
  return target.storage.fromStored?.(stored) ?? stored
}

/** Between the versions of a custom resource nothing is dropped and nothing added, but by a webhook. */
function customVersion(
  object: Stored,
  { info, storage }: ServedResource,
  apiVersion: string,
): Stored {
  // A subresource may be of a kind of its own, which is the same in all versions.
  if (object['kind'] !== info.kind) return object
  if (storage.conversion?.convert === undefined) return { ...cloneJson(object), apiVersion }
  const known = converted.get(object)?.get(apiVersion)
  if (known === undefined) throw new Error(`${info.kind} was not converted to ${apiVersion}`)
  return known.object
}

function sameVersion(a: ResourceInfo, b: ResourceInfo): boolean {
  return a.group === b.group && a.version === b.version && a.resource === b.resource
}

/**
 * Puts a changed object in the place of the request's, which plug-ins hold: decoded and defaulted like a body that came
 * from outside. Throws DecodeError.
 */
export function replaceObject(
  request: AdmissionRequest,
  changed: Stored,
  seenAs: ResourceInfo,
  registry: ResourceRegistry | undefined,
  unknownFields: 'refused' | 'dropped' = 'dropped',
): void {
  const { resource, subresource } = request
  const served = registry?.get(resource.group, resource.version, resource.resource)
  const kind = kindOf(request)
  // A scale, a binding and their like have neither rules nor defaults of their own.
  const isOwn = kind.kind === resource.kind && kind.group === resource.group
  if (isOwn && served?.custom === true) checkCustomKind(changed, seenAs, subresource)
  else checkKind(changed, kind, registry)
  const own = inVersion(changed, seenAs, resource, registry) as Draft
  const strict = unknownFields === 'refused'
  const decoded =
    isOwn && served !== undefined
      ? decode(served, own, strict)
      : (decodeBuiltIn(kind, own, strict)?.object ?? own)
  const target = request.object!
  for (const key of Object.keys(target)) delete target[key]
  Object.assign(target, decoded)
}

interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What the objects of a request are: of the kind of the resource, or of that of the subresource. */
function kindOf({ resource, subresource }: AdmissionRequest): Kind {
  return resource.subresources.find(({ name }) => name === subresource) ?? resource
}

/**
 * Throws DecodeError for a custom resource that does not say what it is, and ApiError for one of another kind or version.
 * A status is taken out of it, whatever its kind.
 */
function checkCustomKind(changed: Stored, seenAs: ResourceInfo, subresource: string): void {
  const { apiVersion = '', kind } = changed
  if (typeof kind !== 'string' || kind === '')
    throw new DecodeError(`Object 'Kind' is missing in '${stringifyExact(sortedJson(changed))}'`)
  const wanted = `${seenAs.group}/${seenAs.version}`
  if (apiVersion !== wanted) {
    if (apiVersion.startsWith(`${seenAs.group}/`))
      throw unclassified(`request to convert CR from an invalid group/version: ${apiVersion}`)
    const slash = apiVersion.includes('/') ? '' : '/'
    throw unclassified(
      `${slash}${apiVersion}, Kind=${kind} is unstructured and is not suitable for converting to ${JSON.stringify(wanted)}`,
    )
  }
  if (kind === seenAs.kind || subresource !== '') return
  const errors = new FieldErrors()
  errors.invalid('kind', kind, `must be ${seenAs.kind}`)
  throw invalid(seenAs.group, kind, changed['metadata']?.name ?? '', errors.list)
}

/** Throws DecodeError for an object that says it is of a kind that nobody knows, and ApiError for one of another kind. */
function checkKind(
  { apiVersion, kind }: Stored,
  expected: Kind,
  registry: ResourceRegistry | undefined,
): void {
  if (registry === undefined || typeof apiVersion !== 'string' || typeof kind !== 'string') return
  const [first = '', second] = apiVersion.split('/')
  const [group, version] = second === undefined ? ['', first] : [first, second]
  const isSame = kind === expected.kind
  const named = !isSame || group !== expected.group
  const isKnown = registry
    .all()
    .some(
      ({ info }) =>
        info.group === group && info.version === version && (!named || info.kind === kind),
    )
  if (!isKnown)
    throw new DecodeError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    )
  if (isSame) return
  const internal = `${expected.group.split('.')[0] || 'core'}.${expected.kind}`
  throw unclassified(`converting (${version}.${kind}) to (${internal}): unknown conversion`)
}

function decode(served: ServedResource, object: Draft, strict: boolean): Draft {
  // Custom objects lose what they may not have without a word. Nulls are no client's: they stay, and are refused.
  const { info } = served
  const decoded = served.decode?.(object, undefined, true) ?? decodeBuiltIn(info, object, strict)
  if (decoded === undefined) return object
  // Kinds that are kept in another version get their defaults there.
  if (served.storage.toStored === undefined) served.rules.defaults?.(decoded.object)
  return decoded.object
}

function decodeBuiltIn(kind: Kind, object: Draft, strict: boolean): DecodedObject | undefined {
  const decoded = decodeObject(kind, object)
  if (strict && decoded !== undefined && decoded.problems.length > 0)
    throw new DecodeError(`strict decoding error: ${decoded.problems.join(', ')}`)
  return decoded
}
