import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Stored } from '@gyropilot/schema/objects'
import { ipAddressObject } from './ip-address-object.ts'
import { faultsOf, judgeAddress } from './repair-rules.ts'
import type { AllocationView } from './repair-rules.ts'

const NOW_MS = Date.UTC(2026, 10, 21)
const OLD_MS = NOW_MS - 3_600_000

function service(name: string, ...clusterIPs: string[]): Stored {
  return { metadata: { namespace: 'a', name }, spec: { clusterIP: clusterIPs[0], clusterIPs } }
}

function address(name: string, owner: string, madeMs = OLD_MS): Stored {
  return ipAddressObject(name, { namespace: 'a', name: owner }, madeMs, 'uid')
}

function withSpec(object: Stored, parentRef: Stored): Stored {
  return { ...object, spec: { parentRef } }
}

function withLabels(object: Stored, labels: Stored | undefined): Stored {
  return { ...object, metadata: { ...object['metadata'], labels } }
}

function view(services: readonly Stored[], addresses: readonly Stored[]): AllocationView {
  return {
    service: (namespace, name) =>
      services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    address: (name) => addresses.find(({ metadata }) => metadata.name === name),
    isInRange: ({ family, value }) => family === 6 || value >> 16n === 0x0a00n,
  }
}

const GATEWAY = { group: 'g.io', resource: 'gateways', namespace: 'a', name: 'g' }
const WRONG_REFERENCE =
  'ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.1.1 for Service a/s has a wrong reference; repairing'
const DOUBLED =
  'ClusterIPAlreadyAllocated Cluster IP [IPv4]:10.0.1.1 was assigned to multiple services; please recreate service'

describe('a Service', () => {
  const one = service('s', '10.0.1.1')
  const twin = service('t', '10.0.1.1')
  const other = service('t', '10.0.1.2')
  const own = address('10.0.1.1', 's')
  const family = { 'ipaddress.kubernetes.io/ip-family': 'IPv6' }
  for (const [title, looked, others, addresses, faults] of [
    ['with its IPAddress is left alone', one, [], [own], []],
    ['without address is left alone', service('s', 'None'), [], [], []],
    [
      'of type ExternalName is left alone',
      { ...one, spec: { ...one['spec'], type: 'ExternalName' } },
      [],
      [],
      [],
    ],
    [
      'gets the IPAddresses that it lacks',
      service('s', '10.0.1.1', '2001:db8::10'),
      [],
      [own],
      [
        'ClusterIPNotAllocated Cluster IP [IPv6]: 2001:db8::10 is not allocated; repairing + 2001:db8::10',
      ],
    ],
    [
      'out of all ranges is told of, with or without IPAddress',
      service('s', '192.168.7.9'),
      [],
      [],
      [
        'ClusterIPOutOfRange Cluster IP [IPv4]: 192.168.7.9 is not within any configured Service CIDR; please recreate service',
      ],
    ],
    [
      'with an address that is none is told of',
      service('s', '10.0.1.999'),
      [],
      [],
      ['ClusterIPNotValid Cluster IP <nil> is not a valid IP; please recreate Service'],
    ],
    [
      'whose IPAddress is of another kind of object gets it back',
      one,
      [],
      [withSpec(own, GATEWAY)],
      [`${WRONG_REFERENCE} + 10.0.1.1`],
    ],
    [
      'whose IPAddress is of a Service that there is not gets it back',
      one,
      [],
      [address('10.0.1.1', 'gone')],
      [`${WRONG_REFERENCE} + 10.0.1.1`],
    ],
    [
      'whose IPAddress another Service has by right is told of',
      one,
      [twin],
      [address('10.0.1.1', 't')],
      [DOUBLED],
    ],
    [
      'does not take it from there for its labels',
      one,
      [twin],
      [withLabels(address('10.0.1.1', 't'), {})],
      [DOUBLED],
    ],
    [
      'whose IPAddress is of a Service that does not use it waits for the end of that',
      one,
      [other],
      [address('10.0.1.1', 't')],
      [],
    ],
    [
      'whose IPAddress has no labels gets a new one, without a word',
      one,
      [],
      [withLabels(own, undefined)],
      [' + 10.0.1.1'],
    ],
    [
      'whose IPAddress has the label of the other family, too',
      one,
      [],
      [withLabels(own, { ...own['metadata'].labels, ...family })],
      [' + 10.0.1.1'],
    ],
  ] as const satisfies readonly (readonly [
    string,
    Stored,
    readonly Stored[],
    readonly Stored[],
    readonly string[],
  ])[]) {
    test(title, () => {
      const found = faultsOf(looked, view([looked, ...others], addresses)).map(
        ({ finding, remake }) =>
          `${finding === undefined ? '' : `${finding.reason} ${finding.note}`}${remake === undefined ? '' : ` + ${remake}`}`,
      )
      assert.deepEqual(found, faults)
    })
  }
})

describe('an IPAddress', () => {
  const user = service('s', '10.0.1.1')
  for (const [title, looked, services, verdict] of [
    ['of a Service that has it is fine', address('10.0.1.1', 's'), [user], 'fine'],
    [
      'of somebody else is fine, whatever it says',
      withLabels(address('10.0.1.2', 'gone'), {}),
      [],
      'fine',
    ],
    [
      "with the allocator's label and no Service as parent goes",
      withSpec(address('10.0.1.1', 's', NOW_MS), GATEWAY),
      [user],
      'IPAddressNotAllocated IPAddress 10.0.1.1 appears to have been modified, not referencing a Service &ParentReference{Group:g.io,Resource:gateways,Namespace:a,Name:g,}: cleaning up',
    ],
    [
      'of a Service that there is not has a minute',
      address('10.0.1.1', 'gone', NOW_MS - 59_000),
      [],
      '1000',
    ],
    [
      'and goes then',
      address('10.0.1.1', 'gone', NOW_MS - 60_000),
      [],
      'IPAddressNotAllocated IPAddress: 10.0.1.1 for Service a/gone appears to have leaked: cleaning up',
    ],
    [
      'of a Service that does not have it has five seconds',
      address('10.0.1.2', 's', NOW_MS - 4000),
      [user],
      '1000',
    ],
    [
      'and goes after them',
      address('10.0.1.2', 's', NOW_MS - 5000),
      [user],
      'IPAddressWrongReference IPAddress: 10.0.1.2 for Service a/s has a wrong reference; cleaning up',
    ],
    [
      'from the future waits no longer than one of today',
      address('10.0.1.1', 'gone', NOW_MS + 86_400_000),
      [],
      '60000',
    ],
  ] as const satisfies readonly (readonly [string, Stored, readonly Stored[], string])[]) {
    test(title, () => {
      const judged = judgeAddress(looked, view(services, [looked]), NOW_MS)
      const { kind } = judged
      const text =
        kind === 'leaked'
          ? `${judged.finding.reason} ${judged.finding.note}`
          : kind === 'wait'
            ? String(judged.forMs)
            : kind
      assert.equal(text, verdict)
    })
  }
})
