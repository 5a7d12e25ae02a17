import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '@gyropilot/api'
import { CREATED, node, pod, pods, service } from '../endpoint-support/fixtures.ts'
import { TRIGGER_TIME_ANNOTATION } from '../endpoint-support/trigger-times.ts'
import { refused } from '../workload-support/fixtures.ts'
import { HTTP_PORTS, SliceWorld, errorTextOf, ownSlice, sizeOf, writesOf } from './fixtures.ts'

const placeholder = (options: Parameters<typeof ownSlice>[0] = {}): EndpointSlice =>
  ownSlice({ ports: [], ...options })

test('Given no pods, then one placeholder slice is created; a matching placeholder is left alone', () => {
  const world = new SliceWorld()
  const first = world.sync()
  assert.deepEqual(
    first.writes.map((write) => 'object' in write && write.object),
    [
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          generateName: 'svc-',
          namespace: 'ns',
          labels: {
            'kubernetes.io/service-name': 'svc',
            'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          },
          annotations: { [TRIGGER_TIME_ANNOTATION]: CREATED },
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'Service',
              name: 'svc',
              uid: 'svc-uid',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        addressType: 'IPv4',
      },
    ],
  )
  assert.deepEqual(writesOf(world.sync()), [])
})

test("the server's null for empty lists is a placeholder too", () => {
  const stored = { ...placeholder(), endpoints: null, ports: null } as unknown as EndpointSlice
  assert.deepEqual(writesOf(new SliceWorld({ slices: [stored] }).sync()), [])
})

test('A Service without pods still has exactly one placeholder slice per address type, with empty ports', () => {
  const world = new SliceWorld({ service: service({ spec: { ipFamilies: ['IPv4', 'IPv6'] } }) })
  world.sync()
  assert.deepEqual(
    world.slices.map(({ addressType, ports, endpoints }) => [addressType, ports, endpoints]),
    [
      ['IPv4', undefined, undefined],
      ['IPv6', undefined, undefined],
    ],
  )
})

test('When the first pod appears, the placeholder object is reused (same name, PUT), not deleted', () => {
  const world = new SliceWorld()
  world.sync()
  world.pods = [pod()]
  const driven = world.sync()
  assert.deepEqual(writesOf(driven), ['update svc-1'])
  assert.equal(
    driven.writes[0]?.verb === 'update' && driven.writes[0].object.metadata?.resourceVersion,
    undefined,
  )
  assert.deepEqual(
    world.slices.map(({ ports, endpoints }) => [ports, endpoints?.length]),
    [[HTTP_PORTS, 1]],
  )
  world.pods = []
  assert.deepEqual(writesOf(world.sync()), ['update svc-1'])
  assert.equal(world.slices[0]?.ports, undefined)
})

test('A dual-stack Service with single-stack pods has a placeholder slice for the missing family', () => {
  const world = new SliceWorld({
    service: service({ spec: { ipFamilies: ['IPv4', 'IPv6'] } }),
    pods: pods(3),
  })
  world.sync()
  assert.deepEqual(
    world.slices.map(({ addressType, ports, endpoints }) => [
      addressType,
      ports?.length,
      endpoints?.length,
    ]),
    [
      ['IPv4', 1, 3],
      ['IPv6', undefined, undefined],
    ],
  )
  assert.deepEqual(writesOf(world.sync()), [])
})

const addressTypes: readonly (readonly [title: string, spec: object, types: readonly string[]])[] =
  [
    ['those of ipFamilies', { ipFamilies: ['IPv6'] }, ['IPv6']],
    ['else that of the cluster IP', { ipFamilies: [], clusterIP: 'fd00::9' }, ['IPv6']],
    ['headless without families: both', { ipFamilies: [], clusterIP: 'None' }, ['IPv4', 'IPv6']],
  ]
for (const [title, spec, types] of addressTypes) {
  test(`address types: ${title}`, () => {
    const world = new SliceWorld({ service: service({ spec }) })
    world.sync()
    assert.deepEqual(
      world.slices.map(({ addressType }) => addressType),
      types,
    )
  })
}

