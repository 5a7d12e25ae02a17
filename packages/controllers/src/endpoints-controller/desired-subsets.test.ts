import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointAddress, EndpointSubset, Service } from '@gyropilot/api'
import { pod, service } from '../endpoint-support/fixtures.ts'
import type { PodOptions } from '../endpoint-support/fixtures.ts'
import { desiredSubsets } from './desired-subsets.ts'

const HTTP = [{ name: 'http', port: 8080, protocol: 'TCP' }] as const
const DUAL = ['10.9.0.1', 'fd00::1']

const of = (spec: Service['spec'], ...pods: readonly PodOptions[]): readonly EndpointSubset[] =>
  desiredSubsets(
    service({ spec }),
    pods.map((options, index) => pod({ name: `p${index}`, ...options })),
  )

const ipsOf = (addresses: readonly EndpointAddress[] | undefined) => addresses?.map(({ ip }) => ip)

test('a ready pod is an address with its node and a reference without a version', () => {
  assert.deepEqual(of({}, {}), [
    {
      addresses: [
        {
          ip: '10.9.0.1',
          nodeName: 'node-a',
          targetRef: { kind: 'Pod', namespace: 'ns', name: 'p0', uid: 'p0-uid' },
        },
      ],
      ports: HTTP,
    },
  ])
})

test('Given selector `{}` with ready, unready and mixed pods, then addresses are split accordingly', () => {
  const ready = { ips: ['10.9.0.1'] }
  const unready = { ips: ['10.9.0.2'], ready: false }
  const split = (...pods: readonly PodOptions[]) =>
    of({ selector: {} }, ...pods).map(({ addresses, notReadyAddresses }) => [
      ipsOf(addresses),
      ipsOf(notReadyAddresses),
    ])
  assert.deepEqual(split(ready), [[['10.9.0.1'], undefined]])
  assert.deepEqual(split(unready), [[undefined, ['10.9.0.2']]])
  assert.deepEqual(split(ready, unready), [[['10.9.0.1'], ['10.9.0.2']]])
})

test('Given pods Failed or Succeeded, then they are excluded', () => {
  for (const phase of ['Failed', 'Succeeded'] as const) {
    assert.deepEqual(of({}, { phase }), [])
    assert.deepEqual(of({ publishNotReadyAddresses: true }, { phase }), [])
  }
})

test('a pod without an address is nobody’s endpoint', () => {
  assert.deepEqual(of({}, { ips: [] }), [])
})

test('Given a terminating pod, then it is removed, and kept with publishNotReadyAddresses', () => {
  assert.deepEqual(of({}, { deleting: true }), [])
  const [kept] = of({ publishNotReadyAddresses: true }, { deleting: true, ready: false })
  assert.deepEqual([ipsOf(kept?.addresses), kept?.notReadyAddresses], [['10.9.0.1'], undefined])
})

test('publishNotReadyAddresses puts unready pods into `addresses`, not into `notReadyAddresses`.', () => {
  const [subset] = of({ publishNotReadyAddresses: true }, { ready: false })
  assert.deepEqual([ipsOf(subset?.addresses), subset?.notReadyAddresses], [['10.9.0.1'], undefined])
})

const FAMILIES: readonly (readonly [
  string,
  Service['spec'],
  readonly string[],
  string | undefined,
])[] = [
  ['the first of ipFamilies, IPv4', { ipFamilies: ['IPv4', 'IPv6'] }, DUAL, '10.9.0.1'],
  ['the first of ipFamilies, IPv6', { ipFamilies: ['IPv6', 'IPv4'] }, DUAL, 'fd00::1'],
  ['that of the cluster IP', { ipFamilies: [], clusterIP: 'fd00:10::1' }, DUAL, 'fd00::1'],
  [
    'of a headless Service that of the pod',
    { ipFamilies: [], clusterIP: 'None' },
    DUAL,
    '10.9.0.1',
  ],
  [
    'of a headless Service that of an IPv6 pod',
    { ipFamilies: [], clusterIP: 'None' },
    ['fd00::1', '10.9.0.1'],
    'fd00::1',
  ],
  ['a pod without an address of it is left out', { ipFamilies: ['IPv6'] }, ['10.9.0.1'], undefined],
]
for (const [title, spec, ips, expected] of FAMILIES) {
  test(`Given a dual-stack pod and Services with IPv4, IPv6, empty ipFamilies, then the right IP is chosen: ${title}`, () => {
    const found = of(spec, { ips }).flatMap(({ addresses }) => ipsOf(addresses))
    assert.deepEqual(found, expected === undefined ? [] : [expected])
  })
}

test('IPs like `010.000.000.001` are normalised in output.', () => {
  const [subset] = of({}, { ips: ['010.000.000.001'] })
  assert.deepEqual(ipsOf(subset?.addresses), ['10.0.0.1'])
})

test('a hostname is there only under the subdomain of the Service', () => {
  const hostnameOf = (options: PodOptions) => of({}, options)[0]?.addresses?.[0]?.hostname
  assert.equal(hostnameOf({ hostname: 'h', subdomain: 'svc' }), 'h')
  assert.equal(hostnameOf({ hostname: 'h', subdomain: 'other' }), undefined)
  assert.equal(hostnameOf({ subdomain: 'svc' }), undefined)
})

test('A Service without ports that is not headless yields no addresses; a headless one yields addresses with no ports.', () => {
  assert.deepEqual(of({ ports: [] }, {}), [])
  const [subset] = of({ ports: [], clusterIP: 'None' }, {})
  assert.deepEqual([ipsOf(subset?.addresses), subset?.ports], [['10.9.0.1'], undefined])
})

test('A pod that only matches some named ports shows up only in those subsets.', () => {
  const ports = [
    { name: 'web', port: 80, targetPort: 'web' },
    { name: 'admin', port: 90, targetPort: 'admin', appProtocol: 'h2c' },
  ]
  const both = [
    { name: 'web', containerPort: 8080 },
    { name: 'admin', containerPort: 9090 },
  ]
  const withPorts = (ip: string, count: number): PodOptions => ({
    ips: [ip],
    containers: [{ name: 'c', image: 'i', ports: both.slice(0, count) }],
  })
  const subsets = of({ ports }, withPorts('10.9.0.1', 1), withPorts('10.9.0.2', 2), {
    ips: ['10.9.0.3'],
  })
  assert.deepEqual(
    subsets.map(({ addresses, ports: of }) => [ipsOf(addresses), of]),
    [
      [['10.9.0.2'], [{ name: 'admin', port: 9090, protocol: 'TCP', appProtocol: 'h2c' }]],
      [['10.9.0.1', '10.9.0.2'], [{ name: 'web', port: 8080, protocol: 'TCP' }]],
    ],
  )
})

test('a headless Service with ports that the pod does not have does not list it', () => {
  const ports = [{ name: 'web', port: 80, targetPort: 'web' }]
  assert.deepEqual(of({ clusterIP: 'None', ports }, {}), [])
})
