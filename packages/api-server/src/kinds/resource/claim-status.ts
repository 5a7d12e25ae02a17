/** What becomes of a claim: its allocation, its users, and what drivers tell of devices. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type {
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import type { DraftOf, StoredOf } from '../../registry/kind-rules.ts'
import { validateNodeSelector } from '../core/pod/scheduling.ts'
import { requestNames, validateRequestName, validateRequestNames } from './claim-spec.ts'
import {
  refuseRepeated,
  validateConfigs,
  validateCount,
  validateDriver,
  validateLabelName,
  validatePoolName,
} from './device-fields.ts'
import { deviceId, validateDeviceStatuses } from './device-status.ts'
import { validateBinding } from './devices.ts'
import { validateShareId } from './share-id.ts'

const RESERVED_FOR_MAX = 256
const RESULTS_MAX = 32
const SOURCES = ['FromClaim', 'FromClass']

/** Tolerations that a claim was allocated with are filled in as those that it asks for. */
export function defaultAllocation({ status }: DraftOf<ResourceClaim>): void {
  for (const { tolerations } of status?.allocation?.devices?.results ?? [])
    for (const toleration of tolerations ?? []) toleration.operator ||= 'Equal'
}

/** What drivers told of devices that the claim no longer has is over. */
export function dropStatusOfDeallocated(
  draft: DraftOf<ResourceClaim>,
  stored: StoredOf<ResourceClaim>,
): void {
  if (!draft.status?.devices || stored.status?.allocation === undefined) return
  const allocated = new Set(resultsOf(draft).map(deviceId))
  const before = new Set((stored.status.devices ?? []).map(deviceId))
  const kept = draft.status.devices.filter(
    (device) => allocated.has(deviceId(device)) || !before.has(deviceId(device)),
  )
  if (kept.length === 0) delete draft.status.devices
  else draft.status.devices = kept
}

export function validateClaimStatus(
  object: StoredOf<ResourceClaim>,
  stored: StoredOf<ResourceClaim>,
  errors: FieldErrors,
): void {
  const { reservedFor = [], allocation, devices = [] } = object.status ?? {}
  validateUsers(reservedFor, errors, 'status.reservedFor')
  validateDeviceStatuses(
    devices,
    new Set(resultsOf(object).map(deviceId)),
    errors,
    'status.devices',
  )
  if (reservedFor.length > 0 && !allocation)
    errors.forbidden('status.reservedFor', 'may not be specified when `allocated` is not set')
  const before = stored.status?.allocation
  if (allocation && before) {
    if (!deepEqual(allocation, before))
      errors.invalid(
        'status.allocation',
        internalForm(allocation, 'AllocationResult'),
        'field is immutable',
      )
  } else if (allocation) validateAllocation(object, errors, 'status.allocation')
}

function validateUsers(
  users: readonly StoredOf<ResourceClaimConsumerReference>[],
  errors: FieldErrors,
  field: string,
): void {
  if (!validateCount(users, RESERVED_FOR_MAX, errors, field)) return
  for (const [index, { resource, name, uid }] of users.entries()) {
    const at = `${field}[${index}]`
    if (!resource) errors.required(`${at}.resource`)
    if (!name) errors.required(`${at}.name`)
    if (!uid) errors.required(`${at}.uid`)
  }
  refuseRepeated(users, ({ uid = '' }) => uid, errors, field)
}

function validateAllocation(
  object: StoredOf<ResourceClaim>,
  errors: FieldErrors,
  field: string,
): void {
  const { devices, nodeSelector } = object.status!.allocation!
  const names = requestNames(object.spec?.devices)
  const results = devices?.results ?? []
  if (validateCount(results, RESULTS_MAX, errors, `${field}.devices.results`)) {
    for (const [index, result] of results.entries()) {
      const at = `${field}.devices.results[${index}]`
      validateRequestName(result.request ?? '', names, errors, `${at}.request`)
      validateDriver(result.driver, errors, `${at}.driver`)
      validatePoolName(result.pool, errors, `${at}.pool`)
      validateLabelName(result.device, errors, `${at}.device`)
      validateBinding(result, errors, at)
      if (result.shareID !== undefined) validateShareId(result.shareID, errors, `${at}.shareID`)
    }
  }
  validateConfigs(devices?.config ?? [], errors, `${field}.devices.config`, (config, at) => {
    if (!config.source) errors.required(`${at}.source`)
    else if (!SOURCES.includes(config.source))
      errors.notSupported(`${at}.source`, config.source, SOURCES)
    validateRequestNames(config.requests ?? [], names, errors, `${at}.requests`)
  })
  if (nodeSelector) validateNodeSelector(nodeSelector, errors, `${field}.nodeSelector`)
}

function resultsOf({
  status,
}: StoredOf<ResourceClaim>): readonly StoredOf<DeviceRequestAllocationResult>[] {
  return status?.allocation?.devices?.results ?? []
}