for (const [title, spec] of [
  ['ExternalName', { type: 'ExternalName' }],
  ['without selector', { selector: undefined }],
] as const) {
  test(`a Service ${title} is left alone, with the slices it has`, () => {
    const world = new SliceWorld({ service: service({ spec }), slices: [placeholder()] })
    assert.deepEqual(world.sync().effects, [])
    assert.equal(world.metrics.value('endpoint_slice_controller_syncs', { result: 'success' }), 1)
  })
}

test('Given Service labels change, then all slices are updated; reserved labels do not trigger', () => {
  const world = new SliceWorld({ service: service({ labels: { old: 'x' } }), pods: pods(150) })
  world.sync()
  assert.equal(world.slices.length, 2)
  const reserved = {
    'kubernetes.io/service-name': 'other',
    'endpointslice.kubernetes.io/managed-by': 'other',
    'service.kubernetes.io/headless': '',
  }
  world.service = service({ labels: { old: 'x', ...reserved } })
  assert.deepEqual(writesOf(world.sync()), [])
  world.service = service({ labels: { new: 'y', ...reserved } })
  assert.deepEqual(writesOf(world.sync()).toSorted(), ['update svc-1', 'update svc-2'])
  for (const { metadata } of world.slices) {
    assert.deepEqual(metadata?.labels, {
      new: 'y',
      'kubernetes.io/service-name': 'svc',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    })
  }
})

test('A placeholder whose labels a user changes is written anew as a recycled slice: its annotations go.', () => {
  const world = new SliceWorld()
  world.sync()
  const [made] = world.slices
  const labels = { ...made!.metadata?.labels, mine: 'x' }
  const annotations = { note: 'y' }
  world.slices = [{ ...made!, metadata: { ...made!.metadata, labels, annotations } }]
  const { writes } = world.sync()
  assert.deepEqual(
    writes.map(({ verb }) => verb),
    ['update'],
  )
  assert.equal(world.slices[0]?.metadata?.name, made?.metadata?.name)
  assert.deepEqual(world.slices[0]?.metadata?.labels, made?.metadata?.labels)
  assert.deepEqual(world.slices[0]?.metadata?.annotations, {})
})

test('A placeholder whose labels differ only in empty values is left alone: one of a headless Service that gets a cluster IP keeps `service.kubernetes.io/headless: ""` until it is written for another reason.', () => {
  const world = new SliceWorld({ service: service({ spec: { clusterIP: 'None' } }) })
  world.sync()
  const headless = { 'service.kubernetes.io/headless': '' }
  world.service = service({ spec: { clusterIP: '10.0.0.9' } })
  assert.deepEqual(world.sync().writes, [])
  assert.partialDeepStrictEqual(world.slices[0]?.metadata?.labels, headless)
  world.pods = [pod()]
  world.sync()
  assert.equal('service.kubernetes.io/headless' in (world.slices[0]?.metadata?.labels ?? {}), false)
})

test('Labels added to slices by users are removed; annotations are kept', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  const [stored] = world.slices
  const metadata = {
    ...stored!.metadata,
    labels: { ...stored!.metadata?.labels, mine: 'x' },
    annotations: { mine: 'x', [TRIGGER_TIME_ANNOTATION]: CREATED },
  }
  world.slices = [{ ...stored!, metadata }]
  assert.deepEqual(writesOf(world.sync()), ['update svc-1'])
  assert.equal(world.slices[0]?.metadata?.labels?.['mine'], undefined)
  assert.deepEqual(world.slices[0]?.metadata?.annotations, { mine: 'x' })
})

test('a headless Service marks its slices', () => {
  const world = new SliceWorld({ service: service({ spec: { clusterIP: 'None' } }) })
  world.sync()
  assert.equal(world.slices[0]?.metadata?.labels?.['service.kubernetes.io/headless'], '')
})

test('Given port change, then old slices are recycled by update', () => {
  const world = new SliceWorld({ pods: pods(250) })
  world.sync()
  world.service = service({
    spec: { ports: [{ name: 'http', port: 80, targetPort: 9090, protocol: 'TCP' }] },
  })
  assert.deepEqual(writesOf(world.sync()).toSorted(), [
    'update svc-1',
    'update svc-2',
    'update svc-3',
  ])
  assert.deepEqual(world.sizes, [100, 100, 50])
  assert.deepEqual(new Set(world.slices.map(({ ports }) => ports?.[0]?.port)), new Set([9090]))
})

