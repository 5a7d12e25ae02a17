/** Stories of a cluster in a cloud. */
import { resources } from '@gyropilot/api'
import type { Node, Service } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { service } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
const PATIENCE_MS = 600_000
const SUBJECT = 'cloud-controller-manager'
const TAINT = 'node.cloudprovider.kubernetes.io/uninitialized'

function balanced(name: string): Service {
  const { spec, ...rest } = service(name, 'web')
  return { ...rest, spec: { ...spec!, type: 'LoadBalancer' } }
}

function addressOf(cluster: SimulatedCluster, name: string): string | undefined {
  const found = cluster.objects.find(resources.services, 'default', name)
  return found?.status?.loadBalancer?.ingress?.[0]?.ip
}

async function untilAddressed(cluster: SimulatedCluster, name: string): Promise<void> {
  const hasAddress = (): boolean => addressOf(cluster, name) !== undefined
  if (!(await cluster.until(hasAddress, PATIENCE_MS)))
    throw new Error(`Service ${name} never got an address`)
}

/** Without a kubelet: it is never ready. */
function bareNode(name: string, podCidr: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: {
      podCIDR: podCidr,
      podCIDRs: [podCidr],
      taints: [{ key: TAINT, value: 'true', effect: 'NoSchedule' }],
    },
  }
}

export const cloudScenarios: readonly Scenario[] = [
  {
    name: 'load balancers come, change and go',
    controllers: ['service-lb-controller'],
    cloud: true,
    subject: SUBJECT,
    async play(cluster) {
      await cluster.create(balanced('stays'))
      await cluster.create(balanced('changes'))
      await cluster.create(balanced('goes'))
      for (const name of ['stays', 'changes', 'goes']) await untilAddressed(cluster, name)
      await cluster.patch(resources.services, 'default', 'changes', {
        type: 'merge',
        value: { spec: { type: 'ClusterIP' } },
      })
      await cluster.delete(resources.services, 'default', 'goes')
      await cluster.create(bareNode('node-9', '10.250.9.0/24'))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (cluster.objects.find(resources.services, 'default', 'goes')) yield 'goes is still there'
      if (addressOf(cluster, 'stays') === undefined) yield 'stays has no address'
      const count = cluster.cloud?.balancers.size
      if (count !== 1) yield `the cloud has ${count} load balancers and not 1`
    },
  },
  {
    name: 'nodes join a cloud, and those without a machine leave it',
    controllers: [
      'cloud-node-controller',
      'cloud-node-lifecycle-controller',
      'node-route-controller',
    ],
    cloud: true,
    subject: SUBJECT,
    async play(cluster) {
      await cluster.create(bareNode('node-8', '10.250.8.0/24'))
      await cluster.create(bareNode('stranger', '10.250.7.0/24'))
      cluster.cloud?.addMachine('node-7', { isShutDown: true })
      await cluster.create(bareNode('node-7', '10.250.6.0/24'))
      await cluster.advance(3 * STEP_MS)
      cluster.cloud?.terminate('node-8')
      await cluster.advance(3 * STEP_MS)
    },
    *ends(cluster) {
      const nodes = cluster.objects.all(resources.nodes)
      const names = nodes.map(({ metadata }) => metadata?.name).toSorted()
      if (names.join() !== 'node-1,node-7') yield `the nodes ${names.join()} are left`
      const off = nodes.find(({ metadata }) => metadata?.name === 'node-7')
      if (!off?.spec?.taints?.some(({ key }) => key.endsWith('/shutdown')))
        yield 'node-7 is off and not marked'
    },
  },
]
