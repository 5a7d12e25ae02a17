import type { EndpointSlice } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { configMap, deployment, namespace, pod, replicaSet, service } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
const AUTHORITY = 'kube-root-ca.crt'

function endpointsOf(cluster: SimulatedCluster, name: string): number {
  const isOwn = ({ metadata }: EndpointSlice): boolean =>
    metadata?.labels?.['kubernetes.io/service-name'] === name
  return cluster.objects
    .all(resources.endpointslices, 'default')
    .filter(isOwn)
    .reduce((sum, slice) => sum + (slice.endpoints?.length ?? 0), 0)
}

export const surroundingScenarios: readonly Scenario[] = [
  {
    name: 'a Service follows its pods and goes away',
    controllers: ['endpointslice-controller'],
    async play(cluster) {
      await cluster.create(service('web', 'web'))
      await cluster.create(service('brief', 'web'))
      await cluster.create(replicaSet('web', { replicas: 2 }))
      await cluster.advance(STEP_MS)
      await cluster.patch(resources.replicasets, 'default', 'web', {
        type: 'merge',
        value: { spec: { replicas: 3 } },
      })
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.services, 'default', 'brief')
      await cluster.patch(resources.replicasets, 'default', 'web', {
        type: 'merge',
        value: { spec: { replicas: 1 } },
      })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const count = endpointsOf(cluster, 'web')
      if (count !== 1) yield `Service web has ${count} endpoints and not 1`
      if (endpointsOf(cluster, 'brief') !== 0) yield 'Service brief still has endpoints'
    },
  },
  {
    name: 'a namespace comes, is filled, goes and comes back',
    controllers: [
      'namespace-controller',
      'serviceaccount-controller',
      'root-ca-certificate-publisher-controller',
    ],
    async play(cluster) {
      await cluster.create(namespace('shop'))
      await cluster.advance(STEP_MS)
      await cluster.create(deployment('web', { namespace: 'shop', replicas: 2 }))
      await cluster.create(configMap('settings', [], { namespace: 'shop' }))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.namespaces, undefined, 'shop')
      const isGone = () =>
        cluster.objects.find(resources.namespaces, undefined, 'shop') === undefined
      if (!(await cluster.until(isGone, 600_000)))
        throw new Error('namespace shop did not go within 10 minutes')
      await cluster.create(namespace('shop'))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      for (const type of [resources.deployments, resources.replicasets, resources.pods]) {
        const left = cluster.objects.all<object>(type as never, 'shop')
        if (left.length > 0) yield `${left.length} ${type.resource} are in the new namespace`
      }
    },
  },
  {
    name: 'what every namespace has is deleted and spoiled',
    controllers: ['serviceaccount-controller', 'root-ca-certificate-publisher-controller'],
    async play(cluster) {
      await cluster.delete(resources.serviceaccounts, 'default', 'default')
      await cluster.delete(resources.configmaps, 'kube-public', AUTHORITY)
      const value = { data: { 'ca.crt': 'spoiled' } }
      await cluster.patch(resources.configmaps, 'default', AUTHORITY, { type: 'merge', value })
      await cluster.advance(STEP_MS)
    },
  },
  ...(['Background', 'Foreground', 'Orphan'] as const).map((policy): Scenario => ({
    name: `an owner with dependents of dependents is deleted with ${policy}`,
    controllers: ['garbage-collector-controller'],
    nodes: 0,
    async play(cluster) {
      const owner = await cluster.create(configMap('owner'))
      const other = await cluster.create(configMap('other'))
      const child = await cluster.create(configMap('child', [owner], { blocks: true }))
      await cluster.create(configMap('shared', [owner, other]))
      await cluster.create(configMap('grandchild', [child], { blocks: true }))
      const stranger = {
        ...owner,
        metadata: { ...owner.metadata, uid: '00000000-0000-4000-8000-000000000000' },
      }
      await cluster.create(configMap('lost', [stranger]))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.configmaps, 'default', 'owner', { propagationPolicy: policy })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const names = cluster.objects
        .all(resources.configmaps, 'default')
        .map(({ metadata }) => metadata?.name ?? '')
        .filter((name) => name !== AUTHORITY)
      const wanted =
        policy === 'Orphan' ? ['child', 'grandchild', 'other', 'shared'] : ['other', 'shared']
      if (names.join() !== wanted.join())
        yield `config maps ${names.join(', ')} are left and not ${wanted.join(', ')}`
      const shared = cluster.objects.find(resources.configmaps, 'default', 'shared')
      if (shared?.metadata?.ownerReferences?.length !== 1)
        yield 'shared does not have exactly its other owner'
    },
  })),
  {
    name: 'a lone pod belongs to nobody',
    controllers: ['replicaset-controller', 'garbage-collector-controller'],
    async play(cluster) {
      await cluster.create(pod('lone', { app: 'lone' }))
      await cluster.create(replicaSet('web', { replicas: 1 }))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.replicasets, 'default', 'web', {
        propagationPolicy: 'Foreground',
      })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const names = cluster.objects
        .all(resources.pods, 'default')
        .map(({ metadata }) => metadata?.name)
      if (names.join() !== 'lone') yield `pods ${names.join(', ')} are left and not lone`
    },
  },
]