test('the last slice to create takes the name of the first to delete', () => {
  const world = new SliceWorld({ pods: pods(3), maxEndpointsPerSlice: 2 })
  world.slices = [ownSlice({ name: 'old-1', ports: [] }), ownSlice({ name: 'old-2', ports: [] })]
  world.pods = pods(5)
  const driven = world.sync()
  assert.deepEqual(writesOf(driven), ['create', 'update old-1', 'update old-2'])
  assert.equal(
    world.slices.find(({ metadata }) => metadata?.name === 'old-1')?.endpoints?.length,
    1,
  )
  assert.equal(
    driven.writes[1]?.verb === 'update' && driven.writes[1].object.metadata?.generateName,
    'svc-',
  )
})

test('Given slices of address type IP, then they are replaced', () => {
  const old = { ...ownSlice({ name: 'old' }), addressType: 'IP' } as unknown as EndpointSlice
  const world = new SliceWorld({ pods: pods(2), slices: [old] })
  assert.deepEqual(writesOf(world.sync()), ['create', 'delete old'])
  assert.deepEqual(
    world.slices.map(({ addressType }) => addressType),
    ['IPv4'],
  )
})

test('a failing delete of another address type is an error like any other', () => {
  const world = new SliceWorld({
    slices: [placeholder(), placeholder({ name: 'six', addressType: 'IPv6' })],
  })
  const driven = world.sync((write) =>
    write.verb === 'delete' ? refused(500, 'InternalError', 'no') : undefined,
  )
  assert.equal(errorTextOf(driven), 'error deleting six EndpointSlice for Service ns/svc: no')
})

test('Given a re-created Service, then foreign slices are deleted', () => {
  const former = service({ uid: 'former' })
  const world = new SliceWorld({
    pods: pods(1),
    slices: [ownSlice({ name: 'old', owner: former }), ownSlice({ name: 'older', owner: former })],
  })
  assert.deepEqual(writesOf(world.sync()), ['create', 'delete old', 'delete older'])
})

test('A slice from a previous Service with the same name (other UID) is deleted, never updated', () => {
  const world = new SliceWorld({
    slices: [placeholder({ name: 'old', owner: service({ uid: 'former' }) })],
  })
  assert.deepEqual(writesOf(world.sync()), ['create', 'delete old'])
})

test('Given 300 pods whose named port resolves to 5 numbers, then 5 slices of 60', () => {
  const world = new SliceWorld({
    service: service({
      spec: { ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }] },
    }),
    pods: pods(300, (index) => ({
      containers: [
        { name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8080 + (index % 5) }] },
      ],
    })),
  })
  world.sync()
  assert.deepEqual(world.sizes, [60, 60, 60, 60, 60])
  assert.equal(new Set(world.portKeys).size, 5)
})

test('Given headless without ports, then a slice with endpoints and no ports', () => {
  const world = new SliceWorld({
    service: service({ spec: { clusterIP: 'None', ports: [] } }),
    slices: [placeholder()],
    pods: [pod()],
  })
  assert.deepEqual(writesOf(world.sync()), ['update svc-1'])
  assert.deepEqual(
    world.slices.map(({ ports, endpoints }) => [ports, endpoints?.length]),
    [[undefined, 1]],
  )
})

test('Given terminating pods, then conditions serving/terminating appear', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  world.pods = [pod({ deleting: true })]
  assert.deepEqual(writesOf(world.sync()), ['update svc-1'])
  assert.deepEqual(world.endpoints[0]?.conditions, {
    ready: false,
    serving: true,
    terminating: true,
  })
})

test('Given a pod on a missing node, then error plus slice without it, or with it when publishNotReady', () => {
  const lost = pod({ name: 'lost', node: 'gone', ips: ['10.9.0.2'] })
  const world = new SliceWorld({ pods: [pod(), lost] })
  const driven = world.sync()
  const text = 'skipping Pod lost for Service ns/svc: Node gone Not Found'
  assert.equal(errorTextOf(driven), text)
  assert.deepEqual(world.sizes, [1])
  assert.deepEqual(driven.events, [
    {
      type: 'Warning',
      reason: 'FailedToUpdateEndpointSlices',
      message: `Error updating Endpoint Slices for Service ns/svc: ${text}`,
    },
  ])
  assert.equal(world.metrics.value('endpoint_slice_controller_syncs', { result: 'error' }), 1)
  world.service = service({ spec: { publishNotReadyAddresses: true } })
  assert.equal(errorTextOf(world.sync()), undefined)
  assert.deepEqual(world.sizes, [2])
})

