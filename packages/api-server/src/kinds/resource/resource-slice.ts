import type { ResourceSlice, ResourceSliceSpec } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { DraftOf, KindRules, RuleContext, StoredOf } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'
import { validateSharedCounters } from './counters.ts'
import {
  validateCount,
  validateDriver,
  validatePoolName,
  validateSubdomainName,
} from './device-fields.ts'
import { refuseFalse, validateDevices, validateOneTerm } from './devices.ts'

const DEVICES_MAX = 128
/** Where some device has taints or consumes counters. */
const RICH_DEVICES_MAX = 64
const PLACES = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const
const QUOTED_PLACES = PLACES.map((name) => `\`${name}\``).join(', ')

/** Attributes of several values, and devices that stand for resources of nodes, wait for their feature gates. */
function dropGated(slice: DraftOf<ResourceSlice>): void {
  for (const device of slice.spec?.devices ?? []) {
    delete device.nodeAllocatableResourceMappings
    for (const attribute of Object.values(device.attributes ?? {}))
      for (const list of ['ints', 'bools', 'strings', 'versions'] as const) delete attribute[list]
  }
}

/** A taint without a time begins now. */
function dateTaints(slice: DraftOf<ResourceSlice>, { nowMs }: RuleContext): void {
  for (const device of slice.spec?.devices ?? [])
    for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(nowMs)
}

function driverWarnings({ spec }: StoredOf<ResourceSlice>): string[] {
  const driver = spec?.driver ?? ''
  if (driver === driver.toLowerCase()) return []
  return [
    `spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`,
  ]
}

function validate(
  object: StoredOf<ResourceSlice>,
  errors: FieldErrors,
  stored?: StoredOf<ResourceSlice>,
): void {
  const spec = object.spec ?? {}
  validateDriver(spec.driver ?? '', errors, 'spec.driver')
  const { name = '', generation = 0, resourceSliceCount = 0 } = spec.pool ?? {}
  validatePoolName(name, errors, 'spec.pool.name')
  if (resourceSliceCount <= 0)
    errors.invalid('spec.pool.resourceSliceCount', resourceSliceCount, 'must be greater than zero')
  if (generation < 0)
    errors.invalid('spec.pool.generation', generation, 'must be greater than or equal to zero')
  if (stored !== undefined) validateKept(spec, stored.spec ?? {}, errors)
  validatePlace(spec, errors)
  const devices = spec.devices ?? []
  // Lists that are empty are given all the same.
  if (givenValue(spec, 'devices') !== null && givenValue(spec, 'sharedCounters') !== null)
    errors.invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')
  const isRich = devices.some(
    ({ taints = [], consumesCounters = [] }) => taints.length + consumesCounters.length > 0,
  )
  const limit = isRich ? RICH_DEVICES_MAX : DEVICES_MAX
  if (validateCount(devices, limit, errors, 'spec.devices')) validateDevices(spec, errors)
  validateSharedCounters(spec.sharedCounters ?? [], errors)
}

function validateKept(
  spec: StoredOf<ResourceSliceSpec>,
  stored: StoredOf<ResourceSliceSpec>,
  errors: FieldErrors,
): void {
  const name = spec.pool?.name ?? ''
  if (name !== (stored.pool?.name ?? ''))
    errors.invalid('spec.pool.name', name, 'field is immutable')
  for (const field of ['driver', 'nodeName'] as const) {
    const value = spec[field] ?? null
    if (value !== (stored[field] ?? null))
      errors.invalid(`spec.${field}`, value, 'field is immutable')
  }
}

function validatePlace(spec: StoredOf<ResourceSliceSpec>, errors: FieldErrors): void {
  const set = PLACES.filter((name) => spec[name])
  const rule = `exactly one of ${QUOTED_PLACES} is required`
  if (spec.nodeName) validateSubdomainName(spec.nodeName, errors, 'spec.nodeName')
  else if (givenValue(spec, 'nodeName') === '')
    errors.invalid('spec.nodeName', '', 'must be either unset or set to a non-empty string')
  if (spec.nodeSelector) validateOneTerm(spec.nodeSelector, errors, 'spec.nodeSelector')
  refuseFalse(spec, ['allNodes', 'perDeviceNodeSelection'], errors, 'spec')
  if (set.length === 0) errors.required('spec', rule)
  else if (set.length > 1) {
    const found = `{${set.map((name) => `\`${name}\``).join(', ')}}`
    errors.invalid('spec', found, `${rule}, but multiple fields are set`)
  }
}

export const resourceSlice: KindRules<ResourceSlice> = {
  group: 'resource.k8s.io',
  kind: 'ResourceSlice',
  generationOf: (object) => object.spec,
  prepareForCreate(object, context) {
    dropGated(object)
    dateTaints(object, context)
  },
  prepareForUpdate(object, _stored, context) {
    dropGated(object)
    dateTaints(object, context)
  },
  validate: (object, errors) => validate(object, errors),
  warnings: driverWarnings,
  updateOrder: 'update-only',
  validateUpdate: (object, stored, errors) => validate(object, errors, stored),
  selectableFields: {
    'spec.nodeName': (object) => object.spec?.nodeName ?? '',
    'spec.driver': (object) => object.spec?.driver ?? '',
  },
  columns: tableColumns<ResourceSlice>('resource.k8s.io/resourceslices', {
    Node: (object) => object.spec?.nodeName ?? '',
    Driver: (object) => object.spec?.driver ?? '',
    Pool: (object) => object.spec?.pool?.name ?? '',
  }),
}
