/**
 * Which resources of a namespace can be deleted, as the server tells at this moment. Contract:
 * docs/behaviour/controllers/namespace-controller.md, Delete all content.
 */
import type { DiscoveredResource } from '@gyropilot/api'
import { ResourceLookup } from '@gyropilot/client'
import { discoverLive } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

interface DeletableResources {
  readonly resources: readonly DiscoveredResource[]
  /** Group versions that could not be read: `metrics.k8s.io/v1beta1: the server is down`. */
  readonly failures: readonly string[]
  /** Nothing could be read at all. */
  readonly error?: unknown
}

/** Namespaced resources with the verb delete, each in its group's preferred version. */
export function* discoverDeletable(): Reconcile<DeletableResources> {
  const discovered = yield* discoverLive()
  if (!discovered.ok) return { resources: [], failures: [], error: discovered.error }
  const preferred = new ResourceLookup(discovered.object).preferred(['delete'])
  return {
    resources: preferred.filter(({ namespaced }) => namespaced),
    failures: [...discovered.object.failed].map(([groupVersion, why]) => `${groupVersion}: ${why}`),
  }
}

/** All failures of a discovery as one message. */
export function discoveryFailureText(failures: readonly string[]): string {
  return `unable to retrieve the complete list of server APIs: ${failures.toSorted().join(', ')}`
}
