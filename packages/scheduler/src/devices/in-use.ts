/** Devices that are taken. Pure. */
import type { AllocationResult } from '@gyropilot/api'
import { deviceKey } from './device-pools.ts'
import { added, isShare } from './shared-capacity.ts'
import type { Consumption } from './shared-capacity.ts'

/** What nobody else can have meanwhile: whole devices, and parts of shared ones. */
export interface InUse {
  readonly taken: ReadonlySet<string>
  readonly shares: ReadonlyMap<string, Consumption>
}

export function usedBy(
  allocations: readonly (AllocationResult | undefined)[],
  before: InUse = { taken: new Set(), shares: new Map() },
): InUse {
  const taken = new Set(before.taken)
  const shares = new Map(before.shares)
  for (const result of allocations.flatMap((allocation) => allocation?.devices?.results ?? [])) {
    const key = deviceKey(result)
    if (result.adminAccess === true) continue
    if (isShare(result)) shares.set(key, added(shares.get(key), result.consumedCapacity))
    else taken.add(key)
  }
  return { taken, shares }
}
