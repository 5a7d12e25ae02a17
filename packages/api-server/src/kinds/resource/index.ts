import type { DeviceClass, ObjectMeta, ResourceClaim, ResourceClaimTemplate } from '@gyropilot/api'
import { semanticallyEqual } from '../../registry/equality.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { METADATA_FIELDS, internalForm } from '@gyropilot/schema/internal-form'
import { validateAnnotations, validateLabels } from '@gyropilot/schema/validation/labels'
import { qualifiedName } from '@gyropilot/schema/validation/names'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { subdomainInBytes } from '../names-in-bytes.ts'
import { validateAdminAccess, validateAllocatedAdminAccess } from './admin-access.ts'
import { canonicalizeClaimSpec, defaultClaimSpec, validateClaimSpec } from './claim-spec.ts'
import { defaultAllocation, dropStatusOfDeallocated, validateClaimStatus } from './claim-status.ts'
import { validateConfigs, validateSelectors } from './device-fields.ts'

export { resourceSlice } from './resource-slice.ts'

const GROUP = 'resource.k8s.io'

function claimState(object: StoredOf<ResourceClaim>): string {
  const states: string[] = []
  if (object.metadata?.deletionTimestamp) states.push('deleted')
  if (!object.status?.allocation) {
    if (states.length === 0) states.push('pending')
  } else {
    states.push('allocated')
    if ((object.status.reservedFor ?? []).length > 0) states.push('reserved')
  }
  return states.join(',')
}

export const resourceClaim: KindRules<ResourceClaim> = {
  group: GROUP,
  kind: 'ResourceClaim',
  generationOf: null,
  prepareForCreate(object) {
    object.status = {}
  },
  defaults(object) {
    defaultClaimSpec(object.spec?.devices)
    defaultAllocation(object)
  },
  canonicalize: (object) => canonicalizeClaimSpec(object.spec?.devices),
  validateFirst: (object, errors, context) =>
    validateAdminAccess(object.spec?.devices, errors, context),
  validate: (object, errors) => validateClaimSpec(object.spec?.devices, errors, 'spec.devices'),
  // What was accepted stays accepted, for it cannot change.
  updateOrder: 'update-only',
  validateUpdate(object, stored, errors) {
    if (!semanticallyEqual(object.spec, stored.spec))
      errors.invalid('spec', internalForm(object.spec, 'ResourceClaimSpec'), 'field is immutable')
  },
  status: {
    prepareForUpdate: dropStatusOfDeallocated,
    validateUpdate(object, stored, errors, context) {
      validateAllocatedAdminAccess(object, stored, errors, context)
      validateClaimStatus(object, stored, errors)
    },
  },
  columns: [
    nameColumn,
    column(
      'State',
      'string',
      'A summary of the current state (allocated, pending, reserved, etc.).',
      claimState,
    ),
    ageColumn,
  ],
}

/** Claims get their labels and annotations from the template, and nothing else; lists may not even be empty. */
function validateTemplateMetadata(metadata: StoredOf<ObjectMeta> = {}, errors: FieldErrors): void {
  validateLabels(metadata.labels, errors, 'spec.metadata.labels')
  validateAnnotations(metadata.annotations, errors, 'spec.metadata.annotations')
  for (const field of METADATA_FIELDS) {
    if (field === 'labels' || field === 'annotations') continue
    if ((givenValue(metadata, field) ?? '') !== '')
      errors.forbidden(`spec.metadata.${field === 'uid' ? 'uID' : field}`, 'cannot be set')
  }
}

export const resourceClaimTemplate: KindRules<ResourceClaimTemplate> = {
  group: GROUP,
  kind: 'ResourceClaimTemplate',
  generationOf: null,
  defaults: (object) => defaultClaimSpec(object.spec?.spec?.devices),
  canonicalize: (object) => canonicalizeClaimSpec(object.spec?.spec?.devices),
  validateFirst: (object, errors, context) =>
    validateAdminAccess(object.spec?.spec?.devices, errors, context),
  validate(object, errors) {
    validateTemplateMetadata(object.spec?.metadata, errors)
    validateClaimSpec(object.spec?.spec?.devices, errors, 'spec.spec.devices')
  },
  validateUpdate(object, stored, errors) {
    if (!semanticallyEqual(object.spec, stored.spec))
      errors.invalid(
        'spec',
        internalForm(object.spec, 'ResourceClaimTemplateSpec'),
        'field is immutable',
      )
  },
  columns: [nameColumn, ageColumn],
}

function expressionsOf(object: StoredOf<DeviceClass> | undefined): ReadonlySet<string> {
  return new Set((object?.spec?.selectors ?? []).map(({ cel }) => cel?.expression ?? ''))
}

/** `example.com/gpu`, as containers ask for it; not one of Kubernetes' own. */
function isExtendedResource(name: string): boolean {
  const isOwn = name.startsWith('kubernetes.io/') || /^[^/]*\.?kubernetes\.io\//.test(name)
  return name.includes('/') && !isOwn && qualifiedName(`requests.${name}`).length === 0
}

function validateClass(
  object: StoredOf<DeviceClass>,
  errors: FieldErrors,
  known?: ReadonlySet<string>,
): void {
  const { selectors = [], config = [] } = object.spec ?? {}
  const extendedResourceName = givenValue(object.spec, 'extendedResourceName')
  validateSelectors(selectors, errors, 'spec.selectors', known)
  validateConfigs(config, errors, 'spec.config')
  if (typeof extendedResourceName === 'string' && !isExtendedResource(extendedResourceName))
    errors.invalid(
      'spec.extendedResourceName',
      extendedResourceName,
      'must be a valid extended resource name',
    )
}

export const deviceClass: KindRules<DeviceClass> = {
  group: GROUP,
  kind: 'DeviceClass',
  name: subdomainInBytes,
  generationOf: (object) => object.spec,
  validate: (object, errors) => validateClass(object, errors),
  updateOrder: 'update-only',
  validateUpdate: (object, stored, errors) => validateClass(object, errors, expressionsOf(stored)),
  columns: [nameColumn, ageColumn],
}
