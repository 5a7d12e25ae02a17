/**
 * One sync of a ServiceCIDR, from the caches alone. Step numbers are those of
 * docs/behaviour/controllers/service-cidr-controller.md; 1 is the shell's.
 */
import { findCondition, hasFinalizer, isTerminating, parseTime, resources } from '@gyropilot/api'
import type { ServiceCIDR } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { apply, currentTimeMs, patch, recordEvent, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { canGo } from './can-go.ts'
import type { RangeUse } from './can-go.ts'
import { DELETION_GRACE_MS, FIELD_MANAGER, FINALIZER } from './config.ts'

export interface ObservedServiceCidr {
  readonly serviceCidr: ServiceCIDR
  readonly use: RangeUse
}

interface Readiness {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** The reason is empty, and is sent. */
const READY: Readiness = {
  status: 'True',
  reason: '',
  message: 'Kubernetes Service CIDR is ready',
}
const STILL_USED: Readiness = {
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

export function* reconcile({ serviceCidr, use }: ObservedServiceCidr): Reconcile {
  // 2.
  if (isTerminating(serviceCidr)) {
    if (!canGo(serviceCidr, use)) return resultOf(yield* writeReady(serviceCidr, STILL_USED))
    const deletedMs = parseTime(serviceCidr.metadata?.deletionTimestamp) ?? 0
    const remainingMs = deletedMs + DELETION_GRACE_MS - (yield* currentTimeMs())
    if (remainingMs > 0) return { requeueAfterMs: remainingMs }
    if (!hasFinalizer(serviceCidr, FINALIZER)) return
    return resultOf(
      yield* patchFinalizers(serviceCidr, { '$deleteFromPrimitiveList/finalizers': [FINALIZER] }),
    )
  }
  // 3.
  if (!hasFinalizer(serviceCidr, FINALIZER)) {
    const added = yield* patchFinalizers(serviceCidr, { finalizers: [FINALIZER] })
    if (!added.ok) return resultOf(added)
  }
  const told = yield* writeReady(serviceCidr, READY)
  if (told.ok) return
  const message = 'The ServiceCIDR Status can not be set to Ready=True'
  yield* recordEvent(serviceCidr, 'Warning', 'KubernetesServiceCIDRError', message)
  return resultOf(told)
}

function resultOf(outcome: Outcome) {
  return outcome.ok ? undefined : { error: outcome.error }
}

/** A list of names merges name by name: the finalizers of others are not touched. One that is gone needs none. */
function* patchFinalizers(serviceCidr: ServiceCIDR, metadata: object): Reconcile<Outcome> {
  const outcome = yield* write(
    patch(resources.servicecidrs, serviceCidr, { type: 'strategic', value: { metadata } }),
  )
  return !outcome.ok && isNotFound(outcome.error) ? { ok: true, object: serviceCidr } : outcome
}

/** The one condition, applied: those of others stay. */
function* writeReady(serviceCidr: ServiceCIDR, readiness: Readiness): Reconcile<Outcome> {
  const known = findCondition(serviceCidr.status?.conditions, 'Ready')
  const isSame =
    known?.status === readiness.status &&
    (known.reason ?? '') === readiness.reason &&
    known.message === readiness.message
  if (isSame) return { ok: true, object: serviceCidr }
  const lastTransitionTime = formatTime(yield* currentTimeMs())
  return yield* write(
    apply<ServiceCIDR>(
      resources.servicecidrs,
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name: serviceCidr.metadata?.name },
        status: { conditions: [{ type: 'Ready', ...readiness, lastTransitionTime }] },
      },
      FIELD_MANAGER,
      'status',
    ),
  )
}
