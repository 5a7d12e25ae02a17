/**
 * Volumes of plugins in the tree as the CSI drivers know them that do their work.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Watches and keys, Translation. Pure.
 */
import type { PersistentVolume, PersistentVolumeSpec, Pod, Volume } from '@gyropilot/api'
import { driverOf } from './csi-migration.ts'

type AccessModes = NonNullable<PersistentVolumeSpec['accessModes']>

/** A volume that a driver knows. */
export interface CsiVolume {
  readonly driver: string
  readonly handle: string
}

/** A volume that stands in a pod itself. */
interface InlineCsiVolume extends CsiVolume {
  /** As events name it. */
  readonly name: string
  /** As a VolumeAttachment carries it. */
  readonly spec: PersistentVolumeSpec
}

/** Either may stand in a pod or in a PersistentVolume. */
type Source = Pick<
  Volume,
  | 'awsElasticBlockStore'
  | 'azureDisk'
  | 'cinder'
  | 'gcePersistentDisk'
  | 'portworxVolume'
  | 'vsphereVolume'
>

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone']
const RESOURCE_GROUP = 'kubernetes.io/azure-file-resource-group'
const UNSPECIFIED = 'UNSPECIFIED'

/** Undefined: the volume is of no plugin that has moved out. Throws for one that its driver could not be told of. */
export function translatedVolume(volume: PersistentVolume): CsiVolume | undefined {
  const { spec = {}, metadata = {} } = volume
  if (spec.azureFile !== undefined) {
    const { secretName, secretNamespace, shareName } = spec.azureFile
    const group = metadata.annotations?.[RESOURCE_GROUP] ?? ''
    const namespace = secretNamespace ?? spec.claimRef?.namespace
    if (namespace === undefined)
      throw new Error('could not find a secret namespace in PersistentVolumeSource or ClaimRef')
    const handle = fileHandle(group, secretName, shareName, metadata.name ?? '', namespace)
    return { driver: driverOf('kubernetes.io/azure-file')!, handle }
  }
  const zones = ZONE_LABELS.map((label) => metadata.labels?.[label]).find((zone) => zone)
  return known(spec as Source, zones)
}

/** Undefined: the volume is of no plugin that has moved out. */
export function translatedInlineVolume(pod: Pod, volume: Volume): InlineCsiVolume | undefined {
  const { azureFile, azureDisk } = volume
  if (azureFile !== undefined) return inlineFile(pod, volume.name, azureFile)
  const found = known(volume, undefined)
  if (found === undefined) return undefined
  const { driver, handle } = found
  const { awsElasticBlockStore: aws, gcePersistentDisk: gce, cinder } = volume
  const { vsphereVolume: vsphere, portworxVolume: portworx } = volume
  if (azureDisk !== undefined) {
    const fsType = azureDisk.fsType ?? 'ext4'
    const { cachingMode = 'ReadWrite', kind = 'Shared', readOnly } = azureDisk
    const volumeAttributes = { cachingmode: cachingMode, fstype: fsType, kind }
    const csi = { readOnly: readOnly || undefined, fsType, volumeAttributes }
    return { ...found, name: handle, spec: inlineSpec(found, csi) }
  }
  const name = `${driver}-${gce?.pdName ?? handle}`
  if (gce !== undefined) {
    const modes: AccessModes = gce.readOnly ? ['ReadOnlyMany'] : ['ReadWriteOnce']
    const partition = gce.partition ? String(gce.partition) : ''
    return { ...found, name, spec: inlineSpec(found, { ...mount(gce), ...of(partition) }, modes) }
  }
  if (aws !== undefined) {
    const csi = { ...mount(aws), ...of(String(aws.partition ?? 0)) }
    return { ...found, name, spec: inlineSpec(found, csi) }
  }
  return { ...found, name, spec: inlineSpec(found, mount(cinder ?? portworx ?? vsphere ?? {})) }
}

function known(source: Source, zones: string | undefined): CsiVolume | undefined {
  const at = (plugin: string, handle: string): CsiVolume => ({ driver: driverOf(plugin)!, handle })
  if (source.awsElasticBlockStore !== undefined)
    return at('kubernetes.io/aws-ebs', ebsHandle(source.awsElasticBlockStore.volumeID))
  if (source.gcePersistentDisk !== undefined)
    return at('kubernetes.io/gce-pd', diskHandle(source.gcePersistentDisk.pdName, zones))
  if (source.azureDisk !== undefined)
    return at('kubernetes.io/azure-disk', source.azureDisk.diskURI)
  if (source.cinder !== undefined) return at('kubernetes.io/cinder', source.cinder.volumeID)
  if (source.vsphereVolume !== undefined)
    return at('kubernetes.io/vsphere-volume', source.vsphereVolume.volumePath)
  if (source.portworxVolume !== undefined)
    return at('kubernetes.io/portworx-volume', source.portworxVolume.volumeID)
  return undefined
}

/** `aws://zone/vol-1` is `vol-1`. What does not begin like that is the id, whatever it looks like. */
function ebsHandle(volumeId: string): string {
  if (!volumeId.startsWith('aws://')) return volumeId
  const id = /^aws:\/\/[^/]*\/+(vol-[^/]*)\/*$/.exec(volumeId)?.[1]
  if (id === undefined) throw new Error(`invalid format for AWS volume (${volumeId})`)
  return id
}

/** Zones of a regional disk stand in one label, joined by two underscores. */
function diskHandle(name: string, zones: string | undefined): string {
  const [zone = UNSPECIFIED, ...others] = zones?.split('__') ?? []
  if (others.length === 0) return `projects/${UNSPECIFIED}/zones/${zone}/disks/${name}`
  const regions = new Set([zone, ...others].map(regionOf))
  if (regions.size > 1) throw new Error(`the zones of disk ${name} are of several regions`)
  return `projects/${UNSPECIFIED}/regions/${[...regions][0]}/disks/${name}`
}

/** `europe-west1-b` is in `europe-west1`. */
function regionOf(zone: string): string {
  const parts = zone.split('-')
  if (parts.length !== 3) throw new Error(`zone in unexpected format: ${zone}`)
  return parts.slice(0, 2).join('-')
}

function fileHandle(
  group: string,
  secretName: string,
  shareName: string,
  name: string,
  namespace: string,
): string {
  const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName
  return [group, account, shareName, name, namespace].join('#')
}

function inlineFile(
  pod: Pod,
  volumeName: string,
  { secretName, shareName, readOnly }: NonNullable<Volume['azureFile']>,
): InlineCsiVolume {
  const namespace = pod.metadata?.namespace ?? 'default'
  const driver = driverOf('kubernetes.io/azure-file')!
  const handle = fileHandle('', secretName, shareName, volumeName, namespace)
  const csi = {
    readOnly: readOnly || undefined,
    volumeAttributes: { sharename: shareName },
    nodeStageSecretRef: { name: secretName, namespace },
  }
  const spec = inlineSpec({ driver, handle }, csi, ['ReadWriteMany'])
  return { driver, handle, name: handle, spec }
}

function mount(source: { readonly fsType?: string; readonly readOnly?: boolean }): object {
  return { readOnly: source.readOnly || undefined, fsType: source.fsType || undefined }
}

function of(partition: string): object {
  return { volumeAttributes: { partition } }
}

function inlineSpec(
  { driver, handle }: CsiVolume,
  more: object,
  accessModes: AccessModes = ['ReadWriteOnce'],
): PersistentVolumeSpec {
  const csi = { driver, volumeHandle: handle, ...more }
  return { csi, accessModes, volumeMode: 'Filesystem' }
}
