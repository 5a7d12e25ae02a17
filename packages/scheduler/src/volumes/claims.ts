/**
 * The claims of a pod, and what of them keeps it from every node. Contract: docs/behaviour/simulation/scheduler.md, Volumes.
 * Pure.
 */
import {
  claimNameOf,
  controllerOf,
  isClaimBound,
  isTerminating,
  storageClassNameOf,
  waitsForFirstConsumer,
} from '@gyropilot/api'
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  VolumeAttachment,
} from '@gyropilot/api'

/** What is known of volumes. Claims and volumes as they will be, once what is under way is written. */
export interface VolumeListers {
  readonly claims: {
    get(namespace: string | undefined, name: string): PersistentVolumeClaim | undefined
  }
  readonly volumes: Named<PersistentVolume>
  readonly classes: Named<StorageClass>
  readonly drivers: Named<CSIDriver>
  readonly csiNodes: Named<CSINode>
  /** Volumes whose class has this name. */
  volumesOfClass(name: string): readonly PersistentVolume[]
  /** Of the driver, for volumes of the class. */
  capacitiesOf(className: string): readonly CSIStorageCapacity[]
  attachmentsTo(nodeName: string): readonly VolumeAttachment[]
}

interface Named<T> {
  get(namespace: undefined, name: string): T | undefined
}

interface ClaimUse {
  readonly name: string
  readonly claim: PersistentVolumeClaim | undefined
  /** Made by the ephemeral volume controller for this pod alone. */
  readonly isEphemeral: boolean
}

const NO_CLAIMS: readonly ClaimUse[] = []

export function claimsOf(pod: Pod, { claims }: Pick<VolumeListers, 'claims'>): readonly ClaimUse[] {
  let uses: ClaimUse[] | undefined
  for (const volume of pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    if (name === undefined) continue
    const claim = claims.get(pod.metadata?.namespace, name)
    uses ??= []
    uses.push({ name, claim, isEphemeral: volume.ephemeral !== undefined })
  }
  return uses ?? NO_CLAIMS
}

export function classOf(
  claim: PersistentVolumeClaim,
  { classes }: Pick<VolumeListers, 'classes'>,
): StorageClass | undefined {
  const name = storageClassNameOf(claim)
  return name === '' ? undefined : classes.get(undefined, name)
}

/** Its volume is to be chosen together with the node of its pod. */
export function isToBeChosen(claim: PersistentVolumeClaim, listers: VolumeListers): boolean {
  return (
    !isClaimBound(claim) &&
    !claim.spec?.volumeName &&
    waitsForFirstConsumer(classOf(claim, listers))
  )
}

/** Why no node at all can take the pod yet. */
export function claimProblem(pod: Pod, listers: VolumeListers): string | undefined {
  let isUnbound = false
  for (const { name, claim, isEphemeral } of claimsOf(pod, listers)) {
    const quoted = `persistentvolumeclaim ${JSON.stringify(name)}`
    if (claim === undefined)
      return isEphemeral
        ? `waiting for ephemeral volume controller to create the ${quoted}`
        : `${quoted} not found`
    if (claim.status?.phase === 'Lost')
      return `${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`
    if (isTerminating(claim)) return `${quoted} is being deleted`
    if (isEphemeral && controllerOf(claim)?.uid !== pod.metadata?.uid)
      return notOwnedText(pod, claim)
    if (!isClaimBound(claim) && !isToBeChosen(claim, listers)) isUnbound = true
  }
  return isUnbound ? 'pod has unbound immediate PersistentVolumeClaims' : undefined
}

function notOwnedText(pod: Pod, claim: PersistentVolumeClaim): string {
  const { namespace, name } = pod.metadata ?? {}
  return `PVC ${namespace}/${claim.metadata?.name} was not created for pod ${namespace}/${name} (pod is not owner)`
}
