/** What a cluster and its cloud must have come to. Written from the pages of the cloud's loops, not from them. */
import type { Node, Service } from '@gyropilot/api'
import { deepEqual, findCondition, resources } from '@gyropilot/api'
import type { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import type { Objects } from '../../simulated/objects.ts'
import type { EndStateRule } from '../end-state.ts'

const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers'
const CLEANUP = 'service.kubernetes.io/load-balancer-cleanup'
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized'

/** By name. The faults of the cloud must be over. */
export function cloudRules(cloud: InMemoryCloud): Readonly<Record<string, EndStateRule>> {
  return {
    'Services have the load balancers they ask for': (objects) => balancers(objects, cloud),
    'nodes have their routes': (objects) => routes(objects, cloud),
    'nodes are initialised by their cloud': (objects) => machines(objects, cloud),
  }
}

function* balancers(objects: Objects, cloud: InMemoryCloud): Iterable<string> {
  const backends = objects
    .all(resources.nodes)
    .filter((node) => node.metadata?.labels?.[EXCLUDED] === undefined)
    .map(({ metadata }) => metadata?.name ?? '')
    .toSorted()
  const left = new Map(cloud.balancers)
  for (const service of objects.all(resources.services)) {
    const name = `Service ${service.metadata?.namespace}/${service.metadata?.name}`
    const id = `a${service.metadata?.uid?.replaceAll('-', '')}`.slice(0, 32)
    const balancer = left.get(id)
    if (!wantsBalancer(service)) {
      if (service.metadata?.finalizers?.includes(CLEANUP)) yield `${name} keeps its finalizer`
      if (service.status?.loadBalancer?.ingress !== undefined) yield `${name} keeps its address`
      continue
    }
    left.delete(id)
    if (balancer === undefined) yield `${name} has no load balancer`
    else if (!deepEqual(service.status?.loadBalancer, balancer.status))
      yield `${name} shows ${JSON.stringify(service.status?.loadBalancer)} and not ${JSON.stringify(balancer.status)}`
    else if (balancer.nodes.join() !== backends.join())
      yield `the balancer of ${name} sends to ${balancer.nodes.join()} and not to ${backends.join()}`
    if (!service.metadata?.finalizers?.includes(CLEANUP)) yield `${name} has no finalizer`
  }
  for (const { service } of left.values()) yield `a load balancer of ${service} is left`
}

function wantsBalancer({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer' && !spec.loadBalancerClass
}

function* routes(objects: Objects, cloud: InMemoryCloud): Iterable<string> {
  const wanted = objects
    .all(resources.nodes)
    .flatMap((node) => (node.spec?.podCIDRs ?? []).map((cidr) => `${node.metadata?.name} ${cidr}`))
  const listed = cloud.routeTable.map(
    ({ targetNode, destinationCidr }) => `${targetNode} ${destinationCidr}`,
  )
  if (listed.toSorted().join() !== wanted.toSorted().join())
    yield `the cloud has the routes ${listed.join(', ')} and not ${wanted.join(', ')}`
  for (const node of objects.all(resources.nodes)) {
    const unavailable = findCondition(node.status?.conditions, 'NetworkUnavailable')?.status
    const hasCidrs = (node.spec?.podCIDRs ?? []).length > 0
    if (hasCidrs && unavailable !== 'False')
      yield `Node ${node.metadata?.name} has its routes and NetworkUnavailable ${unavailable}`
  }
}

function* machines(objects: Objects, cloud: InMemoryCloud): Iterable<string> {
  for (const node of objects.all(resources.nodes)) {
    const { name = '' } = node.metadata ?? {}
    const machine = cloud.machine(name)
    const isReady = findCondition(node.status?.conditions, 'Ready')?.status === 'True'
    if (machine === undefined) {
      if (!isReady) yield `Node ${name} is not ready and has no machine`
      continue
    }
    if (isUninitialized(node)) yield `Node ${name} was never initialised`
    if (node.spec?.providerID !== cloud.providerIdOf(name))
      yield `Node ${name} has the provider ID ${node.spec?.providerID}`
    for (const { type, address } of machine.addresses ?? [])
      if (!node.status?.addresses?.some((own) => own.type === type && own.address === address))
        yield `Node ${name} does not have the address ${address}`
  }
}

function isUninitialized({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === UNINITIALIZED) ?? false
}
