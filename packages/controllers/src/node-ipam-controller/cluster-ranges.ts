/** What is handed out, from flags. Contract: docs/behaviour/controllers/node-ipam-controller.md, Start-up, 3 to 6. Pure. */
import { maskedCidr, parseCidr } from '@gyropilot/api'
import type { Cidr } from '@gyropilot/api'
import { DEFAULT_MASK_BITS, MOST_IPV6_SLOT_BITS } from './config.ts'
import type { NodeIpamConfiguration } from './config.ts'

/** A range of the cluster, and how long the prefix of a node's part of it is. */
export interface ClusterRange {
  readonly cidr: Cidr
  readonly nodeBits: number
}

interface ClusterRanges {
  /** In the order of --cluster-cidr. */
  readonly ranges: readonly ClusterRange[]
  readonly serviceRanges: readonly Cidr[]
  /** Entries of --service-cluster-ip-range that are no range, and are left out. */
  readonly unreadable: readonly string[]
}

/** Throws for settings that cannot be used. */
export function clusterRanges(configuration: NodeIpamConfiguration): ClusterRanges {
  const cidrs = clusterCidrs(configuration.clusterCidr)
  const services = serviceRanges(configuration.serviceClusterIpRange)
  checkMaskFlags(cidrs, configuration)
  const ranges = cidrs.map((cidr) => ({ cidr, nodeBits: nodeBitsOf(cidr, configuration) }))
  for (const range of ranges) checkMask(range)
  return { ranges, ...services }
}

/** Leading zeros are let pass, as upstream does. */
function cidrOf(text: string): Cidr | undefined {
  const cidr = parseCidr(text, true)
  return cidr && maskedCidr(cidr)
}

function clusterCidrs(text: string): readonly Cidr[] {
  const cidrs = text
    .trim()
    .split(',')
    .map((entry, index) => {
      const cidr = cidrOf(entry)
      if (cidr === undefined)
        throw new Error(`invalid CIDR[${index}]: <nil> (invalid CIDR address: ${entry})`)
      return cidr
    })
  const families = new Set(cidrs.map(({ family }) => family))
  if (cidrs.length > 1 && families.size < 2)
    throw new Error(
      `len of ClusterCIDRs==${cidrs.length} and they are not configured as dual stack (at least one from each IPFamily`,
    )
  if (cidrs.length > 2)
    throw new Error(`length of clusterCIDRs is:${cidrs.length} more than max allowed of 2`)
  return cidrs
}

function serviceRanges(text: string): Omit<ClusterRanges, 'ranges'> {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const parsed = entries.flatMap((entry) => cidrOf(entry) ?? [])
  if (parsed.length === 2 && parsed[0]!.family === parsed[1]!.family)
    throw new Error(
      'serviceCIDR and secondaryServiceCIDR are not dualstack (from different IPfamiles)',
    )
  const unreadable = entries.filter((entry) => cidrOf(entry) === undefined)
  return { serviceRanges: parsed, unreadable }
}

/** The flags together, before any of them is used. */
function checkMaskFlags(
  [first, second]: readonly Cidr[],
  { nodeCidrMaskSize, nodeCidrMaskSizeIpv4, nodeCidrMaskSizeIpv6 }: NodeIpamConfiguration,
): void {
  if (second !== undefined) {
    if (nodeCidrMaskSize !== 0)
      throw new Error('usage of --node-cidr-mask-size is not allowed with dual-stack clusters')
    return
  }
  if (nodeCidrMaskSize !== 0 && (nodeCidrMaskSizeIpv4 !== 0 || nodeCidrMaskSizeIpv6 !== 0))
    throw new Error(
      'usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size is set. For dual-stack clusters please unset it and use IPFamily specific flags',
    )
  if (first?.family === 4 && nodeCidrMaskSizeIpv6 !== 0)
    throw new Error(
      'usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster',
    )
  if (first?.family === 6 && nodeCidrMaskSizeIpv4 !== 0)
    throw new Error(
      'usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster',
    )
}

/** By family, not by position. */
function nodeBitsOf({ family }: Cidr, configuration: NodeIpamConfiguration): number {
  const { nodeCidrMaskSize, nodeCidrMaskSizeIpv4, nodeCidrMaskSizeIpv6 } = configuration
  const ofFamily = family === 4 ? nodeCidrMaskSizeIpv4 : nodeCidrMaskSizeIpv6
  return nodeCidrMaskSize || ofFamily || DEFAULT_MASK_BITS[family]
}

function checkMask({ cidr, nodeBits }: ClusterRange): void {
  const { family, bits } = cidr
  if (bits > nodeBits)
    throw new Error(
      'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family',
    )
  if (family === 6 && nodeBits - bits > MOST_IPV6_SLOT_BITS)
    throw new Error('New CIDR set failed; the node CIDR size is too big')
  const most = family === 4 ? 32 : 128
  if (nodeBits > most)
    throw new Error(`the node mask size ${nodeBits} is longer than an IPv${family} address`)
}
