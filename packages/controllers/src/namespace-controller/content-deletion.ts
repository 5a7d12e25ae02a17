/** One pass over all content of a namespace. Contract: docs/behaviour/controllers/namespace-controller.md, Delete all content. */
import type { DiscoveredResource, Namespace } from '@gyropilot/api'
import { beside, currentTimeMs, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { resources } from '@gyropilot/api'
import { discoverDeletable, discoveryFailureText } from './discovery.ts'
import { deleteResource } from './resource-deletion.ts'
import { conditionsAfterPass } from './status.ts'
import type { PassFindings } from './status.ts'

/** A server answers a list of what has not changed for a while only after a tenth of a second, and there are some forty resources. */
const TYPES_AT_ONCE = 8

interface PassResult {
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
  const one = function* (type: DiscoveredResource): Reconcile<number> {
    const result = yield* deleteResource(type, namespace)
    estimateSeconds = Math.max(estimateSeconds, result.estimateSeconds)
    if (result.error !== undefined) findings.deletionErrors.push(result.error)
    if (result.remaining > 0) findings.remaining.push({ type, count: result.remaining })
    for (const [finalizer, count] of result.finalizers) {
      findings.finalizers.set(finalizer, (findings.finalizers.get(finalizer) ?? 0) + count)
    }
    return result.remaining
  }
  const isPods = ({ group, resource }: DiscoveredResource): boolean =>
    group === '' && resource === 'pods'
  // 2. Pods first and alone: they may still need what else is here to end well.
  const pods = discovered.resources.find(isPods)
  const podsRemaining = pods === undefined ? 0 : yield* one(pods)
  if (podsRemaining > 0) {
    const countsUnknown = { ...findings, remaining: [], finalizers: new Map() }
    yield* writeConditions(namespace, countsUnknown)
    return { estimateSeconds, errors: [...errors, ...findings.deletionErrors] }
  }
  // 3.
  const others = discovered.resources.filter((type) => !isPods(type))
  yield* beside(others.map(one), TYPES_AT_ONCE)
  // 4.
  yield* writeConditions(namespace, findings)
  return { estimateSeconds, errors: [...errors, ...findings.deletionErrors] }
}

/** A failed write is not an error of the pass: the next one writes again. */
function* writeConditions(namespace: Namespace, findings: PassFindings): Reconcile<void> {
  const nowMs = yield* currentTimeMs()
  const conditions = conditionsAfterPass(namespace.status?.conditions ?? [], findings, nowMs)
  if (conditions === undefined) return
  yield* write(
    updateStatus(resources.namespaces, {
      ...namespace,
      status: { ...namespace.status, conditions },
    }),
  )
}
