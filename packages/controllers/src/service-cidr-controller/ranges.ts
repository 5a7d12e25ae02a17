/**
 * The ranges of ServiceCIDRs, and which of them hold a range or an address. What cannot be read is in no range and holds none.
 * Contract: docs/behaviour/controllers/service-cidr-controller.md, Watches and keys, Containment rules.
 */
import {
  cidrContains,
  cidrsOverlap,
  lastAddress,
  maskedCidr,
  parseCidr,
  parseIp,
} from '@gyropilot/api'
import type { Cidr, IpAddress, ServiceCIDR } from '@gyropilot/api'

export function rangesOf({ spec }: ServiceCIDR): readonly Cidr[] {
  return (spec?.cidrs ?? []).map((text) => parseCidr(text)).filter((cidr) => cidr !== undefined)
}

export function overlaps(serviceCidr: ServiceCIDR, range: Cidr): boolean {
  return rangesOf(serviceCidr).some((own) => cidrsOverlap(own, range))
}

/** Equal ranges count. */
export function covers(serviceCidr: ServiceCIDR, range: Cidr): boolean {
  return rangesOf(serviceCidr).some((own) => cidrsOverlap(own, range) && own.bits <= range.bits)
}

/** Whether a Service could have the address from here. */
export function provides(serviceCidr: ServiceCIDR, address: string): boolean {
  const ip = parseIp(address)
  return ip !== undefined && rangesOf(serviceCidr).some((range) => givesOut(range, ip))
}

/** The address of the network is nobody's, nor is IPv4's broadcast address. */
function givesOut(range: Cidr, ip: IpAddress): boolean {
  if (!cidrContains(range, ip) || ip.value === maskedCidr(range).value) return false
  return range.family === 6 || ip.value !== lastAddress(range).value
}
