import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Node } from '@gyropilot/api'
import { node, pods, service } from '../endpoint-support/fixtures.ts'
import type { PodOptions, ServiceOptions } from '../endpoint-support/fixtures.ts'
import { SliceWorld, writesOf } from './fixtures.ts'
import { wantsTopologyHints } from './hints.ts'

const AUTO = { 'service.kubernetes.io/topology-mode': 'Auto' }

/** Nodes `node-a`, `node-b` ... in zones `a`, `b` ... with so much CPU each. */
function zones(...cpus: readonly string[]): readonly Node[] {
  return cpus.map((cpu, index) => {
    const zone = String.fromCharCode(97 + index)
    return node({ name: `node-${zone}`, zone, cpu })
  })
}

/** So many ready pods on `node-a`, `node-b` ... */
function spread(...counts: readonly number[]): ReturnType<typeof pods> {
  const nodes = counts.flatMap((count, index) =>
    Array.from({ length: count }, () => `node-${String.fromCharCode(97 + index)}`),
  )
  return pods(nodes.length, (index) => ({ node: nodes[index]! }))
}

function auto(options: ServiceOptions = {}) {
  return service({ annotations: AUTO, ...options })
}

const annotations: readonly (readonly [Record<string, string>, boolean])[] = [
  [{}, false],
  [AUTO, true],
  [{ 'service.kubernetes.io/topology-mode': 'auto' }, true],
  [{ 'service.kubernetes.io/topology-mode': 'AUTO' }, false],
  [{ 'service.kubernetes.io/topology-aware-hints': 'Auto' }, true],
  [{ 'service.kubernetes.io/topology-aware-hints': '', ...AUTO }, false],
]
for (const [given, wanted] of annotations) {
  test(`${JSON.stringify(given)} ${wanted ? 'asks' : 'does not ask'} for topology hints`, () => {
    assert.equal(wantsTopologyHints(service({ annotations: given })), wanted)
  })
}

test('The legacy annotation key wins over topology-mode even when its value is `disabled`', () => {
  const given = { 'service.kubernetes.io/topology-aware-hints': 'disabled', ...AUTO }
  assert.ok(!wantsTopologyHints(service({ annotations: given })))
})

const counts: readonly {
  readonly title: string
  readonly cpus: readonly string[]
  readonly pods: readonly number[]
  readonly hints: Readonly<Record<string, number>>
}[] = [
  { title: 'evenly spread', cpus: ['1', '1', '1'], pods: [3, 3, 3], hints: { a: 3, b: 3, c: 3 } },
  { title: 'one zone lends', cpus: ['1', '1', '1'], pods: [5, 2, 2], hints: { a: 3, b: 3, c: 3 } },
  { title: 'all in one zone', cpus: ['1', '1'], pods: [6, 0], hints: { a: 3, b: 3 } },
  { title: 'by CPU', cpus: ['3', '1'], pods: [4, 4], hints: { a: 6, b: 2 } },
  {
    title: 'less than half an endpoint does not move',
    cpus: ['1100m', '1'],
    pods: [4, 4],
    hints: { a: 4, b: 4 },
  },
  {
    title: 'less than one on both sides does not move',
    cpus: ['1', '1'],
    pods: [4, 3],
    hints: { a: 4, b: 3 },
  },
  {
    title: 'the largest deficit first',
    cpus: ['1', '2', '3'],
    pods: [6, 3, 3],
    hints: { a: 2, b: 4, c: 6 },
  },
]
for (const { title, cpus, pods: perZone, hints } of counts) {
  test(`Given annotation Auto over several zones, then hint counts per zone match: ${title}`, () => {
    const world = new SliceWorld({
      service: auto(),
      nodes: zones(...cpus),
      pods: spread(...perZone),
    })
    const driven = world.sync()
    assert.deepEqual(world.hintCounts, hints)
    assert.deepEqual(driven.events, [
      {
        type: 'Normal',
        reason: 'TopologyAwareHintsEnabled',
        message: 'Topology Aware Hints has been enabled, addressType: IPv4',
      },
    ])
    const again = world.sync()
    assert.deepEqual([writesOf(again), again.events], [[], []])
  })
}

