import type { Service } from '../generated/core-v1.ts'
import type { ResourceList } from '../pods/pod-resources.ts'
import type { UsageEvaluator } from './usage-evaluator.ts'

const COUNTED: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.loadbalancers',
  'services.nodeports',
])

export const serviceEvaluator: UsageEvaluator = {
  resource: { group: '', resource: 'services' },
  counts: (name) => COUNTED.has(name),
  usage: (object) => serviceUsage(object as Service),
  matchesScope: () => false,
  admits: ({ subresource }) => subresource === '',
  changesUsage: (previous, current) => limitedType(previous) !== limitedType(current),
}

function serviceUsage({ spec }: Service): ResourceList {
  const { type, ports = [], allocateLoadBalancerNodePorts } = spec ?? {}
  const usage = {
    'count/services': '1',
    services: '1',
    'services.nodeports': '0',
    'services.loadbalancers': '0',
  }
  if (type === 'NodePort') usage['services.nodeports'] = String(ports.length)
  if (type === 'LoadBalancer') {
    const taken = ports.filter(({ nodePort = 0 }) => nodePort !== 0)
    // Ports that are still to be given out count from the start.
    const nodePorts = allocateLoadBalancerNodePorts === false ? taken : ports
    usage['services.nodeports'] = String(nodePorts.length)
    usage['services.loadbalancers'] = '1'
  }
  return usage
}

/** The types that have limits of their own. */
function limitedType({ spec }: Service): string {
  const type = spec?.type ?? ''
  return type === 'NodePort' || type === 'LoadBalancer' ? type : ''
}
