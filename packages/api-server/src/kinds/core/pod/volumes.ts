/** Volumes of pods: names, sources, and what containers mount of them. */
import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import { FieldErrors as Collected } from '../../../schema/field-errors.ts'
import { compareQuantities } from '../../../schema/quantity.ts'
import { invalidAll } from '../../../schema/validation/labels.ts'
import { configMapKey, dnsLabel, dnsSubdomain } from '../../../schema/validation/names.ts'
import { validateClaimSpec } from '../persistent-volume-claim-spec.ts'
import { validateFieldRef, validateResourceFieldRef } from './env.ts'
import { validateSharedSource } from './volume-sources.ts'

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
]

/** The names of the volumes that may be mounted: those without an error of their own. */
export function validateVolumes(
  volumes: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): Map<string, Stored> {
  const good = new Map<string, Stored>()
  for (const [index, volume] of (volumes ?? []).entries()) {
    const own = new Collected()
    const at = `${field}[${index}]`
    validateSource(volume, own, at)
    if (!volume.name) own.required(`${at}.name`)
    else invalidAll(own, `${at}.name`, volume.name, dnsLabel(volume.name))
    if (good.has(volume.name)) own.duplicate(`${at}.name`, volume.name)
    if (own.list.length === 0) good.set(volume.name, volume)
    else errors.list.push(...own.list)
  }
  return good
}

function validateSource(volume: Stored, errors: FieldErrors, field: string): void {
  let count = 0
  for (const name of SOURCES) {
    const source: Stored | undefined = volume[name]
    if (!source) continue
    if (++count > 1) errors.forbidden(`${field}.${name}`, 'may not specify more than 1 volume type')
    else validateOneSource(name, source, errors, `${field}.${name}`)
  }
  if (count === 0) errors.required(field, 'must specify a volume type')
}

function validateOneSource(name: string, source: Stored, errors: FieldErrors, field: string): void {
  switch (name) {
    case 'emptyDir':
      if (source.sizeLimit !== undefined && compareQuantities(source.sizeLimit, '0') < 0) {
        errors.forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')
      }
      return
    case 'secret':
      if (!source.secretName) errors.required(`${field}.secretName`)
      validateMode(source.defaultMode, errors, `${field}.defaultMode`)
      return validateItems(source.items, errors, `${field}.items`)
    case 'configMap':
      if (!source.name) errors.required(`${field}.name`)
      validateMode(source.defaultMode, errors, `${field}.defaultMode`)
      return validateItems(source.items, errors, `${field}.items`)
    case 'persistentVolumeClaim':
      if (!source.claimName) errors.required(`${field}.claimName`)
      return
    case 'downwardAPI':
      validateMode(source.defaultMode, errors, `${field}.defaultMode`)
      return validateDownwardItems(source.items, errors, field)
    case 'projected':
      return validateProjected(source, errors, field)
    case 'gitRepo':
      if (!source.repository) errors.required(`${field}.repository`)
      return
    case 'csi':
      if (!source.driver) errors.required(`${field}.driver`)
      else
        invalidAll(
          errors,
          `${field}.driver`,
          source.driver.toLowerCase(),
          dnsSubdomain(source.driver.toLowerCase()),
        )
      if (source.nodePublishSecretRef && !source.nodePublishSecretRef.name)
        errors.required(`${field}.nodePublishSecretRef.name`)
      return
    case 'ephemeral':
      if (!source.volumeClaimTemplate) errors.required(`${field}.volumeClaimTemplate`)
      else
        validateClaimSpec(
          source.volumeClaimTemplate.spec ?? {},
          errors,
          `${field}.volumeClaimTemplate.spec`,
        )
      return
    case 'image':
      if (!source.reference) errors.required(`${field}.reference`)
      return
    default:
      return validateSharedSource(name, source, errors, field)
  }
}

function validateMode(mode: number | undefined, errors: FieldErrors, field: string): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777))
    errors.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
}

function validateItems(
  items: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, item] of (items ?? []).entries()) {
    const at = `${field}[${index}]`
    if (!item.key) errors.required(`${at}.key`)
    else invalidAll(errors, `${at}.key`, item.key, configMapKey(item.key))
    if (!item.path) errors.required(`${at}.path`)
    else validateDescendingPath(item.path, errors, `${at}.path`)
    validateMode(item.mode, errors, `${at}.mode`)
  }
}

