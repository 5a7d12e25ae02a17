/** What drivers tell of the devices of a claim: conditions, data of their own, and the network. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type {
  AllocatedDeviceStatus,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
} from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { formatCidr, isMappedIp, parseCidr } from '@gyropilot/schema/validation/ip'
import type { Stored, StoredOf } from '../../registry/kind-rules.ts'
import { validateConditions } from '../conditions.ts'
import {
  refuseRepeated,
  validateCount,
  validateDriver,
  validateLabelName,
  validatePoolName,
  validateRawObject,
} from './device-fields.ts'
import { validateShareId } from './share-id.ts'

const CONDITIONS_MAX = 8
const IPS_MAX = 16
const INTERFACE_NAME_BYTES_MAX = 256
const HARDWARE_ADDRESS_BYTES_MAX = 128
/** Of the IPv6 prefix that holds the IPv4 addresses. */
const MAPPED_BITS = 96

/** `allocated`: the devices that the claim has. */
export function validateDeviceStatuses(
  devices: readonly StoredOf<AllocatedDeviceStatus>[],
  allocated: ReadonlySet<string>,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, device] of devices.entries()) {
    const at = `${field}[${index}]`
    const { shareID, conditions, data, networkData } = device
    validateDriver(device.driver, errors, `${at}.driver`)
    validatePoolName(device.pool, errors, `${at}.pool`)
    validateLabelName(device.device, errors, `${at}.device`)
    if (shareID !== undefined) validateShareId(shareID, errors, `${at}.shareID`)
    if (!allocated.has(deviceId(device)))
      errors.invalid(at, printedId(device), 'must be an allocated device in the claim')
    validateCount(conditions ?? [], CONDITIONS_MAX, errors, `${at}.conditions`)
    validateConditions(conditions, errors, `${at}.conditions`)
    if (data !== undefined && data !== null) validateRawObject(data, errors, `${at}.data`)
    if (networkData) validateNetworkData(networkData, errors, `${at}.networkData`)
  }
  refuseRepeated(devices, deviceId, errors, field, printedId)
}

function validateNetworkData(
  { interfaceName = '', hardwareAddress = '', ips = [] }: StoredOf<NetworkDeviceData>,
  errors: FieldErrors,
  field: string,
): void {
  if (Buffer.byteLength(interfaceName) > INTERFACE_NAME_BYTES_MAX)
    errors.tooLong(`${field}.interfaceName`, INTERFACE_NAME_BYTES_MAX)
  if (Buffer.byteLength(hardwareAddress) > HARDWARE_ADDRESS_BYTES_MAX)
    errors.tooLong(`${field}.hardwareAddress`, HARDWARE_ADDRESS_BYTES_MAX)
  if (!validateCount(ips, IPS_MAX, errors, `${field}.ips`)) return
  for (const [index, text] of ips.entries())
    validateInterfaceAddress(text, errors, `${field}.ips[${index}]`)
  refuseRepeated(ips, (text) => text, errors, `${field}.ips`)
}

/** An address with the length of its network's prefix; bits beyond that are its own. */
function validateInterfaceAddress(text: string, errors: FieldErrors, field: string): void {
  const cidr = parseCidr(text, true)
  if (cidr === undefined) {
    errors.invalid(
      field,
      text,
      'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
    )
    return
  }
  const { value, bits } = cidr
  const canonical = formatCidr(
    isMappedIp(cidr) && bits >= MAPPED_BITS
      ? { family: 4, value: value & 0xffffffffn, bits: bits - MAPPED_BITS }
      : cidr,
  )
  if (text !== canonical)
    errors.invalid(field, text, `must be in canonical form (${JSON.stringify(canonical)})`)
}

export function deviceId({
  driver,
  pool,
  device,
  shareID = '',
}: StoredOf<DeviceRequestAllocationResult | AllocatedDeviceStatus>): string {
  return `${driver}/${pool}/${device}/${shareID}`
}

function printedId({
  driver = '',
  pool = '',
  device = '',
  shareID = '',
}: StoredOf<AllocatedDeviceStatus>): Stored {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID }
}
