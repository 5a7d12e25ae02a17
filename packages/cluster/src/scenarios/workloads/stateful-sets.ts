/** Stories of StatefulSets. */
import type { Pod, StatefulSet } from '@gyropilot/api'
import { controllerOf, isPodActive, isPodReady, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { statefulSet } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const STATEFUL_SET = 'statefulset-controller'
const COLLECTOR = 'garbage-collector-controller'

/** Longer than anything takes that is not disturbed. */
const STEP_MS = 20_000
const PATIENCE_MS = 600_000

const PARALLEL = { podManagementPolicy: 'Parallel' } as const

function podsOf(cluster: SimulatedCluster): readonly Pod[] {
  return cluster.objects
    .all(resources.pods, 'default')
    .filter((found) => found.metadata?.labels?.['app'] === 'db')
}

function* ready(cluster: SimulatedCluster, names: readonly string[]): Iterable<string> {
  const found = podsOf(cluster)
    .filter((pod) => isPodActive(pod) && isPodReady(pod))
    .map(({ metadata }) => metadata?.name)
    .toSorted()
  if (found.join() !== names.join()) yield `ready are ${found.join()} and not ${names.join()}`
}

async function untilReady(cluster: SimulatedCluster, names: readonly string[]): Promise<void> {
  const isReady = (): boolean => [...ready(cluster, names)].length === 0
  if (!(await cluster.until(isReady, PATIENCE_MS)))
    throw new Error(`there never were ${names.join()}`)
}

function change(cluster: SimulatedCluster, spec: object): Promise<StatefulSet> {
  return cluster.patch(resources.statefulsets, 'default', 'db', { type: 'merge', value: { spec } })
}

function setImage(cluster: SimulatedCluster, image: string): Promise<StatefulSet> {
  const value = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } }
  return cluster.patch(resources.statefulsets, 'default', 'db', { type: 'strategic', value })
}

function* ofImage(cluster: SimulatedCluster, image: string): Iterable<string> {
  for (const { metadata, spec } of podsOf(cluster))
    if (spec?.containers[0]?.image !== image)
      yield `${metadata?.name} has image ${spec?.containers[0]?.image} and not ${image}`
}

export const statefulSetScenarios: readonly Scenario[] = [
  {
    name: 'a StatefulSet is made, grows and shrinks in order',
    controllers: [STATEFUL_SET],
    managers: 2,
    async play(cluster) {
      await cluster.create(statefulSet('db', { replicas: 2 }))
      await cluster.advance(STEP_MS)
      await change(cluster, { replicas: 3 })
      await cluster.advance(STEP_MS)
      await change(cluster, { replicas: 1 })
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => ready(cluster, ['db-0']),
  },
  {
    name: 'a Parallel StatefulSet grows, moves its ordinals and loses pods',
    controllers: [STATEFUL_SET],
    async play(cluster) {
      await cluster.create(statefulSet('db', { replicas: 3, spec: PARALLEL }))
      await untilReady(cluster, ['db-0', 'db-1', 'db-2'])
      await cluster.delete(resources.pods, 'default', 'db-1')
      await change(cluster, { ordinals: { start: 1 } })
      await cluster.advance(STEP_MS)
    },
    ends: (cluster) => ready(cluster, ['db-1', 'db-2', 'db-3']),
  },
  {
    name: 'a StatefulSet rolls out a new template and back',
    controllers: [STATEFUL_SET],
    async play(cluster) {
      await cluster.create(statefulSet('db', { replicas: 2, spec: { revisionHistoryLimit: 1 } }))
      await untilReady(cluster, ['db-0', 'db-1'])
      await setImage(cluster, 'web:2')
      await cluster.advance(STEP_MS)
      await setImage(cluster, 'web:1')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* ready(cluster, ['db-0', 'db-1'])
      yield* ofImage(cluster, 'web:1')
      const revisions = cluster.objects.all(resources.controllerrevisions, 'default')
      // One is right as well: a controller that is away meanwhile never sees the other template.
      if (revisions.length > 2) yield `there are ${revisions.length} revisions and not 2`
    },
  },
  {
    name: 'a StatefulSet is left by its pods, orphaned and made again',
    controllers: [STATEFUL_SET, COLLECTOR],
    async play(cluster) {
      await cluster.create(statefulSet('db', { replicas: 2, spec: PARALLEL }))
      await untilReady(cluster, ['db-0', 'db-1'])
      const policy = { propagationPolicy: 'Orphan' } as const
      await cluster.delete(resources.statefulsets, 'default', 'db', policy)
      const isGone = (): boolean =>
        cluster.objects.find(resources.statefulsets, 'default', 'db') === undefined
      if (!(await cluster.until(isGone, PATIENCE_MS))) throw new Error('the set never went')
      await cluster.create(statefulSet('db', { replicas: 2, image: 'web:2', spec: PARALLEL }))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* ready(cluster, ['db-0', 'db-1'])
      yield* ofImage(cluster, 'web:2')
      const set = cluster.objects.find(resources.statefulsets, 'default', 'db')
      for (const pod of podsOf(cluster))
        if (controllerOf(pod)?.uid !== set?.metadata?.uid)
          yield `${pod.metadata?.name} is not of the new set`
    },
  },
  {
    name: 'claims of a StatefulSet are made and get their owners',
    controllers: [STATEFUL_SET],
    async play(cluster) {
      const spec = {
        ...PARALLEL,
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      }
      await cluster.create(statefulSet('db', { replicas: 2, spec: spec as object }))
      await cluster.advance(STEP_MS)
      const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete', whenDeleted: 'Delete' }
      await change(cluster, { persistentVolumeClaimRetentionPolicy })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const claims = cluster.objects.all(resources.persistentvolumeclaims, 'default')
      const names = claims.map(({ metadata }) => metadata?.name).toSorted()
      if (names.join() !== 'data-db-0,data-db-1') yield `the claims are ${names.join()}`
      for (const claim of claims) {
        const owners = (claim.metadata?.ownerReferences ?? []).map(({ kind, name }) => kind + name)
        if (owners.join() !== 'StatefulSetdb')
          yield `${claim.metadata?.name} belongs to ${owners.join() || 'nobody'}`
      }
    },
  },
]
