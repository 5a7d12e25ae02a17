/** Specs of persistent volumes: of their own objects, and those that stand in a VolumeAttachment. */
import type { PersistentVolumeSpec } from '@gyropilot/api'
import { quantitySign, quantityToInteger } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'
import { validateAccessModes } from './persistent-volume-claim-spec.ts'
import { validateNodeSelector } from './pod/scheduling.ts'
import { validateSharedSource } from './pod/volume-sources.ts'

export const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain']

type VolumeSpec = StoredOf<PersistentVolumeSpec>

/** Of a persistent volume of that name. */
export function validateVolumeSpec(spec: VolumeSpec, errors: FieldErrors, name: string): void {
  validateModes(spec, errors, 'spec')
  validateCapacity(spec, errors)
  const policy = spec.persistentVolumeReclaimPolicy
  if (policy && !RECLAIM_POLICIES.includes(policy))
    errors.notSupported('spec.persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES)
  const required = spec.nodeAffinity?.required
  if (spec.nodeAffinity) {
    if (!required)
      errors.required('spec.nodeAffinity.required', 'must specify required node constraints')
    else validateNodeSelector(required, errors, 'spec.nodeAffinity.required')
  }
  validateSources(spec, errors, 'spec', name)
  if (spec.storageClassName)
    invalidAll(
      errors,
      'spec.storageClassName',
      spec.storageClassName,
      dnsSubdomain(spec.storageClassName),
    )
  if (spec.volumeMode !== undefined && !['Block', 'Filesystem'].includes(spec.volumeMode)) {
    errors.notSupported('spec.volumeMode', spec.volumeMode, ['Block', 'Filesystem'])
  }
  validateAttributesClass(spec, errors)
}

/** One that stands in the source of a VolumeAttachment at `at`: of a CSI driver, and nothing that ties it to a claim. */
export function validateInlineVolumeSpec(spec: VolumeSpec, errors: FieldErrors, at: string): void {
  const forbid = (name: string, text = 'may not be specified'): void =>
    errors.forbidden(`${at}.${name}`, `${text} in the context of inline volumes`)
  if (spec.claimRef) forbid('claimRef')
  if (Object.keys(spec.capacity ?? {}).length > 0) forbid('capacity')
  if (!spec.csi)
    errors.required(`${at}.csi`, 'has to be specified in the context of inline volumes')
  validateModes(spec, errors, at)
  if (spec.persistentVolumeReclaimPolicy && spec.persistentVolumeReclaimPolicy !== 'Retain')
    forbid('persistentVolumeReclaimPolicy', 'may only be Retain')
  if (spec.nodeAffinity) forbid('nodeAffinity')
  validateSources(spec, errors, at, '')
  if (spec.storageClassName) forbid('storageClassName')
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Filesystem')
    forbid('volumeMode', 'may not specify volumeMode other than Filesystem')
}

function validateModes(spec: VolumeSpec, errors: FieldErrors, at: string): void {
  const modes: readonly string[] = spec.accessModes ?? []
  if (modes.length === 0) errors.required(`${at}.accessModes`)
  validateAccessModes(modes, errors, `${at}.accessModes`)
}

function validateCapacity(spec: VolumeSpec, errors: FieldErrors): void {
  const names = Object.keys(spec.capacity ?? {})
  if (names.length === 0) errors.required('spec.capacity')
  if (spec.capacity?.storage === undefined || names.length > 1)
    errors.notSupported('spec.capacity', givenValue(spec, 'capacity'), ['storage'])
  for (const name of names.toSorted()) {
    const given = spec.capacity![name]!
    // Amounts below zero are reported twice, first as a whole number.
    const amount = quantitySign(given)
    if (amount < 0)
      errors.invalid(
        `spec.capacity[${name}]`,
        quantityToInteger(given),
        'must be a valid resource quantity',
      )
    if (amount <= 0) errors.invalid(`spec.capacity[${name}]`, given, 'must be greater than zero')
  }
}

function validateAttributesClass(spec: VolumeSpec, errors: FieldErrors): void {
  const name: string | undefined = spec.volumeAttributesClassName
  if (name === undefined) return
  const at = 'spec.volumeAttributesClassName'
  if (name === '') errors.required(at, 'an empty string is disallowed')
  else invalidAll(errors, at, name, dnsSubdomain(name))
  if (!spec.csi)
    errors.required('spec.csi', 'has to be specified when using volumeAttributesClassName')
}

function validateSources(
  spec: VolumeSpec,
  errors: FieldErrors,
  at: string,
  volumeName: string,
): void {
  const owner = { persistent: true, name: volumeName }
  let count = 0
  for (const name of SOURCES) {
    if (!spec[name]) continue
    // A second flexVolume is not looked for.
    if (++count > 1 && name !== 'flexVolume')
      errors.forbidden(
        name === 'cephfs' ? `${at}.cephFS` : `${at}.${name}`,
        'may not specify more than 1 volume type',
      )
    else {
      validateSharedSource(name, spec[name], errors, `${at}.${name}`, owner)
      if (name === 'local' && !spec.nodeAffinity)
        errors.required(`${at}.nodeAffinity`, 'Local volume requires node affinity')
    }
  }
  if (count === 0) errors.required(at, 'must specify a volume type')
  if (
    /^\/(?:\.{0,2}\/)*\.{0,2}$/.test(spec.hostPath?.path ?? '') &&
    spec.persistentVolumeReclaimPolicy === 'Recycle'
  ) {
    errors.forbidden(
      `${at}.persistentVolumeReclaimPolicy`,
      "may not be 'recycle' for a hostPath mount of '/'",
    )
  }
}
