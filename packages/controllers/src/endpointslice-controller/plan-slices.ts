/**
 * What becomes of the slices of one address type.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync B.
 */
import type { EndpointSlice, Service } from '@gyropilot/api'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import { portsKey } from '../endpoint-support/slice-ports.ts'
import type { PortGroup } from './desired-endpoints.ts'
import { packGroup } from './packing.ts'
import type { SlicePlan } from './packing.ts'
import {
  isOwnedByService,
  isSamePlaceholder,
  labelsDiffer,
  newSlice,
  sliceLabels,
} from './slice-object.ts'

/** Numbers of one port group, for metrics. */
export interface GroupCounts {
  readonly endpoints: number
  readonly slices: number
}

interface AddressTypePlan {
  readonly plan: SlicePlan
  readonly added: number
  readonly removed: number
  readonly groups: readonly GroupCounts[]
}

interface DraftPlan {
  readonly create: EndpointSlice[]
  readonly update: EndpointSlice[]
  readonly remove: EndpointSlice[]
  readonly unchanged: EndpointSlice[]
}

/** `existing` are slices of the address type that this controller manages, whoever owns them. */
export function planSlices(
  service: Service,
  addressType: IpFamily,
  existing: readonly EndpointSlice[],
  desired: ReadonlyMap<string, PortGroup>,
  maxEndpointsPerSlice: number,
): AddressTypePlan {
  const owned = existing.filter((slice) => isOwnedByService(slice, service))
  const ownedByPorts = Map.groupBy(owned, ({ ports }) => portsKey(ports))
  const plan: DraftPlan = {
    create: [],
    update: [],
    remove: existing.filter((slice) => !owned.includes(slice)),
    unchanged: [],
  }
  const groups: GroupCounts[] = []
  let added = 0
  let removed = 0
  const labels = sliceLabels(service)
  for (const [key, { ports, endpoints }] of desired) {
    const before = ownedByPorts.get(key) ?? []
    const packed = packGroup(before, endpoints.copy(), {
      maxEndpointsPerSlice,
      labels,
      changedLabels: (slice) => (labelsDiffer(slice, service) ? labels : undefined),
      emptySlice: () => newSlice(service, addressType, ports),
    })
    plan.create.push(...packed.create)
    plan.update.push(...packed.update)
    plan.remove.push(...packed.remove)
    plan.unchanged.push(...packed.unchanged)
    added += packed.added
    removed += packed.removed
    groups.push({
      endpoints: endpoints.size,
      slices: before.length + packed.create.length - packed.remove.length,
    })
  }
  // 4.
  for (const [key, slices] of ownedByPorts) if (!desired.has(key)) plan.remove.push(...slices)
  // 5. Consumers tell "no endpoints" from "not yet known" by there being a slice.
  if (plan.create.length === 0 && plan.remove.length === existing.length) {
    keepPlaceholder(service, addressType, plan)
    groups.push({ endpoints: 0, slices: 1 })
  }
  return { plan, added, removed, groups }
}

function keepPlaceholder(service: Service, addressType: IpFamily, plan: DraftPlan): void {
  const placeholder = newSlice(service, addressType, [])
  const [only, ...others] = plan.remove
  if (only !== undefined && others.length === 0 && isSamePlaceholder(only, placeholder)) {
    plan.unchanged.push(...plan.remove.splice(0))
  } else {
    plan.create.push(placeholder)
  }
}
