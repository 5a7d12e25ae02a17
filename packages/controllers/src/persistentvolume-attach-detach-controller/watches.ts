/** Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { lastStateOf } from '@gyropilot/runtime'
import type { EventHandler, Watch } from '@gyropilot/runtime'
import type { Populator } from './populator.ts'
import type { Reconciler } from './reconciler.ts'
import { nodeSeen } from './reconstruct.ts'

/** Whether events count yet. */
interface Begun {
  isUnderWay(): boolean
}

export function podHandler(
  { isUnderWay }: Begun,
  populator: Pick<Populator, 'podSeen' | 'podGone'>,
): EventHandler<Pod> {
  const seen = (pod: Pod): void => {
    if (isUnderWay()) populator.podSeen(pod)
  }
  return {
    onAdd: seen,
    onUpdate(previous, pod) {
      if (previous.metadata?.uid !== pod.metadata?.uid && isUnderWay()) populator.podGone(previous)
      seen(pod)
    },
    onDelete(deleted) {
      const pod = lastStateOf(deleted)
      if (pod !== undefined && isUnderWay()) populator.podGone(pod)
    },
  }
}

export function nodeHandler({ isUnderWay }: Begun, reconciler: Reconciler): EventHandler<Node> {
  const changed = (node: Node): void => {
    if (isUnderWay()) nodeSeen(reconciler, node)
  }
  return {
    onAdd(node) {
      changed(node)
      // An earlier node of this name may have known more.
      if (isUnderWay()) reconciler.nodeStatusNeeded(node.metadata?.name ?? '')
    },
    onUpdate(previous, node) {
      changed(node)
      if (previous.metadata?.uid !== node.metadata?.uid && isUnderWay())
        reconciler.nodeStatusNeeded(node.metadata?.name ?? '')
    },
    onDelete(deleted) {
      const node = lastStateOf(deleted)
      if (node === undefined || !isUnderWay()) return
      reconciler.nodeGone(node.metadata?.name ?? '')
      reconciler.actual.nodeUses(node.metadata?.name ?? '', node.status?.volumesInUse ?? [])
    },
  }
}

/** A claim may be seen Bound before its volume is seen at all. */
export function volumeHandler(
  { isUnderWay }: Begun,
  onBound: (claimKey: string) => void,
): EventHandler<PersistentVolume> {
  const bound = (volume: PersistentVolume): void => {
    const claim = volume.spec?.claimRef
    if (claim?.uid && isUnderWay()) onBound(`${claim.namespace}/${claim.name}`)
  }
  return {
    onAdd: bound,
    onUpdate(previous, volume) {
      if (previous.spec?.claimRef?.uid !== volume.spec?.claimRef?.uid) bound(volume)
    },
  }
}

export const claimWatch: Watch<PersistentVolumeClaim> = {
  type: resources.persistentvolumeclaims,
  onAdd: (claim) => [keyOf(claim)],
  onUpdate: (_, claim) => [keyOf(claim)],
}
