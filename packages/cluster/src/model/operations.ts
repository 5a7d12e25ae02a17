/** What a random user can do. Each reads the state of the world and answers whether there was anything to do. */
import type { Deployment, KubernetesObject, Pod, ResourceType } from '@gyropilot/api'
import { controllerOf, resources } from '@gyropilot/api'
import type { RandomSource } from '@gyropilot/foundation'
import { configMap, deployment, namespace, pod, replicaSet, service } from '../scenarios/objects.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'

export interface Hand {
  readonly cluster: SimulatedCluster
  readonly random: RandomSource
  /** Undefined of none. */
  pick<T>(values: readonly T[]): T | undefined
  /** In [least, limit). */
  number(least: number, limit: number): number
  /** A name that was never used. */
  fresh(base: string): string
}

export interface Operation {
  readonly name: string
  /** How often, compared with the others. */
  readonly weight: number
  act(hand: Hand): Promise<boolean>
}

const MOST_PODS = 60
const MOST_WORKLOADS = 10
const APPS = ['a', 'b', 'c', 'd'] as const
const NAMESPACES = ['default', 'shop', 'bank'] as const
const POLICIES = ['Background', 'Foreground', 'Orphan'] as const

function isUsers(object: KubernetesObject): boolean {
  return (NAMESPACES as readonly string[]).includes(object.metadata?.namespace ?? '')
}

function some<T extends KubernetesObject>(
  { cluster, pick }: Hand,
  type: ResourceType<T>,
): T | undefined {
  return pick(cluster.objects.all(type).filter(isUsers))
}

function merge<T extends KubernetesObject>(
  { cluster }: Hand,
  type: ResourceType<T>,
  target: T,
  value: object,
): Promise<T> {
  const { namespace: place, name = '' } = target.metadata ?? {}
  return cluster.patch(type, place, name, { type: 'merge', value })
}

function remove(
  { cluster, pick }: Hand,
  type: ResourceType,
  target: KubernetesObject,
): Promise<KubernetesObject> {
  const { namespace: place, name = '' } = target.metadata ?? {}
  return cluster.delete(type, place, name, { propagationPolicy: pick(POLICIES)! })
}

/** Namespaces that exist, so that most operations are not refused. */
function somePlace(hand: Hand): string {
  const present = NAMESPACES.filter((name) =>
    hand.cluster.objects.find(resources.namespaces, undefined, name),
  )
  return hand.pick(present)!
}

function hasRoom({ cluster }: Hand): boolean {
  const wanted = [
    ...cluster.objects.all(resources.deployments),
    ...cluster.objects.all(resources.replicasets).filter((set) => !controllerOf(set)),
  ]
  return wanted.length < MOST_WORKLOADS && cluster.objects.all(resources.pods).length < MOST_PODS
}

function strategyOf(hand: Hand): NonNullable<Deployment['spec']>['strategy'] {
  if (hand.random.next() < 0.2) return { type: 'Recreate' }
  const surge = hand.pick([0, 1, 2, '25%', '50%'])!
  const unavailable = surge === 0 ? hand.pick([1, 2, '50%'])! : hand.pick([0, 1, '25%'])!
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } }
}

