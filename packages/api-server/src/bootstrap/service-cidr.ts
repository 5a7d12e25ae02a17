/**
 * The ServiceCIDR of the ranges that the server was started with.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "What the server itself keeps".
 */
import { formatTime } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { KeptKind, Keeper } from './keeper.ts'

const SERVICE_CIDRS: KeptKind = {
  collection: 'servicecidrs.networking.k8s.io',
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
}
const MANAGER = 'kubernetes-service-cidr-controller'
/** An empty reason is not applied, so it is nobody's. */
const OWNED = {
  'f:status': {
    'f:conditions': {
      'k:{"type":"Ready"}': {
        '.': {},
        'f:lastTransitionTime': {},
        'f:message': {},
        'f:status': {},
        'f:type': {},
      },
    },
  },
}

/** Makes it when it is missing, and says that it is ready where its status says nothing of that: what somebody else said stays. */
export function keepServiceCidr(keeper: Keeper, clock: Clock, cidrs: readonly string[]): void {
  const stored = keeper.ensure(SERVICE_CIDRS, {
    metadata: { name: 'kubernetes' },
    spec: { cidrs: [...cidrs] },
    status: {},
  })
  const conditions: readonly { type: string }[] = stored['status']?.conditions ?? []
  if (conditions.some(({ type }) => type === 'Ready')) return
  const time = formatTime(clock.nowMs())
  const ready = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: time,
    reason: '',
    message: 'Kubernetes default Service CIDR is ready',
  }
  const applied = {
    manager: MANAGER,
    operation: 'Apply',
    apiVersion: SERVICE_CIDRS.apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: OWNED,
    subresource: 'status',
  }
  keeper.apply(SERVICE_CIDRS, applied, {
    ...stored,
    status: { ...stored['status'], conditions: [...conditions, ready] },
  })
}
