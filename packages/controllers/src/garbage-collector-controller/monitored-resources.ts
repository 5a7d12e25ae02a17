/** Which resources are to be monitored. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Discovery loop. Pure. */
import { apiVersionOf, groupResourceOf } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { ResourceLookup, asType } from '@gyropilot/client'
import type { Discovered } from '@gyropilot/client'
import type { ObjectIdentity } from './identity.ts'

/** Group, version and resource. */
export type MonitoredResources = ReadonlyMap<string, ResourceType>

export function resourceId(type: Pick<ResourceType, 'group' | 'version' | 'resource'>): string {
  return `${apiVersionOf(type)}/${type.resource}`
}

/** What can be watched and deleted, in the preferred version; of group versions that did not answer, nothing. */
export function deletableResources(discovered: Discovered): Map<string, ResourceType> {
  const answered = discovered.resources.filter((type) => !discovered.failed.has(apiVersionOf(type)))
  const lookup = new ResourceLookup({ ...discovered, resources: answered })
  const deletable = lookup.preferred(['delete', 'list', 'watch'])
  return new Map(deletable.map((resource) => [resourceId(resource), asType(resource)]))
}

/** Resources of group versions that did not answer stay if they work: their API server may be down for a moment only. */
export function withKeptResources(
  discovered: Discovered,
  accepted: MonitoredResources,
  isSynced: (type: ResourceType) => boolean,
): MonitoredResources {
  const resources = deletableResources(discovered)
  for (const [id, type] of accepted) {
    if (discovered.failed.has(apiVersionOf(type)) && isSynced(type)) resources.set(id, type)
  }
  return resources
}

export function sameResources(one: MonitoredResources, other: MonitoredResources): boolean {
  return one.size === other.size && [...one.keys()].every((id) => other.has(id))
}

export function isIgnored(type: ResourceType, ignored: ReadonlySet<string>): boolean {
  return ignored.has(groupResourceOf(type))
}

/** The resource that serves a kind at an apiVersion, which need not be the preferred one. */
export function kindLookup(
  discovered: Discovered,
): (kind: Pick<ObjectIdentity, 'apiVersion' | 'kind'>) => ResourceType | undefined {
  const lookup = new ResourceLookup(discovered)
  return ({ apiVersion, kind }) => {
    const parts = apiVersion.split('/')
    const [group, version] = parts.length === 1 ? ['', parts[0]] : parts
    // An empty version would stand for the preferred one, but a reference must say which it means.
    if (parts.length > 2 || !version || group === undefined || kind === '') return undefined
    return lookup.forKind(group, kind, version)
  }
}