const workloads: readonly Operation[] = [
  {
    name: 'create a Deployment',
    weight: 6,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const spec = {
        strategy: strategyOf(hand)!,
        minReadySeconds: hand.pick([0, 0, 3])!,
        revisionHistoryLimit: hand.number(0, 4),
      }
      const given = {
        namespace: somePlace(hand),
        replicas: hand.number(0, 6),
        image: `web:${hand.number(1, 4)}`,
        spec,
      }
      await hand.cluster.create(deployment(`web-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'create a ReplicaSet',
    weight: 2,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const given = { namespace: somePlace(hand), replicas: hand.number(0, 5) }
      await hand.cluster.create(replicaSet(`set-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'scale',
    weight: 8,
    async act(hand) {
      const replicas = hand.number(0, 7)
      const isDeployment = hand.random.next() < 0.7
      if (isDeployment) {
        const target = some(hand, resources.deployments)
        if (target === undefined) return false
        await merge(hand, resources.deployments, target, { spec: { replicas } })
        return true
      }
      const own = hand.cluster.objects
        .all(resources.replicasets)
        .filter((set) => isUsers(set) && !controllerOf(set))
      const target = hand.pick(own)
      if (target === undefined) return false
      await merge(hand, resources.replicasets, target, { spec: { replicas } })
      return true
    },
  },
  {
    name: 'edit a template',
    weight: 8,
    async act(hand) {
      const target = some(hand, resources.deployments)
      if (target === undefined) return false
      const containers = [{ name: 'web', image: `web:${hand.number(1, 6)}` }]
      const { namespace: place, name = '' } = target.metadata ?? {}
      const value = { spec: { template: { spec: { containers } } } }
      await hand.cluster.patch(resources.deployments, place, name, { type: 'strategic', value })
      return true
    },
  },
  {
    name: 'change a strategy',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.deployments)
      if (target === undefined) return false
      const strategy = strategyOf(hand)!
      const value = { ...strategy, rollingUpdate: strategy.rollingUpdate ?? null }
      await merge(hand, resources.deployments, target, { spec: { strategy: value } })
      return true
    },
  },
  {
    name: 'pause or resume',
    weight: 3,
    async act(hand) {
      const target = some(hand, resources.deployments)
      if (target === undefined) return false
      await merge(hand, resources.deployments, target, {
        spec: { paused: target.spec?.paused !== true },
      })
      return true
    },
  },
  {
    name: 'delete a workload',
    weight: 4,
    async act(hand) {
      const type: ResourceType = hand.pick([
        resources.deployments,
        resources.deployments,
        resources.replicasets,
      ])!
      const target = some(hand, type)
      if (target === undefined) return false
      await remove(hand, type, target)
      return true
    },
  },
]

const pods: readonly Operation[] = [
  {
    name: 'create a pod that may be adopted',
    weight: 2,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const app = `set-${hand.pick(APPS)}`
      await hand.cluster.create(pod(hand.fresh('own'), { app }, somePlace(hand)))
      return true
    },
  },
  {
    name: 'delete a pod',
    weight: 6,
    async act(hand) {
      const target = some(hand, resources.pods)
      if (target === undefined) return false
      const { namespace: place, name = '' } = target.metadata ?? {}
      const force = hand.random.next() < 0.2 ? { gracePeriodSeconds: 0 } : {}
      await hand.cluster.delete(resources.pods, place, name, force)
      return true
    },
  },
  {
    name: 'take a pod away by its labels',
    weight: 3,
    async act(hand) {
      const target = some(hand, resources.pods)
      if (target === undefined) return false
      await merge(hand, resources.pods, target, {
        metadata: { labels: { app: hand.fresh('away') } },
      })
      return true
    },
  },
  {
    name: 'delete pods that belong to nobody',
    weight: 1,
    async act(hand) {
      const alone = hand.cluster.objects
        .all(resources.pods)
        .filter((found) => isUsers(found) && !controllerOf(found))
      for (const { metadata } of alone)
        await hand.cluster.delete(resources.pods, metadata?.namespace, metadata?.name ?? '')
      return alone.length > 0
    },
  },
  {
    name: 'drain a node',
    weight: 1,
    async act(hand) {
      const nodes = hand.cluster.objects.all(resources.nodes)
      const node = hand.pick(nodes)
      if (node === undefined) return false
      await merge(hand, resources.nodes, node, { spec: { unschedulable: true } })
      const isOn = (found: Pod): boolean => found.spec?.nodeName === node.metadata?.name
      for (const { metadata } of hand.cluster.objects.all(resources.pods).filter(isOn)) {
        const { namespace: place, name = '' } = metadata ?? {}
        const eviction = {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { namespace: place, name },
        }
        await hand.cluster.client
          .resource(resources.pods, place)
          .createSubresource(name, 'eviction', eviction)
      }
      return true
    },
  },
  {
    name: 'uncordon nodes',
    weight: 2,
    async act(hand) {
      const closed = hand.cluster.objects
        .all(resources.nodes)
        .filter(({ spec }) => spec?.unschedulable === true)
      for (const node of closed)
        await merge(hand, resources.nodes, node, { spec: { unschedulable: null } })
      return closed.length > 0
    },
  },
]

