/** Contract: docs/behaviour/controllers/service-lb-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { Node, Service } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'
import { concernsBackends } from './backends.ts'
import { NODE_RESYNC_PERIOD_MS, SERVICE_RESYNC_PERIOD_MS } from './config.ts'
import { isRelevantChange, needsCleanup, wantsLoadBalancer } from './wants.ts'

/** Deletions say nothing: the finalizer was taken off before. */
export const serviceWatch: Watch<Service> = {
  type: resources.services,
  resyncPeriodMs: SERVICE_RESYNC_PERIOD_MS,
  onAdd: (service) => (wantsLoadBalancer(service) || needsCleanup(service) ? [keyOf(service)] : []),
  onUpdate: (previous, current) =>
    isRelevantChange(previous, current) || needsCleanup(current) ? [keyOf(current)] : [],
}

/** Whichever it was, all balancers are looked at: a thousand nodes that come together are one change, or two. */
const ALL_NODES: readonly string[] = ['nodes']

/** Readiness and taints are no events of this controller. */
export const nodeWatch: Watch<Node> = {
  type: resources.nodes,
  resyncPeriodMs: NODE_RESYNC_PERIOD_MS,
  onAdd: () => ALL_NODES,
  onUpdate: (previous, current) => (concernsBackends(previous, current) ? ALL_NODES : []),
  onDelete: () => ALL_NODES,
}