test('an endpoint that is not lent serves its own zone', () => {
  const world = new SliceWorld({ service: auto(), nodes: zones('1', '1'), pods: spread(4, 2) })
  world.sync()
  const away = world.endpoints.filter(({ zone, hints }) => hints?.forZones?.[0]?.name !== zone)
  assert.deepEqual(
    away.map(({ zone, hints }) => [zone, hints?.forZones]),
    [['a', [{ name: 'b' }]]],
  )
})

test('Unready endpoints get no hints', () => {
  const unready = (index: number): PodOptions => ({ node: 'node-a', ready: index !== 0 })
  const world = new SliceWorld({ service: auto(), nodes: zones('1', '1'), pods: pods(5, unready) })
  world.sync()
  assert.deepEqual(world.endpoints.filter(({ hints }) => hints === undefined).length, 1)
  assert.deepEqual(world.hintCounts, { a: 2, b: 2 })
})

const refusals: readonly {
  readonly title: string
  readonly nodes: readonly Node[]
  readonly pods: readonly number[]
  readonly reason: string
}[] = [
  {
    title: 'one zone only',
    nodes: zones('1'),
    pods: [4],
    reason:
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  },
  {
    title: 'a node without CPU',
    nodes: [...zones('1', '1'), node({ name: 'node-x', zone: 'a' })],
    pods: [4, 4],
    reason:
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  },
  {
    title: 'fewer endpoints than zones',
    nodes: zones('1', '1', '1'),
    pods: [1, 1],
    reason: 'Insufficient number of endpoints (2 endpoints, 3 zones)',
  },
  {
    title: 'minimums that exceed the endpoints',
    nodes: zones('10', '1', '1'),
    pods: [1, 1, 1],
    reason:
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 3 zones)',
  },
  {
    title: 'an endpoint without a zone',
    nodes: [...zones('1', '1'), node({ name: 'node-c', ready: false })],
    pods: [2, 2, 2],
    reason: 'One or more endpoints do not have a zone specified',
  },
]
for (const { title, nodes, pods: perZone, reason } of refusals) {
  test(`no hints, existing ones removed and a Warning: ${title}`, () => {
    const world = new SliceWorld({ service: auto(), nodes, pods: spread(...perZone) })
    world.sync()
    world.slices = world.slices.map((slice) => ({
      ...slice,
      endpoints: (slice.endpoints ?? []).map((endpoint) => ({
        ...endpoint,
        hints: { forZones: [{ name: 'elsewhere' }] },
      })),
    }))
    const driven = world.sync()
    assert.deepEqual(world.hintCounts, {})
    assert.deepEqual(driven.events, [
      {
        type: 'Warning',
        reason: 'TopologyAwareHintsDisabled',
        message: `${reason}, addressType: IPv4`,
      },
    ])
  })
}

test('Nodes not ready are ignored for CPU shares; one ready node without zone label disables hints for all Services', () => {
  const world = new SliceWorld({
    service: auto(),
    nodes: [...zones('1', '1'), node({ name: 'down', ready: false })],
    pods: spread(2, 2),
  })
  world.sync()
  assert.deepEqual(world.hintCounts, { a: 2, b: 2 })
  world.nodes = [...zones('1', '1'), node({ name: 'up', cpu: '1' })]
  world.memory.topology.setNodes(world.nodes)
  assert.deepEqual(world.memory.topology.overloadedServices(), ['ns/svc'])
  world.sync()
  assert.deepEqual(world.hintCounts, {})
})

test('Removing the topology annotation removes hints and emits Warning TopologyAwareHintsDisabled once', () => {
  const world = new SliceWorld({ service: auto(), nodes: zones('1', '1'), pods: spread(2, 2) })
  world.sync()
  world.service = service()
  const driven = world.sync()
  assert.deepEqual([writesOf(driven), world.hintCounts], [['update svc-1'], {}])
  assert.deepEqual(driven.events, [
    {
      type: 'Warning',
      reason: 'TopologyAwareHintsDisabled',
      message: 'Topology Aware Hints has been disabled, addressType: IPv4',
    },
  ])
  assert.deepEqual(
    driven.effects.map(({ effect }) => effect),
    ['write', 'event'],
  )
  assert.deepEqual(world.sync().effects, [])
})