function validateDownwardItems(
  items: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, item] of (items ?? []).entries()) {
    const at = `${field}.items[${index}]`
    if (!item.path) errors.required(`${field}.path`)
    else validateDescendingPath(item.path, errors, `${field}.path`)
    if (item.fieldRef) {
      validateFieldRef(item.fieldRef, 'volume', errors, `${field}.fieldRef`)
      if (item.resourceFieldRef)
        errors.invalid(
          field,
          'resource',
          'fieldRef and resourceFieldRef can not be specified simultaneously',
        )
    } else if (item.resourceFieldRef)
      validateResourceFieldRef(item.resourceFieldRef, true, errors, `${field}.resourceFieldRef`)
    else errors.required(`${field}.fieldRef`, 'one of fieldRef and resourceFieldRef is required')
    validateMode(item.mode, errors, `${at}.mode`)
  }
}

const PROJECTIONS = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
]

function validateProjected(projected: Stored, errors: FieldErrors, field: string): void {
  validateMode(projected.defaultMode, errors, `${field}.defaultMode`)
  for (const [index, source] of (projected.sources ?? []).entries()) {
    const at = `${field}.sources[${index}]`
    let count = 0
    for (const name of PROJECTIONS) {
      const part: Stored | undefined = source[name]
      if (!part) continue
      if (++count > 1) {
        errors.forbidden(`${at}.${name}`, 'may not specify more than 1 volume type per source')
        continue
      }
      if (name === 'secret' || name === 'configMap') {
        if (!part.name) errors.required(`${at}.${name}.name`)
        validateItems(part.items, errors, `${at}.${name}`)
      } else if (name === 'downwardAPI') validateDownwardItems(part.items, errors, `${at}.${name}`)
      else if (name === 'serviceAccountToken')
        validateTokenProjection(part, errors, `${at}.${name}`)
    }
    if (count === 0) errors.required(at, 'must specify a volume type')
  }
}

function validateTokenProjection(token: Stored, errors: FieldErrors, field: string): void {
  const seconds: number = token.expirationSeconds ?? 3600
  if (seconds < 600)
    errors.invalid(
      `${field}.expirationSeconds`,
      seconds,
      'may not specify a duration less than 10 minutes',
    )
  if (seconds > 2 ** 32)
    errors.invalid(
      `${field}.expirationSeconds`,
      seconds,
      'may not specify a duration larger than 2^32 seconds',
    )
  if (!token.path) errors.required(`${field}.path`)
  else validateDescendingPath(token.path, errors, `${field}.path`)
}

/** Relative, and without steps up. */
export function validateDescendingPath(path: string, errors: FieldErrors, field: string): void {
  if (path.startsWith('/')) errors.invalid(field, path, 'must be a relative path')
  if (path.split('/').includes('..')) errors.invalid(field, path, "must not contain '..'")
  else if (path.startsWith('..')) errors.invalid(field, path, "must not start with '..'")
}

export function validateMounts(
  container: Stored,
  volumes: ReadonlyMap<string, Stored>,
  errors: FieldErrors,
  field: string,
): void {
  const paths = new Set<string>()
  const devicePaths = new Set(
    (container.volumeDevices ?? []).map((device: Stored) => device.devicePath),
  )
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${field}.volumeMounts[${index}]`
    if (!mount.name) errors.required(`${at}.name`)
    if (!volumes.has(mount.name ?? '')) errors.notFound(`${at}.name`, mount.name ?? '')
    if (!mount.mountPath) errors.required(`${at}.mountPath`)
    if (paths.has(mount.mountPath))
      errors.invalid(`${at}.mountPath`, mount.mountPath, 'must be unique')
    paths.add(mount.mountPath)
    if (devicePaths.has(mount.mountPath))
      errors.invalid(`${at}.mountPath`, mount.mountPath, 'must not already exist in volumeDevices')
    if (mount.subPath)
      validateDescendingPath(mount.subPath, errors, `${field}.volumeMounts.subPath`)
    if (mount.subPathExpr) {
      if (mount.subPath)
        errors.invalid(
          `${field}.volumeMounts.subPathExpr`,
          mount.subPathExpr,
          'subPathExpr and subPath are mutually exclusive',
        )
      validateDescendingPath(mount.subPathExpr, errors, `${field}.volumeMounts.subPathExpr`)
    }
    if (mount.mountPropagation !== undefined)
      validatePropagation(
        mount.mountPropagation,
        container,
        errors,
        `${field}.volumeMounts.mountPropagation`,
      )
  }
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const at = `${field}.volumeDevices[${index}]`
    if (!device.name) errors.required(`${at}.name`)
    else if (!volumes.has(device.name)) errors.notFound(`${at}.name`, device.name)
    if (!device.devicePath) errors.required(`${at}.devicePath`)
  }
}

function validatePropagation(
  mode: string,
  container: Stored,
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
