/** What a random user does with finalizers of his own: what is deleted stays in deletion for as long as he likes. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { resourceOf } from '../simulated/objects.ts'
import { isHeldBy, lettingGo } from './holding.ts'
import { isUsers, merge } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const FINALIZER = 'example.com/held'
const MOST_HELD = 6

const TYPES: readonly ResourceType[] = [
  resources.pods,
  resources.pods,
  resources.replicasets,
  resources.deployments,
  resources.statefulsets,
  resources.controllerrevisions,
  resources.daemonsets,
  resources.replicationcontrollers,
  resources.jobs,
  resources.cronjobs,
  resources.services,
  resources.endpointslices,
  resources.endpoints,
  resources.poddisruptionbudgets,
  resources.persistentvolumeclaims,
  resources.persistentvolumes,
  resources.volumeattachments,
  resources.resourceclaims,
  resources.resourcequotas,
  resources.serviceaccounts,
  resources.configmaps,
  resources.namespaces,
  resources.nodes,
]

const isHeld = isHeldBy(FINALIZER)

function held({ cluster }: Hand): readonly KubernetesObject[] {
  return [...new Set(TYPES)].flatMap((type) => cluster.objects.all(type).filter(isHeld))
}

export const finalizerOperations: readonly Operation[] = [
  {
    name: 'hold an object by a finalizer',
    weight: 3,
    async act(hand) {
      const { cluster, pick } = hand
      if (held(hand).length >= MOST_HELD) return false
      const type = pick(TYPES)!
      const mine = cluster.objects
        .all(type)
        .filter((found) => (!type.namespaced || isUsers(found)) && !isHeld(found))
      const target = pick(mine)
      if (target === undefined) return false
      const finalizers = [...(target.metadata?.finalizers ?? []), FINALIZER]
      await merge(hand, type, target, { metadata: { finalizers } })
      return true
    },
  },
  ...lettingGo(
    { finalizer: FINALIZER, held, typeOf: (object) => resourceOf(object)! },
    { name: 'let go what is held', weight: 2 },
    { name: 'let go all that is held' },
  ),
]