test('hints survive on unchanged endpoints of unchanged slices, but any rewritten endpoint is re-hinted in the same sync', () => {
  const world = new SliceWorld({
    service: auto(),
    nodes: zones('1', '1'),
    pods: spread(4, 4),
    maxEndpointsPerSlice: 4,
  })
  world.sync()
  world.pods = world.pods.map((pod, index) =>
    index === 0 ? pods(1, () => ({ node: 'node-a', ready: false }))[0]! : pod,
  )
  assert.equal(writesOf(world.sync()).length, 1)
  assert.deepEqual(world.hintCounts, { a: 3, b: 4 })
  world.pods = spread(4, 4)
  assert.equal(writesOf(world.sync()).length, 1)
  assert.deepEqual(world.hintCounts, { a: 4, b: 4 })
})

test('an unchanged slice whose zones are over their maximum is written anew', () => {
  const world = new SliceWorld({
    service: auto(),
    nodes: zones('1', '1'),
    pods: spread(4, 4),
    maxEndpointsPerSlice: 4,
  })
  world.sync()
  world.nodes = zones('3', '1')
  world.memory.topology.setNodes(world.nodes)
  assert.deepEqual(world.memory.topology.overloadedServices(), ['ns/svc'])
  world.sync()
  assert.deepEqual(world.hintCounts, { a: 6, b: 2 })
  assert.deepEqual(world.memory.topology.overloadedServices(), [])
})

test('an address type that the Service no longer has gives up its hints', () => {
  const both = pods(4, (index) => ({
    node: index < 2 ? 'node-a' : 'node-b',
    ips: [`10.9.0.${index}`, `fd00::${index + 1}`],
  }))
  const world = new SliceWorld({
    service: auto({ spec: { ipFamilies: ['IPv4', 'IPv6'] } }),
    nodes: zones('1', '1'),
    pods: both,
  })
  const driven = world.sync()
  assert.deepEqual(
    driven.events.map(({ message }) => message),
    ['Topology Aware Hints has been enabled, addressType: IPv4'],
  )
  assert.deepEqual(world.hintCounts, { a: 4, b: 4 })
  world.service = auto()
  assert.deepEqual(writesOf(world.sync()), ['delete svc-2'])
  world.memory.topology.forget('ns/svc')
  assert.deepEqual(world.memory.topology.overloadedServices(), [])
})

const hintsOf = ({ endpoints }: EndpointSlice): unknown[] =>
  (endpoints ?? []).map(({ hints }) => hints)

function distributing(trafficDistribution: string | undefined, given?: Record<string, string>) {
  const options = { spec: { trafficDistribution } }
  return service(given === undefined ? options : { ...options, annotations: given })
}

const distributions: readonly (readonly [value: string | undefined, hints: unknown])[] = [
  ['PreferClose', { forZones: [{ name: 'a' }] }],
  ['PreferSameZone', { forZones: [{ name: 'a' }] }],
  ['PreferSameNode', { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] }],
  [undefined, undefined],
]
for (const [value, hints] of distributions) {
  test(`trafficDistribution ${value}`, () => {
    const world = new SliceWorld({
      service: distributing(value),
      nodes: zones('1'),
      pods: spread(1),
    })
    world.sync()
    assert.deepEqual(world.slices.map(hintsOf), [[hints]])
    assert.deepEqual(writesOf(world.sync()), [])
  })
}

