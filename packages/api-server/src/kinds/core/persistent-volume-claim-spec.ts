import type { PersistentVolumeClaimSpec } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { isIntegerQuantity, quantitySign } from '@gyropilot/api'
import { invalidAll, validateLabelSelector } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

export function validateAccessModes(
  modes: readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  let once = false
  let others = false
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(mode)) errors.notSupported(field, mode, ACCESS_MODES)
    if (mode === 'ReadWriteOncePod') once = true
    else if (ACCESS_MODES.includes(mode)) others = true
  }
  if (once && others)
    errors.forbidden(field, 'may not use ReadWriteOncePod with other access modes')
}

/** Of claims, and of their templates in StatefulSets and ephemeral volumes. */
export function validateClaimSpec(
  spec: StoredOf<PersistentVolumeClaimSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const modes: readonly string[] = spec.accessModes ?? []
  if (modes.length === 0)
    errors.required(`${field}.accessModes`, 'at least 1 access mode is required')
  validateLabelSelector(spec.selector, errors, `${field}.selector`)
  validateAccessModes(modes, errors, `${field}.accessModes`)
  const storage = spec.resources?.requests?.storage
  if (storage === undefined) errors.required(`${field}.resources[storage]`)
  else if (quantitySign(storage) <= 0)
    errors.invalid(`${field}.resources[storage]`, storage, 'must be greater than zero')
  if (spec.storageClassName)
    invalidAll(
      errors,
      `${field}.storageClassName`,
      spec.storageClassName,
      dnsSubdomain(spec.storageClassName),
    )
  if (spec.volumeMode !== undefined && !['Block', 'Filesystem'].includes(spec.volumeMode)) {
    errors.notSupported(`${field}.volumeMode`, spec.volumeMode, ['Block', 'Filesystem'])
  }
  for (const source of ['dataSource', 'dataSourceRef'] as const) {
    const reference = spec[source]
    if (!reference) continue
    if (!reference.name) errors.required(`${field}.${source}.name`)
    if (!reference.kind) errors.required(`${field}.${source}.kind`)
    if (!reference.apiGroup && reference.kind !== 'PersistentVolumeClaim') {
      errors.invalid(
        `${field}.${source}`,
        reference.kind ?? '',
        "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
      )
    }
    const { apiGroup } = reference
    const namespace = spec.dataSourceRef?.namespace ?? ''
    if (apiGroup)
      invalidAll(errors, `${field}.${source}.apiGroup`, apiGroup, dnsSubdomain(apiGroup))
    if (source === 'dataSourceRef' && namespace !== '')
      invalidAll(errors, `${field}.${source}.namespace`, namespace, dnsLabel(namespace))
  }
  validateSameSource(spec, errors, field)
  if (spec.volumeAttributesClassName) {
    invalidAll(
      errors,
      `${field}.volumeAttributesClassName`,
      spec.volumeAttributesClassName,
      dnsSubdomain(spec.volumeAttributesClassName),
    )
  }
}

/** The printed value is a path, whose fields are not shown. */
function validateSameSource(
  spec: StoredOf<PersistentVolumeClaimSpec>,
  errors: FieldErrors,
  field: string,
): void {
  const { dataSource, dataSourceRef } = spec
  if (!dataSource || !dataSourceRef) return
  if (dataSourceRef.namespace)
    errors.invalid(field, {}, 'may not be specified when dataSourceRef.namespace is specified')
  else if (
    (['apiGroup', 'kind', 'name'] as const).some(
      (name) => (dataSource[name] ?? '') !== (dataSourceRef[name] ?? ''),
    )
  )
    errors.invalid(field, {}, 'must match dataSourceRef')
}

/** Of a claim, or of a template of one: `field` is where its spec stands. */
export function claimSpecWarnings(
  spec: StoredOf<PersistentVolumeClaimSpec> | undefined,
  field: string,
): string[] {
  const warnings: string[] = []
  for (const list of ['requests', 'limits'] as const) {
    const quantity = spec?.resources?.[list]?.storage
    if (quantity === undefined || isIntegerQuantity(quantity)) continue
    warnings.push(
      `${field}.resources.${list}[storage]: fractional byte value ${JSON.stringify(quantity)} is invalid, must be an integer`,
    )
  }
  return warnings
}
