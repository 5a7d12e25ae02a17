/** Volume sources that pods and persistent volumes share. Contract: defaulting-and-validation.md, "Volumes". */
import type { SecretReference } from '@gyropilot/api'
import type { Stored, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, sortedKeys } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { validateRange } from '@gyropilot/schema/validation/numbers'

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

/** Where a source stands. Secrets of persistent volumes are named with their namespace. */
export interface SourceOwner {
  readonly persistent: boolean
  /** The volume's name: of the pod's volume, or of the PersistentVolume. */
  readonly name: string
}

type SourceCheck = (source: Stored, errors: FieldErrors, field: string, owner: SourceOwner) => void

function requireAll(...names: readonly string[]): SourceCheck {
  return (source, errors, field) => {
    for (const name of names) {
      const value: unknown = source[name]
      if (
        value === undefined ||
        value === null ||
        value === '' ||
        (Array.isArray(value) && value.length === 0)
      )
        errors.required(`${field}.${name}`)
    }
  }
}

/** One error however many steps up there are. */
export function validateNoBacksteps(path: string, errors: FieldErrors, field: string): void {
  if (path.split('/').includes('..')) errors.invalid(field, path, "must not contain '..'")
}

/** Relative, and without steps up. */
export function validateDescendingPath(path: string, errors: FieldErrors, field: string): void {
  if (path.startsWith('/')) errors.invalid(field, path, 'must be a relative path')
  validateNoBacksteps(path, errors, field)
}

/** The same for files that the kubelet writes: names that start with two dots are its own. */
export function validateUnreservedPath(path: string, errors: FieldErrors, field: string): void {
  validateDescendingPath(path, errors, field)
  if (path.startsWith('..') && !path.startsWith('../'))
    errors.invalid(field, path, "must not start with '..'")
}

function requirePathWithoutSteps(source: Stored, errors: FieldErrors, field: string): boolean {
  if (source.path) validateNoBacksteps(source.path, errors, `${field}.path`)
  else errors.required(`${field}.path`)
  return Boolean(source.path)
}

function validatePartition(source: Stored, errors: FieldErrors, field: string): void {
  const { partition } = source
  // Zero is the whole disk, although the message says otherwise.
  if (typeof partition === 'number' && (partition < 0 || partition > 255))
    errors.invalid(`${field}.partition`, partition, 'must be between 1 and 255, inclusive')
}

const ISCSI_NAMES: readonly (readonly [string, RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
]

function validateIscsiName(
  name: string,
  errors: FieldErrors,
  field: string,
  { persistent }: SourceOwner,
): void {
  const format = ISCSI_NAMES.find(([prefix]) => name.startsWith(prefix))
  if (format === undefined) {
    const message = 'must be valid format'
    errors.invalid(field, name, persistent ? message : `${message} starting with iqn, eui, or naa`)
  } else if (!format[1].test(name)) errors.invalid(field, name, 'must be valid format')
}

const ISCSI_NAME_LIMIT = 64

const validateIscsi: SourceCheck = (source, errors, field, owner) => {
  const portal: string = source.targetPortal ?? ''
  if (portal === '') errors.required(`${field}.targetPortal`)
  const tooLong =
    source.initiatorName !== undefined && `${owner.name}:${portal}`.length > ISCSI_NAME_LIMIT
  const tooLongMessage =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  if (tooLong && owner.persistent) errors.invalid(`${field}.targetportal`, portal, tooLongMessage)
  if (!source.iqn) errors.required(`${field}.iqn`)
  else validateIscsiName(source.iqn, errors, `${field}.iqn`, owner)
  validateRange(source.lun ?? 0, 0, 255, errors, `${field}.lun`)
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef)
    errors.required(`${field}.secretRef`)
  if (owner.persistent && source.secretRef && !source.secretRef.name)
    errors.required(`${field}.secretRef.name`)
  if (source.initiatorName !== undefined)
    validateIscsiName(source.initiatorName, errors, `${field}.initiatorname`, owner)
  if (tooLong && !owner.persistent)
    errors.invalid(`${field.slice(0, field.lastIndexOf('.'))}.name`, owner.name, tooLongMessage)
}

