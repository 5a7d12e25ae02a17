/**
 * Whether a ServiceCIDR can go.
 * Contract: docs/behaviour/controllers/service-cidr-controller.md, Sync, Can it go.
 */
import type { Cidr, IPAddress, ServiceCIDR } from '@gyropilot/api'
import { ALLOCATOR, IP_FAMILY, MANAGED_BY } from './config.ts'
import { covers, provides, rangesOf } from './ranges.ts'

export interface RangeUse {
  /** All of the cluster, those that are being deleted too. */
  readonly serviceCidrs: readonly ServiceCIDR[]
  /** Asked only when the ranges of others do not make up for this one. */
  addresses(): readonly IPAddress[]
}

export function canGo(serviceCidr: ServiceCIDR, use: RangeUse): boolean {
  const name = serviceCidr.metadata?.name
  const others = use.serviceCidrs.filter(({ metadata }) => metadata?.name !== name)
  const ranges = rangesOf(serviceCidr)
  // 1. Different ranges of one may be covered by different others.
  if (ranges.every((range) => others.some((other) => covers(other, range)))) return true
  // 2. and 3.
  const families = new Set(ranges.map(familyOf))
  return !use
    .addresses()
    .some(
      ({ metadata }) =>
        metadata?.labels?.[MANAGED_BY] === ALLOCATOR &&
        families.has(metadata.labels[IP_FAMILY] ?? '') &&
        provides(serviceCidr, metadata.name ?? '') &&
        !others.some((other) => provides(other, metadata.name ?? '')),
    )
}

/** As the label of addresses says it. */
function familyOf({ family }: Cidr): string {
  return `IPv${family}`
}
