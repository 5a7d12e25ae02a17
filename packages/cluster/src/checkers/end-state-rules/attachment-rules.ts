/** Volumes and nodes at rest. Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md. */
import { claimNameOf, isPodActive, isTerminating, resources } from '@gyropilot/api'
import type { PersistentVolume, VolumeAttachment } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** A volume for one node is attached to one, and no volume to a node where nobody needs it. */
export function* attachments(objects: Objects): Iterable<string> {
  const standing = objects.all(resources.volumeattachments).filter((each) => !isTerminating(each))
  const attached = new Map<string, readonly string[]>()
  for (const { spec, status } of standing) {
    const { persistentVolumeName: name = '' } = spec.source
    const volume = objects.find(resources.persistentvolumes, undefined, name)
    if (volume === undefined) continue
    if (!nodesThatNeed(objects, volume).has(spec.nodeName))
      yield `PersistentVolume ${name} is left at ${spec.nodeName}, where no pod needs it`
    if (status?.attached) attached.set(name, [...(attached.get(name) ?? []), spec.nodeName])
  }
  for (const volume of objects.all(resources.persistentvolumes)) {
    if (volume.spec?.csi === undefined) continue
    const name = volume.metadata?.name ?? ''
    const nodes = attached.get(name) ?? []
    const isForOne = volume.spec.accessModes?.join() === 'ReadWriteOnce'
    if (isForOne && nodes.length > 1)
      yield `PersistentVolume ${name} is for one node and attached to ${nodes.join(', ')}`
    const wanting = [...nodesThatNeed(objects, volume)].filter((node) => !nodes.includes(node))
    if (wanting.length > 0 && !(isForOne && nodes.length > 0))
      yield `PersistentVolume ${name} is not attached to ${wanting.join(', ')}`
  }
  yield* reports(objects, standing)
}

/** Nodes that have a pod of the volume's claim, and exist. None, where the driver of the volume attaches nothing. */
function nodesThatNeed(objects: Objects, { spec }: PersistentVolume): ReadonlySet<string> {
  const driver = objects.find(resources.csidrivers, undefined, spec?.csi?.driver ?? '')
  if (driver?.spec?.attachRequired === false) return new Set()
  const { namespace, name = '', uid } = spec?.claimRef ?? {}
  const claim = objects.find(resources.persistentvolumeclaims, namespace, name)
  if (claim === undefined || claim.metadata?.uid !== uid) return new Set()
  const nodes = objects
    .all(resources.pods, namespace)
    .filter(isPodActive)
    .filter((pod) => pod.spec?.volumes?.some((volume) => claimNameOf(pod, volume) === name))
    .map((pod) => pod.spec?.nodeName ?? '')
    .filter((node) => objects.find(resources.nodes, undefined, node) !== undefined)
  return new Set(nodes)
}

/** Nodes are told of what is attached to them, and of nothing else. */
function* reports(objects: Objects, standing: readonly VolumeAttachment[]): Iterable<string> {
  for (const { metadata, status } of objects.all(resources.nodes)) {
    const attached = standing
      .filter(({ spec }) => spec.nodeName === metadata?.name)
      .filter((each) => each.status?.attached)
      .map(({ spec }) => {
        const name = spec.source.persistentVolumeName ?? ''
        const csi = objects.find(resources.persistentvolumes, undefined, name)?.spec?.csi
        return `kubernetes.io/csi/${csi?.driver}^${csi?.volumeHandle}`
      })
      .toSorted()
    const told = (status?.volumesAttached ?? []).map(({ name }) => name).toSorted()
    if (told.join() !== attached.join())
      yield `Node ${metadata?.name} is told of ${told.join() || 'nothing'}, attached is ${attached.join() || 'nothing'}`
  }
}