const surroundings: readonly Operation[] = [
  {
    name: 'create a Service',
    weight: 3,
    async act(hand) {
      const app = hand.pick(APPS)
      const of = hand.pick(['web', 'set'] as const)
      await hand.cluster.create(
        service(`service-${hand.pick(APPS)}`, `${of}-${app}`, somePlace(hand)),
      )
      return true
    },
  },
  {
    name: 'point a Service elsewhere',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.services)
      if (target === undefined || target.metadata?.name === 'kubernetes') return false
      await merge(hand, resources.services, target, {
        spec: { selector: { app: `web-${hand.pick(APPS)}` } },
      })
      return true
    },
  },
  {
    name: 'delete a Service',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.services)
      if (target === undefined || target.metadata?.name === 'kubernetes') return false
      await remove(hand, resources.services, target)
      return true
    },
  },
  {
    name: 'create a namespace',
    weight: 2,
    async act(hand) {
      const name = hand.pick(NAMESPACES.slice(1))!
      if (hand.cluster.objects.find(resources.namespaces, undefined, name)) return false
      await hand.cluster.create(namespace(name))
      return true
    },
  },
  {
    name: 'delete a namespace',
    weight: 0.5,
    async act(hand) {
      const name = hand.pick(NAMESPACES.slice(1))!
      const found = hand.cluster.objects.find(resources.namespaces, undefined, name)
      if (found === undefined || found.metadata?.deletionTimestamp !== undefined) return false
      await hand.cluster.delete(resources.namespaces, undefined, name)
      return true
    },
  },
  {
    name: 'spoil what every namespace has',
    weight: 1,
    async act(hand) {
      const place = somePlace(hand)
      const data = { 'ca.crt': 'spoiled' }
      if (hand.random.next() < 0.4)
        await hand.cluster.patch(resources.configmaps, place, 'kube-root-ca.crt', {
          type: 'merge',
          value: { data },
        })
      else if (hand.random.next() < 0.5)
        await hand.cluster.delete(resources.configmaps, place, 'kube-root-ca.crt')
      else await hand.cluster.delete(resources.serviceaccounts, place, 'default')
      return true
    },
  },
]

const owners: readonly Operation[] = [
  {
    name: 'create an object with owners',
    weight: 3,
    async act(hand) {
      const place = somePlace(hand)
      const existing = hand.cluster.objects
        .all(resources.configmaps, place)
        .filter(({ metadata }) => metadata?.name?.startsWith('owned-'))
      if (existing.length > 20) return false
      const chosen = [hand.pick(existing), hand.pick(existing)].filter(
        (found) => found !== undefined,
      )
      const distinct = [...new Set(hand.random.next() < 0.5 ? chosen : chosen.slice(1))]
      const references = distinct.map((found) => ({
        ...found,
        apiVersion: 'v1',
        kind: 'ConfigMap',
      }))
      const given = { namespace: place, blocks: hand.random.next() < 0.5 }
      await hand.cluster.create(configMap(hand.fresh('owned'), references, given))
      return true
    },
  },
  {
    name: 'delete an owner',
    weight: 2,
    async act(hand) {
      const isOwned = ({ metadata }: KubernetesObject): boolean =>
        metadata?.name?.startsWith('owned-') === true
      const target = hand.pick(hand.cluster.objects.all(resources.configmaps).filter(isOwned))
      if (target === undefined) return false
      await remove(hand, resources.configmaps, target)
      return true
    },
  },
]

export const operations: readonly Operation[] = [...workloads, ...pods, ...surroundings, ...owners]
