import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointAddress, EndpointSubset } from '@gyropilot/api'
import { repackSubsets } from './repack-subsets.ts'

const at = (ip: string, uid?: string, more: Partial<EndpointAddress> = {}): EndpointAddress => ({
  ip,
  ...(uid === undefined ? {} : { targetRef: { kind: 'Pod', uid } }),
  ...more,
})
const http = { name: 'http', port: 80, protocol: 'TCP' } as const
const https = { name: 'https', port: 443, protocol: 'TCP' } as const
const dns = { name: 'dns', port: 53, protocol: 'UDP' } as const

const CASES: readonly (readonly [
  string,
  readonly EndpointSubset[] | null | undefined,
  readonly EndpointSubset[],
])[] = [
  ['no subsets', undefined, []],
  ['null', null, []],
  ['a subset without addresses vanishes', [{ ports: [http] }], []],
  [
    'an address without ports stays without ports',
    [{ addresses: [at('10.0.0.1')] }],
    [{ addresses: [at('10.0.0.1')] }],
  ],
  [
    'addresses with the same ports join, by IP',
    [
      { addresses: [at('10.0.0.2')], ports: [http] },
      { addresses: [at('10.0.0.1')], ports: [http] },
      { addresses: [at('10.0.0.10')], ports: [http] },
    ],
    [{ addresses: [at('10.0.0.1'), at('10.0.0.10'), at('10.0.0.2')], ports: [http] }],
  ],
  [
    'ports with the same addresses join, by name',
    [
      { addresses: [at('10.0.0.1')], ports: [https] },
      { addresses: [at('10.0.0.1')], ports: [http] },
    ],
    [{ addresses: [at('10.0.0.1')], ports: [http, https] }],
  ],
  [
    'ports with other addresses stand alone',
    [
      { addresses: [at('10.0.0.1'), at('10.0.0.2')], ports: [http] },
      { addresses: [at('10.0.0.1')], ports: [dns] },
    ],
    [
      { addresses: [at('10.0.0.1')], ports: [dns] },
      { addresses: [at('10.0.0.1'), at('10.0.0.2')], ports: [http] },
    ],
  ],
  [
    'readiness is a part of the set: the same address ready for one port and not for another',
    [
      { addresses: [at('10.0.0.1')], ports: [http] },
      { notReadyAddresses: [at('10.0.0.1')], ports: [https] },
    ],
    [
      { addresses: [at('10.0.0.1')], ports: [http] },
      { notReadyAddresses: [at('10.0.0.1')], ports: [https] },
    ],
  ],
  [
    'both ready and not ready for a port is not ready',
    [
      { addresses: [at('10.0.0.1')], ports: [http] },
      { notReadyAddresses: [at('10.0.0.1')], ports: [http] },
    ],
    [{ notReadyAddresses: [at('10.0.0.1')], ports: [http] }],
  ],
  [
    'whichever is said first',
    [
      { notReadyAddresses: [at('10.0.0.1')], ports: [http] },
      { addresses: [at('10.0.0.1')], ports: [http] },
    ],
    [{ notReadyAddresses: [at('10.0.0.1')], ports: [http] }],
  ],
  [
    'UIDs distinguish two pods that share a host IP, the one without a reference first',
    [{ addresses: [at('10.0.0.1', 'b'), at('10.0.0.1', 'a'), at('10.0.0.1')], ports: [http] }],
    [{ addresses: [at('10.0.0.1'), at('10.0.0.1', 'a'), at('10.0.0.1', 'b')], ports: [http] }],
  ],
  [
    'an address that is said twice is there once, as it was said first',
    [
      { addresses: [at('10.0.0.1', 'a', { hostname: 'x' })], ports: [http] },
      { addresses: [at('10.0.0.1', 'a', { hostname: 'y' })], ports: [https] },
    ],
    [{ addresses: [at('10.0.0.1', 'a', { hostname: 'x' })], ports: [http, https] }],
  ],
  [
    'Same port number with TCP and UDP are two ports in one subset',
    [
      { addresses: [at('10.0.0.1')], ports: [{ port: 53, protocol: 'UDP' }] },
      { addresses: [at('10.0.0.1')], ports: [{ port: 53, protocol: 'TCP' }] },
    ],
    [
      {
        addresses: [at('10.0.0.1')],
        ports: [
          { port: 53, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      },
    ],
  ],
  [
    'an application protocol makes another port',
    [
      { addresses: [at('10.0.0.1')], ports: [{ port: 80, appProtocol: 'h2c' }] },
      { addresses: [at('10.0.0.2')], ports: [{ port: 80 }] },
    ],
    [
      { addresses: [at('10.0.0.1')], ports: [{ port: 80, appProtocol: 'h2c' }] },
      { addresses: [at('10.0.0.2')], ports: [{ port: 80 }] },
    ],
  ],
]

for (const [title, given, expected] of CASES) {
  test(title, () => assert.deepEqual(repackSubsets(given), expected))
}

test('what is canonical stays, in whatever order it was said', () => {
  const given = [
    { addresses: [at('10.0.0.1', 'a'), at('10.0.0.2', 'b')], ports: [http, https] },
    { addresses: [at('10.0.0.1', 'a')], notReadyAddresses: [at('10.0.0.3')], ports: [dns] },
  ]
  const packed = repackSubsets(given)
  assert.deepEqual(repackSubsets(packed), packed)
  assert.deepEqual(repackSubsets(given.toReversed()), packed)
})
