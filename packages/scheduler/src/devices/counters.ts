/**
 * Partitions of one piece of hardware: each consumes counters that all of them share.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure.
 */
import { addQuantities, compareQuantities } from '@gyropilot/api'
import { keyOfPublished } from './device-pools.ts'
import type { PublishedDevice } from './device-pools.ts'

/** Whether there is enough left for the device besides those that are taken. */
export function countersFit(
  device: PublishedDevice,
  isTaken: (key: string) => boolean,
  all: readonly PublishedDevice[],
): boolean {
  const consumed = device.device.consumesCounters ?? []
  if (consumed.length === 0) return true
  const beside = all.filter(
    (other) =>
      other.driver === device.driver &&
      other.pool === device.pool &&
      // What a shared device consumes does not depend on how many share it.
      other !== device &&
      isTaken(keyOfPublished(other)),
  )
  return consumed.every(({ counterSet, counters }) =>
    Object.entries(counters).every(([name, { value }]) => {
      const limit = device.counterSets.get(counterSet)?.counters[name]?.value
      if (limit === undefined) return false
      const others = beside.map((other) => consumption(other, counterSet, name))
      const sum = [String(value), ...others].reduce((a, b) => addQuantities(a, b))
      return compareQuantities(sum, String(limit)) <= 0
    }),
  )
}

function consumption({ device }: PublishedDevice, counterSet: string, name: string): string {
  const own = device.consumesCounters?.filter((each) => each.counterSet === counterSet) ?? []
  return own.map(({ counters }) => String(counters[name]?.value ?? '0')).reduce(addQuantities, '0')
}
