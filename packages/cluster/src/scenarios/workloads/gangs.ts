/** Jobs whose pods are scheduled all or none. */
import type { Job, Pod } from '@gyropilot/api'
import { POD_GROUPS, isConditionTrue, resources, resourcesOnRequest } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { job } from '../objects.ts'
import { GANG_GATES, POD_GROUPS_SERVED } from '../pod-groups.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
/** Longer than an event can be late. */
const LATEST_NEWS_MS = 20_000
const PATIENCE_MS = 600_000
const WORKLOADS = resourcesOnRequest.workloads

function work(cluster: SimulatedCluster): Job | undefined {
  return cluster.objects.find(resources.jobs, 'default', 'work')
}

function podsOf(cluster: SimulatedCluster): readonly Pod[] {
  return cluster.objects.all(resources.pods, 'default')
}

async function until(cluster: SimulatedCluster, what: string, holds: () => boolean): Promise<void> {
  if (!(await cluster.until(holds, PATIENCE_MS))) throw new Error(`never ${what}`)
}

/** Of two pods. A node of 8 cpu has room for three: for one gang, and a pod of another that may not have it. */
function largeGang(name: string): Job {
  const container = {
    name: 'work',
    image: 'work:1',
    resources: { requests: { cpu: '2500m' } },
  }
  const template = {
    metadata: { annotations: { 'sim.kubelet/run': '60s' } },
    spec: { restartPolicy: 'Never' as const, containers: [container] },
  }
  const size = { completions: 2, parallelism: 2, completionMode: 'Indexed' } as const
  return job(name, { spec: { ...size, template } })
}

function isComplete(cluster: SimulatedCluster, name: string): boolean {
  const found: Job | undefined = cluster.objects.find(resources.jobs, 'default', name)
  return isConditionTrue(found?.status?.conditions, 'Complete')
}

export const gangScenarios: readonly Scenario[] = [
  {
    name: 'the pods of a gang share a PodGroup, which stays until the last of them has ended',
    controllers: ['podgroup-protection-controller', 'job-controller'],
    featureGates: { GenericWorkload: true, WorkloadWithJob: true },
    runtimeConfig: POD_GROUPS_SERVED,
    async play(cluster) {
      const spec = { completions: 2, parallelism: 2, completionMode: 'Indexed' } as const
      const annotations = { 'sim.kubelet/run': '60s' }
      await cluster.create(job('work', { spec, annotations }))
      await until(cluster, 'two pods', () => podsOf(cluster).length === 2)
      const groups = cluster.client.resource(POD_GROUPS, 'default')
      const [group] = (await groups.list()).items
      const name = group?.metadata?.name ?? ''
      // The protection looks into its caches alone: what they show late by design it cannot hold for.
      await cluster.advance(LATEST_NEWS_MS)
      await groups.delete(name)
      await cluster.advance(STEP_MS)
      const isOver = isConditionTrue(work(cluster)?.status?.conditions, 'Complete')
      const groupsLeft = cluster.objects.all(POD_GROUPS, 'default').length
      if (!isOver && groupsLeft !== 1)
        throw new Error('the PodGroup went before its pods had ended')
      await until(cluster, 'complete', () =>
        isConditionTrue(work(cluster)?.status?.conditions, 'Complete'),
      )
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (work(cluster)?.status?.completedIndexes !== '0,1') yield 'work has not done both indexes'
      const names = new Set(podsOf(cluster).map((pod) => pod.spec?.schedulingGroup?.podGroupName))
      if (names.size !== 1 || names.has(undefined))
        yield `pods are of the groups ${[...names].join(', ')} and not of one`
      const workloads = cluster.objects.all(WORKLOADS, 'default').length
      if (workloads !== 1) yield `${workloads} workloads are left and not 1`
      const groups = cluster.objects.all(POD_GROUPS, 'default').length
      if (groups !== 0) yield `${groups} PodGroups are left`
    },
  },
  {
    name: 'two gangs with room for one of them both come to their end, also when one is bound by half',
    controllers: [],
    subject: 'scheduler',
    featureGates: GANG_GATES,
    runtimeConfig: POD_GROUPS_SERVED,
    async play(cluster) {
      const names = ['first', 'second']
      for (const name of names) await cluster.create(largeGang(name))
      await until(cluster, 'complete', () => names.every((name) => isComplete(cluster, name)))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      for (const name of ['first', 'second'])
        if (!isComplete(cluster, name)) yield `${name} is not complete`
    },
  },
]
