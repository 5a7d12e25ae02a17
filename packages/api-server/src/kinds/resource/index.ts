import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Draft, KindRules, RuleContext, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'
import { ageColumn, column, nameColumn } from '../columns.ts'

const GROUP = 'resource.k8s.io'

function validateRequests(devices: Stored | undefined, errors: FieldErrors, field: string): void {
  const names = new Set<string>()
  for (const [index, request] of (devices?.requests ?? []).entries()) {
    const at = `${field}.requests[${index}]`
    if (!request.name) errors.required(`${at}.name`)
    else {
      invalidAll(errors, `${at}.name`, request.name, dnsLabel(request.name))
      if (names.has(request.name)) errors.duplicate(`${at}.name`, request.name)
      names.add(request.name)
    }
    if (!request.exactly && !request.firstAvailable)
      errors.required(at, 'exactly one of `exactly` or `firstAvailable` is required')
    else if (request.exactly && !request.exactly.deviceClassName)
      errors.required(`${at}.exactly.deviceClassName`)
  }
}

function defaultRequests(devices: Stored | undefined): void {
  for (const request of devices?.requests ?? []) {
    for (const part of [request.exactly, ...(request.firstAvailable ?? [])]) {
      if (!part) continue
      part.allocationMode ||= 'ExactCount'
      if (part.allocationMode === 'ExactCount') part.count ||= 1
      for (const toleration of part.tolerations ?? []) toleration.operator ||= 'Equal'
    }
  }
}

function immutableSpec(object: Stored, stored: Stored, errors: FieldErrors): void {
  if (!deepEqual(object.spec ?? null, stored.spec ?? null))
    errors.invalid('spec', object.spec ?? null, 'field is immutable')
}

function claimState(object: Stored): string {
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

export const resourceClaim: KindRules = {
  group: GROUP,
  kind: 'ResourceClaim',
  generationOf: null,
  prepareForCreate(object) {
    object.status = {}
  },
  defaults: (object) => defaultRequests(object.spec?.devices),
  validate: (object, errors) => validateRequests(object.spec?.devices, errors, 'spec.devices'),
  validateUpdate: immutableSpec,
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

export const resourceClaimTemplate: KindRules = {
  group: GROUP,
  kind: 'ResourceClaimTemplate',
  generationOf: null,
  defaults: (object) => defaultRequests(object.spec?.spec?.devices),
  validate: (object, errors) =>
    validateRequests(object.spec?.spec?.devices, errors, 'spec.spec.devices'),
  validateUpdate: immutableSpec,
  columns: [nameColumn, ageColumn],
}

export const deviceClass: KindRules = {
  group: GROUP,
  kind: 'DeviceClass',
  generationOf: (object) => object.spec,
  validate(object, errors) {
    for (const [index, selector] of (object.spec?.selectors ?? []).entries()) {
      if (!selector.cel) errors.required(`spec.selectors[${index}].cel`)
    }
  },
  columns: [nameColumn, ageColumn],
}

/** A taint without a time begins now. */
function dateTaints(slice: Draft, { nowMs }: RuleContext): void {
  for (const device of slice.spec?.devices ?? [])
    for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(nowMs)
}

export const resourceSlice: KindRules = {
  group: GROUP,
  kind: 'ResourceSlice',
  generationOf: (object) => object.spec,
  prepareForCreate: dateTaints,
  prepareForUpdate: (object, _stored, context) => dateTaints(object, context),
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    if (!spec.driver) errors.required('spec.driver')
    else invalidAll(errors, 'spec.driver', spec.driver, dnsSubdomain(spec.driver))
    if (!spec.pool?.name) errors.required('spec.pool.name')
    const places = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'].filter(
      (name) => spec[name],
    )
    if (places.length === 0)
      errors.invalid(
        'spec',
        {},
        'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
      )
    else if (places.length > 1)
      errors.invalid(
        'spec',
        {},
        'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      )
    const names = new Set<string>()
    for (const [index, device] of (spec.devices ?? []).entries()) {
      invalidAll(
        errors,
        `spec.devices[${index}].name`,
        device.name ?? '',
        dnsLabel(device.name ?? ''),
      )
      if (names.has(device.name)) errors.duplicate(`spec.devices[${index}].name`, device.name)
      names.add(device.name)
    }
  },
  validateUpdate(object, stored, errors) {
    for (const field of ['driver', 'nodeName']) {
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
