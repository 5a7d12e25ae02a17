/** Address ranges for services: those of the ServiceCIDR objects. Contract: "Service allocation" in docs/behaviour/api-server/subresources-and-admission.md. */
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'
import { cidrContains } from '@gyropilot/api'
import { formatIp, parseCidr } from '@gyropilot/schema/validation/ip'
import type { Cidr, IpAddress } from '@gyropilot/schema/validation/ip'
import type { IpFamily } from './ip-families.ts'

export const SERVICE_CIDRS = 'servicecidrs.networking.k8s.io'

export class ServiceRange {
  readonly family: IpFamily
  /** As it was written. */
  readonly text: string
  /** Number of addresses that services may have. */
  readonly size: bigint
  readonly #first: bigint
  readonly #cidr: Cidr

  constructor(cidr: Cidr, text = '') {
    this.#cidr = cidr
    this.text = text
    this.family = cidr.family === 4 ? 'IPv4' : 'IPv6'
    const hostBits = BigInt((cidr.family === 4 ? 32 : 128) - cidr.bits)
    const network = (cidr.value >> hostBits) << hostBits
    const total = 1n << hostBits
    // The network's address, and IPv4's broadcast address, are nobody's.
    this.#first = network + 1n
    this.size = cidr.family === 4 ? total - 2n : total - 1n
  }

  /** How many addresses at the start are left to people who choose their own. */
  get staticBandSize(): bigint {
    const total = this.size + (this.family === 'IPv4' ? 2n : 1n)
    if (this.size <= 16n) return 0n
    const band = total / 16n
    return band < 16n ? 16n : band > 256n ? 256n : band
  }

  /** The network's own address, which a dry run shows instead of a free one. */
  get network(): string {
    return formatIp({ family: this.#cidr.family, value: this.#first - 1n })
  }

  address(offset: bigint): string {
    return formatIp({ family: this.#cidr.family, value: this.#first + offset })
  }

  contains(ip: { readonly family: 4 | 6; readonly value: bigint }): boolean {
    return (
      ip.family === this.#cidr.family &&
      ip.value >= this.#first &&
      ip.value < this.#first + this.size
    )
  }
}

/** Ranges that may be allocated from: of ServiceCIDRs that are ready and not going away, oldest first. */
export function serviceRanges(store: Store, defaults: readonly string[]): ServiceRange[] {
  const usable = serviceCidrs(store).filter(({ metadata, status }) => {
    const ready = (status?.conditions ?? []).find(
      (condition: { type: string }) => condition.type === 'Ready',
    )
    return metadata.deletionTimestamp === undefined && ready?.status !== 'False'
  })
  return textsOf(usable, defaults)
    .map((text) => ({ text, cidr: parseCidr(text) }))
    .flatMap(({ text, cidr }) => (cidr === undefined ? [] : [new ServiceRange(cidr, text)]))
}

/** Whether a Service may go on with an address that it has: of any ServiceCIDR, its first and last address too. */
export function isServiceAddress(
  store: Store,
  defaults: readonly string[],
  ip: IpAddress,
): boolean {
  return textsOf(serviceCidrs(store), defaults).some((text) => {
    const cidr = parseCidr(text)
    return cidr !== undefined && cidrContains(cidr, ip)
  })
}

function serviceCidrs(store: Store): readonly Stored[] {
  const snapshot = store.list(SERVICE_CIDRS, '')
  return snapshot === 'expired' ? [] : snapshot.entries.map((entry) => entry.object)
}

function textsOf(objects: readonly Stored[], defaults: readonly string[]): readonly string[] {
  return objects.length === 0 ? defaults : objects.flatMap(({ spec }) => spec.cidrs as string[])
}
