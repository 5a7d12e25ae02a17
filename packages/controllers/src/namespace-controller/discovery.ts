/**
 * Which resources of a namespace can be deleted, as the server tells at this moment. Contract:
 * docs/behaviour/controllers/namespace-controller.md, Delete all content.
 */
import type { ResourceType } from '@gyropilot/api'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { KubernetesObject } from '@gyropilot/api'

/** The aggregated form, which one GET answers for all groups. */
const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

export interface DeletableResource extends ResourceType {
  readonly verbs: readonly string[]
}

export interface Discovered {
  readonly resources: readonly DeletableResource[]
  /** Groups whose server did not answer: `metrics.k8s.io/v1beta1: stale GroupVersion discovery: ...`. */
  readonly failures: readonly string[]
  /** Nothing could be read at all. */
  readonly error?: unknown
}

interface GroupDiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      readonly freshness?: string
      readonly resources?: readonly {
        readonly resource: string
        readonly scope: string
        readonly verbs?: readonly string[]
        readonly responseKind?: { readonly kind: string }
      }[]
    }[]
  }[]
}

/** Namespaced resources with the verb delete, each in its group's preferred version. */
export function* discoverDeletable(): Reconcile<Discovered> {
  const resources: DeletableResource[] = []
  const failures: string[] = []
  let error: unknown
  for (const path of ['/api', '/apis']) {
    const answer = (yield {
      effect: 'read',
      read: { verb: 'raw', path, headers: { accept: AGGREGATED } },
    }) as Outcome<KubernetesObject>
    if (answer.ok) collect(answer.object as GroupDiscoveryList, resources, failures)
    else error ??= answer.error
  }
  return { resources, failures, ...(error === undefined ? {} : { error }) }
}

function collect(list: GroupDiscoveryList, found: DeletableResource[], failures: string[]): void {
  for (const { metadata, versions = [] } of list.items ?? []) {
    const group = metadata?.name ?? ''
    const seen = new Set<string>()
    for (const { version, freshness, resources = [] } of versions) {
      if (freshness === 'Stale') {
        const groupVersion = group === '' ? version : `${group}/${version}`
        failures.push(`${groupVersion}: stale GroupVersion discovery: ${groupVersion}`)
      }
      for (const { resource, scope, verbs = [], responseKind } of resources) {
        if (scope !== 'Namespaced' || seen.has(resource)) continue
        seen.add(resource)
        if (!verbs.includes('delete')) continue
        const kind = responseKind?.kind ?? ''
        found.push({ group, version, resource, kind, namespaced: true, verbs })
      }
    }
  }
}

/** All failures of a discovery as one message. */
export function discoveryFailureText(failures: readonly string[]): string {
  return `unable to retrieve the complete list of server APIs: ${failures.toSorted().join(', ')}`
}
