/** One sync of a Service. Step numbers are those of docs/behaviour/controllers/service-lb-controller.md, Service item. */
import type { LoadBalancerStatus, Node, Service } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { ImplementedElsewhere, RetryLater, errorOfKind } from '@gyropilot/cloud-provider'
import { errorText } from '@gyropilot/foundation'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { askCloud } from '../cloud-support/cloud-calls.ts'
import { recordDeleteFailed, recordNoNodes, recordStep, recordSyncFailed } from './events.ts'
import type { BalancerMemory } from './memory.ts'
import {
  addCleanupFinalizer,
  removeCleanupFinalizer,
  writeLoadBalancerStatus,
} from './service-writes.ts'
import { needsCleanup, wantsLoadBalancer } from './wants.ts'

export interface Observed {
  readonly key: string
  readonly clusterName: string
  /** Undefined: it is gone. */
  readonly service: Service | undefined
  /** Those that traffic may be sent to at the time of the call. */
  readonly backends: () => readonly Node[]
  readonly memory: BalancerMemory
}

/** What came of it: an error, or nothing. */
type Result = { readonly error: unknown } | undefined

export function* reconcile(observed: Observed): Reconcile {
  const { key, service, memory } = observed
  const known = memory.serviceOf(key)
  // 1. and 2.
  if (known !== undefined && known.metadata?.uid !== service?.metadata?.uid) {
    const result = wantsLoadBalancer(known) ? yield* deleteFormer(observed, known) : undefined
    if (result !== undefined) return retry(result.error)
    memory.forget(key)
  }
  if (service === undefined) return
  // 3.
  memory.remember(key, service)
  const isCleanup = !wantsLoadBalancer(service) || needsCleanup(service)
  const result = yield* isCleanup ? cleanUp(observed, service) : ensure(observed, service)
  // 7.
  if (result !== undefined) {
    yield* recordSyncFailed(service, result.error)
    return retry(result.error)
  }
  if (isCleanup) memory.forget(key)
}

/** A provider that knows when to come again is asked then, without losing count of the failures. */
function retry(error: unknown): Verdict {
  const later = errorOfKind(error, RetryLater)
  if (later === undefined) return { error }
  return { requeueAfterMs: later.retryAfterMs, keepsFailures: true }
}

/** Of a Service that is gone, or gave its name to another. */
function* deleteFormer({ clusterName }: Observed, former: Service): Reconcile<Result> {
  yield* recordStep(former, 'DeletingLoadBalancer')
  const deleted = yield* askCloud('loadBalancers', 'ensureLoadBalancerDeleted', clusterName, former)
  if (!deleted.ok) {
    yield* recordDeleteFailed(former, deleted.error)
    return { error: deleted.error }
  }
  yield* recordStep(former, 'DeletedLoadBalancer')
  return undefined
}

/** 4. */
function* cleanUp({ clusterName }: Observed, service: Service): Reconcile<Result> {
  const found = yield* askCloud('loadBalancers', 'getLoadBalancer', clusterName, service)
  if (!found.ok) return because('failed to check if load balancer exists before cleanup', found)
  if (found.object !== undefined) {
    yield* recordStep(service, 'DeletingLoadBalancer')
    const deleted = yield* askCloud(
      'loadBalancers',
      'ensureLoadBalancerDeleted',
      clusterName,
      service,
    )
    if (!deleted.ok && errorOfKind(deleted.error, ImplementedElsewhere) === undefined)
      return because('failed to delete load balancer', deleted)
  }
  const error = yield* removeCleanupFinalizer(service)
  if (error !== undefined)
    return because('failed to remove load balancer cleanup finalizer', { error })
  yield* recordStep(service, 'DeletedLoadBalancer')
  return yield* setStatus(service, {})
}

/** 5. */
function* ensure(observed: Observed, service: Service): Reconcile<Result> {
  const { key, clusterName, backends, memory } = observed
  yield* recordStep(service, 'EnsuringLoadBalancer')
  const error = yield* addCleanupFinalizer(service)
  if (error !== undefined)
    return because('failed to add load balancer cleanup finalizer', { error })
  const nodes = backends()
  if (nodes.length === 0) yield* recordNoNodes(service)
  memory.rememberBackends(key, nodes)
  const ensured = yield* askCloud(
    'loadBalancers',
    'ensureLoadBalancer',
    clusterName,
    service,
    nodes,
  )
  if (!ensured.ok) {
    if (errorOfKind(ensured.error, ImplementedElsewhere) !== undefined) return undefined
    return because('failed to ensure load balancer', ensured, true)
  }
  if (ensured.object === undefined)
    return { error: new Error('service status returned by EnsureLoadBalancer is nil') }
  yield* recordStep(service, 'EnsuredLoadBalancer')
  return yield* setStatus(service, ensured.object)
}

/** 6. A Service that is gone has no status any more. */
function* setStatus(service: Service, status: LoadBalancerStatus): Reconcile<Result> {
  const error = yield* writeLoadBalancerStatus(service, status)
  if (error === undefined || isNotFound(error)) return undefined
  return because('failed to update load balancer status', { error })
}

/** The provider's error is to be found inside only where its wish for a retry counts. */
function because(what: string, { error }: { readonly error: unknown }, wraps = false): Result {
  const message = `${what}: ${errorText(error)}`
  return { error: wraps ? new Error(message, { cause: error }) : new Error(message) }
}