const validateFibreChannel: SourceCheck = (source, errors, field) => {
  const targets: readonly string[] = source.targetWWNs ?? []
  const ids: readonly string[] = source.wwids ?? []
  const at = `${field}.targetWWNs`
  if (targets.length === 0 && ids.length === 0)
    errors.required(at, 'must specify either targetWWNs or wwids, but not both')
  if (targets.length > 0 && ids.length > 0)
    errors.invalid(at, targets, 'targetWWNs and wwids can not be specified simultaneously')
  if (targets.length === 0) return
  if (source.lun === undefined)
    errors.required(`${field}.lun`, 'lun is required if targetWWNs is specified')
  else validateRange(source.lun, 0, 255, errors, `${field}.lun`)
}

const validateFlexVolume: SourceCheck = (source, errors, field) => {
  if (!source.driver) errors.required(`${field}.driver`)
  for (const key of sortedKeys(source.options)) {
    const domain = `.${key.split('/')[0]!.toLowerCase()}`
    if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io'))
      errors.invalid(
        `${field}.options[${key}]`,
        key,
        'kubernetes.io and k8s.io namespaces are reserved',
      )
  }
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite']
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared']

const validateAzureDisk: SourceCheck = (source, errors, field, owner) => {
  requireAll('diskName', 'diskURI')(source, errors, field, owner)
  const { cachingMode, kind, diskURI = '' } = source
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
    errors.notSupported(`${field}.cachingMode`, cachingMode, CACHING_MODES)
  if (kind === undefined) return
  if (!DISK_KINDS.includes(kind)) errors.notSupported(`${field}.kind`, kind, DISK_KINDS)
  if (kind === 'Managed') {
    if (!diskURI.startsWith('/subscriptions/'))
      errors.notSupported(`${field}.diskURI`, diskURI, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ])
  } else if (!diskURI.startsWith('https://')) {
    errors.notSupported(`${field}.diskURI`, diskURI, [
      'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
    ])
  }
}

const validateQuobyte: SourceCheck = (source, errors, field) => {
  const registry: string = source.registry ?? ''
  const message = 'must be a host:port pair or multiple pairs separated by commas'
  if (registry === '') errors.required(`${field}.registry`, message)
  else if ((source.tenant ?? '').length >= 65)
    errors.required(
      `${field}.tenant`,
      'must be a UUID and may not exceed a length of 64 characters',
    )
  else {
    for (const pair of registry.split(',')) {
      if (!/^(?:\[[^[\]]*\]|[^:[\]]*):[^:]*$/.test(pair))
        errors.invalid(`${field}.registry`, registry, message)
    }
  }
  if (!source.volume) errors.required(`${field}.volume`)
}

const validateFlocker: SourceCheck = (source, errors, field) => {
  const { datasetName = '', datasetUUID = '' } = source
  if (datasetName === '' && datasetUUID === '')
    errors.required(field, 'one of datasetName and datasetUUID is required')
  if (datasetName !== '' && datasetUUID !== '')
    errors.invalid(
      field,
      'resource',
      'datasetName and datasetUUID can not be specified simultaneously',
    )
  if (datasetName.includes('/'))
    errors.invalid(`${field}.datasetName`, datasetName, "must not contain '/'")
}

/** A secret that is given by name, and in persistent volumes by namespace too. */
function requireSecretNames(
  secret: StoredOf<SecretReference> | undefined,
  errors: FieldErrors,
  field: string,
  { persistent }: SourceOwner,
): void {
  if (!secret) return
  if (!secret.name) errors.required(`${field}.name`)
  if (persistent && !secret.namespace) errors.required(`${field}.namespace`)
}

const validateStorageOs: SourceCheck = (source, errors, field, owner) => {
  const { volumeName = '', volumeNamespace = '' } = source
  if (volumeName === '') errors.required(`${field}.volumeName`)
  else invalidAll(errors, `${field}.volumeName`, volumeName, dnsLabel(volumeName))
  if (volumeNamespace !== '')
    invalidAll(errors, `${field}.volumeNamespace`, volumeNamespace, dnsLabel(volumeNamespace))
  requireSecretNames(source.secretRef, errors, `${field}.secretRef`, owner)
}

const DRIVER_NAME_LIMIT = 63

