/** Contract: docs/behaviour/controllers/selinux-warning-controller.md, Watches and keys. */
import { isPodFinished, keyOf, resources } from '@gyropilot/api'
import type { CSIDriver, PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import type { VolumeCache } from './volume-cache.ts'

/** Of pods nothing changes that matters here but their end. */
export const podWatch: Watch<Pod> = {
  type: resources.pods,
  onAdd: (pod) => [keyOf(pod)],
  onUpdate: (previous, pod) =>
    hasEnded(previous, pod) || previous.metadata?.uid !== pod.metadata?.uid ? [keyOf(pod)] : [],
  onDelete: (pod) => [keyOfDeleted(pod)],
}

function hasEnded(previous: Pod, pod: Pod): boolean {
  return isPodFinished(pod) && previous.status?.phase !== pod.status?.phase
}

type PodsOf = (claimKey: string) => readonly Pod[]

export function claimWatch(podsOf: PodsOf): Watch<PersistentVolumeClaim> {
  const keys = (claim: PersistentVolumeClaim): readonly string[] => podsOf(keyOf(claim)).map(keyOf)
  return {
    type: resources.persistentvolumeclaims,
    onAdd: (claim) => (claim.spec?.volumeName ? keys(claim) : []),
    onUpdate: (previous, claim) =>
      previous.spec?.volumeName === claim.spec?.volumeName ? [] : keys(claim),
  }
}

export function volumeWatch(podsOf: PodsOf): Watch<PersistentVolume> {
  const keys = ({ spec }: PersistentVolume): readonly string[] => {
    const { uid, namespace, name } = spec?.claimRef ?? {}
    return uid ? podsOf(`${namespace}/${name}`).map(keyOf) : []
  }
  return {
    type: resources.persistentvolumes,
    onAdd: keys,
    onUpdate: (previous, volume) =>
      previous.spec?.claimRef?.uid === volume.spec?.claimRef?.uid ? [] : keys(volume),
  }
}

/** Only pods that were seen with a volume of the driver. */
export function driverWatch(cache: VolumeCache): Watch<CSIDriver> {
  const keys = ({ metadata }: CSIDriver): readonly string[] =>
    cache.podsOfDriver(metadata?.name ?? '')
  return {
    type: resources.csidrivers,
    onAdd: keys,
    onUpdate: (previous, driver) =>
      previous.spec.seLinuxMount === driver.spec.seLinuxMount ? [] : keys(driver),
    onDelete: (driver) =>
      !(driver instanceof DeletedFinalStateUnknown) && driver.spec.seLinuxMount === true
        ? keys(driver)
        : [],
  }
}
