/** Contract: docs/behaviour/controllers/service-cidr-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { IPAddress, ServiceCIDR } from '@gyropilot/api'
import { DeletedFinalStateUnknown, keyOfDeleted } from '@gyropilot/runtime'
import type { Lister, Watch } from '@gyropilot/runtime'
import { ALLOCATOR, MANAGED_BY } from './config.ts'
import { overlaps, provides, rangesOf } from './ranges.ts'

/** A new range may let others go that it covers; a change of one says nothing to others. */
export function serviceCidrWatch(serviceCidrs: Lister<ServiceCIDR>): Watch<ServiceCIDR> {
  return {
    type: resources.servicecidrs,
    onAdd(added) {
      const ranges = rangesOf(added)
      const others = serviceCidrs
        .list()
        .filter((other) => ranges.some((range) => overlaps(other, range)))
      return new Set([keyOf(added), ...others.map(keyOf)])
    },
    onUpdate: (_, current) => [keyOf(current)],
    onDelete: (deleted) => [keyOfDeleted(deleted)],
  }
}

/** Addresses never change: they are taken and given back. */
export function addressWatch(serviceCidrs: Lister<ServiceCIDR>): Watch<IPAddress> {
  const providers = (address: string): readonly string[] =>
    serviceCidrs
      .list()
      .filter((serviceCidr) => provides(serviceCidr, address))
      .map(keyOf)
  const keys = ({ metadata }: IPAddress): readonly string[] =>
    metadata?.labels?.[MANAGED_BY] === ALLOCATOR ? providers(metadata.name ?? '') : []
  return {
    type: resources.ipaddresses,
    onAdd: keys,
    // Of one whose labels nobody saw the name is enough.
    onDelete: (deleted) =>
      deleted instanceof DeletedFinalStateUnknown ? providers(deleted.key) : keys(deleted),
  }
}
