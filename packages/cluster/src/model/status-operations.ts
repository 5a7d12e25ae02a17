/** What a random user does to what controllers have written: statuses, owners and slices are edited by hand. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { controllerOf, resources } from '@gyropilot/api'
import { CUT_OFF } from '../checkers/reasons.ts'
import { isUsers, merge, some } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

type Status = Readonly<Record<string, unknown>>

const NOBODY: Status = {
  replicas: 0,
  readyReplicas: null,
  availableReplicas: null,
  updatedReplicas: null,
  unavailableReplicas: null,
  conditions: null,
}
const MANY: Status = { replicas: 9, readyReplicas: 9, availableReplicas: 9 }
const UNSEEN: Status = { observedGeneration: 0 }
const REPLICATED = [NOBODY, MANY, UNSEEN]

/** What may be written into the status of each: its controller knows better. */
const SPOILT: readonly (readonly [ResourceType, readonly Status[]])[] = [
  [resources.deployments, [...REPLICATED, { conditions: null }]],
  [resources.replicasets, REPLICATED],
  [resources.replicationcontrollers, REPLICATED],
  [resources.statefulsets, [NOBODY, MANY, UNSEEN, { currentRevision: null, updateRevision: null }]],
  [
    resources.daemonsets,
    [
      { desiredNumberScheduled: 9, numberReady: 9, numberAvailable: 9 },
      { desiredNumberScheduled: 0, currentNumberScheduled: 0, numberReady: 0, ...UNSEEN },
    ],
  ],
  [resources.poddisruptionbudgets, [{ currentHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }]],
  [resources.cronjobs, [{ active: null }, { lastScheduleTime: null }]],
  [resources.resourcequotas, [{ hard: null, used: null }, { used: { pods: '77' } }]],
  [resources.persistentvolumeclaims, [{ phase: 'Pending' }, { phase: 'Lost' }]],
  [resources.persistentvolumes, [{ phase: 'Available' }, { phase: 'Pending' }]],
  [resources.validatingadmissionpolicies, [{ typeChecking: null, observedGeneration: null }]],
]

const OWNED: readonly ResourceType[] = [
  resources.pods,
  resources.pods,
  resources.replicasets,
  resources.controllerrevisions,
]

export const statusOperations: readonly Operation[] = [
  {
    name: 'spoil a status',
    weight: 4,
    async act(hand) {
      const [type, statuses] = hand.pick(SPOILT)!
      const all = hand.cluster.objects.all(type)
      const target = hand.pick(all.filter((found) => !type.namespaced || isUsers(found)))
      if (target === undefined) return false
      const { namespace, name = '' } = target.metadata ?? {}
      const value = { status: hand.pick(statuses)! }
      await hand.cluster.patch(
        type,
        namespace,
        name,
        { type: 'merge', value },
        { subresource: 'status' },
      )
      return true
    },
  },
  {
    name: 'cut an object off from its owner',
    weight: 2,
    async act(hand) {
      const type = hand.pick(OWNED)!
      const owned = hand.cluster.objects
        .all(type)
        .filter((found) => isUsers(found) && isAdoptedAgain(found))
      const target = hand.pick(owned)
      if (target === undefined) return false
      const annotations = { [CUT_OFF]: hand.fresh('cut') }
      await merge(hand, type, target, { metadata: { ownerReferences: null, annotations } })
      return true
    },
  },
  {
    name: 'take a ReplicaSet away by its labels',
    weight: 1,
    async act(hand) {
      const owned = hand.cluster.objects
        .all(resources.replicasets)
        .filter((found) => isUsers(found) && controllerOf(found) !== undefined)
      const target = hand.pick(owned)
      if (target === undefined) return false
      await merge(hand, resources.replicasets, target, {
        metadata: { labels: { app: hand.fresh('away') } },
      })
      return true
    },
  },
  {
    name: 'edit a slice',
    weight: 1.5,
    async act(hand) {
      const target = some(hand, resources.endpointslices)
      if (target === undefined || target.metadata?.name === 'kubernetes') return false
      await merge(hand, resources.endpointslices, target, hand.pick(SLICE_EDITS)!(hand))
      return true
    },
  },
]

const SLICE_EDITS: readonly ((hand: Hand) => object)[] = [
  () => ({ endpoints: [] }),
  () => ({ endpoints: [{ addresses: ['10.9.9.9'], conditions: { ready: true } }] }),
  () => ({ ports: [{ name: 'odd', port: 9, protocol: 'TCP' }] }),
]

/** Whoever adopts takes it back: Jobs of a CronJob stay orphans, and a StatefulSet looks at its revisions with the next event of a pod only. */
function isAdoptedAgain(found: KubernetesObject): boolean {
  const owner = controllerOf(found)
  if (found.kind === 'ControllerRevision') return owner?.kind === 'DaemonSet'
  return owner !== undefined && owner.kind !== 'Job'
}
