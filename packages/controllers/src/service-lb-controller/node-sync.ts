/** New nodes for all balancers. Step numbers are those of docs/behaviour/controllers/service-lb-controller.md, Node item. */
import type { Node, Service } from '@gyropilot/api'
import { ImplementedElsewhere, errorOfKind } from '@gyropilot/cloud-provider'
import { currentTimeMs } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { askCloud } from '../cloud-support/cloud-calls.ts'
import { sameBackends } from './backends.ts'
import { recordNoNodes, recordStep, recordUpdateFailed } from './events.ts'
import type { BalancerMemory } from './memory.ts'
import type { ServiceLbMetrics } from './metrics.ts'
import { wantsLoadBalancer } from './wants.ts'

interface NodeSync {
  readonly clusterName: string
  readonly memory: BalancerMemory
  readonly metrics: ServiceLbMetrics
  /** Those that traffic may be sent to at the time of the call. */
  readonly backends: () => readonly Node[]
}

/** One Service. Answers the error, if there was one: its Service must be ensured anew then. */
export function* syncNodes(key: string, sync: NodeSync): Reconcile<unknown> {
  const { memory, metrics, backends } = sync
  const service = memory.serviceOf(key)
  const former = memory.backendsOf(key)
  // 1. One that the provider was never given is being ensured: the nodes are looked up there, after this.
  if (service === undefined || former === undefined || !wantsLoadBalancer(service)) return undefined
  // 2. Before the call: what fails is the Service's to mend.
  const nodes = backends()
  memory.rememberBackends(key, nodes)
  // 3.
  if (sameBackends(former, nodes)) return undefined
  const error = yield* updateHosts(service, nodes, sync)
  if (error !== undefined) metrics.nodeSyncFailed()
  return error
}

function* updateHosts(
  service: Service,
  nodes: readonly Node[],
  { clusterName, metrics }: NodeSync,
): Reconcile<unknown> {
  // 4.
  const startMs = yield* currentTimeMs()
  metrics.hostUpdateStarted()
  const updated = yield* askCloud(
    'loadBalancers',
    'updateLoadBalancer',
    clusterName,
    service,
    nodes,
  )
  const error = updated.ok ? undefined : updated.error
  const problem = yield* judge(service, nodes, clusterName, error)
  metrics.hostUpdateTook((yield* currentTimeMs()) - startMs)
  return problem
}

function* judge(
  service: Service,
  nodes: readonly Node[],
  clusterName: string,
  error: unknown,
): Reconcile<unknown> {
  if (error === undefined) {
    yield* nodes.length === 0 ? recordNoNodes(service) : recordStep(service, 'UpdatedLoadBalancer')
    return undefined
  }
  if (errorOfKind(error, ImplementedElsewhere) !== undefined) return undefined
  // 5.
  const found = yield* askCloud('loadBalancers', 'getLoadBalancer', clusterName, service)
  if (found.ok && found.object === undefined) return undefined
  yield* recordUpdateFailed(service, nodes, error)
  return error
}