test('Given Service with deletionTimestamp, then no create', () => {
  const world = new SliceWorld({ service: service({ deleting: true }), pods: pods(1) })
  assert.deepEqual(writesOf(world.sync()), [])
})

test('No creates while the Service is terminating, but updates and deletes go on', () => {
  const world = new SliceWorld({ pods: pods(3), maxEndpointsPerSlice: 2 })
  world.sync()
  world.service = service({ deleting: true })
  world.pods = [...pods(2, () => ({ ready: false })), ...pods(9).slice(3)]
  const writes = writesOf(world.sync())
  assert.ok(writes.length > 0)
  assert.ok(!writes.includes('create'), writes.join())
})

test('Given a Service whose selector matches no pods, then slice exists and is removed with the Service', () => {
  const world = new SliceWorld()
  world.sync()
  const owners = world.slices.map(({ metadata }) => metadata?.ownerReferences?.[0])
  assert.deepEqual(
    owners.map((owner) => [owner?.uid, owner?.controller, owner?.blockOwnerDeletion]),
    [['svc-uid', true, true]],
  )
})

test('Sync with a slice being deleted must not get stuck: it is ignored, not counted as stale', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  const [stored] = world.slices
  world.slices = [{ ...stored!, metadata: { ...stored!.metadata, deletionTimestamp: CREATED } }]
  const driven = world.sync()
  assert.equal(errorTextOf(driven), undefined)
  assert.deepEqual(writesOf(driven), ['create'])
})

test('a cache that is behind is an error without an event, and nothing is written', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  const stored = world.slices
  world.slices = []
  const driven = world.sync()
  assert.equal(errorTextOf(driven), 'EndpointSlice informer cache is out of date')
  assert.deepEqual(driven.effects, [])
  assert.equal(world.metrics.value('endpoint_slice_controller_syncs', { result: 'stale' }), 1)
  world.slices = stored
  assert.equal(errorTextOf(world.sync()), undefined)
})

test('a deleted slice that is still in the cache makes it stale', () => {
  const old = placeholder({ name: 'old', owner: service({ uid: 'former' }) })
  const world = new SliceWorld({ slices: [old] })
  world.sync()
  world.slices = [...world.slices, old]
  assert.equal(errorTextOf(world.sync()), 'EndpointSlice informer cache is out of date')
})

test('a create refused because the namespace terminates ends the sync without an error', () => {
  const terminating = refused(403, 'Forbidden', 'x', 'NamespaceTerminating')
  const driven = new SliceWorld({ pods: pods(250) }).sync(() => terminating)
  assert.deepEqual([driven.writes.length, driven.events, errorTextOf(driven)], [1, [], undefined])
})

for (const [verb, text] of [
  ['create', 'failed to create EndpointSlice for Service ns/svc: no'],
  ['update', 'failed to update svc-0 EndpointSlice for Service ns/svc: no'],
  ['delete', 'failed to delete svc-2 EndpointSlice for Service ns/svc: no'],
] as const) {
  test(`creates, then updates, then deletes; the first error stops: ${verb}`, () => {
    const world = new SliceWorld({
      pods: pods(6),
      maxEndpointsPerSlice: 2,
      slices: [
        ownSlice({ name: 'svc-0', labels: { other: 'x' } }),
        ownSlice({ name: 'svc-2', owner: service({ uid: 'former' }) }),
      ],
    })
    const order = ['create', 'create', 'update', 'delete']
    const driven = world.sync((write) =>
      write.verb === verb ? refused(500, 'InternalError', 'no') : undefined,
    )
    assert.equal(errorTextOf(driven), text)
    assert.deepEqual(
      driven.writes.map((write) => write.verb),
      order.slice(0, order.indexOf(verb) + 1),
    )
    assert.equal(
      driven.events[0]?.message,
      `Error updating Endpoint Slices for Service ns/svc: ${text}`,
    )
  })
}

