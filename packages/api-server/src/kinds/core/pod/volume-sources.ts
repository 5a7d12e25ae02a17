/** Volume sources that pods and persistent volumes share. */
import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

/** Fields that must be there, in the order in which they are reported. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  rbd: ['monitors', 'image'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  flexVolume: ['driver'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  azureFile: ['secretName', 'shareName'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  quobyte: ['registry', 'volume'],
  fc: ['targetWWNs'],
  nfs: ['server', 'path'],
  hostPath: ['path'],
  local: ['path'],
  iscsi: ['targetPortal', 'iqn'],
  csi: ['driver', 'volumeHandle'],
}

export function validateSharedSource(
  name: string,
  source: Stored,
  errors: FieldErrors,
  field: string,
): void {
  for (const required of REQUIRED[name] ?? []) {
    const value: unknown = source[required]
    if (name === 'fc' && (source.wwids ?? []).length > 0) continue
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
      errors.required(`${field}.${required}`)
  }
  if (name === 'hostPath') {
    if (source.path?.split('/').includes('..'))
      errors.invalid(`${field}.path`, source.path, "must not contain '..'")
    if (source.type !== undefined && !HOST_PATH_TYPES.includes(source.type))
      errors.notSupported(`${field}.type`, source.type, HOST_PATH_TYPES)
  }
  if (name === 'nfs' && source.path && !source.path.startsWith('/'))
    errors.invalid(`${field}.path`, source.path, 'must be an absolute path')
  if (name === 'local' && source.path?.split('/').includes('..'))
    errors.invalid(`${field}.path`, source.path, "must not contain '..'")
  const { partition } = source
  if (typeof partition === 'number' && (partition < 0 || partition > 255)) {
    errors.invalid(`${field}.partition`, partition, 'must be between 0 and 255, inclusive')
  }
}
