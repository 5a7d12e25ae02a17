/** Everything of one resource in the namespace. Contract: docs/behaviour/controllers/namespace-controller.md, One resource. */
import { resources } from '@gyropilot/api'
import type { DiscoveredResource, KubernetesObject, Namespace, Pod } from '@gyropilot/api'
import { isMethodNotSupported, isNotFound } from '@gyropilot/client'
import { currentTimeMs, listLive, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { FINALIZER_ESTIMATE_SECONDS } from './config.ts'
import { deleteInPages } from './paged-deletion.ts'

interface ResourceResult {
  /** Seconds until the content may be gone. */
  readonly estimateSeconds: number
  readonly remaining: number
  /** How many of the remaining objects carry each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  readonly error?: unknown
}

const isUnsupported = (error: unknown): boolean => isNotFound(error) || isMethodNotSupported(error)

export function* deleteResource(
  type: DiscoveredResource,
  namespace: Namespace,
): Reconcile<ResourceResult> {
  const name = namespace.metadata?.name ?? ''
  // 1.
  const estimate = yield* estimateSeconds(type, namespace)
  if (estimate.error !== undefined) return nothing({ error: estimate.error })
  // 2.
  const deletion = yield* deleteAll(type, name)
  if (deletion.error !== undefined) return nothing({ error: deletion.error })
  // 3.
  if (!type.verbs.includes('list')) return nothing({ estimateSeconds: estimate.seconds })
  const left = yield* listLive(type, name, { metadataOnly: true })
  if (!left.ok) {
    return isUnsupported(left.error)
      ? nothing({ estimateSeconds: estimate.seconds })
      : nothing({ error: left.error })
  }
  // 4.
  const { items } = left.object
  if (items.length === 0) return nothing({})
  // 5.
  const finalizers = finalizerCounts(items)
  const remaining = items.length
  if (estimate.seconds !== 0) return { estimateSeconds: estimate.seconds, remaining, finalizers }
  if (finalizers.size > 0)
    return { estimateSeconds: FINALIZER_ESTIMATE_SECONDS, remaining, finalizers }
  // The core group is empty, and has its slash all the same.
  const resource = `${type.group}/${type.version}, Resource=${type.resource}`
  const error = new Error(
    `unexpected items still remain in namespace: ${name} for gvr: ${resource}`,
  )
  return { estimateSeconds: 0, remaining, finalizers, error }
}

function nothing(given: { estimateSeconds?: number; error?: unknown }): ResourceResult {
  return { estimateSeconds: 0, remaining: 0, finalizers: new Map(), ...given }
}

/** The longest grace period of pods that still run, until the namespace has waited that long. Other resources: none. */
function* estimateSeconds(
  type: DiscoveredResource,
  namespace: Namespace,
): Reconcile<{ readonly seconds: number; readonly error?: unknown }> {
  if (type.group !== '' || type.resource !== 'pods') return { seconds: 0 }
  const pods = yield* listLive<Pod>(resources.pods, namespace.metadata?.name)
  if (!pods.ok) return { seconds: 0, error: pods.error }
  let seconds = 0
  for (const { spec, status } of pods.object.items) {
    const isTerminal = status?.phase === 'Succeeded' || status?.phase === 'Failed'
    if (!isTerminal) seconds = Math.max(seconds, Number(spec?.terminationGracePeriodSeconds ?? 0))
  }
  const deletedAtMs = Date.parse(namespace.metadata?.deletionTimestamp ?? '')
  const waitedMs = (yield* currentTimeMs()) - deletedAtMs
  return { seconds: waitedMs >= seconds * 1000 ? 0 : seconds }
}

function* deleteAll(
  type: DiscoveredResource,
  namespace: string,
): Reconcile<{ readonly error?: unknown }> {
  if (type.verbs.includes('deletecollection')) {
    const { error } = yield* deleteInPages(type, namespace)
    if (error === undefined) return {}
    if (!isUnsupported(error)) return { error }
  }
  return yield* deleteEach(type, namespace)
}

function* deleteEach(
  type: DiscoveredResource,
  namespace: string,
): Reconcile<{ readonly error?: unknown }> {
  if (!type.verbs.includes('list')) return {}
  const found = yield* listLive(type, namespace, { metadataOnly: true })
  if (!found.ok) return isUnsupported(found.error) ? {} : { error: found.error }
  for (const { metadata } of found.object.items) {
    const deletion = yield* write({
      verb: 'delete',
      type,
      namespace,
      name: metadata?.name ?? '',
      options: { propagationPolicy: 'Background' },
    })
    if (!deletion.ok && !isUnsupported(deletion.error)) return { error: deletion.error }
  }
  return {}
}

function finalizerCounts(items: readonly KubernetesObject[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { metadata } of items) {
    for (const finalizer of metadata?.finalizers ?? []) {
      counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1)
    }
  }
  return counts
}
