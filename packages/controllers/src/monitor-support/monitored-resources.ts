/** Which resources are to be monitored. Pure. */
import { apiVersionOf, groupResourceOf } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { ResourceLookup, asType } from '@gyropilot/client'
import type { Discovered } from '@gyropilot/client'

/** Never in the garbage collector's graph: they are many, short-lived and owned by nobody. */
export const UNCOLLECTED_RESOURCES: ReadonlySet<string> = new Set([
  'events',
  'events.events.k8s.io',
])

/** By group, version and resource. */
export type MonitoredResources = ReadonlyMap<string, ResourceType>

export function resourceId(type: Pick<ResourceType, 'group' | 'version' | 'resource'>): string {
  return `${apiVersionOf(type)}/${type.resource}`
}

/** What has all these verbs, in the preferred version; of group versions that did not answer, nothing. */
export function resourcesWithVerbs(
  discovered: Discovered,
  verbs: readonly string[],
): Map<string, ResourceType> {
  const answered = discovered.resources.filter((type) => !discovered.failed.has(apiVersionOf(type)))
  const lookup = new ResourceLookup({ ...discovered, resources: answered })
  return new Map(
    lookup.preferred(verbs).map((resource) => [resourceId(resource), asType(resource)]),
  )
}

/** Resources of group versions that did not answer stay where `keeps` says so: their API server may be down for a moment only. */
export function withKeptResources(
  resources: MonitoredResources,
  { failed }: Discovered,
  accepted: MonitoredResources,
  keeps: (type: ResourceType) => boolean = () => true,
): MonitoredResources {
  const kept = new Map(resources)
  for (const [id, type] of accepted) {
    if (failed.has(apiVersionOf(type)) && keeps(type)) kept.set(id, type)
  }
  return kept
}

export function withoutResources(
  resources: MonitoredResources,
  ignored: ReadonlySet<string>,
): MonitoredResources {
  return new Map([...resources].filter(([, type]) => !ignored.has(groupResourceOf(type))))
}

/** Also of the same kinds: a definition may have been made anew under its plural for another one. */
export function sameResources(one: MonitoredResources, other: MonitoredResources): boolean {
  return one.size === other.size && [...one].every(([id, { kind }]) => other.get(id)?.kind === kind)
}
