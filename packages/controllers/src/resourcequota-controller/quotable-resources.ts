import { isCountedResource } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import { resourcesWithVerbs } from '../monitor-support/monitored-resources.ts'
import type { MonitoredResources } from '../monitor-support/monitored-resources.ts'

/** What quotas can limit: namespaced, and coming and going one by one. */
export function quotableResources(discovered: Discovered): MonitoredResources {
  const resources = resourcesWithVerbs(discovered, ['create', 'list', 'watch', 'delete'])
  return new Map([...resources].filter(([, type]) => type.namespaced && isCountedResource(type)))
}
