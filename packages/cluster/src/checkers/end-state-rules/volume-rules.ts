/** What claims and volumes must have come to. Written from the behaviour pages and not from the controllers. */
import { claimNameOf, isPodActive, isTerminating, resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

const STANDARD = 'standard'
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
const BY_CLUSTER = 'sim.storage'

/** Each claim has a volume of its own, and the volume says so too. */
export function* claims(objects: Objects): Iterable<string> {
  const takenBy = new Map<string, string>()
  for (const claim of objects.all(resources.persistentvolumeclaims)) {
    const text = textOf(claim)
    const { volumeName } = claim.spec ?? {}
    const volume = volumeNamed(objects, volumeName)
    const isMutual = volume?.spec?.claimRef?.uid === claim.metadata?.uid
    if (claim.status?.phase === 'Bound') {
      if (!isMutual) yield `${text} is bound to ${volumeName}, which does not know it`
      const other = takenBy.get(volumeName ?? '')
      if (other !== undefined) yield `${text} and ${other} are bound to ${volumeName}`
      takenBy.set(volumeName ?? '', text)
      yield* sizes(text, claim, volume)
    } else if (isMutual) {
      yield `${text} is ${claim.status?.phase}, and ${volumeName} is bound to it`
    }
  }
}

/** What was asked for is there, where somebody has it mounted. */
function* sizes(
  text: string,
  { status }: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Iterable<string> {
  const state = status?.allocatedResourceStatuses?.storage
  if (state === 'ControllerResizeInProgress') yield `${text} is still being made larger`
  if (state === undefined && status?.capacity?.storage !== volume?.spec?.capacity?.storage)
    yield `${text} says ${status?.capacity?.storage}, its volume ${volume?.spec?.capacity?.storage}`
}

/** A volume is somebody's or nobody's, and its phase says which. */
export function* volumes(objects: Objects): Iterable<string> {
  for (const volume of objects.all(resources.persistentvolumes)) {
    const { claimRef, persistentVolumeReclaimPolicy } = volume.spec ?? {}
    const phase = volume.status?.phase
    const text = `PersistentVolume ${volume.metadata?.name}`
    const claim = objects.find(
      resources.persistentvolumeclaims,
      claimRef?.namespace,
      claimRef?.name ?? '',
    )
    const isTheirs = Boolean(claimRef?.uid) && claim?.metadata?.uid === claimRef?.uid
    if (isTheirs) {
      if (phase !== 'Bound') yield `${text} is ${phase} and has a claim`
      // One that is deleted before its claim names it goes with the claim, which waits for another.
      const isLate = volume.metadata?.deletionTimestamp !== undefined && !claim?.spec?.volumeName
      if (!isLate && claim?.spec?.volumeName !== volume.metadata?.name)
        yield `${text} is kept for ${claimRef?.name}, which has ${claim?.spec?.volumeName}`
    } else if (!claimRef?.uid) {
      if (phase !== 'Available') yield `${text} is ${phase} and free`
    } else if (phase !== 'Released' && phase !== 'Failed') {
      yield `${text} is ${phase}, and its claim is gone`
    } else if (
      persistentVolumeReclaimPolicy === 'Delete' &&
      volume.metadata?.annotations?.[PROVISIONED_BY] === BY_CLUSTER
    ) {
      yield `${text} is left over`
    }
  }
}

/** Whoever only waits for a volume that can be made gets it; for a pod that has its node already nobody chooses one for a later claim. */
export function* waitingPods(objects: Objects): Iterable<string> {
  for (const pod of objects.all(resources.pods)) {
    if (!isPodActive(pod)) continue
    const used = claimsOf(pod, objects)
    if (used.some((claim) => claim === undefined || isTerminating(claim))) continue
    for (const claim of used)
      if (
        claim?.status?.phase === 'Pending' &&
        claim.spec?.storageClassName === STANDARD &&
        !(pod.spec?.nodeName !== undefined && isYounger(claim, pod))
      )
        yield `${textOf(claim)} waits, and so does Pod ${pod.metadata?.namespace}/${pod.metadata?.name}`
  }
}

/** Nodes report what their pods use, and nothing is attached for nobody. */
export function* volumesOfNodes(objects: Objects): Iterable<string> {
  const used = new Set<string>()
  for (const pod of objects.all(resources.pods)) {
    if (!isPodActive(pod)) continue
    for (const claim of claimsOf(pod, objects)) {
      const csi = volumeNamed(objects, claim?.spec?.volumeName)?.spec?.csi
      if (csi === undefined) continue
      used.add(`${pod.spec?.nodeName} kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}`)
    }
  }
  for (const { metadata, status } of objects.all(resources.nodes)) {
    const attached = (status?.volumesAttached ?? []).map(({ name }) => name)
    for (const name of new Set([...(status?.volumesInUse ?? []), ...attached]))
      if (!used.has(`${metadata?.name} ${name}`))
        yield `Node ${metadata?.name} still has ${name}, and no pod there uses it`
  }
  for (const { spec, metadata } of objects.all(resources.volumeattachments)) {
    const csi = volumeNamed(objects, spec?.source?.persistentVolumeName)?.spec?.csi
    const name = `kubernetes.io/csi/${csi?.driver}^${csi?.volumeHandle}`
    if (!used.has(`${spec?.nodeName} ${name}`))
      yield `VolumeAttachment ${metadata?.name} to ${spec?.nodeName} is of no use to any pod`
  }
}

function isYounger(claim: PersistentVolumeClaim, pod: Pod): boolean {
  return (claim.metadata?.creationTimestamp ?? '') > (pod.metadata?.creationTimestamp ?? '')
}

function claimsOf(pod: Pod, objects: Objects): readonly (PersistentVolumeClaim | undefined)[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume)
    if (name === undefined) return []
    return [objects.find(resources.persistentvolumeclaims, pod.metadata?.namespace, name)]
  })
}

function volumeNamed(objects: Objects, name: string | undefined): PersistentVolume | undefined {
  return objects.find(resources.persistentvolumes, undefined, name ?? '')
}

function textOf({ metadata }: PersistentVolumeClaim): string {
  return `PersistentVolumeClaim ${metadata?.namespace}/${metadata?.name}`
}