function validateDriverName(name: string, errors: FieldErrors, field: string): void {
  if (name === '') {
    errors.required(field)
    return
  }
  if (Buffer.byteLength(name) > DRIVER_NAME_LIMIT) errors.tooLong(field, DRIVER_NAME_LIMIT)
  invalidAll(errors, field, name, dnsSubdomain(name.toLowerCase()))
}

const PERSISTENT_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
]

const validateCsi: SourceCheck = (source, errors, field, { persistent }) => {
  validateDriverName(source.driver ?? '', errors, `${field}.driver`)
  if (!persistent) {
    const secret = source.nodePublishSecretRef
    if (secret && !secret.name) errors.required(`${field}.nodePublishSecretRef.name`)
    else if (secret) invalidAll(errors, `${field}.name`, secret.name, dnsSubdomain(secret.name))
    return
  }
  if (!source.volumeHandle) errors.required(`${field}.volumeHandle`)
  for (const name of PERSISTENT_SECRETS) {
    const secret = source[name]
    if (!secret) continue
    if (!secret.name) errors.required(`${field}.${name}.name`)
    else invalidAll(errors, `${field}.${name}.name`, secret.name, dnsSubdomain(secret.name))
    if (!secret.namespace) errors.required(`${field}.${name}.namespace`)
    else
      invalidAll(errors, `${field}.${name}.namespace`, secret.namespace, dnsLabel(secret.namespace))
  }
}

const validateGlusterfs: SourceCheck = (source, errors, field, owner) => {
  requireAll('endpoints', 'path')(source, errors, field, owner)
  const namespace: string | undefined = source.endpointsNamespace
  if (!owner.persistent || namespace === undefined) return
  const at = `${field}.endpointsNamespace`
  if (namespace === '')
    errors.invalid(
      at,
      namespace,
      'if the endpointnamespace is set, it must be a valid namespace name',
    )
  else invalidAll(errors, at, namespace, dnsLabel(namespace))
}

const CHECKS: Readonly<Record<string, SourceCheck>> = {
  hostPath(source, errors, field) {
    if (!requirePathWithoutSteps(source, errors, field)) return
    if (source.type !== undefined && !HOST_PATH_TYPES.includes(source.type))
      errors.notSupported(`${field}.type`, source.type, HOST_PATH_TYPES)
  },
  local: requirePathWithoutSteps,
  gcePersistentDisk(source, errors, field, owner) {
    const at = field.replace(/gcePersistentDisk$/, 'persistentDisk')
    requireAll('pdName')(source, errors, at, owner)
    validatePartition(source, errors, at)
  },
  awsElasticBlockStore(source, errors, field, owner) {
    requireAll('volumeID')(source, errors, field, owner)
    validatePartition(source, errors, field)
  },
  nfs(source, errors, field, owner) {
    requireAll('server', 'path')(source, errors, field, owner)
    const path: string = source.path ?? ''
    if (!path.startsWith('/')) errors.invalid(`${field}.path`, path, 'must be an absolute path')
  },
  cinder(source, errors, field, owner) {
    requireAll('volumeID')(source, errors, field, owner)
    requireSecretNames(source.secretRef, errors, `${field}.secretRef`, owner)
  },
  azureFile(source, errors, field, owner) {
    requireAll('secretName', 'shareName')(source, errors, field, owner)
    if (owner.persistent && source.secretNamespace === '')
      errors.required(`${field}.secretNamespace`)
  },
  rbd: requireAll('monitors', 'image'),
  cephfs: requireAll('monitors'),
  vsphereVolume: requireAll('volumePath'),
  photonPersistentDisk: requireAll('pdID'),
  portworxVolume: requireAll('volumeID'),
  scaleIO: requireAll('gateway', 'system', 'volumeName'),
  glusterfs: validateGlusterfs,
  iscsi: validateIscsi,
  fc: validateFibreChannel,
  flexVolume: validateFlexVolume,
  azureDisk: validateAzureDisk,
  quobyte: validateQuobyte,
  flocker: validateFlocker,
  storageos: validateStorageOs,
  csi: validateCsi,
}

export function validateSharedSource(
  name: string,
  source: Stored,
  errors: FieldErrors,
  field: string,
  owner: SourceOwner,
): void {
  CHECKS[name]?.(source, errors, field, owner)
}
