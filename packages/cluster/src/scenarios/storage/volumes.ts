/** Stories of claims and volumes. */
import type { Pod } from '@gyropilot/api'
import { isPodReady, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { claim, podWithClaim, statefulSet, volume } from '../objects.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const BINDER = 'persistentvolume-binder-controller'
const CLAIM_PROTECTION = 'persistentvolumeclaim-protection-controller'
const VOLUME_PROTECTION = 'persistentvolume-protection-controller'
const EXPANDER = 'persistentvolume-expander-controller'
const EPHEMERAL = 'ephemeral-volume-controller'
const ATTRIBUTES = 'volumeattributesclass-protection-controller'

const STEP_MS = 20_000

function claimsOf(cluster: SimulatedCluster): string {
  return cluster.objects
    .all(resources.persistentvolumeclaims, 'default')
    .map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`)
    .toSorted()
    .join()
}

function volumesOf(cluster: SimulatedCluster): string {
  return cluster.objects
    .all(resources.persistentvolumes)
    .map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`)
    .toSorted()
    .join()
}

function* expect(what: string, found: string | undefined, wanted: string): Iterable<string> {
  if (found !== wanted) yield `${what}: ${found} and not ${wanted}`
}

function readyPods(cluster: SimulatedCluster): string {
  return cluster.objects
    .all(resources.pods, 'default')
    .filter((pod: Pod) => isPodReady(pod))
    .map(({ metadata }) => metadata?.name)
    .toSorted()
    .join()
}

const grow = (cluster: SimulatedCluster, name: string, storage: string) =>
  cluster.patch(resources.persistentvolumeclaims, 'default', name, {
    type: 'merge',
    value: { spec: { resources: { requests: { storage } } } },
  })

export const volumeScenarios: readonly Scenario[] = [
  {
    name: 'a StatefulSet gets volumes, moves with them and leaves one behind',
    controllers: [BINDER, CLAIM_PROTECTION, VOLUME_PROTECTION],
    nodes: 2,
    async play(cluster) {
      const spec = { volumeClaimTemplates: [claim('data')] }
      await cluster.create(statefulSet('db', { replicas: 2, spec }))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'db-0')
      await cluster.patch(resources.statefulsets, 'default', 'db', {
        type: 'merge',
        value: { spec: { replicas: 1 } },
      })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* expect('ready', readyPods(cluster), 'db-0')
      yield* expect('claims', claimsOf(cluster), 'data-db-0 Bound,data-db-1 Bound')
    },
  },
  {
    name: 'claims are bound by hand, released, deleted and bound again',
    controllers: [BINDER, CLAIM_PROTECTION, VOLUME_PROTECTION],
    async play(cluster) {
      await cluster.create(volume('kept', { policy: 'Retain' }))
      await cluster.create(volume('lost', { policy: 'Delete', storage: '2Gi' }))
      await cluster.create(claim('a', { className: '' }))
      await cluster.create(claim('b', { className: '' }))
      await untilSo(cluster, 'both are bound', () => claimsOf(cluster) === 'a Bound,b Bound')
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.persistentvolumeclaims, 'default', 'a')
      await cluster.delete(resources.persistentvolumeclaims, 'default', 'b')
      await untilSo(cluster, 'both are let go', () => volumesOf(cluster) === 'kept Released')
      await cluster.advance(STEP_MS)
      await cluster.create(claim('c', { className: '' }))
      await cluster.patch(resources.persistentvolumes, undefined, 'kept', {
        type: 'merge',
        value: { spec: { claimRef: null } },
      })
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* expect('claims', claimsOf(cluster), 'c Bound')
      yield* expect('volumes', volumesOf(cluster), 'kept Bound')
    },
  },
  {
    name: 'a claim grows under its pod, and goes with it',
    controllers: [EXPANDER, CLAIM_PROTECTION, VOLUME_PROTECTION],
    async play(cluster) {
      await cluster.create(claim('data'))
      await cluster.create(podWithClaim('user', 'data'))
      await cluster.advance(STEP_MS)
      await grow(cluster, 'data', '2Gi')
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.persistentvolumeclaims, 'default', 'data')
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'user')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* expect('claims', claimsOf(cluster), '')
      yield* expect('volumes', volumesOf(cluster), '')
    },
  },
  {
    name: 'a pod has an ephemeral volume, and its next life another',
    controllers: [EPHEMERAL, BINDER],
    async play(cluster) {
      const user = podWithClaim('user', '')
      const { spec } = claim('scratch')
      const volumes = [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec: spec! } } }]
      const own = { ...user, spec: { ...user.spec!, volumes } }
      await cluster.create(own)
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.pods, 'default', 'user')
      await cluster.advance(STEP_MS)
      await cluster.create(own)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* expect('ready', readyPods(cluster), 'user')
      yield* expect('claims', claimsOf(cluster), 'user-data Bound')
    },
  },
  {
    name: 'an attributes class stays as long as somebody names it',
    controllers: [ATTRIBUTES],
    async play(cluster) {
      await cluster.create({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttributesClass',
        metadata: { name: 'gold' },
        driverName: 'sim.storage',
        parameters: { tier: 'gold' },
      } as object)
      const plain = claim('data')
      await cluster.create({
        ...plain,
        spec: { ...plain.spec!, volumeAttributesClassName: 'gold' },
      })
      await cluster.create(podWithClaim('user', 'data'))
      await cluster.advance(STEP_MS)
      await cluster.delete(resources.volumeattributesclasses, undefined, 'gold')
      await cluster.advance(STEP_MS)
      if (cluster.objects.find(resources.volumeattributesclasses, undefined, 'gold') === undefined)
        throw new Error('the class went although a claim names it')
      await cluster.delete(resources.pods, 'default', 'user')
      await cluster.delete(resources.persistentvolumeclaims, 'default', 'data')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const left = cluster.objects.all(resources.volumeattributesclasses)
      yield* expect('classes', left.map(({ metadata }) => metadata?.name).join(), '')
      yield* expect('volumes', volumesOf(cluster), '')
    },
  },
]
