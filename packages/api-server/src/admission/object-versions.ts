/** Objects of admission in the version that a configuration asked for, and back. */
import type { AdmissionRequest, ResourceInfo } from '../contracts.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.ts'
import { decodeObject } from '@gyropilot/schema'

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
): void {
  const { resource, subresource } = request
  const own = inVersion(changed, seenAs, resource, registry) as Draft
  const served = registry?.get(resource.group, resource.version, resource.resource)
  const decoded = subresource === '' && served !== undefined ? decode(served, own) : own
  const target = request.object!
  for (const key of Object.keys(target)) delete target[key]
  Object.assign(target, decoded)
}

function decode(served: ServedResource, object: Draft): Draft {
  const decoded = served.decode?.(object) ?? decodeObject(served.info, object)
  if (decoded === undefined) return object
  // Kinds that are kept in another version get their defaults there.
  if (served.storage.toStored === undefined) served.rules.defaults?.(decoded.object)
  return decoded.object
}
