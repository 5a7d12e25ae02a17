/**
 * Devices that several claims may have at a time, each a part of their capacity.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure.
 */
import { QuantityAmount, addQuantities, compareQuantities, parseQuantity } from '@gyropilot/api'
import type {
  CapacityRequestPolicy,
  CapacityRequirements,
  Device,
  DeviceRequestAllocationResult,
  Quantity,
} from '@gyropilot/api'

/** By name of the capacity. */
export type Consumption = Readonly<Record<string, Quantity>>

export function isShared({ allowMultipleAllocations }: Device): boolean {
  return allowMultipleAllocations === true
}

/**
 * What one request takes of each capacity of the device, where it is shared; of another device what is asked for is only a
 * condition. Undefined: the device cannot give so much, also when nobody else has it.
 */
export function consumptionOf(
  { capacity = {} }: Device,
  { requests = {} }: CapacityRequirements = {},
): Consumption | undefined {
  if (Object.keys(requests).some((name) => !Object.hasOwn(capacity, name))) return undefined
  const consumed: Record<string, Quantity> = {}
  for (const [name, { value, requestPolicy }] of Object.entries(capacity)) {
    const asked = Object.hasOwn(requests, name) ? requests[name] : undefined
    // Who asks for nothing has all of it, unless the driver says how much that is.
    const amount =
      asked === undefined ? (requestPolicy?.default ?? value) : granted(asked, requestPolicy)
    if (amount === undefined || compareQuantities(amount, value) > 0) return undefined
    consumed[name] = amount
  }
  return consumed
}

/** The next amount that the driver gives out, no less than what is asked for; undefined: there is none. */
function granted(asked: Quantity, policy: CapacityRequestPolicy = {}): Quantity | undefined {
  const { validValues, validRange } = policy
  if (validValues !== undefined)
    return validValues
      .toSorted(compareQuantities)
      .find((valid) => compareQuantities(valid, asked) >= 0)
  if (validRange === undefined) return asked
  const { min, max, step } = validRange
  const amount = compareQuantities(asked, min) <= 0 ? min : stepped(asked, min, step)
  return max !== undefined && compareQuantities(amount, max) > 0 ? undefined : amount
}

function stepped(asked: Quantity, min: Quantity, step: Quantity | undefined): Quantity {
  const size = step === undefined ? 0n : parseQuantity(step).nanos
  if (size === 0n) return asked
  const from = parseQuantity(min)
  const above = parseQuantity(asked).nanos - from.nanos
  const steps = (above + size - 1n) / size
  return new QuantityAmount(from.nanos + steps * size, from.format).toString()
}

export function added(some: Consumption = {}, more: Consumption = {}): Consumption {
  const sum: Record<string, Quantity> = { ...some }
  for (const [name, amount] of Object.entries(more))
    sum[name] = Object.hasOwn(sum, name) ? addQuantities(sum[name]!, amount) : amount
  return sum
}

/** Whether there is as much left of each capacity beside what others have. */
export function fitsBeside(
  { capacity = {} }: Device,
  wanted: Consumption,
  others: Consumption | undefined,
): boolean {
  const sum = added(others, wanted)
  return Object.entries(capacity).every(
    ([name, { value }]) => compareQuantities(sum[name] ?? '0', value) <= 0,
  )
}

/** Results of shared devices carry an identity of their own. */
export function isShare({ shareID }: DeviceRequestAllocationResult): boolean {
  return shareID !== undefined
}
