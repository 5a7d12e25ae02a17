/** Writes to a Service: of its finalizers and its status alone, past whatever else is changed in it. */
import {
  hasFinalizer,
  resources,
  semanticEqual,
  withFinalizer,
  withoutFinalizer,
} from '@gyropilot/api'
import type { LoadBalancerStatus, Service } from '@gyropilot/api'
import { patch, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { CLEANUP_FINALIZER } from './config.ts'

/** Answers the error, if there was one. */
export function* addCleanupFinalizer(service: Service): Reconcile<unknown> {
  if (hasFinalizer(service, CLEANUP_FINALIZER)) return undefined
  const order = withFinalizer(service, CLEANUP_FINALIZER).metadata?.finalizers
  return yield* patchStatus(service, {
    metadata: { finalizers: [CLEANUP_FINALIZER], '$setElementOrder/finalizers': order },
  })
}

/** Answers the error, if there was one. */
export function* removeCleanupFinalizer(service: Service): Reconcile<unknown> {
  if (!hasFinalizer(service, CLEANUP_FINALIZER)) return undefined
  const order = withoutFinalizer(service, CLEANUP_FINALIZER).metadata?.finalizers
  return yield* patchStatus(service, {
    metadata: {
      '$deleteFromPrimitiveList/finalizers': [CLEANUP_FINALIZER],
      '$setElementOrder/finalizers': order,
    },
  })
}

/** No write where the addresses are the same. Answers the error, if there was one. */
export function* writeLoadBalancerStatus(
  service: Service,
  wanted: LoadBalancerStatus,
): Reconcile<unknown> {
  const current = service.status?.loadBalancer?.ingress ?? []
  const ingress = wanted.ingress ?? []
  if (semanticEqual(current, ingress)) return undefined
  return yield* patchStatus(service, {
    status: { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } },
  })
}

function* patchStatus(service: Service, value: object): Reconcile<unknown> {
  const change = { type: 'strategic' as const, value }
  const written: Outcome = yield* write(patch(resources.services, service, change, 'status'))
  return written.ok ? undefined : written.error
}