test('Given PreferClose with annotation Auto, then the annotation wins; PreferSameNode sets both hints', () => {
  const world = new SliceWorld({
    service: distributing('PreferClose', AUTO),
    nodes: zones('1', '1'),
    pods: spread(4, 0),
  })
  world.sync()
  assert.deepEqual(world.hintCounts, { a: 2, b: 2 })
  const distribution = { topology: 'Auto', traffic_distribution: '' }
  assert.deepEqual(
    world.metrics.observed(
      'endpoint_slice_controller_endpointslices_changed_per_sync',
      distribution,
    ),
    [1],
  )
  world.service = distributing('PreferSameNode')
  world.sync()
  assert.deepEqual(world.slices[0]?.endpoints?.[0]?.hints, {
    forZones: [{ name: 'a' }],
    forNodes: [{ name: 'node-a' }],
  })
  assert.deepEqual(
    world.metrics.observed('endpoint_slice_controller_endpointslices_changed_per_sync', {
      topology: 'Disabled',
      traffic_distribution: 'PreferSameNode',
    }),
    [1],
  )
})

test('trafficDistribution with an unknown value behaves like unset', () => {
  const world = new SliceWorld({
    service: distributing('PreferClose'),
    nodes: zones('1'),
    pods: spread(2),
  })
  world.sync()
  const count = (value: string): number | undefined =>
    world.metrics.value('endpoint_slice_controller_services_count_by_traffic_distribution', {
      traffic_distribution: value,
    })
  assert.equal(count('PreferClose'), 1)
  world.service = distributing('example.com/Nearest')
  assert.deepEqual(writesOf(world.sync()), ['update svc-1'])
  assert.deepEqual(world.hintCounts, {})
  assert.deepEqual([count('PreferClose'), count('ImplementationSpecific')], [0, 1])
  // One that came and went between two scrapes is there too.
  world.service = distributing('PreferSameNode')
  world.sync()
  world.service = distributing('PreferClose')
  world.sync()
  assert.deepEqual([count('PreferSameNode'), count('PreferClose')], [0, 1])
})

test('a missing zone gives no zone hint; unready endpoints are left untouched', () => {
  const world = new SliceWorld({ service: distributing('PreferClose'), pods: spread(1) })
  world.sync()
  assert.deepEqual(world.slices.map(hintsOf), [[undefined]])
  world.service = distributing('PreferSameNode')
  world.sync()
  assert.deepEqual(world.slices.map(hintsOf), [[{ forNodes: [{ name: 'node-a' }] }]])
  const wrong = { forZones: [{ name: 'elsewhere' }] }
  const [slice] = world.slices
  const [endpoint] = slice!.endpoints!
  const unready = {
    ...endpoint!,
    hints: wrong,
    conditions: { ready: false, serving: false, terminating: false },
  }
  world.slices = [{ ...slice!, endpoints: [unready] }]
  world.pods = pods(1, () => ({ ready: false }))
  assert.deepEqual(writesOf(world.sync()), [])
})

test('an unchanged slice with a wrong or missing hint on a ready endpoint becomes an update', () => {
  const world = new SliceWorld({
    service: service(),
    nodes: zones('1'),
    pods: spread(3),
    maxEndpointsPerSlice: 1,
  })
  world.sync()
  world.service = distributing('PreferClose')
  assert.equal(writesOf(world.sync()).length, 3)
  const [first, ...others] = world.slices
  const [endpoint] = first!.endpoints!
  world.slices = [
    { ...first!, endpoints: [{ ...endpoint!, hints: { forZones: [{ name: 'b' }] } }] },
    ...others,
  ]
  assert.deepEqual(writesOf(world.sync()), [`update ${first?.metadata?.name}`])
})

test('before any node was seen the reason is the one of a single zone', () => {
  const world = new SliceWorld({ service: auto(), nodes: [], pods: [] })
  const messageOf = ({ events }: ReturnType<typeof world.sync>) => events[0]?.message
  assert.equal(messageOf(world.sync()), 'Nodes only ready in one zone, addressType: IPv4')
  world.nodes = zones('1')
  assert.match(messageOf(world.sync()) ?? '', /^Insufficient Node information/)
  world.nodes = []
  assert.match(messageOf(world.sync()) ?? '', /^Insufficient Node information/)
})
