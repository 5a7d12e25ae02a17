/** Everything of one resource in the namespace. Contract: docs/behaviour/controllers/namespace-controller.md, One resource. */
import { resources } from '@gyropilot/api'
import type { DiscoveredResource, KubernetesObject, Namespace, Pod } from '@gyropilot/api'
import { isExpired, isMethodNotSupported, isNotFound } from '@gyropilot/client'
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
  if (estimate.error !== undefined)
    return nothing({ error: estimate.error, remaining: estimate.seen })
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
  const awaitsJobsOnly = isPods(type) && items.every(isHeldByJobOnly) && (yield* haveAllEnded(name))
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

/** Pods, which go before everything else. */
export function isPods({ group, resource }: DiscoveredResource): boolean {
  return group === '' && resource === 'pods'
}

interface Estimate {
  readonly seconds: number
  readonly error?: unknown
  /** Where the pages of pods begin; undefined: these are not pods, or their pages expired while they were read. */
  readonly pages?: readonly PageStart[]
  /** So many pods were read. */
  readonly seen: number
}

/** The longest grace period of pods that still run, until the namespace has waited that long. Other resources: none. */
function* estimateOf(type: DiscoveredResource, namespace: Namespace): Reconcile<Estimate> {
  if (!isPods(type)) return { seconds: 0, seen: 0 }
  const name = namespace.metadata?.name
  let seconds = 0
  let seen = 0
  const onItems = (pods: readonly Pod[]): void => {
    seen += pods.length
    for (const pod of pods) {
      const graceSeconds = Number(pod.spec?.terminationGracePeriodSeconds ?? 0)
      if (!hasEnded(pod)) seconds = Math.max(seconds, graceSeconds)
    }
  }
  const found = yield* findPages<Pod>(resources.pods, name, { onItems })
  if (found.error !== undefined && isExpired(found.error)) {
    const whole = yield* listLive(resources.pods, name)
    if (!whole.ok) return { seconds: 0, error: whole.error, seen }
    onItems(whole.object.items)
  } else if (found.error !== undefined) return { seconds: 0, error: found.error, seen }
  const deletedAtMs = Date.parse(namespace.metadata?.deletionTimestamp ?? '')
  const waitedMs = (yield* currentTimeMs()) - deletedAtMs
  const pages = found.error === undefined ? found.pages : undefined
  return { seconds: waitedMs >= seconds * 1000 ? 0 : seconds, pages, seen }
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

/** As far as metadata tells. A deletion without grace leaves the same marks on a pod that still runs. */
function isHeldByJobOnly({ metadata }: KubernetesObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds } = metadata ?? {}
  return deletionGracePeriodSeconds === 0 && finalizers.every((name) => name === TRACKING_FINALIZER)
}

/** Whether no container of the namespace runs: its pods have ended, or no node ever had them. */
function* haveAllEnded(namespace: string): Reconcile<boolean> {
  const pods = yield* listLive(resources.pods, namespace)
  return pods.ok && pods.object.items.every((pod) => hasEnded(pod) || !pod.spec?.nodeName)
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
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
