import { deepEqual } from '@gyropilot/api'
import type { Condition, GroupResource, StorageVersionMigration } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dns1035Label, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { column, nameColumn } from '../columns.ts'
import { inGoOrder, validateConditions } from '../conditions.ts'

type Conditions = readonly StoredOf<Condition>[]

/** Served with gate StorageVersionMigrator. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "StorageVersionMigration". */
export const storageVersionMigration: KindRules<StorageVersionMigration> = {
  group: 'storagemigration.k8s.io',
  kind: 'StorageVersionMigration',
  generationOf: null,
  unconditionalUpdate: false,
  validate(object, errors) {
    const { group, resource } = resourceOf(object)
    if (resource === '') errors.required('spec.resource.resource', 'resource is required to be set')
    else invalidAll(errors, 'spec.resource.resource', resource, dns1035Label(resource))
    if (group !== '') invalidAll(errors, 'spec.resource.group', group, dnsSubdomain(group))
  },
  validateUpdate(object, stored, errors) {
    const resource = resourceOf(object)
    if (!deepEqual(resource, resourceOf(stored)))
      errors.invalid('spec', { Resource: resource }, 'field is immutable')
  },
  status: {
    validateUpdate(object, stored, errors) {
      validateResourceVersion(object, errors)
      validateConditions(object.status?.conditions, errors, 'status.conditions')
      const before = versionOf(stored)
      if (before !== '' && versionOf(object) !== before)
        errors.invalid('status.resourceVersion', versionOf(object), 'field is immutable')
      validateEnd(object.status?.conditions ?? [], stored.status?.conditions ?? [], errors)
    },
  },
  columns: [
    { ...nameColumn, format: '' },
    column('Resource', 'string', 'GroupResource to migrate', (object) => {
      const { group, resource } = resourceOf(object)
      return group === '' ? resource : `${resource}.${group}`
    }),
    column('Status', 'string', 'Status of the migration', (object) => phaseOf(object)),
  ],
}

function resourceOf({ spec }: StoredOf<StorageVersionMigration>): GroupResource {
  return { group: spec?.resource?.group ?? '', resource: spec?.resource?.resource ?? '' }
}

function versionOf({ status }: StoredOf<StorageVersionMigration>): string {
  return status?.resourceVersion ?? ''
}

const RESOURCE_VERSION = /^[1-9][0-9]*$/

function validateResourceVersion(
  object: StoredOf<StorageVersionMigration>,
  errors: FieldErrors,
): void {
  const version = versionOf(object)
  if (version === '' || RESOURCE_VERSION.test(version)) return
  errors.invalid(
    'status.resourceVersion',
    version,
    `resource version is not well formed: ${version}`,
  )
}

/** A migration ends once, in one way. */
function validateEnd(conditions: Conditions, before: Conditions, errors: FieldErrors): void {
  const refuse = (problem: string): void =>
    errors.invalid('status.conditions', conditions.map(inGoOrder), problem)
  if (isTrue(conditions, 'Succeeded') && isTrue(conditions, 'Failed'))
    refuse('Both success and failed conditions cannot be true at the same time')
  if (isTrue(before, 'Succeeded') && !isTrue(conditions, 'Succeeded'))
    refuse('Success condition cannot be set to false once it is true')
  if (isTrue(before, 'Failed') && !isTrue(conditions, 'Failed'))
    refuse('Failed condition cannot be set to false once it is true')
}

function isTrue(conditions: Conditions, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True')
}

function phaseOf({ status }: StoredOf<StorageVersionMigration>): string {
  const phases = ['Succeeded', 'Failed', 'Running']
  return phases.find((type) => isTrue(status?.conditions ?? [], type)) ?? 'Unknown'
}
