/**
 * Partitions of one piece of hardware: each consumes counters that all of them share.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure.
 */
import { addQuantities, compareQuantities } from '@gyropilot/api'
import type { Device } from '@gyropilot/api'
import { deviceKey } from './device-pools.ts'
import type { PublishedDevice } from './device-pools.ts'

/** Whether there is enough left for the device besides those that are taken, on whatever node. */
export function countersFit(
  { driver, pool, device, hardware }: PublishedDevice,
  isTaken: (key: string) => boolean,
): boolean {
  const consumed = device.consumesCounters ?? []
  if (consumed.length === 0) return true
  const beside = hardware.partitions.filter(
    ({ name }) =>
      // What a shared device consumes does not depend on how many share it.
      name !== device.name && isTaken(deviceKey({ driver, pool, device: name })),
  )
  return consumed.every(({ counterSet, counters }) =>
    Object.entries(counters).every(([name, { value }]) => {
      const limit = hardware.counterSets.get(counterSet)?.counters[name]?.value
      if (limit === undefined) return false
      const others = beside.map((other) => consumption(other, counterSet, name))
      const sum = [String(value), ...others].reduce((a, b) => addQuantities(a, b))
      return compareQuantities(sum, String(limit)) <= 0
    }),
  )
}

function consumption(device: Device, counterSet: string, name: string): string {
  const own = device.consumesCounters?.filter((each) => each.counterSet === counterSet) ?? []
  return own.map(({ counters }) => String(counters[name]?.value ?? '0')).reduce(addQuantities, '0')
}
