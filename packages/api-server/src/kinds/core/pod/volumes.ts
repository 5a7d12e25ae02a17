/** Volumes of pods: names, sources, and what containers mount of them. */
import type { Container, PersistentVolumeClaimTemplate, Volume, VolumeMount } from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { FieldErrors as Collected } from '@gyropilot/schema/field-errors'
import { compareQuantities } from '@gyropilot/api'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { validateTemplateMetadata } from '@gyropilot/schema/validation/metadata'
import { validateClaimSpec } from '../persistent-volume-claim-spec.ts'
import {
  validateDownwardFiles,
  validateItems,
  validateMode,
  validateProjected,
} from './projected-volumes.ts'
import { validateDescendingPath, validateSharedSource, type SourceOwner } from './volume-sources.ts'

const SOURCES = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const

/** How kube-apiserver writes these two where a volume has several sources. */
const FORBIDDEN_NAME: Readonly<Record<string, string>> = {
  cephfs: 'cephFS',
  downwardAPI: 'downwarAPI',
}

/**
 * The volumes that may be mounted, by name: those without an error of their own.
 * `podName` is empty in templates, where the names of claims are not known yet.
 */
export function validateVolumes(
  volumes: readonly StoredOf<Volume>[] | undefined,
  errors: FieldErrors,
  field: string,
  podName = '',
): Map<string, StoredOf<Volume>> {
  const good = new Map<string, StoredOf<Volume>>()
  const made = new Set(
    podName === ''
      ? []
      : (volumes ?? [])
          .filter(({ ephemeral }) => ephemeral)
          .map(({ name }) => `${podName}-${name}`),
  )
  for (const [index, volume] of (volumes ?? []).entries()) {
    const own = new Collected()
    const at = `${field}[${index}]`
    validateSource(volume, own, at, podName)
    if (!volume.name) own.required(`${at}.name`)
    else invalidAll(own, `${at}.name`, volume.name, dnsLabel(volume.name))
    if (good.has(volume.name ?? '')) own.duplicate(`${at}.name`, volume.name)
    if (own.list.length === 0) good.set(volume.name ?? '', volume)
    else errors.list.push(...own.list)
    const claimName: string | undefined = volume.persistentVolumeClaim?.claimName
    if (claimName !== undefined && made.has(claimName))
      errors.invalid(
        `${at}.persistentVolumeClaim.claimName`,
        claimName,
        'must not reference a PVC that gets created for an ephemeral volume',
      )
  }
  return good
}

function validateSource(
  volume: StoredOf<Volume>,
  errors: FieldErrors,
  field: string,
  podName: string,
): void {
  const owner = { persistent: false, name: volume.name ?? '' }
  let count = 0
  for (const name of SOURCES) {
    if (!volume[name]) continue
    if (++count > 1)
      errors.forbidden(
        `${field}.${FORBIDDEN_NAME[name] ?? name}`,
        'may not specify more than 1 volume type',
      )
    else validateOneSource(name, volume, errors, `${field}.${name}`, owner)
    if (name === 'ephemeral' && count === 1 && podName !== '' && owner.name !== '') {
      const claim = `${podName}-${owner.name}`
      for (const message of dnsSubdomain(claim))
        errors.invalid(`${field}.name`, owner.name, `PVC name ${JSON.stringify(claim)}: ${message}`)
    }
  }
  if (count === 0) errors.required(field, 'must specify a volume type')
}

function validateOneSource(
  name: (typeof SOURCES)[number],
  volume: StoredOf<Volume>,
  errors: FieldErrors,
  field: string,
  owner: SourceOwner,
): void {
  switch (name) {
    case 'emptyDir':
      if (compareQuantities(volume.emptyDir?.sizeLimit ?? '0', '0') < 0)
        errors.forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')
      return
    case 'secret':
      if (!volume.secret?.secretName) errors.required(`${field}.secretName`)
      validateMode(volume.secret?.defaultMode, errors, `${field}.defaultMode`)
      return validateItems(volume.secret?.items, errors, `${field}.items`)
    case 'configMap':
      if (!volume.configMap?.name) errors.required(`${field}.name`)
      validateMode(volume.configMap?.defaultMode, errors, `${field}.defaultMode`)
      return validateItems(volume.configMap?.items, errors, `${field}.items`)
    case 'persistentVolumeClaim':
      if (!volume.persistentVolumeClaim?.claimName) errors.required(`${field}.claimName`)
      return
    case 'downwardAPI':
      validateMode(volume.downwardAPI?.defaultMode, errors, `${field}.defaultMode`)
      return validateDownwardFiles(volume.downwardAPI?.items, errors, field)
    case 'projected':
      return validateProjected(volume.projected ?? {}, errors, field)
    case 'gitRepo':
      if (!volume.gitRepo?.repository) errors.required(`${field}.repository`)
      return validateDescendingPath(volume.gitRepo?.directory ?? '', errors, `${field}.directory`)
    case 'ephemeral':
      return validateClaimTemplate(
        volume.ephemeral?.volumeClaimTemplate,
        errors,
        `${field}.volumeClaimTemplate`,
      )
    case 'image':
      if (!volume.image?.reference) errors.required(`${field}.reference`)
      validatePullPolicy(volume.image?.pullPolicy, errors, `${field}.pullPolicy`)
      return
    default:
      return validateSharedSource(name, volume[name] ?? {}, errors, field, owner)
  }
}

