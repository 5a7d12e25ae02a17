/** Devices of a slice. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type { Device, DeviceAttribute, NodeSelector, ResourceSliceSpec } from '@gyropilot/api'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { parseSemanticVersion } from '@gyropilot/schema/semantic-version'
import { validateQualifiedName } from '@gyropilot/schema/validation/labels'
import type { StoredOf } from '../../registry/kind-rules.ts'
import { validateNodeSelector } from '../core/pod/scheduling.ts'
import { validateConsumption } from './counters.ts'
import { validateCapacity } from './device-capacity.ts'
import {
  refuseRepeated,
  validateCount,
  validateDeviceName,
  validateLabelName,
  validateSubdomainName,
  validateTaint,
} from './device-fields.ts'

const NAMED_VALUES_MAX = 32
const TAINTS_MAX = 16
const VALUE_BYTES_MAX = 64
const CONDITIONS_MAX = 4

export function validateDevices(spec: StoredOf<ResourceSliceSpec>, errors: FieldErrors): void {
  const devices = spec.devices ?? []
  for (const [index, device] of devices.entries()) {
    const at = `spec.devices[${index}]`
    validateLabelName(device.name, errors, `${at}.name`)
    validateDevice(device, errors, at)
    validateDevicePlace(device, spec.perDeviceNodeSelection === true, errors, at)
  }
  refuseRepeated(devices, ({ name = '' }) => name, errors, 'spec.devices')
}

function validateDevice(device: StoredOf<Device>, errors: FieldErrors, field: string): void {
  const { attributes = {}, capacity = {}, taints = [] } = device
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
    for (const name of Object.keys(capacity).toSorted()) {
      const at = `${field}.capacity[${name}]`
      validateDeviceName(name, errors, `${field}.capacity`)
      validateCapacity(capacity[name]!, device.allowMultipleAllocations === true, errors, at)
    }
  }
  if (validateCount(taints, TAINTS_MAX, errors, `${field}.taints`))
    for (const [index, taint] of taints.entries())
      validateTaint(taint, errors, `${field}.taints[${index}]`)
  validateConsumption(device.consumesCounters ?? [], errors, `${field}.consumesCounters`)
  validateBinding(device, errors, field)
}

export function validateBinding(
  device: Pick<StoredOf<Device>, 'bindingConditions' | 'bindingFailureConditions'>,
  errors: FieldErrors,
  field: string,
): void {
  const { bindingConditions: conditions = [], bindingFailureConditions: failures = [] } = device
  validateConditions(conditions, errors, `${field}.bindingConditions`)
  validateConditions(failures, errors, `${field}.bindingFailureConditions`)
  // However many they are.
  refuseRepeated(conditions, (type) => type, errors, `${field}.bindingConditions`)
  for (const [index, failure] of failures.entries()) {
    const at = `${field}.bindingFailureConditions[${index}]`
    if (failures.indexOf(failure) < index) errors.duplicate(at, failure)
    if (conditions.includes(failure))
      errors.invalid(
        at,
        failure,
        'bindingFailureConditions must not overlap with bindingConditions',
      )
  }
  if (conditions.length > 0 && failures.length === 0)
    errors.invalid(
      `${field}.bindingFailureConditions`,
      givenValue(device, 'bindingFailureConditions'),
      'bindingFailureConditions are required to use bindingConditions',
    )
  if (failures.length > 0 && conditions.length === 0)
    errors.invalid(
      `${field}.bindingConditions`,
      givenValue(device, 'bindingConditions'),
      'bindingConditions are required to use bindingFailureConditions',
    )
}

function validateConditions(types: readonly string[], errors: FieldErrors, field: string): void {
  if (!validateCount(types, CONDITIONS_MAX, errors, field)) return
  for (const [index, type] of types.entries())
    validateQualifiedName(type, errors, `${field}[${index}]`)
}

function validateAttribute(
  attribute: StoredOf<DeviceAttribute>,
  errors: FieldErrors,
  field: string,
): void {
  const { string: text, version } = attribute
  const set = Object.values(attribute).filter((value) => value !== undefined && value !== null)
  if (text !== undefined && Buffer.byteLength(text) > VALUE_BYTES_MAX)
    errors.tooLong(`${field}.string`, VALUE_BYTES_MAX)
  if (version !== undefined) {
    if (parseSemanticVersion(version) === undefined)
      errors.invalid(
        `${field}.version`,
        version,
        'must be a string compatible with semver.org spec 2.0.0',
      )
    if (Buffer.byteLength(version) > VALUE_BYTES_MAX)
      errors.tooLong(`${field}.version`, VALUE_BYTES_MAX)
  }
  if (set.length === 0) errors.invalid(field, '', 'exactly one value must be specified')
  else if (set.length > 1)
    errors.invalid(
      field,
      internalForm(attribute, 'DeviceAttribute'),
      'exactly one value must be specified',
    )
}

function validateDevicePlace(
  device: StoredOf<Device>,
  isPerDevice: boolean,
  errors: FieldErrors,
  field: string,
): void {
  const places = ['nodeName', 'nodeSelector', 'allNodes'] as const
  if (!isPerDevice) {
    // Empty and false are given all the same.
    if (places.some((name) => givenValue(device, name) !== null))
      errors.invalid(
        field,
        null,
        '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      )
    return
  }
  const set = places.filter((name) => device[name])
  const rule =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (device.nodeName) validateSubdomainName(device.nodeName, errors, `${field}.nodeName`)
  else if (givenValue(device, 'nodeName') === '')
    errors.invalid(`${field}.nodeName`, '', 'must not be empty')
  refuseFalse(device, ['allNodes'], errors, field)
  if (device.nodeSelector)
    validateNodeSelector(device.nodeSelector, errors, `${field}.nodeSelector`)
  if (set.length === 0) errors.required(field, rule)
  else if (set.length > 1)
    errors.invalid(field, `{${set.map((name) => `\`${name}\``).join(', ')}}`, rule)
}

export function validateOneTerm(
  selector: StoredOf<NodeSelector>,
  errors: FieldErrors,
  field: string,
): void {
  validateNodeSelector(selector, errors, field)
  const terms = selector.nodeSelectorTerms
  if ((terms ?? []).length !== 1)
    errors.invalid(
      `${field}.nodeSelectorTerms`,
      terms?.map((term) => internalForm(term, 'NodeSelectorTerm')),
      'must have exactly one node selector term',
    )
}

/** Flags that mean nothing when they are false are not to be given so. */
export function refuseFalse(
  holder: Readonly<Record<string, unknown>>,
  flags: readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  for (const flag of flags)
    if (holder[flag] === false)
      errors.invalid(`${field}.${flag}`, false, 'must be either unset or set to true')
}
