/** One pass over all content of a namespace. Contract: docs/behaviour/controllers/namespace-controller.md, Delete all content. */
import type { DiscoveredResource, Namespace } from '@gyropilot/api'
import { beside, currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { resources } from '@gyropilot/api'
import { discoverDeletable, discoveryFailureText } from './discovery.ts'
import { deleteInPages, findPages } from './paged-deletion.ts'
import { deleteResource, isPods, verifyDeletion } from './resource-deletion.ts'
import type { ResourceResult } from './resource-deletion.ts'
import { conditionsAfterPass } from './status.ts'
import type { PassFindings } from './status.ts'

const TYPES_AT_ONCE = 8
/**
 * A server answers a list of what has not changed for a while only after a tenth of a second, and of some forty resources most are
 * empty: these wait together, at the end, when all of them have been empty for the longest.
 */
const LISTS_AT_ONCE = 40

interface PassResult {
  /** As it was last written. */
  readonly namespace: Namespace
  readonly estimateSeconds: number
  readonly errors: readonly unknown[]
}

export function* deleteAllContent(namespace: Namespace): Reconcile<PassResult> {
  // 1.
  const discovered = yield* discoverDeletable()
  const errors: unknown[] = []
  if (discovered.error !== undefined) errors.push(discovered.error)
  if (discovered.failures.length > 0)
    errors.push(new Error(discoveryFailureText(discovered.failures)))
  const findings: PassFindings = {
    discoveryError: discovered.error,
    discoveryFailures: discovered.failures,
    deletionErrors: [],
    remaining: [],
    finalizers: new Map(),
  }
  let estimateSeconds = 0
  const unverified: DiscoveredResource[] = []
  const take = (type: DiscoveredResource, result: ResourceResult): ResourceResult => {
    note(findings, type, result)
    estimateSeconds = Math.max(estimateSeconds, result.estimateSeconds)
    return result
  }
  const one = function* (type: DiscoveredResource): Reconcile<ResourceResult> {
    const result = yield* deleteResource(type, namespace)
    if (result.isUnverified) unverified.push(type)
    return take(type, result)
  }
  const verify = function* (type: DiscoveredResource): Reconcile<void> {
    take(type, yield* verifyDeletion(type, namespace.metadata?.name ?? ''))
  }
  // 2. Pods first and alone: they may still need what else is here to end well.
  const pods = discovered.resources.find(isPods)
  const ofPods = pods === undefined ? undefined : yield* one(pods)
  // A Job keeps a failed pod for the one that replaces it, which never comes in this namespace: the Job must go before such a pod can.
  if (ofPods !== undefined && ofPods.remaining > 0 && !ofPods.awaitsJobsOnly) {
    const countsUnknown = { ...findings, remaining: [], finalizers: new Map() }
    const written = yield* writeConditions(namespace, countsUnknown)
    return {
      namespace: written,
      estimateSeconds,
      errors: [...errors, ...findings.deletionErrors],
    }
  }
  // 3.
  const others = Map.groupBy(
    discovered.resources.filter((type) => !isPods(type)),
    ({ resource }) => resource,
  )
  yield* beside(
    [...others.values()].map((types) => inTurn(types, one)),
    TYPES_AT_ONCE,
  )
  yield* beside(unverified.map(verify), LISTS_AT_ONCE)
  // 4.
  const written = yield* writeConditions(namespace, findings)
  return { namespace: written, estimateSeconds, errors: [...errors, ...findings.deletionErrors] }
}

/**
 * The pods of a large namespace, in its pause: a server takes seconds for them. Nothing is said of them, nor of errors, before the
 * pass behind the pause, which finds what is left and what came meanwhile.
 */
export function* deletePodsAhead(namespace: Namespace): Reconcile<void> {
  const name = namespace.metadata?.name ?? ''
  const { pages } = yield* findPages(resources.pods, name, { metadataOnly: true })
  yield* deleteInPages(resources.pods, name, pages)
}

function note(findings: PassFindings, type: DiscoveredResource, result: ResourceResult): void {
  const { error, remaining, finalizers } = result
  if (error !== undefined) findings.deletionErrors.push(error)
  if (remaining > 0) findings.remaining.push({ type, count: remaining })
  for (const [finalizer, count] of finalizers)
    findings.finalizers.set(finalizer, (findings.finalizers.get(finalizer) ?? 0) + count)
}

/** Resources of one name in several groups may show the same objects, as events do: what the first deletes the next need not. */
function* inTurn(
  types: readonly DiscoveredResource[],
  one: (type: DiscoveredResource) => Reconcile<unknown>,
): Reconcile<void> {
  for (const type of types) yield* one(type)
}

/** A failed write is not an error of the pass: the next one writes again. */
function* writeConditions(namespace: Namespace, findings: PassFindings): Reconcile<Namespace> {
  const nowMs = yield* currentTimeMs()
  const conditions = conditionsAfterPass(namespace.status?.conditions ?? [], findings, nowMs)
  if (conditions === undefined) return namespace
  const written = yield* write(
    updateStatus(resources.namespaces, {
      ...namespace,
      status: { ...namespace.status, conditions },
    }),
  )
  return written.ok ? written.object : namespace
}
