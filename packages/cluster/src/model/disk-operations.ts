/** What a random user does with disks, and with pods that he puts on nodes himself. */
import { isTerminating, resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { disk, diskClaim, driveDisks, podWithDisk, usesDisk } from '../scenarios/storage/disks.ts'
import { isUsers, remove, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_DISKS = 4
const MOST_PODS = 6

function diskPods({ cluster }: Hand): readonly Pod[] {
  return cluster.objects.all(resources.pods).filter((pod) => isUsers(pod) && usesDisk(pod))
}

/** Of claims that are bound and stay, any: nothing keeps one that is going from under a pod that nobody scheduled. */
function someClaim({ cluster, pick }: Hand): PersistentVolumeClaim | undefined {
  const isDisks = (claim: PersistentVolumeClaim): boolean =>
    isUsers(claim) &&
    !isTerminating(claim) &&
    claim.spec?.storageClassName === 'disks' &&
    claim.status?.phase === 'Bound'
  return pick(cluster.objects.all(resources.persistentvolumeclaims).filter(isDisks))
}

export const diskOperations: readonly Operation[] = [
  {
    name: 'create a disk',
    weight: 1,
    async act(hand) {
      const { cluster } = hand
      if (cluster.objects.all(resources.persistentvolumes).length >= MOST_DISKS) return false
      driveDisks(cluster)
      const name = hand.fresh('disk')
      const mode = hand.pick(['ReadWriteOnce', 'ReadWriteOnce', 'ReadWriteMany'] as const)!
      const namespace = somePlace(hand)
      await cluster.create(disk(name, namespace, mode))
      await cluster.create(diskClaim(name, namespace, mode))
      return true
    },
  },
  {
    name: 'put a pod with a disk on a node',
    weight: 2,
    async act(hand) {
      const { cluster } = hand
      const claim = someClaim(hand)
      const node = hand.pick(cluster.objects.all(resources.nodes))
      if (claim === undefined || node === undefined || diskPods(hand).length >= MOST_PODS)
        return false
      const { name: claimName = '', namespace = '' } = claim.metadata ?? {}
      const nodeName = node.metadata?.name ?? ''
      await cluster.create(podWithDisk(hand.fresh('disk-user'), namespace, claimName, nodeName))
      return true
    },
  },
  {
    name: 'delete a pod with a disk',
    weight: 1.5,
    async act(hand) {
      const target = hand.pick(diskPods(hand))
      if (target === undefined) return false
      await remove(hand, resources.pods, target)
      return true
    },
  },
]
