/**
 * What it means that a pod uses a claim.
 * Contract: docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md, Sync, Used.
 */
import { ephemeralClaimName, isControlledBy } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { hasLetGo } from '../volume-support/let-go.ts'

/** What holds a claim: a pod that was given to a node. In which phase does not matter for a claim that it names. */
export function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if (!pod.spec?.nodeName) return false
  return namesDirectly(pod, claim) || (ownsBehindVolume(pod, claim) && !isShutDown(pod))
}

/** What the condition `Unused` counts: any pod that has not ended, with a node or without. */
export function refersTo(pod: Pod, claim: PersistentVolumeClaim): boolean {
  return !hasLetGo(pod) && (namesDirectly(pod, claim) || ownsBehindVolume(pod, claim))
}

function namesDirectly(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return (pod.spec?.volumes ?? []).some(
    ({ persistentVolumeClaim }) =>
      persistentVolumeClaim !== undefined && persistentVolumeClaim.claimName === metadata?.name,
  )
}

/** A claim of the same name that this pod did not make is another's. */
function ownsBehindVolume(pod: Pod, claim: PersistentVolumeClaim): boolean {
  return (pod.spec?.volumes ?? []).some(
    (volume) =>
      volume.ephemeral !== undefined &&
      ephemeralClaimName(pod, volume) === claim.metadata?.name &&
      isControlledBy(claim, pod),
  )
}

/** Only its object is left: the kubelet has let go of everything. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
}
