/** Objects of admission in the version that a configuration asked for, and back. */
import type { AdmissionRequest, ResourceInfo } from '../contracts.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import { DecodeError, decodeObject } from '@gyropilot/schema'
import type { DecodedObject } from '@gyropilot/schema/decode'

/** The object as it reads in another served version. Undefined stays undefined. */
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
  const draft = cloneJson(object) as Draft
  const stored = source.storage.toStored?.(draft) ?? draft
  return target.storage.fromStored?.(stored) ?? stored
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
  checkRegistered(changed, registry)
  const own = inVersion(changed, seenAs, resource, registry) as Draft
  const served = registry?.get(resource.group, resource.version, resource.resource)
  const decoded =
    subresource === '' && served !== undefined
      ? decode(served, own, unknownFields === 'refused')
      : own
  const target = request.object!
  for (const key of Object.keys(target)) delete target[key]
  Object.assign(target, decoded)
}

/** Throws DecodeError for an object that says it is of a kind that nobody knows. */
function checkRegistered(
  { apiVersion, kind }: Stored,
  registry: ResourceRegistry | undefined,
): void {
  if (registry === undefined || typeof apiVersion !== 'string' || typeof kind !== 'string') return
  const [first = '', second] = apiVersion.split('/')
  const [group, version] = second === undefined ? ['', first] : [first, second]
  const isKnown = registry
    .all()
    .some(({ info }) => info.group === group && info.version === version)
  if (!isKnown)
    throw new DecodeError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    )
}

function decode(served: ServedResource, object: Draft, strict: boolean): Draft {
  // Custom objects lose what they may not have without a word.
  const decoded = served.decode?.(object) ?? decodeBuiltIn(served, object, strict)
  if (decoded === undefined) return object
  // Kinds that are kept in another version get their defaults there.
  if (served.storage.toStored === undefined) served.rules.defaults?.(decoded.object)
  return decoded.object
}

function decodeBuiltIn(
  { info }: ServedResource,
  object: Draft,
  strict: boolean,
): DecodedObject | undefined {
  const decoded = decodeObject(info, object)
  if (strict && decoded !== undefined && decoded.problems.length > 0)
    throw new DecodeError(`strict decoding error: ${decoded.problems.join(', ')}`)
  return decoded
}
