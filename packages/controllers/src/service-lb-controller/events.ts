/** Contract: docs/behaviour/controllers/service-lb-controller.md, Events. */
import type { Node, Service } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { namesText } from './backends.ts'

const NORMAL = {
  EnsuringLoadBalancer: 'Ensuring load balancer',
  EnsuredLoadBalancer: 'Ensured load balancer',
  DeletingLoadBalancer: 'Deleting load balancer',
  DeletedLoadBalancer: 'Deleted load balancer',
  UpdatedLoadBalancer: 'Updated load balancer with new hosts',
} as const

export function recordStep(service: Service, reason: keyof typeof NORMAL): Reconcile<void> {
  return recordEvent(service, 'Normal', reason, NORMAL[reason])
}

export function recordNoNodes(service: Service): Reconcile<void> {
  const message = 'There are no available nodes for LoadBalancer'
  return recordEvent(service, 'Warning', 'UnAvailableLoadBalancer', message)
}

export function recordSyncFailed(service: Service, error: unknown): Reconcile<void> {
  const message = `Error syncing load balancer: ${errorText(error)}`
  return recordEvent(service, 'Warning', 'SyncLoadBalancerFailed', message)
}

export function recordDeleteFailed(service: Service, error: unknown): Reconcile<void> {
  const message = `Error deleting load balancer: ${errorText(error)}`
  return recordEvent(service, 'Warning', 'DeleteLoadBalancerFailed', message)
}

export function recordUpdateFailed(
  service: Service,
  nodes: readonly Node[],
  error: unknown,
): Reconcile<void> {
  const limited = `[node names limited, total number of nodes: ${nodes.length}]`
  const message = `Error updating load balancer with new hosts ${namesText(nodes)} ${limited}, error: ${errorText(error)}`
  return recordEvent(service, 'Warning', 'UpdateLoadBalancerFailed', message)
}
