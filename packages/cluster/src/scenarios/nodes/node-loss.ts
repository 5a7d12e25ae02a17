/** Stories of nodes that fall silent or are tainted, and of their pods. */
import type { Node, Pod } from '@gyropilot/api'
import { findCondition, isPodReady, isTerminating, resources } from '@gyropilot/api'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { pod, replicaSet } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 5_000
const PATIENCE_MS = 900_000
const SILENT_MS = 60_000
const UNREACHABLE = 'node.kubernetes.io/unreachable'
const TAINT = { key: 'example.com/leave', effect: 'NoExecute' } as const

type Tolerations = NonNullable<NonNullable<Pod['spec']>['tolerations']>

function tolerating(key: string, tolerationSeconds: number): Tolerations {
  return [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }]
}

async function until(cluster: SimulatedCluster, what: string, holds: () => boolean): Promise<void> {
  if (!(await cluster.until(holds, PATIENCE_MS))) throw new Error(`it was never so: ${what}`)
}

function webPods(cluster: SimulatedCluster): readonly Pod[] {
  return cluster.objects
    .all(resources.pods, 'default')
    .filter(({ metadata }) => metadata?.labels?.['app'] === 'web')
}

function readyOf(cluster: SimulatedCluster, name: string): string | undefined {
  const node = cluster.objects.find(resources.nodes, undefined, name)
  return findCondition(node?.status?.conditions, 'Ready')?.status
}

async function setTaints(
  cluster: SimulatedCluster,
  taints: NonNullable<Node['spec']>['taints'] | null,
): Promise<void> {
  const value = { spec: { taints } }
  await cluster.patch(resources.nodes, undefined, 'node-1', { type: 'merge', value })
}

export const nodeLossScenarios: readonly Scenario[] = [
  {
    name: 'a node falls silent, its pods come up elsewhere, and it is back',
    controllers: ['node-lifecycle-controller', 'taint-eviction-controller'],
    nodes: 2,
    // Half the usual patience: what is explored are positions, and most of them are heartbeats.
    configuration: {
      nodeLifecycle: {
        ...defaultControllersConfiguration.nodeLifecycle,
        nodeMonitorGracePeriodMs: 25_000,
      },
    },
    async play(cluster) {
      const web = replicaSet('web', { replicas: 2 })
      const { template } = web.spec!
      const spec = { ...template!.spec!, tolerations: tolerating(UNREACHABLE, 5) }
      await cluster.create({ ...web, spec: { ...web.spec!, template: { ...template, spec } } })
      await until(cluster, 'both run', () => webPods(cluster).filter(isPodReady).length === 2)
      const startMs = cluster.clock.monotonicMs()
      cluster.network.partition('node-2', undefined, SILENT_MS)
      await until(cluster, 'node-2 is silent', () => readyOf(cluster, 'node-2') === 'Unknown')
      await until(cluster, 'both run on node-1', () => {
        const ready = webPods(cluster).filter(
          (each) => isPodReady(each) && each.spec?.nodeName === 'node-1',
        )
        return ready.length === 2
      })
      await cluster.advance(Math.max(0, startMs + SILENT_MS - cluster.clock.monotonicMs()))
      await until(cluster, 'node-2 is back', () => readyOf(cluster, 'node-2') === 'True')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (readyOf(cluster, 'node-2') !== 'True') yield 'node-2 is not back'
      const pods = webPods(cluster)
      if (pods.length !== 2 || !pods.every(isPodReady)) yield `${pods.length} pods, not all ready`
    },
  },
  {
    name: 'a taint drives out who tolerates it too short, and no one when it is gone in time',
    controllers: ['taint-eviction-controller'],
    async play(cluster) {
      for (const [name, seconds] of [
        ['hasty', 5],
        ['patient', 30],
      ] as const) {
        const base = pod(name, { app: name })
        const tolerations = tolerating(TAINT.key, seconds)
        await cluster.create({ ...base, spec: { ...base.spec!, tolerations } })
      }
      const stays = (name: string): Pod | undefined =>
        cluster.objects.find(resources.pods, 'default', name)
      await until(cluster, 'both run', () =>
        ['hasty', 'patient'].every((name) => {
          const found = stays(name)
          return found !== undefined && isPodReady(found)
        }),
      )
      await setTaints(cluster, [TAINT])
      await until(cluster, 'the hasty one is gone', () => stays('hasty') === undefined)
      await setTaints(cluster, null)
      await cluster.advance(40_000)
    },
    *ends(cluster) {
      const patient = cluster.objects.find(resources.pods, 'default', 'patient')
      if (patient === undefined || isTerminating(patient)) yield 'the patient pod did not stay'
      if (cluster.objects.find(resources.pods, 'default', 'hasty') !== undefined)
        yield 'the hasty pod is still there'
    },
  },
]