function validateClaimTemplate(
  template: StoredOf<PersistentVolumeClaimTemplate> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (!template) {
    errors.required(field)
    return
  }
  validateTemplateMetadata(template.metadata, errors, `${field}.metadata`)
  for (const name of Object.keys(template.metadata ?? {}).toSorted()) {
    if (name !== 'labels' && name !== 'annotations')
      errors.forbidden(`${field}.metadata.${name}`, 'cannot be set')
  }
  validateClaimSpec(template.spec ?? {}, errors, `${field}.spec`)
}

export function validateMounts(
  container: StoredOf<Container>,
  volumes: ReadonlyMap<string, StoredOf<Volume>>,
  errors: FieldErrors,
  field: string,
): void {
  const paths = new Set<string>()
  const devices = container.volumeDevices ?? []
  const at = `${field}.volumeMounts`
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const own = `${at}[${index}]`
    const { name = '', mountPath = '' } = mount
    if (name === '') errors.required(`${own}.name`)
    if (!volumes.has(name)) errors.notFound(`${own}.name`, name)
    if (mountPath === '') errors.required(`${own}.mountPath`)
    if (paths.has(mountPath)) errors.invalid(`${own}.mountPath`, mountPath, 'must be unique')
    paths.add(mountPath)
    if (devices.some((device) => (device.name ?? '') === name))
      errors.invalid(`${own}.name`, name, 'must not already exist in volumeDevices')
    if (devices.some((device) => (device.devicePath ?? '') === mountPath))
      errors.invalid(
        `${own}.mountPath`,
        mountPath,
        'must not already exist as a path in volumeDevices',
      )
    if (mount.subPath) validateDescendingPath(mount.subPath, errors, `${at}.subPath`)
    if (mount.subPathExpr) {
      if (mount.subPath)
        errors.invalid(
          `${own}.subPathExpr`,
          mount.subPathExpr,
          'subPathExpr and subPath are mutually exclusive',
        )
      validateDescendingPath(mount.subPathExpr, errors, `${at}.subPathExpr`)
    }
    if (mount.mountPropagation !== undefined)
      validatePropagation(mount.mountPropagation, container, errors, `${at}.mountPropagation`)
    validateRecursiveReadOnly(mount, errors, `${at}.recursiveReadOnly`)
  }
  validateDevices(container, volumes, errors, `${field}.volumeDevices`)
}

const RECURSIVE_READ_ONLY = ['Disabled', 'Enabled', 'IfPossible']

function validateRecursiveReadOnly(
  mount: StoredOf<VolumeMount>,
  errors: FieldErrors,
  field: string,
): void {
  const mode: string | undefined = mount.recursiveReadOnly
  if (mode === undefined || mode === 'Disabled') return
  if (!RECURSIVE_READ_ONLY.includes(mode)) {
    errors.notSupported(field, mode, RECURSIVE_READ_ONLY)
    return
  }
  if (mount.readOnly !== true)
    errors.forbidden(field, 'may only be specified when readOnly is true')
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None')
    errors.forbidden(field, 'may only be specified when mountPropagation is None or not specified')
}

/** Raw block devices: claims only, each name and path once. */
function validateDevices(
  container: StoredOf<Container>,
  volumes: ReadonlyMap<string, StoredOf<Volume>>,
  errors: FieldErrors,
  field: string,
): void {
  const names = new Set<string>()
  const paths = new Set<string>()
  const mounts = container.volumeMounts ?? []
  for (const [index, { name = '', devicePath = '' }] of (container.volumeDevices ?? []).entries()) {
    const at = `${field}[${index}]`
    const volume = volumes.get(name)
    if (name === '') errors.required(`${at}.name`)
    if (names.has(name)) errors.invalid(`${at}.name`, name, 'must be unique')
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      errors.invalid(
        `${at}.name`,
        name,
        'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      )
    if (!volume) errors.notFound(`${at}.name`, name)
    if (devicePath === '') errors.required(`${at}.devicePath`)
    if (paths.has(devicePath)) errors.invalid(`${at}.devicePath`, devicePath, 'must be unique')
    if (devicePath.split('/').includes('..'))
      errors.invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")
    else paths.add(devicePath)
    if (mounts.some((mount) => (mount.name ?? '') === name))
      errors.invalid(`${at}.name`, name, 'must not already exist in volumeMounts')
    if (mounts.some((mount) => (mount.mountPath ?? '') === devicePath))
      errors.invalid(
        `${at}.devicePath`,
        devicePath,
        'must not already exist as a path in volumeMounts',
      )
    if (name !== '') names.add(name)
  }
}

function validatePropagation(
  mode: string,
  container: StoredOf<Container>,
  errors: FieldErrors,
  field: string,
): void {
  const modes = ['Bidirectional', 'HostToContainer', 'None']
  if (!modes.includes(mode)) errors.notSupported(field, mode, modes)
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    errors.forbidden(
      field,
      'Bidirectional mount propagation is available only to privileged containers',
    )
  }
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']

function validatePullPolicy(policy: string | undefined, errors: FieldErrors, field: string): void {
  if (policy !== undefined && !PULL_POLICIES.includes(policy))
    errors.notSupported(field, policy, PULL_POLICIES)
}
