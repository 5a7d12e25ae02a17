/** Files that the kubelet makes from other objects: secrets, config maps, pod fields, tokens and certificates. */
import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateLabelSelector } from '@gyropilot/schema/validation/labels'
import { validateFieldRef, validateResourceFieldRef } from './env.ts'
import { validateUnreservedPath } from './volume-sources.ts'

export function validateMode(mode: number | undefined, errors: FieldErrors, field: string): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777))
    errors.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
}

function validateItem(item: StoredOf<KeyToPath>, errors: FieldErrors, field: string): void {
  if (!item.key) errors.required(`${field}.key`)
  if (!item.path) errors.required(`${field}.path`)
  validateUnreservedPath(item.path ?? '', errors, `${field}.path`)
  validateMode(item.mode, errors, `${field}.mode`)
}

export function validateItems(
  items: readonly StoredOf<KeyToPath>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, item] of (items ?? []).entries())
    validateItem(item, errors, `${field}[${index}]`)
}

/** Errors name the volume, not the item. */
function validateDownwardFile(
  item: StoredOf<DownwardAPIVolumeFile>,
  errors: FieldErrors,
  field: string,
): void {
  if (!item.path) errors.required(`${field}.path`)
  validateUnreservedPath(item.path ?? '', errors, `${field}.path`)
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
  else errors.required(field, 'one of fieldRef and resourceFieldRef is required')
  validateMode(item.mode, errors, `${field}.mode`)
}

export function validateDownwardFiles(
  items: readonly StoredOf<DownwardAPIVolumeFile>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const item of items ?? []) validateDownwardFile(item, errors, field)
}

/** Every path of a projected volume, to find those that two sources write. */
type Paths = (path: string, printed?: string) => void

const MINIMUM_TOKEN_SECONDS = 600
const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']

function validateToken(
  token: StoredOf<ServiceAccountTokenProjection>,
  errors: FieldErrors,
  field: string,
  projected: string,
): void {
  const seconds: number = token.expirationSeconds ?? 0
  const at = `${field}.expirationSeconds`
  if (seconds < MINIMUM_TOKEN_SECONDS)
    errors.invalid(at, seconds, 'may not specify a duration less than 10 minutes')
  if (seconds > 2 ** 32)
    errors.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')
  if (!token.path) errors.required(`${projected}.path`)
  else validateUnreservedPath(token.path, errors, `${projected}.path`)
}

function validateTrustBundle(
  bundle: StoredOf<ClusterTrustBundleProjection>,
  errors: FieldErrors,
  field: string,
  paths: Paths,
): void {
  if (bundle.name !== undefined && bundle.signerName !== undefined)
    errors.invalid(
      field,
      {
        Name: bundle.name,
        SignerName: bundle.signerName,
        LabelSelector: bundle.labelSelector ?? null,
        Optional: bundle.optional ?? null,
        Path: bundle.path ?? '',
      },
      'only one of name and signerName may be used',
    )
  else if (bundle.name !== undefined) {
    if (bundle.name === '') errors.required(`${field}.name`, 'must be a valid object name')
    if (bundle.labelSelector)
      errors.invalid(
        `${field}.labelSelector`,
        bundle.labelSelector,
        'labelSelector must be unset if name is specified',
      )
  } else if (bundle.signerName !== undefined) {
    if (bundle.signerName === '')
      errors.required(`${field}.signerName`, 'must be a valid signer name')
    validateLabelSelector(bundle.labelSelector, errors, `${field}.labelSelector`)
  } else errors.required(field, 'either name or signerName must be specified')
  if (!bundle.path) errors.required(`${field}.path`)
  validateUnreservedPath(bundle.path ?? '', errors, `${field}.path`)
  paths(bundle.path ?? '')
}

function validateCertificate(
  certificate: StoredOf<PodCertificateProjection>,
  errors: FieldErrors,
  field: string,
  paths: Paths,
): void {
  const { keyType = '', maxExpirationSeconds } = certificate
  if (!KEY_TYPES.includes(keyType)) errors.notSupported(`${field}.keyType`, keyType, KEY_TYPES)
  if (maxExpirationSeconds !== undefined && maxExpirationSeconds < 3600)
    errors.invalid(
      `${field}.maxExpirationSeconds`,
      maxExpirationSeconds,
      'if provided, maxExpirationSeconds must be >= 3600',
    )
  let count = 0
  for (const name of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    if (!certificate[name]) continue
    count++
    validateUnreservedPath(certificate[name], errors, `${field}.${name}`)
    paths(certificate[name])
  }
  if (count === 0)
    errors.required(
      field,
      'specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
    )
}

export function validateProjected(
  projected: StoredOf<ProjectedVolumeSource>,
  errors: FieldErrors,
  field: string,
): void {
  validateMode(projected.defaultMode, errors, `${field}.defaultMode`)
  const taken = new Set<string>()
  const paths: Paths = (path, printed = path) => {
    if (taken.has(path)) errors.invalid(field, printed, 'conflicting duplicate paths')
    taken.add(path)
  }
  for (const [index, source] of (projected.sources ?? []).entries())
    validateProjection(source, errors, field, `${field}.sources[${index}]`, paths)
}

function validateProjection(
  source: StoredOf<VolumeProjection>,
  errors: FieldErrors,
  projected: string,
  field: string,
  paths: Paths,
): void {
  let count = 0
  for (const name of ['secret', 'configMap'] as const) {
    const part = source[name]
    if (!part) continue
    count++
    if (!part.name) errors.required(`${field}.${name}.name`)
    for (const [position, item] of (part.items ?? []).entries()) {
      validateItem(item, errors, `${field}.${name}.items[${position}]`)
      if (item.path) paths(item.path, part.name ?? '')
    }
  }
  if (source.downwardAPI) {
    count++
    for (const item of source.downwardAPI.items ?? []) {
      validateDownwardFile(item, errors, `${field}.downwardAPI`)
      if (item.path) paths(item.path)
    }
  }
  const { serviceAccountToken, clusterTrustBundle, podCertificate } = source
  if (serviceAccountToken) {
    count++
    validateToken(serviceAccountToken, errors, `${field}.serviceAccountToken`, projected)
  }
  if (clusterTrustBundle) {
    count++
    validateTrustBundle(clusterTrustBundle, errors, `${field}.clusterTrustBundle`, paths)
  }
  if (podCertificate) {
    count++
    validateCertificate(podCertificate, errors, `${field}.podCertificate`, paths)
  }
  if (count > 1) errors.forbidden(field, 'may not specify more than 1 volume type per source')
}
