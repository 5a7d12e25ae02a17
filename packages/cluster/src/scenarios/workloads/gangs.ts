/** Jobs whose pods are scheduled all or none. Their kinds are alpha: here they are custom resources, the gate's roles are added. */
import type { Job, KubernetesObject, Pod, ResourceType } from '@gyropilot/api'
import { POD_GROUPS, isConditionTrue, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { job } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 10_000
/** Longer than an event can be late. */
const LATEST_NEWS_MS = 20_000
const PATIENCE_MS = 600_000
/** Longer than a reflector waits before it asks again for what was not served. */
const SERVED_MS = 60_000
const GROUP = 'scheduling.k8s.io'
const VERSION = 'v1alpha2'
const FINALIZER = 'scheduling.k8s.io/podgroup-protection'
const SCHEDULING = { group: GROUP, version: VERSION, namespaced: true } as const
const WORKLOADS = { ...SCHEDULING, resource: 'workloads', kind: 'Workload' } as const
const KINDS: readonly ResourceType<KubernetesObject>[] = [WORKLOADS, POD_GROUPS]

async function serve(cluster: SimulatedCluster): Promise<void> {
  for (const { resource, kind } of KINDS)
    await cluster.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${resource}.${GROUP}`,
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for a simulation' },
      },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: resource, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: [
          {
            name: VERSION,
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        ],
      },
    } as object)
  for (const account of ['job-controller', 'podgroup-protection-controller'])
    await allow(cluster, account)
  await cluster.advance(SERVED_MS)
}

async function allow(cluster: SimulatedCluster, account: string): Promise<void> {
  const name = `gangs:${account}`
  const apiGroup = 'rbac.authorization.k8s.io'
  const verbs = ['get', 'list', 'watch', 'create', 'update']
  await cluster.create({
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      { apiGroups: [GROUP], resources: KINDS.map(({ resource }) => resource), verbs },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    ],
  } as object)
  await cluster.create({
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'kube-system' }],
  } as object)
}

function work(cluster: SimulatedCluster): Job | undefined {
  return cluster.objects.find(resources.jobs, 'default', 'work')
}

function podsOf(cluster: SimulatedCluster): readonly Pod[] {
  return cluster.objects.all(resources.pods, 'default')
}

async function until(cluster: SimulatedCluster, what: string, holds: () => boolean): Promise<void> {
  if (!(await cluster.until(holds, PATIENCE_MS))) throw new Error(`never ${what}`)
}

export const gangScenarios: readonly Scenario[] = [
  {
    name: 'the pods of a gang share a PodGroup, which stays until the last of them has ended',
    controllers: ['podgroup-protection-controller', 'job-controller'],
    featureGates: { GenericWorkload: true, WorkloadWithJob: true },
    prepare: serve,
    async play(cluster) {
      const spec = { completions: 2, parallelism: 2, completionMode: 'Indexed' } as const
      const annotations = { 'sim.kubelet/run': '60s' }
      await cluster.create(job('work', { spec, annotations }))
      await until(cluster, 'two pods', () => podsOf(cluster).length === 2)
      const groups = cluster.client.resource<KubernetesObject>(POD_GROUPS, 'default')
      const [group] = (await groups.list()).items
      const name = group?.metadata?.name ?? ''
      // What an admission plug-in adds to the built-in kind.
      const value = { metadata: { finalizers: [FINALIZER] } }
      await groups.patch(name, { type: 'merge', value })
      // The protection looks into its caches alone: what they show late by design it cannot hold for.
      await cluster.advance(LATEST_NEWS_MS)
      await groups.delete(name)
      await cluster.advance(STEP_MS)
      const isOver = isConditionTrue(work(cluster)?.status?.conditions, 'Complete')
      const groupsLeft = cluster.objects.all<KubernetesObject>(POD_GROUPS, 'default').length
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
      for (const [type, wanted] of [
        [WORKLOADS, 1],
        [POD_GROUPS, 0],
      ] as const) {
        const { length } = cluster.objects.all<KubernetesObject>(type, 'default')
        if (length !== wanted) yield `${length} ${type.resource} are left and not ${wanted}`
      }
    },
  },
]
