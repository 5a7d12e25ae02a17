import type {
  Device,
  DeviceAttribute,
  NodeSelector,
  ResourceSlice,
  ResourceSliceSpec,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { parseSemanticVersion } from '@gyropilot/schema/semantic-version'
import type { DraftOf, KindRules, RuleContext, StoredOf } from '../../registry/kind-rules.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { validateNodeSelector } from '../core/pod/scheduling.ts'
import {
  validateCount,
  validateDeviceName,
  validateDriver,
  validateLabelName,
  validatePoolName,
  validateSubdomainName,
  validateTaint,
} from './device-fields.ts'

const DEVICES_MAX = 128
/** Where some device has taints or consumes counters. */
const RICH_DEVICES_MAX = 64
const NAMED_VALUES_MAX = 32
const TAINTS_MAX = 16
const VALUE_BYTES_MAX = 64
const PLACES = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const
const QUOTED_PLACES = PLACES.map((name) => `\`${name}\``).join(', ')

/** A taint without a time begins now. */
function dateTaints(slice: DraftOf<ResourceSlice>, { nowMs }: RuleContext): void {
  for (const device of slice.spec?.devices ?? [])
    for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(nowMs)
}

function validate(object: StoredOf<ResourceSlice>, errors: FieldErrors): void {
  const spec = object.spec ?? {}
  validateDriver(spec.driver ?? '', errors, 'spec.driver')
  const { name = '', generation = 0, resourceSliceCount = 0 } = spec.pool ?? {}
  validatePoolName(name, errors, 'spec.pool.name')
  if (resourceSliceCount <= 0)
    errors.invalid('spec.pool.resourceSliceCount', resourceSliceCount, 'must be greater than zero')
  if (generation < 0)
    errors.invalid('spec.pool.generation', generation, 'must be greater than or equal to zero')
  validatePlace(spec, errors)
  const devices = spec.devices ?? []
  if (devices.length > 0 && (spec.sharedCounters ?? []).length > 0)
    errors.invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')
  const isRich = devices.some(
    ({ taints = [], consumesCounters = [] }) => taints.length + consumesCounters.length > 0,
  )
  const limit = isRich ? RICH_DEVICES_MAX : DEVICES_MAX
  if (validateCount(devices, limit, errors, 'spec.devices')) validateDevices(spec, errors)
}

function validatePlace(spec: StoredOf<ResourceSliceSpec>, errors: FieldErrors): void {
  const set = PLACES.filter((name) => spec[name])
  const rule = `exactly one of ${QUOTED_PLACES} is required`
  if (spec.nodeName) validateSubdomainName(spec.nodeName, errors, 'spec.nodeName')
  if (spec.nodeSelector) validateOneTerm(spec.nodeSelector, errors, 'spec.nodeSelector')
  if (set.length === 0) errors.required('spec', rule)
  else if (set.length > 1) {
    const found = `{${set.map((name) => `\`${name}\``).join(', ')}}`
    errors.invalid('spec', found, `${rule}, but multiple fields are set`)
  }
}

function validateOneTerm(
  selector: StoredOf<NodeSelector>,
  errors: FieldErrors,
  field: string,
): void {
  validateNodeSelector(selector, errors, field)
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length !== 1)
    errors.invalid(
      `${field}.nodeSelectorTerms`,
      terms.map((term) => internalForm(term, 'NodeSelectorTerm')),
      'must have exactly one node selector term',
    )
}

function validateDevices(spec: StoredOf<ResourceSliceSpec>, errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const [index, device] of (spec.devices ?? []).entries()) {
    const at = `spec.devices[${index}]`
    const { name = '' } = device
    validateLabelName(name, errors, `${at}.name`)
    validateDevice(device, errors, at)
    validateDevicePlace(device, spec.perDeviceNodeSelection === true, errors, at)
    if (seen.has(name)) errors.duplicate(at, name)
    seen.add(name)
  }
}

function validateDevice(device: StoredOf<Device>, errors: FieldErrors, field: string): void {
  const { attributes = {}, capacity = {}, taints = [], bindingConditions = [] } = device
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  if (count > NAMED_VALUES_MAX)
    errors.invalid(
      field,
      count,
      `the total number of attributes and capacities must not exceed ${NAMED_VALUES_MAX}`,
    )
  else {
    for (const name of Object.keys(attributes).toSorted()) {
      validateDeviceName(name, errors, `${field}.attributes`)
      validateAttribute(attributes[name]!, errors, `${field}.attributes[${name}]`)
    }
    for (const name of Object.keys(capacity).toSorted())
      validateDeviceName(name, errors, `${field}.capacity`)
  }
  if (validateCount(taints, TAINTS_MAX, errors, `${field}.taints`))
    for (const [index, taint] of taints.entries())
      validateTaint(taint, errors, `${field}.taints[${index}]`)
  const failures = device.bindingFailureConditions ?? []
  if (bindingConditions.length > 0 && failures.length === 0)
    errors.invalid(
      `${field}.bindingFailureConditions`,
      null,
      'bindingFailureConditions are required to use bindingConditions',
    )
  if (failures.length > 0 && bindingConditions.length === 0)
    errors.invalid(
      `${field}.bindingConditions`,
      null,
      'bindingConditions are required to use bindingFailureConditions',
    )
}

function validateAttribute(
  attribute: StoredOf<DeviceAttribute>,
  errors: FieldErrors,
  field: string,
): void {
  const { string: text, version } = attribute
  const set = Object.values(attribute).filter((value) => value !== undefined && value !== null)
  if (set.length === 0) errors.invalid(field, '', 'exactly one value must be specified')
  else if (set.length > 1)
    errors.invalid(
      field,
      internalForm(attribute, 'DeviceAttribute'),
      'exactly one value must be specified',
    )
  else if (text !== undefined && Buffer.byteLength(text) > VALUE_BYTES_MAX)
    errors.tooLong(`${field}.string`, VALUE_BYTES_MAX)
  else if (version !== undefined) {
    if (parseSemanticVersion(version) === undefined)
      errors.invalid(
        `${field}.version`,
        version,
        'must be a string compatible with semver.org spec 2.0.0',
      )
    if (Buffer.byteLength(version) > VALUE_BYTES_MAX)
      errors.tooLong(`${field}.version`, VALUE_BYTES_MAX)
  }
}

function validateDevicePlace(
  device: StoredOf<Device>,
  isPerDevice: boolean,
  errors: FieldErrors,
  field: string,
): void {
  const set = (['nodeName', 'nodeSelector', 'allNodes'] as const).filter((name) => device[name])
  if (!isPerDevice) {
    if (set.length > 0)
      errors.invalid(
        field,
        null,
        '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      )
    return
  }
  const rule =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (device.nodeName) validateSubdomainName(device.nodeName, errors, `${field}.nodeName`)
  if (device.nodeSelector) validateOneTerm(device.nodeSelector, errors, `${field}.nodeSelector`)
  if (set.length === 0) errors.required(field, rule)
  else if (set.length > 1)
    errors.invalid(field, `{${set.map((name) => `\`${name}\``).join(', ')}}`, rule)
}

export const resourceSlice: KindRules<ResourceSlice> = {
  group: 'resource.k8s.io',
  kind: 'ResourceSlice',
  generationOf: (object) => object.spec,
  prepareForCreate: dateTaints,
  prepareForUpdate: (object, _stored, context) => dateTaints(object, context),
  validate,
  validateUpdate(object, stored, errors) {
    for (const field of ['driver', 'nodeName'] as const) {
      if (!deepEqual(object.spec?.[field] ?? null, stored.spec?.[field] ?? null))
        errors.invalid(`spec.${field}`, object.spec?.[field] ?? null, 'field is immutable')
    }
    if (object.spec?.pool?.name !== stored.spec?.pool?.name)
      errors.invalid('spec.pool.name', object.spec?.pool?.name ?? '', 'field is immutable')
  },
  selectableFields: {
    'spec.nodeName': (object) => object.spec?.nodeName ?? '',
    'spec.driver': (object) => object.spec?.driver ?? '',
  },
  columns: [
    nameColumn,
    column(
      'Node',
      'string',
      'NodeName identifies the node which provides the resources in this pool.',
      (object) => object.spec?.nodeName ?? '<unset>',
    ),
    column(
      'Driver',
      'string',
      'Driver identifies the DRA driver providing the capacity information.',
      (object) => object.spec?.driver ?? '',
    ),
    column(
      'Pool',
      'string',
      'Name is used to identify the pool.',
      (object) => object.spec?.pool?.name ?? '',
    ),
    ageColumn,
  ],
}