test('an error in one address type does not keep the other from being written', () => {
  const world = new SliceWorld({ service: service({ spec: { ipFamilies: ['IPv4', 'IPv6'] } }) })
  const driven = world.sync((write) =>
    write.verb === 'create' && (write.object as EndpointSlice).addressType === 'IPv4'
      ? refused(500, 'InternalError', 'no')
      : undefined,
  )
  assert.deepEqual(
    world.slices.map(({ addressType }) => addressType),
    ['IPv6'],
  )
  assert.equal(errorTextOf(driven), 'failed to create EndpointSlice for Service ns/svc: no')
})

test('updates keep the cached resourceVersion and take the time of the change, or lose it', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  const version = (): void => {
    world.slices = world.slices.map((each) => ({
      ...each,
      metadata: { ...each.metadata, resourceVersion: '41' },
    }))
  }
  version()
  const since = '2026-01-01T00:01:00Z'
  world.pods = [pod({ ready: false, readySince: since })]
  const sent = world.sync().writes[0]
  assert.equal(sent?.verb === 'update' && sent.object.metadata?.resourceVersion, '41')
  assert.equal(world.slices[0]?.metadata?.annotations?.[TRIGGER_TIME_ANNOTATION], since)
  world.pods = []
  world.sync()
  assert.deepEqual(world.slices[0]?.metadata?.annotations, {})
})

test('our own writes are known to the tracker', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  assert.ok(!world.memory.tracker.isForeignChange(world.slices[0]!))
  world.pods = [pod({ ready: false })]
  world.sync()
  assert.ok(!world.memory.tracker.isForeignChange(world.slices[0]!))
})

test('Zone label set after node creation triggers only the topology item, not a rewrite of endpoint zones, until the Service syncs', () => {
  const world = new SliceWorld({ pods: [pod()] })
  world.sync()
  world.nodes = [node({ zone: 'z1' })]
  world.memory.topology.setNodes(world.nodes)
  assert.deepEqual(world.memory.topology.overloadedServices(), [])
  assert.equal(world.endpoints[0]?.zone, undefined)
  assert.deepEqual(writesOf(world.sync()), ['update svc-1'])
  assert.equal(world.endpoints[0]?.zone, 'z1')
})

test('slices count what they have: no pods, one address type gone', () => {
  const world = new SliceWorld({
    service: service({ spec: { ipFamilies: ['IPv4', 'IPv6'] } }),
    pods: pods(150),
  })
  world.sync()
  const gauge = (name: string): number | undefined =>
    world.metrics.value(`endpoint_slice_controller_${name}`)
  const gauges = (): unknown[] =>
    ['endpoints_desired', 'num_endpoint_slices', 'desired_endpoint_slices'].map(gauge)
  assert.deepEqual(gauges(), [150, 3, 3])
  assert.deepEqual(
    world.metrics.observed('endpoint_slice_controller_endpoints_added_per_sync'),
    [150, 0],
  )
  world.service = service()
  world.pods = pods(60)
  world.sync()
  assert.deepEqual(gauges(), [60, 1, 1])
  assert.deepEqual(
    world.metrics.observed('endpoint_slice_controller_endpoints_removed_per_sync'),
    [0, 0, 90],
  )
  assert.equal(world.metrics.value('endpoint_slice_controller_changes', { operation: 'create' }), 3)
  assert.equal(world.metrics.value('endpoint_slice_controller_changes', { operation: 'delete' }), 2)
  assert.equal(
    world.slices.reduce((sum, each) => sum + sizeOf(each), 0),
    60,
  )
})

test('metrics have the names and stability of kube-controller-manager', () => {
  const { families } = new SliceWorld().metrics
  const named = [...families].map(([name, { stability = 'ALPHA' }]) => [
    name.replace('endpoint_slice_controller_', ''),
    stability,
  ])
  assert.deepEqual(Object.fromEntries(named), {
    changes: 'ALPHA',
    desired_endpoint_slices: 'BETA',
    endpoints_added_per_sync: 'BETA',
    endpoints_desired: 'BETA',
    endpoints_removed_per_sync: 'BETA',
    endpointslices_changed_per_sync: 'ALPHA',
    num_endpoint_slices: 'BETA',
    services_count_by_traffic_distribution: 'BETA',
    syncs: 'ALPHA',
  })
  assert.equal(
    families.get('endpoint_slice_controller_services_count_by_traffic_distribution')?.help,
    'Number of Services using some specific trafficDistribution',
  )
})
