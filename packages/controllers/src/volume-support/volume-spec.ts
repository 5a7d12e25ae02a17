/**
 * What is behind a volume of a pod: the plugin that can attach or mount it, and the one name it has in the cluster.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Watches and keys, Volume resolution. Pure.
 */
import { claimNameOf, isControlledBy, keyOf } from '@gyropilot/api'
import type {
  CSIDriver,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from '@gyropilot/api'
import { translatedInlineVolume, translatedVolume } from './csi-translation.ts'
import type { CsiVolume } from './csi-translation.ts'

export const CSI_PLUGIN = 'kubernetes.io/csi'
export const ISCSI_PLUGIN = 'kubernetes.io/iscsi'
export const FC_PLUGIN = 'kubernetes.io/fc'

/** A volume that a plugin of ours knows. */
export interface VolumeSpec {
  /** As events name it: of the PersistentVolume, or of the pod's volume. */
  readonly name: string
  readonly plugin: typeof CSI_PLUGIN | typeof ISCSI_PLUGIN | typeof FC_PLUGIN
  /** `kubernetes.io/csi/<driver>^<handle>`: equal where it is one volume, whatever PersistentVolumes say. */
  readonly uniqueName: string
  /** Of CSI. */
  readonly csi?: CsiVolume
  /** What a VolumeAttachment says of it. */
  readonly source: {
    readonly persistentVolumeName?: string
    readonly inlineVolumeSpec?: PersistentVolumeSpec
  }
  /** Absent: an inline volume of a plugin in the tree. */
  readonly accessModes?: NonNullable<PersistentVolumeSpec['accessModes']>
  /** The work of a plugin in the tree is done by a driver. */
  readonly isMigrated: boolean
}

/** What resolution asks; from caches. */
export interface VolumeSources {
  claimNamed(namespace: string, name: string): PersistentVolumeClaim | undefined
  volumeNamed(name: string): PersistentVolume | undefined
}

/** Undefined: no plugin of ours has to do with it. Throws while what the volume hangs on is not there. */
export function specOfPodVolume(
  pod: Pod,
  volume: Volume,
  sources: VolumeSources,
): VolumeSpec | undefined {
  const claimName = claimNameOf(pod, volume)
  if (claimName === undefined) return specOfInlineVolume(pod, volume)
  const namespace = pod.metadata?.namespace ?? ''
  const claim = sources.claimNamed(namespace, claimName)
  if (claim === undefined)
    throw new Error(`persistentvolumeclaim "${claimName}" not found in ${namespace}`)
  if (volume.ephemeral !== undefined && !isControlledBy(claim, pod))
    throw new Error(`PVC ${keyOf(claim)} was not created for pod ${keyOf(pod)}`)
  const { volumeName } = claim.spec ?? {}
  if (claim.status?.phase !== 'Bound' || !volumeName)
    throw new Error(`PVC ${keyOf(claim)} is not bound`)
  const persistent = sources.volumeNamed(volumeName)
  if (persistent === undefined) throw new Error(`persistentvolume "${volumeName}" not found`)
  if (persistent.spec?.claimRef?.uid !== claim.metadata?.uid)
    throw new Error(`PV ${volumeName} is not bound to PVC ${keyOf(claim)}`)
  return specOfVolume(persistent)
}

/** Undefined: no plugin of ours has to do with it. Throws where a moved plugin's driver cannot be told what it is. */
export function specOfVolume(volume: PersistentVolume): VolumeSpec | undefined {
  const { metadata, spec = {} } = volume
  const name = metadata?.name ?? ''
  const about = {
    name,
    source: { persistentVolumeName: name },
    accessModes: spec.accessModes ?? [],
    isMigrated: false,
  }
  const migrated = translatedVolume(volume)
  if (migrated !== undefined) return { ...about, ...ofDriver(migrated), isMigrated: true }
  if (spec.csi !== undefined) {
    const { driver, volumeHandle: handle } = spec.csi
    return { ...about, ...ofDriver({ driver, handle }) }
  }
  const found = ofTree(spec)
  return found && { ...about, ...found }
}

/** An inline volume of a CSI driver is never attached, whoever the driver is. */
function specOfInlineVolume(pod: Pod, volume: Volume): VolumeSpec | undefined {
  const migrated = translatedInlineVolume(pod, volume)
  if (migrated !== undefined) {
    const { name, spec } = migrated
    const source = { inlineVolumeSpec: spec }
    const { accessModes = [] } = spec
    return { name, source, accessModes, isMigrated: true, ...ofDriver(migrated) }
  }
  const found = ofTree(volume)
  return found && { name: volume.name, source: {}, isMigrated: false, ...found }
}

function ofDriver({
  driver,
  handle,
}: CsiVolume): Pick<VolumeSpec, 'plugin' | 'uniqueName' | 'csi'> {
  const uniqueName = `${CSI_PLUGIN}/${driver}^${handle}`
  return { plugin: CSI_PLUGIN, uniqueName, csi: { driver, handle } }
}

function ofTree(
  source: Pick<PersistentVolumeSpec, 'iscsi' | 'fc'>,
): Pick<VolumeSpec, 'plugin' | 'uniqueName'> | undefined {
  const { iscsi, fc } = source
  if (iscsi !== undefined) {
    const { targetPortal, iqn, lun } = iscsi
    return { plugin: ISCSI_PLUGIN, uniqueName: `${ISCSI_PLUGIN}/${targetPortal}:${iqn}:${lun}` }
  }
  if (fc === undefined) return undefined
  const { targetWWNs = [], wwids = [], lun } = fc
  const target = targetWWNs.length > 0 ? `[${targetWWNs.join(' ')}]:${lun}` : `[${wwids.join(' ')}]`
  return { plugin: FC_PLUGIN, uniqueName: `${FC_PLUGIN}/${target}` }
}

/** A driver without an object of its own is attachable. */
export function isAttachable(
  { csi }: VolumeSpec,
  driverNamed: (name: string) => CSIDriver | undefined,
): boolean {
  return csi === undefined || driverNamed(csi.driver)?.spec.attachRequired !== false
}

/** As metrics name it: `kubernetes.io/csi:<driver>`. */
export function qualifiedPluginName({ plugin, csi }: VolumeSpec): string {
  return csi === undefined ? plugin : `${plugin}:${csi.driver}`
}

/** Whether several nodes may have the volume at a time. Undefined, as after a restart: nobody knows, so they may. */
export function allowsMultiAttach(spec: VolumeSpec | undefined): boolean {
  const modes = spec?.accessModes
  if (modes === undefined || modes.length === 0) return true
  return modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
}
