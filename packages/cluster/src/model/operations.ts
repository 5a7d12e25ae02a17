/** What a random user can do. Each reads the state of the world and answers whether there was anything to do. */
import type { Deployment, ResourceType } from '@gyropilot/api'
import { controllerOf, resources } from '@gyropilot/api'
import { deployment, namespace, replicaSet, service } from '../scenarios/objects.ts'
import { accountOperations } from './account-operations.ts'
import { autoscalerOperations } from './autoscaler-operations.ts'
import { cronJobOperations } from './cronjob-operations.ts'
import { customKindOperations } from './custom-kind-operations.ts'
import { daemonSetOperations } from './daemonset-operations.ts'
import { diskOperations } from './disk-operations.ts'
import { deviceOperations } from './device-operations.ts'
import { finalizerOperations } from './finalizer-operations.ts'
import { jobOperations } from './job-operations.ts'
import { APPS, NAMESPACES, hasRoom, isUsers, merge, remove, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'
import { namesakeOperations } from './namesake-operations.ts'
import { nodeOperations } from './node-operations.ts'
import { ownerOperations } from './owner-operations.ts'
import { podOperations } from './pod-operations.ts'
import { policyOperations } from './policy-operations.ts'
import { quotaOperations } from './quota-operations.ts'
import { roleOperations } from './role-operations.ts'
import { refusalOperations } from './refusal-operations.ts'
import { statefulSetOperations } from './stateful-set-operations.ts'
import { serviceRangeOperations } from './service-range-operations.ts'
import { serviceOperations } from './service-operations.ts'
import { statusOperations } from './status-operations.ts'
import { volumeOperations } from './volume-operations.ts'

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

export const operations: readonly Operation[] = [
  ...workloads,
  ...daemonSetOperations,
  ...nodeOperations,
  ...podOperations,
  ...statefulSetOperations,
  ...serviceOperations,
  ...jobOperations,
  ...cronJobOperations,
  ...autoscalerOperations,
  ...volumeOperations,
  ...diskOperations,
  ...deviceOperations,
  ...policyOperations,
  ...quotaOperations,
  ...surroundings,
  ...ownerOperations,
  ...refusalOperations,
  ...namesakeOperations,
  ...finalizerOperations,
  ...statusOperations,
  ...roleOperations,
  ...customKindOperations,
  ...serviceRangeOperations,
  ...accountOperations,
]

/** What there is to do besides, where there is a cloud. */
export { cloudOperations } from './cloud-operations.ts'
