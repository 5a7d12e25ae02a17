/** Autoscalers: where they end hangs on the load alone. */
import type { Deployment } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { autoscaler, deployment } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const AUTOSCALER = 'horizontal-pod-autoscaler-controller'
const STEP_MS = 30_000
const PATIENCE_MS = 1_200_000

/** Half of a pod's request, 100m, is asked for. */
function loaded(load: string): Deployment {
  const web = deployment('web', { replicas: 1 })
  const container = { name: 'web', image: 'web:1', resources: { requests: { cpu: '200m' } } }
  const annotations = { 'sim.kubelet/shared-cpu': load }
  const template = {
    metadata: { ...web.spec!.template.metadata, annotations },
    spec: { containers: [container] },
  }
  return { ...web, spec: { ...web.spec!, template } }
}

function sizeOf(cluster: SimulatedCluster): number {
  return cluster.objects.find(resources.deployments, 'default', 'web')?.spec?.replicas ?? 0
}

async function untilSize(cluster: SimulatedCluster, size: number): Promise<void> {
  if (!(await cluster.until(() => sizeOf(cluster) === size, PATIENCE_MS)))
    throw new Error(`web never had ${size} replicas`)
}

export const autoscalingScenarios: readonly Scenario[] = [
  {
    name: 'a Deployment grows with its load',
    controllers: [AUTOSCALER],
    async play(cluster) {
      await cluster.create(loaded('500m'))
      await cluster.create(autoscaler('web', { deployment: 'web', spec: { maxReplicas: 8 } }))
      await untilSize(cluster, 5)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (sizeOf(cluster) !== 5) yield `web has ${sizeOf(cluster)} replicas and not 5`
    },
  },
  {
    name: 'a Deployment shrinks when its load goes',
    controllers: [AUTOSCALER],
    async play(cluster) {
      const behavior = { scaleDown: { stabilizationWindowSeconds: 0 } }
      await cluster.create(loaded('300m,2m=100m'))
      await cluster.create(
        autoscaler('web', { deployment: 'web', spec: { maxReplicas: 4, behavior } }),
      )
      await untilSize(cluster, 3)
      await untilSize(cluster, 1)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (sizeOf(cluster) !== 1) yield `web has ${sizeOf(cluster)} replicas and not 1`
    },
  },
]
