/** What a random user does with claims and volumes. */
import type { PersistentVolume, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { claim, pod, podWithClaim, statefulSet, volume } from '../scenarios/objects.ts'
import { APPS, hasRoom, isUsers, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_CLAIMS = 15
const BY_HAND = ''

function hasRoomForClaims({ cluster }: Hand): boolean {
  return cluster.objects.all(resources.persistentvolumeclaims).length < MOST_CLAIMS
}

function ownVolumes({ cluster }: Hand): readonly PersistentVolume[] {
  return cluster.objects
    .all(resources.persistentvolumes)
    .filter(({ spec }) => spec?.hostPath !== undefined)
}

const someClass = (hand: Hand): string => hand.pick(['standard', 'standard', BY_HAND])!

export const volumeOperations: readonly Operation[] = [
  {
    name: 'create a claim',
    weight: 2,
    async act(hand) {
      if (!hasRoomForClaims(hand)) return false
      const given = { namespace: somePlace(hand), className: someClass(hand) }
      await hand.cluster.create(claim(`claim-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'create a pod with a claim',
    weight: 3,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const place = somePlace(hand)
      const name = `claim-${hand.pick(APPS)}`
      await hand.cluster.create(podWithClaim(hand.fresh('user'), name, place))
      return true
    },
  },
  {
    name: 'create a StatefulSet with claim templates',
    weight: 1,
    async act(hand) {
      if (!hasRoom(hand) || !hasRoomForClaims(hand)) return false
      const kept = hand.pick(['Retain', 'Delete'] as const)!
      const spec = {
        volumeClaimTemplates: [claim('data')],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: kept, whenScaled: kept },
      }
      const given = { namespace: somePlace(hand), replicas: hand.number(0, 3), spec }
      await hand.cluster.create(statefulSet(`store-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'delete a claim',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.persistentvolumeclaims)
      if (target === undefined) return false
      const { namespace, name = '' } = target.metadata ?? {}
      await hand.cluster.delete(resources.persistentvolumeclaims, namespace, name)
      return true
    },
  },
  {
    name: 'ask for a larger volume',
    weight: 1,
    async act(hand) {
      const grown = hand.cluster.objects
        .all(resources.persistentvolumeclaims)
        .filter(
          (found) =>
            isUsers(found) &&
            found.status?.phase === 'Bound' &&
            found.spec?.storageClassName === 'standard',
        )
      const target = hand.pick(grown)
      if (target === undefined) return false
      const storage = `${hand.number(2, 9)}Gi`
      await merge(hand, resources.persistentvolumeclaims, target, {
        spec: { resources: { requests: { storage } } },
      })
      return true
    },
  },
  {
    name: 'create a volume by hand',
    weight: 1,
    async act(hand) {
      if (ownVolumes(hand).length >= 5) return false
      const policy = hand.pick(['Retain', 'Delete'] as const)!
      await hand.cluster.create(volume(hand.fresh('disk'), { policy }))
      return true
    },
  },
  {
    name: 'change what becomes of a volume',
    weight: 1,
    async act(hand) {
      const target = hand.pick(hand.cluster.objects.all(resources.persistentvolumes))
      if (target === undefined) return false
      const persistentVolumeReclaimPolicy = hand.pick(['Retain', 'Delete'] as const)!
      await merge(hand, resources.persistentvolumes, target, {
        spec: { persistentVolumeReclaimPolicy },
      })
      return true
    },
  },
  {
    name: 'create a pod with a volume of its own',
    weight: 1.5,
    async act(hand) {
      if (!hasRoom(hand) || !hasRoomForClaims(hand)) return false
      const name = hand.fresh('own-volume')
      const { metadata, spec } = pod(name, { app: name }, somePlace(hand))
      const ephemeral = { volumeClaimTemplate: { spec: claim('any').spec! } }
      const isBrief = hand.random.next() < 0.5
      await hand.cluster.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, annotations: isBrief ? { 'sim.kubelet/run': '20s' } : {} },
        spec: {
          ...spec!,
          ...(isBrief && { restartPolicy: 'Never' }),
          volumes: [{ name: 'data', ephemeral }],
        },
      } as Pod)
      return true
    },
  },
  {
    name: 'change what becomes of the claims of a StatefulSet',
    weight: 1,
    async act(hand) {
      const { cluster, pick } = hand
      const sets = cluster.objects
        .all(resources.statefulsets)
        .filter((set) => isUsers(set) && (set.spec?.volumeClaimTemplates ?? []).length > 0)
      const target = pick(sets)
      if (target === undefined) return false
      const policies = ['Retain', 'Delete'] as const
      const kept = { whenDeleted: pick(policies)!, whenScaled: pick(policies)! }
      await merge(hand, resources.statefulsets, target, {
        spec: { persistentVolumeClaimRetentionPolicy: kept },
      })
      return true
    },
  },
  {
    name: 'delete a volume or give it to the next',
    weight: 1,
    async act(hand) {
      const target = hand.pick(ownVolumes(hand))
      if (target === undefined) return false
      const name = target.metadata?.name ?? ''
      if (target.status?.phase === 'Released' && hand.random.next() < 0.5)
        await merge(hand, resources.persistentvolumes, target, { spec: { claimRef: null } })
      else await hand.cluster.delete(resources.persistentvolumes, undefined, name)
      return true
    },
  },
]
