/** Stories of the scheduler and of kubelets: what is disturbed is theirs, and not the controllers'. */
import type { Pod } from '@gyropilot/api'
import { isPodReady, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { pod } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 30_000
const PATIENCE_MS = 900_000

/** Two of them do not fit a node of 8 cpu. */
function largePod(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  const base = pod(name, { app: name })
  const [container] = base.spec?.containers ?? []
  const resourcesOf = { requests: { cpu: '5' } }
  return {
    ...base,
    spec: { ...base.spec, containers: [{ ...container!, resources: resourcesOf }], ...spec },
  }
}

function* states(
  cluster: SimulatedCluster,
  wanted: Readonly<Record<string, 'ready' | 'pending' | 'gone'>>,
): Iterable<string> {
  for (const [name, state] of Object.entries(wanted)) {
    const found = cluster.objects.find(resources.pods, 'default', name)
    const is = found === undefined ? 'gone' : isPodReady(found) ? 'ready' : 'pending'
    if (is !== state) yield `pod ${name} is ${is} and not ${state}`
  }
}

async function untilReady(cluster: SimulatedCluster, name: string): Promise<void> {
  const isReady = (): boolean => [...states(cluster, { [name]: 'ready' })].length === 0
  if (!(await cluster.until(isReady, PATIENCE_MS))) throw new Error(`${name} was never ready`)
}

export const placementScenarios: readonly Scenario[] = [
  {
    name: 'an important pod takes the place of another',
    controllers: [],
    subject: 'scheduler',
    async play(cluster) {
      await cluster.create({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'high' },
        value: 1_000,
      } as object)
      await cluster.create(largePod('low'))
      await untilReady(cluster, 'low')
      await cluster.create(largePod('high', { priorityClassName: 'high' }))
      await cluster.create(largePod('late'))
      await untilReady(cluster, 'high')
      // Who waits for a node is tried again for ever.
      if ([...states(cluster, { late: 'pending' })].length > 0) throw new Error('late has a place')
      await cluster.delete(resources.pods, 'default', 'late')
    },
    ends: (cluster) => states(cluster, { low: 'gone', high: 'ready', late: 'gone' }),
  },
  {
    name: 'a pod waits for the ConfigMap of its volume and runs',
    controllers: [],
    subject: 'node-1',
    async play(cluster) {
      const volumes = [{ name: 'v', configMap: { name: 'settings' } }]
      await cluster.create(largePod('web', { volumes }))
      await cluster.advance(STEP_MS)
      await cluster.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'settings', namespace: 'default' },
      } as object)
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => states(cluster, { web: 'ready' }),
  },
]
