/** Everything of one resource in the namespace. Contract: docs/behaviour/controllers/namespace-controller.md, One resource. */
import { resources } from '@gyropilot/api'
import type { DiscoveredResource, KubernetesObject, Namespace, Pod } from '@gyropilot/api'
import { isMethodNotSupported, isNotFound } from '@gyropilot/client'
import { currentTimeMs, listLive, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { TRACKING_FINALIZER } from '../workload-support/job-tracking.ts'
import { FINALIZER_ESTIMATE_SECONDS } from './config.ts'
import { deleteInPages, findPages } from './paged-deletion.ts'
import type { PageStart } from './paged-deletion.ts'

export interface ResourceResult {
  /** Seconds until the content may be gone. */
  readonly estimateSeconds: number
  readonly remaining: number
  /** How many of the remaining objects carry each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  readonly error?: unknown
  /** There was nothing to delete. It is still to be listed, which may wait until the others are deleted. */
  readonly isUnverified?: boolean
  /** What remains are pods that have ended, which their Jobs alone hold until they are counted. */
  readonly awaitsJobsOnly?: boolean
}

const isUnsupported = (error: unknown): boolean => isNotFound(error) || isMethodNotSupported(error)

export function* deleteResource(
  type: DiscoveredResource,
  namespace: Namespace,
): Reconcile<ResourceResult> {
  const name = namespace.metadata?.name ?? ''
  // 1.
  const estimate = yield* estimateOf(type, namespace)
  if (estimate.error !== undefined) return nothing({ error: estimate.error })
  // 2.
  const deletion = yield* deleteAll(type, name, estimate.pages)
  if (deletion.error !== undefined) return nothing({ error: deletion.error })
  // 3.
  if (!type.verbs.includes('list')) return nothing({ estimateSeconds: estimate.seconds })
  if (deletion.foundNone && estimate.pages === undefined) return nothing({ isUnverified: true })
  return yield* verifyDeletion(type, name, estimate.seconds)
}

/** Steps 3 to 5: what is left once everything was deleted. */
export function* verifyDeletion(
  type: DiscoveredResource,
  name: string,
  estimateSeconds = 0,
): Reconcile<ResourceResult> {
  const left = yield* listLive(type, name, { metadataOnly: true })
  if (!left.ok) {
    return isUnsupported(left.error) ? nothing({ estimateSeconds }) : nothing({ error: left.error })
  }
  // 4.
  const { items } = left.object
  if (items.length === 0) return nothing({})
  // 5.
  const finalizers = finalizerCounts(items)
  const remaining = items.length
  const awaitsJobsOnly = items.every(isAwaitingJobOnly)
  if (estimateSeconds !== 0) return { estimateSeconds, remaining, finalizers, awaitsJobsOnly }
  if (finalizers.size > 0)
    return { estimateSeconds: FINALIZER_ESTIMATE_SECONDS, remaining, finalizers, awaitsJobsOnly }
  // The core group is empty, and has its slash all the same.
  const resource = `${type.group}/${type.version}, Resource=${type.resource}`
  const error = new Error(
    `unexpected items still remain in namespace: ${name} for gvr: ${resource}`,
  )
  return { estimateSeconds: 0, remaining, finalizers, error }
}

function nothing(given: Partial<ResourceResult>): ResourceResult {
  return { estimateSeconds: 0, remaining: 0, finalizers: new Map(), ...given }
}

interface Estimate {
  readonly seconds: number
  readonly error?: unknown
  /** Where the pages of pods begin; undefined: these are not pods. */
  readonly pages?: readonly PageStart[]
}

/** The longest grace period of pods that still run, until the namespace has waited that long. Other resources: none. */
function* estimateOf(type: DiscoveredResource, namespace: Namespace): Reconcile<Estimate> {
  if (type.group !== '' || type.resource !== 'pods') return { seconds: 0 }
  let seconds = 0
  const { pages, error } = yield* findPages<Pod>(resources.pods, namespace.metadata?.name, {
    onItems(pods) {
      for (const { spec, status } of pods) {
        const isTerminal = status?.phase === 'Succeeded' || status?.phase === 'Failed'
        const graceSeconds = Number(spec?.terminationGracePeriodSeconds ?? 0)
        if (!isTerminal) seconds = Math.max(seconds, graceSeconds)
      }
    },
  })
  if (error !== undefined) return { seconds: 0, error }
  const deletedAtMs = Date.parse(namespace.metadata?.deletionTimestamp ?? '')
  const waitedMs = (yield* currentTimeMs()) - deletedAtMs
  return { seconds: waitedMs >= seconds * 1000 ? 0 : seconds, pages }
}

function* deleteAll(
  type: DiscoveredResource,
  namespace: string,
  pages: Estimate['pages'],
): Reconcile<{ readonly error?: unknown; readonly foundNone?: boolean }> {
  if (type.verbs.includes('deletecollection')) {
    const deletion = yield* deleteInPages(type, namespace, pages)
    if (deletion.error === undefined || !isUnsupported(deletion.error)) return deletion
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

/** Without grace left a pod runs no more: its kubelet has said so, or never had it, or it had ended before it was deleted. */
function isAwaitingJobOnly({ metadata }: KubernetesObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds } = metadata ?? {}
  return deletionGracePeriodSeconds === 0 && finalizers.every((name) => name === TRACKING_FINALIZER)
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
