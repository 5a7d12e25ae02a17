import { groupResourceOf } from '@gyropilot/api'
import type { DiscoveredResource } from '@gyropilot/api'
import { asType } from '@gyropilot/client'
import type { InformerFactory } from '@gyropilot/runtime'
import { UNCOLLECTED_RESOURCES } from '../monitor-support/monitored-resources.ts'
import type { MonitoredObjects } from './migrate.ts'

const WATCHED_VERBS = ['delete', 'list', 'watch'] as const

/**
 * The caches that the garbage collector fills: each type has one in the process. Of a resource that it does not watch,
 * undefined. One that is so new that nobody has asked for it is begun here.
 */
export function monitoredObjects(
  informers: InformerFactory,
  signal: () => AbortSignal | undefined,
): (resource: DiscoveredResource) => MonitoredObjects | undefined {
  return (resource) => {
    const type = asType(resource)
    if (UNCOLLECTED_RESOURCES.has(groupResourceOf(type))) return undefined
    if (!WATCHED_VERBS.every((verb) => resource.verbs.includes(verb))) return undefined
    const informer = informers.informer(type)
    const running = signal()
    if (running !== undefined) informers.start(running)
    return {
      isSynced: () => informer.hasSynced(),
      resourceVersion: () => informer.lastSyncResourceVersion(),
      objects: () => informer.lister.list(),
    }
  }
}
