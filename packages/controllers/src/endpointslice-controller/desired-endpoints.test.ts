import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint, Pod, ServiceSpec } from '@gyropilot/api'
import { node, pod, service } from '../endpoint-support/fixtures.ts'
import type { PodOptions } from '../endpoint-support/fixtures.ts'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import { desiredEndpoints } from './desired-endpoints.ts'

const nodes = [node(), node({ name: 'zoned', zone: 'z1' }), node({ name: 'blank', zone: '' })]

function desired(pods: readonly Pod[], spec: ServiceSpec = {}, family: IpFamily = 'IPv4') {
  const { groups, errors } = desiredEndpoints(
    service({ spec }),
    pods,
    (name) => nodes.find(({ metadata }) => metadata?.name === name),
    family,
  )
  const list = [...groups.values()].map(({ ports, endpoints }) => ({
    ports,
    endpoints: endpoints.copy().takeFirst(Infinity),
  }))
  return { groups: list, errors: errors.map(({ message }) => message) }
}

/** The one endpoint of one pod. */
function one(options: PodOptions, spec?: ServiceSpec, family?: IpFamily): Endpoint | undefined {
  const { groups } = desired([pod(options)], spec, family)
  return groups[0]?.endpoints[0]
}

const endpoint: Endpoint = {
  addresses: ['10.9.0.1'],
  conditions: { ready: true, serving: true, terminating: false },
  nodeName: 'node-a',
  targetRef: { kind: 'Pod', namespace: 'ns', name: 'pod', uid: 'pod-uid' },
}
const states = (ready: boolean, serving: boolean, terminating: boolean): Partial<Endpoint> => ({
  conditions: { ready, serving, terminating },
})
const publish: ServiceSpec = { publishNotReadyAddresses: true }
const both = ['10.9.0.1', 'fd00::1']

const cases: readonly (readonly [
  title: string,
  pod: PodOptions,
  spec: ServiceSpec | undefined,
  family: IpFamily,
  difference: Partial<Endpoint> | undefined,
])[] = [
  ['IPv4', {}, undefined, 'IPv4', {}],
  ['IPv6', { ips: ['fd00::1'] }, undefined, 'IPv6', { addresses: ['fd00::1'] }],
  ['dual-stack, IPv4', { ips: both }, undefined, 'IPv4', {}],
  ['dual-stack, IPv6', { ips: both }, undefined, 'IPv6', { addresses: ['fd00::1'] }],
  [
    'all addresses of the family',
    { ips: ['10.9.0.1', '10.9.0.2'] },
    undefined,
    'IPv4',
    { addresses: ['10.9.0.1', '10.9.0.2'] },
  ],
  ['addresses are canonical', { ips: ['010.009.0.01'] }, undefined, 'IPv4', {}],
  ['unready', { ready: false }, undefined, 'IPv4', states(false, false, false)],
  ['unready, publishNotReady', { ready: false }, publish, 'IPv4', states(true, false, false)],
  ['terminating', { deleting: true }, undefined, 'IPv4', states(false, true, true)],
  [
    'terminating and unready',
    { deleting: true, ready: false },
    undefined,
    'IPv4',
    states(false, false, true),
  ],
  [
    'terminating, publishNotReady',
    { deleting: true, ready: false },
    publish,
    'IPv4',
    states(true, false, true),
  ],
  ['a zone', { node: 'zoned' }, undefined, 'IPv4', { nodeName: 'zoned', zone: 'z1' }],
  ['an empty zone is none', { node: 'blank' }, undefined, 'IPv4', { nodeName: 'blank' }],
  [
    'a hostname under its Service',
    { hostname: 'h', subdomain: 'svc' },
    undefined,
    'IPv4',
    { hostname: 'h' },
  ],
  [
    'a hostname under another Service',
    { hostname: 'h', subdomain: 'other' },
    undefined,
    'IPv4',
    {},
  ],
  ['a subdomain without hostname', { subdomain: 'svc' }, undefined, 'IPv4', {}],
  ['no address of the family', {}, undefined, 'IPv6', undefined],
  ['no address at all', { ips: [] }, undefined, 'IPv4', undefined],
  ['succeeded', { phase: 'Succeeded' }, undefined, 'IPv4', undefined],
  ['failed, publishNotReady', { phase: 'Failed' }, publish, 'IPv4', undefined],
]
for (const [variant, options, spec, family, difference] of cases) {
  test(`Given one pod and IPv4, IPv6, dual-stack, publishNotReady, terminating variants, then exact endpoints result: ${variant}`, () => {
    const expected = difference === undefined ? undefined : { ...endpoint, ...difference }
    assert.deepEqual(one(options, spec, family), expected)
  })
}

test('ready must be false for a terminating pod even if its probe passes; serving stays true', () => {
  assert.deepEqual(one({ deleting: true })?.conditions, states(false, true, true).conditions)
})

test('publishNotReadyAddresses makes ready true even while terminating', () => {
  assert.equal(one({ deleting: true }, publish)?.conditions?.ready, true)
})

test('a pod without an address of the family still has its port group, empty', () => {
  assert.deepEqual(desired([pod()], {}, 'IPv6').groups, [
    { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }], endpoints: [] },
  ])
})

test('ports that a pod does not have are dropped; appProtocol is kept, a missing name is empty', () => {
  const { groups } = desired([pod()], {
    ports: [
      { port: 80, targetPort: 'unknown', protocol: 'TCP' },
      { port: 81, targetPort: 8081, protocol: 'UDP', appProtocol: 'kubernetes.io/h2c' },
    ],
  })
  assert.deepEqual(groups[0]?.ports, [
    { name: '', port: 8081, protocol: 'UDP', appProtocol: 'kubernetes.io/h2c' },
  ])
})

test('Pods with different named-port numbers land in different slices', () => {
  const web = (name: string, containerPort: number): Pod =>
    pod({ name, containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] }] })
  const { groups } = desired([web('a', 1), web('b', 2), web('c', 1)], {
    ports: [{ name: 'http', port: 80, targetPort: 'web' }],
  })
  assert.deepEqual(
    groups.map(({ ports, endpoints }) => [ports[0]?.port, endpoints.length]),
    [
      [1, 2],
      [2, 1],
    ],
  )
})

test('the pod of a missing node is an error, and is left out unless not-ready addresses are published', () => {
  const lost = pod({ name: 'lost', node: 'gone', ips: ['10.9.0.2'] })
  const { groups, errors } = desired([pod(), lost])
  assert.deepEqual(errors, ['skipping Pod lost for Service ns/svc: Node gone Not Found'])
  assert.equal(groups[0]?.endpoints.length, 1)
  const published = desired([pod(), lost], publish)
  assert.deepEqual(published.errors, [])
  assert.deepEqual(
    published.groups[0]?.endpoints.map(({ nodeName, zone }) => [nodeName, zone]),
    [
      ['node-a', undefined],
      ['gone', undefined],
    ],
  )
})
