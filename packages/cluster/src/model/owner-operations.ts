/** What a random user does with owners: config maps belong to each other, to what controllers keep, and to nobody. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, resources } from '@gyropilot/api'
import { configMap } from '../scenarios/objects.ts'
import { isUsers, merge, remove, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST = 20

function owned({ cluster }: Hand, place?: string): readonly KubernetesObject[] {
  return cluster.objects
    .all(resources.configmaps, place)
    .filter(({ metadata }) => metadata?.name?.startsWith('owned-') === true)
    .map((found) => ({ ...found, apiVersion: 'v1', kind: 'ConfigMap' }))
}

/** Of other kinds, some of which controllers replace again and again, and some that are in no namespace. */
const OTHER_OWNERS: readonly ResourceType[] = [
  resources.deployments,
  resources.replicasets,
  resources.pods,
  resources.pods,
  resources.statefulsets,
  resources.jobs,
  resources.services,
  resources.persistentvolumeclaims,
  resources.persistentvolumes,
  resources.nodes,
]

function otherOwner(hand: Hand, place: string): KubernetesObject | undefined {
  const type = hand.pick(OTHER_OWNERS)!
  const found = hand.pick(hand.cluster.objects.all(type, type.namespaced ? place : undefined))
  return found && { ...found, apiVersion: apiVersionOf(type), kind: type.kind }
}

export const ownerOperations: readonly Operation[] = [
  {
    name: 'create an object with owners',
    weight: 3,
    async act(hand) {
      const place = somePlace(hand)
      const existing = owned(hand, place)
      if (existing.length > MOST) return false
      const chosen = [hand.pick(existing), hand.pick(existing)].filter(
        (found) => found !== undefined,
      )
      const distinct = [...new Set(hand.random.next() < 0.5 ? chosen : chosen.slice(1))]
      const given = { namespace: place, blocks: hand.random.next() < 0.5 }
      await hand.cluster.create(configMap(hand.fresh('owned'), distinct, given))
      return true
    },
  },
  {
    name: 'create an object with an owner of another kind',
    weight: 2,
    async act(hand) {
      const place = somePlace(hand)
      const existing = owned(hand, place)
      const owner = otherOwner(hand, place)
      if (owner === undefined || existing.length > MOST) return false
      const second = hand.random.next() < 0.3 ? hand.pick(existing) : undefined
      const owners = second === undefined ? [owner] : [owner, second]
      const given = { namespace: place, blocks: hand.random.next() < 0.5 }
      await hand.cluster.create(configMap(hand.fresh('owned'), owners, given))
      return true
    },
  },
  {
    name: 'create an object whose owner is not there',
    weight: 1,
    async act(hand) {
      const place = somePlace(hand)
      const owner = hand.pick(hand.cluster.objects.all(resources.configmaps).filter(isUsers))
      if (owner === undefined) return false
      const { uid, ...metadata } = owner.metadata!
      const lost = hand.pick([
        { ...metadata, uid: hand.fresh('gone') },
        { ...metadata, uid: uid!, name: hand.fresh('gone') },
        { ...metadata, uid: uid! },
      ])!
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: lost }
      await hand.cluster.create(configMap(hand.fresh('owned'), [reference], { namespace: place }))
      return true
    },
  },
  {
    name: 'give an object other owners',
    weight: 1,
    async act(hand) {
      const target = hand.pick(owned(hand))
      if (target === undefined) return false
      const place = target.metadata?.namespace ?? ''
      const owner = hand.pick([hand.pick(owned(hand, place)), otherOwner(hand, place), undefined])
      if (owner?.metadata?.uid === target.metadata?.uid && owner !== undefined) return false
      const { metadata } = configMap('any', owner === undefined ? [] : [owner], { blocks: true })
      const ownerReferences = metadata?.ownerReferences ?? null
      await merge(hand, resources.configmaps, target, { metadata: { ownerReferences } })
      return true
    },
  },
  {
    name: 'delete an owner',
    weight: 2,
    async act(hand) {
      const target = hand.pick(owned(hand))
      if (target === undefined) return false
      await remove(hand, resources.configmaps, target)
      return true
    },
  },
]
