import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCidr } from '@gyropilot/api'
import { clusterRanges } from './cluster-ranges.ts'
import { defaultNodeIpamConfiguration } from './config.ts'
import type { NodeIpamConfiguration } from './config.ts'

type Flags = Partial<NodeIpamConfiguration>

const rangesOf = (flags: Flags) => clusterRanges({ ...defaultNodeIpamConfiguration, ...flags })
const sizes = (flags: Flags): readonly string[] =>
  rangesOf(flags).ranges.map(({ cidr, nodeBits }) => `${formatCidr(cidr)} ${nodeBits}`)

const V4 = '10.244.0.0/16'
const V6 = 'fd00::/48'

const usable: readonly (readonly [Flags, readonly string[]])[] = [
  [{ clusterCidr: V4 }, [`${V4} 24`]],
  [{ clusterCidr: V6 }, [`${V6} 64`]],
  [{ clusterCidr: ` ${V4} ` }, [`${V4} 24`]],
  [{ clusterCidr: '10.244.3.7/16' }, [`${V4} 24`]],
  [{ clusterCidr: '010.244.0.0/16' }, [`${V4} 24`]],
  [{ clusterCidr: V4, nodeCidrMaskSize: 16 }, [`${V4} 16`]],
  [{ clusterCidr: V4, nodeCidrMaskSize: 32 }, [`${V4} 32`]],
  [{ clusterCidr: V6, nodeCidrMaskSize: 56 }, [`${V6} 56`]],
  [{ clusterCidr: V4, nodeCidrMaskSizeIpv4: 25 }, [`${V4} 25`]],
  [{ clusterCidr: V6, nodeCidrMaskSizeIpv6: 60 }, [`${V6} 60`]],
  [{ clusterCidr: `${V4},${V6}` }, [`${V4} 24`, `${V6} 64`]],
  [{ clusterCidr: `${V6},${V4}` }, [`${V6} 64`, `${V4} 24`]],
  [
    { clusterCidr: `${V6},${V4}`, nodeCidrMaskSizeIpv4: 20, nodeCidrMaskSizeIpv6: 62 },
    [`${V6} 62`, `${V4} 20`],
  ],
  [{ clusterCidr: '10.0.0.0/8', nodeCidrMaskSize: 32 }, ['10.0.0.0/8 32']],
  [{ clusterCidr: 'fd00::/112', nodeCidrMaskSize: 128 }, ['fd00::/112 128']],
]
for (const [flags, expected] of usable)
  test(`${JSON.stringify(flags)} is usable`, () => assert.deepEqual(sizes(flags), expected))

const MASK =
  'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family'
const BIG = 'New CIDR set failed; the node CIDR size is too big'
const BOTH =
  'usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size is set. For dual-stack clusters please unset it and use IPFamily specific flags'
const unusable: readonly (readonly [Flags, string])[] = [
  [{}, 'invalid CIDR[0]: <nil> (invalid CIDR address: )'],
  [{ clusterCidr: '10.244.0.0' }, 'invalid CIDR[0]: <nil> (invalid CIDR address: 10.244.0.0)'],
  [{ clusterCidr: `${V4},` }, 'invalid CIDR[1]: <nil> (invalid CIDR address: )'],
  [
    { clusterCidr: `${V4} , ${V6}` },
    'invalid CIDR[0]: <nil> (invalid CIDR address: 10.244.0.0/16 )',
  ],
  [
    { clusterCidr: '10.244.0.0/16,10.245.0.0/16' },
    'len of ClusterCIDRs==2 and they are not configured as dual stack (at least one from each IPFamily',
  ],
  [
    { clusterCidr: '10.244.0.0/16,10.245.0.0/16,10.246.0.0/16' },
    'len of ClusterCIDRs==3 and they are not configured as dual stack (at least one from each IPFamily',
  ],
  [
    { clusterCidr: `${V4},${V6},fd01::/48` },
    'length of clusterCIDRs is:3 more than max allowed of 2',
  ],
  [
    { clusterCidr: `${V4},${V6}`, nodeCidrMaskSize: 24 },
    'usage of --node-cidr-mask-size is not allowed with dual-stack clusters',
  ],
  [{ clusterCidr: V4, nodeCidrMaskSize: 24, nodeCidrMaskSizeIpv4: 24 }, BOTH],
  [{ clusterCidr: V4, nodeCidrMaskSize: 24, nodeCidrMaskSizeIpv6: 64 }, BOTH],
  [
    { clusterCidr: V4, nodeCidrMaskSizeIpv6: 64 },
    'usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster',
  ],
  [
    { clusterCidr: V6, nodeCidrMaskSizeIpv4: 24 },
    'usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster',
  ],
  [{ clusterCidr: V4, nodeCidrMaskSize: 15 }, MASK],
  [{ clusterCidr: V4, nodeCidrMaskSize: -1 }, MASK],
  [{ clusterCidr: `${V4},${V6}`, nodeCidrMaskSizeIpv4: 12 }, MASK],
  [{ clusterCidr: V6, nodeCidrMaskSize: 24 }, MASK],
  [{ clusterCidr: 'fd00::/47' }, BIG],
  [{ clusterCidr: `${V4},${V6}`, nodeCidrMaskSizeIpv6: 65 }, BIG],
  [
    { clusterCidr: V4, nodeCidrMaskSize: 33 },
    'the node mask size 33 is longer than an IPv4 address',
  ],
  [
    { clusterCidr: 'fd00::/120', nodeCidrMaskSize: 129 },
    'the node mask size 129 is longer than an IPv6 address',
  ],
  [
    { clusterCidr: V4, serviceClusterIpRange: '10.0.0.0/16,10.1.0.0/16' },
    'serviceCIDR and secondaryServiceCIDR are not dualstack (from different IPfamiles)',
  ],
]
for (const [flags, message] of unusable)
  test(`${JSON.stringify(flags)} is refused`, () => assert.throws(() => sizes(flags), { message }))

test('one bit fewer than an IPv6 range may hold is still usable: /48 with /64', () => {
  assert.deepEqual(sizes({ clusterCidr: 'fd00::/48', nodeCidrMaskSize: 64 }), ['fd00::/48 64'])
})

const services: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['', [], []],
  ['10.0.0.0/16', ['10.0.0.0/16'], []],
  ['10.0.0.7/16,fd00::/112', ['10.0.0.0/16', 'fd00::/112'], []],
  [' 10.0.0.0/16 , fd00::/112 ', ['10.0.0.0/16', 'fd00::/112'], []],
  ['nonsense', [], ['nonsense']],
  ['nonsense,10.0.0.0/16', ['10.0.0.0/16'], ['nonsense']],
  [',10.0.0.0/16', ['10.0.0.0/16'], []],
]
for (const [text, ranges, ignored] of services)
  test(`service ranges ${JSON.stringify(text)}: what cannot be read is left out`, () => {
    const { serviceRanges, unreadable } = rangesOf({ clusterCidr: V4, serviceClusterIpRange: text })
    assert.deepEqual(serviceRanges.map(formatCidr), ranges)
    assert.deepEqual(unreadable, ignored)
  })
