/** Quotas: what they say is used is what is there. */
import type { Pod, ResourceQuota } from '@gyropilot/api'
import { compareQuantities, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { configMap, pod, service } from '../objects.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
type Amounts = NonNullable<NonNullable<ResourceQuota['spec']>['hard']>

const quota: ResourceQuota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'box', namespace: 'default' },
  spec: {
    hard: {
      pods: '4',
      'count/pods': '9',
      'requests.cpu': '2',
      services: '3',
      'count/configmaps': '9',
      'example.com/unknown': '1',
    },
  },
}

function hungryPod(name: string, cpu: string, run?: string): Pod {
  const { metadata, spec, ...rest } = pod(name, { app: name })
  const containers = spec!.containers.map((container) => ({
    ...container,
    resources: { requests: { cpu } },
  }))
  return {
    ...rest,
    metadata: { ...metadata, ...(run && { annotations: { 'sim.kubelet/run': run } }) },
    spec: { ...spec, restartPolicy: run === undefined ? 'Always' : 'Never', containers },
  }
}

const statusOf = (cluster: SimulatedCluster) =>
  cluster.objects.find(resources.resourcequotas, 'default', 'box')?.status

/** What differs, by value. */
function* differences(what: string, found: Amounts = {}, wanted: Amounts): Iterable<string> {
  for (const name of new Set([...Object.keys(found), ...Object.keys(wanted)])) {
    const [is, should] = [found[name], wanted[name]]
    if (is === undefined || should === undefined || compareQuantities(is, should) !== 0)
      yield `${name} ${what}: ${is} and not ${should}`
  }
}

export const quotaScenarios: readonly Scenario[] = [
  {
    name: 'a quota counts what comes, changes and goes',
    controllers: ['resourcequota-controller'],
    async play(cluster) {
      await cluster.create(quota)
      await untilSo(cluster, 'box was counted', () => statusOf(cluster)?.used !== undefined)
      await cluster.create(hungryPod('stays', '300m'))
      await cluster.create(hungryPod('ends', '200m', '5s'))
      await cluster.create(hungryPod('goes', '100m'))
      for (const name of ['a', 'b', 'c']) await cluster.create(configMap(name))
      await cluster.create(service('shut', 'web'))
      await cluster.create(service('open', 'web'))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'goes')
      await cluster.delete(resources.configmaps, 'default', 'b')
      await cluster.delete(resources.services, 'default', 'shut')
      await cluster.advance(STEP_MS)
      const hard = { pods: '1', services: null, 'count/services': '5' }
      await cluster.patch(resources.resourcequotas, 'default', 'box', {
        type: 'merge',
        value: { spec: { hard } },
      })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const { hard = {}, used = {} } = statusOf(cluster) ?? {}
      const { services: _, ...rest } = quota.spec!.hard!
      yield* differences('at most', hard, { ...rest, pods: '1', 'count/services': '5' })
      yield* differences('used', used, {
        pods: '1',
        'count/pods': '2',
        'requests.cpu': '300m',
        // The authority of the namespace is one of them.
        'count/configmaps': '3',
        // Of the server itself.
        'count/services': '2',
      })
    },
  },
]
