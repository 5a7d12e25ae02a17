import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, EndpointSubset, Endpoints, Service } from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive } from '@gyropilot/runtime/testing'
import { service, slice } from '../endpoint-support/fixtures.ts'
import { SliceTracker } from '../endpoint-support/slice-tracker.ts'
import { refused } from '../workload-support/fixtures.ts'
import { MANAGER } from './config.ts'
import { ONE_SUBSET, bareService, customEndpoints } from './fixtures.ts'
import { MirroringMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'

const PREFIX = 'endpoint_slice_mirroring_controller_'
const SKIP = 'endpointslice.kubernetes.io/skip-mirror'
const LEADER = 'control-plane.alpha.kubernetes.io/leader'
const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The cache is the server: a write is seen at once. */
class Mirror {
  endpoints: Endpoints | undefined
  service: Service | undefined = bareService()
  slices: readonly EndpointSlice[] = []
  max = 1_000
  readonly tracker = new SliceTracker(() => '')
  readonly metrics = new RecordingMetrics()
  readonly #measured = new MirroringMetrics(this.metrics)
  #created = 0

  constructor(endpoints: Endpoints | undefined = customEndpoints()) {
    this.endpoints = endpoints
  }

  /** The verbs that were written, events and the error. */
  sync(fail?: (write: Write) => Outcome | undefined) {
    const { endpoints, service: of, slices, tracker } = this
    const observed = { key: 'ns/svc', endpoints, service: of, slices }
    const memory = { tracker, metrics: this.#measured }
    const { writes, events, result } = drive(reconcile(observed, memory, this.max), {
      onWrite: (write) => fail?.(write) ?? this.#apply(write),
    })
    const error = (result ?? {}).error as Error | undefined
    return { verbs: writes.map(({ verb }) => verb), events, error: error?.message }
  }

  /** `IPv4 80: 10.1.2.3, not 10.1.2.4` per slice. */
  get shown(): readonly string[] {
    return this.slices.map(({ addressType, ports, endpoints }) => {
      const list = (endpoints ?? []).map(
        ({ addresses, conditions }) => `${conditions?.ready ? '' : 'not '}${addresses.join()}`,
      )
      return `${addressType} ${(ports ?? []).map(({ port }) => port).join('+')}: ${list.join(', ')}`
    })
  }

  value(name: string): number | undefined {
    return this.metrics.value(`${PREFIX}${name}`)
  }

  #apply(write: Write): Outcome {
    if (write.verb === 'delete') {
      this.slices = this.slices.filter(({ metadata }) => metadata?.name !== write.name)
      return { ok: true, object: {} }
    }
    assert.ok(write.verb === 'create' || write.verb === 'update')
    const object = write.object as EndpointSlice
    const { generateName, ...metadata } = object.metadata ?? {}
    assert.equal(metadata.resourceVersion, undefined)
    const name = metadata.name ?? `${generateName}${++this.#created}`
    const known = this.slices.find((each) => each.metadata?.name === name)
    const generation = (known?.metadata?.generation ?? 0) + 1
    const stored = { ...object, metadata: { ...metadata, name, uid: `${name}-uid`, generation } }
    this.slices = [...this.slices.filter((each) => each !== known), stored]
    return { ok: true, object: stored }
  }
}

const subset = (ips: readonly string[], port = 80, more: EndpointSubset = {}): EndpointSubset => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: [{ port }],
  ...more,
})

function mirrorOf(...subsets: readonly EndpointSubset[]): Mirror {
  return new Mirror(customEndpoints(subsets))
}

test('Given Endpoints and a Service without selector, then one slice with labels and owner is created', () => {
  const mirror = new Mirror(customEndpoints(ONE_SUBSET, { labels: { a: 'b' } }))
  assert.deepEqual(mirror.sync(), { verbs: ['create'], events: [], error: undefined })
  assert.deepEqual(mirror.slices, [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'svc-1',
        uid: 'svc-1-uid',
        generation: 1,
        namespace: 'ns',
        labels: {
          a: 'b',
          'kubernetes.io/service-name': 'svc',
          'endpointslice.kubernetes.io/managed-by': MANAGER,
        },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Endpoints',
            name: 'svc',
            uid: 'endpoints-uid',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    },
  ])
  assert.deepEqual(mirror.sync().verbs, [])
})

const UNMIRRORED: readonly (readonly [string, (mirror: Mirror) => void])[] = [
  ['no Endpoints', (mirror) => (mirror.endpoints = undefined)],
  ['no Service', (mirror) => (mirror.service = undefined)],
  ['a Service with selector', (mirror) => (mirror.service = service())],
  ['an empty selector', (mirror) => (mirror.service = service({ spec: { selector: {} } }))],
  [
    'skip-mirror=true',
    (mirror) => (mirror.endpoints = customEndpoints(ONE_SUBSET, { labels: { [SKIP]: 'true' } })),
  ],
  [
    'the leader annotation',
    (mirror) => (mirror.endpoints = customEndpoints(ONE_SUBSET, { annotations: { [LEADER]: '' } })),
  ],
]
for (const [title, change] of UNMIRRORED) {
  test(`Given no Service, a Service with selector, skip-mirror=true, or the leader annotation, then existing mirrored slices are deleted: ${title}`, () => {
    const mirror = mirrorOf(subset(['10.1.2.3']), subset(['10.1.2.4'], 81))
    mirror.sync()
    assert.equal(mirror.value('num_endpoint_slices'), 2)
    change(mirror)
    assert.deepEqual(mirror.sync(), { verbs: ['delete', 'delete'], events: [], error: undefined })
    assert.equal(mirror.value('num_endpoint_slices'), 0)
    // What was known of the slices is forgotten with them: their absence is not a cache behind.
    Object.assign(mirror, { endpoints: customEndpoints(), service: bareService() })
    assert.deepEqual(mirror.sync().verbs, ['create'])
  })
}

test('All deletes are tried; any failure gives one error', () => {
  const mirror = mirrorOf(subset(['10.1.2.3']), subset(['10.1.2.4'], 81))
  mirror.sync()
  mirror.service = undefined
  const { verbs, error } = mirror.sync((write) =>
    'name' in write && write.name === 'svc-1' ? refused(500, 'x', 'no') : undefined,
  )
  assert.deepEqual(verbs, ['delete', 'delete'])
  assert.equal(error, 'error(s) deleting 1/2 EndpointSlices for ns/svc Endpoints, including: no')
  assert.equal(mirror.slices.length, 1)
})

test('Given no subsets, or subsets without addresses, then no slices', () => {
  for (const subsets of [[], undefined, [{ ports: [{ port: 80 }] }]]) {
    assert.deepEqual(
      new Mirror(customEndpoints(subsets as never)).sync().verbs,
      subsets ? [] : ['create'],
    )
  }
})

test('Given two subsets with different ports and the same address, then two slices', () => {
  const mirror = mirrorOf(subset(['10.1.2.3', '10.1.2.4']), subset(['10.1.2.3'], 81))
  assert.deepEqual(mirror.sync().verbs, ['create', 'create'])
  assert.deepEqual(mirror.shown, ['IPv4 80: 10.1.2.3, 10.1.2.4', 'IPv4 81: 10.1.2.3'])
})

test('Given several subsets with the same IP on different ports, then all ports are reachable', () => {
  const mirror = mirrorOf(subset(['10.1.2.3']), subset(['10.1.2.3'], 81))
  mirror.sync()
  assert.deepEqual(mirror.shown, ['IPv4 80+81: 10.1.2.3'])
})

test('Given Endpoints pending deletion, then nothing is created', () => {
  const mirror = new Mirror(customEndpoints(ONE_SUBSET, { deleting: true }))
  assert.deepEqual(mirror.sync().verbs, [])
})

test('Given an existing slice with the same fields, then no write; with other owner references, an added label or annotation, then one update', () => {
  const mirror = new Mirror()
  mirror.sync()
  assert.deepEqual(mirror.sync().verbs, [])
  const changes: readonly Endpoints[] = [
    customEndpoints(ONE_SUBSET, { uid: 'new' }),
    customEndpoints(ONE_SUBSET, { uid: 'new', labels: { a: 'b' } }),
    customEndpoints(ONE_SUBSET, { uid: 'new', labels: { a: 'b' }, annotations: { c: 'd' } }),
    customEndpoints(ONE_SUBSET, { uid: 'new', labels: { a: 'b' } }),
  ]
  for (const changed of changes) {
    mirror.endpoints = changed
    assert.deepEqual(mirror.sync().verbs, ['update'])
    assert.equal(mirror.slices[0]?.metadata?.ownerReferences?.[0]?.uid, 'new')
    assert.deepEqual(mirror.sync().verbs, [])
  }
  assert.deepEqual(mirror.slices[0]?.metadata?.annotations, undefined)
})

test('Endpoints that carry a managed-by or service-name label lose the label comparison and are rewritten on every sync; the slice value is always this controller’s.', () => {
  const labels = { 'kubernetes.io/service-name': 'other' }
  const mirror = new Mirror(customEndpoints(ONE_SUBSET, { labels }))
  mirror.sync()
  assert.equal(mirror.slices[0]?.metadata?.labels?.['kubernetes.io/service-name'], 'svc')
  assert.deepEqual(mirror.sync().verbs, ['update'])
})

test('Nil and empty label or annotation maps are equal.', () => {
  const mirror = new Mirror(customEndpoints(ONE_SUBSET, { labels: {}, annotations: {} }))
  mirror.sync()
  mirror.endpoints = customEndpoints()
  assert.deepEqual(mirror.sync().verbs, [])
})

test('foreign annotations put on the slice are removed at the next sync', () => {
  const mirror = new Mirror()
  mirror.sync()
  mirror.slices = mirror.slices.map((each) => ({
    ...each,
    metadata: { ...each.metadata, annotations: { mine: 'x' } },
  }))
  assert.deepEqual(mirror.sync().verbs, ['update'])
  assert.equal(mirror.slices[0]?.metadata?.annotations, undefined)
})

test('Given a dual-stack or IPv6-only subset, then slices of the right families', () => {
  const dual = mirrorOf(subset(['10.1.2.3', 'fd00::1', 'fd00::0:0:2']))
  assert.deepEqual(dual.sync().verbs, ['create', 'create'])
  assert.deepEqual(dual.shown, ['IPv4 80: 10.1.2.3', 'IPv6 80: fd00::2, fd00::1'])
  const six = mirrorOf(subset(['fd00::1']))
  six.sync()
  assert.deepEqual(six.shown, ['IPv6 80: fd00::1'])
  // One family goes: its slice is deleted, not turned into one of the other.
  dual.endpoints = customEndpoints([subset(['fd00::1'])])
  assert.deepEqual(dual.sync().verbs, ['update', 'delete'])
})

test('Given some or all invalid addresses, then they are skipped and counted', () => {
  const some = mirrorOf(subset(['x', '10.1.2.3', '1.2.3']))
  assert.deepEqual(some.sync().events, [
    {
      type: 'Warning',
      reason: 'InvalidIPAddress',
      message: 'Skipped 2 invalid IP addresses when mirroring to EndpointSlices',
    },
  ])
  assert.deepEqual(some.shown, ['IPv4 80: 10.1.2.3'])
  const all = mirrorOf(subset(['x']))
  const { verbs, events } = all.sync()
  assert.deepEqual([verbs, events.length], [[], 1])
  // Emitted on every sync that skips something.
  assert.equal(all.sync().events.length, 1)
})

test('Given one address above the cap, then one address is skipped', () => {
  const mirror = mirrorOf(
    subset(['10.1.2.3', 'fd00::1'], 80, { notReadyAddresses: [{ ip: '10.1.2.4' }] }),
  )
  mirror.max = 3
  assert.deepEqual(mirror.sync().events, [])
  mirror.max = 2
  const { events } = mirror.sync()
  // The cap counts both families together, and ready addresses first.
  assert.deepEqual(mirror.shown, ['IPv6 80: fd00::1', 'IPv4 80: 10.1.2.3'])
  assert.deepEqual(
    events.map(({ message }) => message),
    [
      'A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
    ],
  )
})

test('invalid and too many addresses are two events, and the number of the second includes the first', () => {
  const mirror = mirrorOf(subset(['0x', '10.1.2.3', '10.1.2.4']))
  mirror.max = 1
  assert.deepEqual(
    mirror
      .sync()
      .events.map(({ reason, message }) => [reason, /\d+ (?=addresses were)/.exec(message)?.[0]]),
    [
      ['InvalidIPAddress', undefined],
      ['TooManyAddressesToMirror', '2 '],
    ],
  )
})

test('Given the last-applied annotation on Endpoints, then it is never mirrored; other annotations are', () => {
  const annotations = {
    [APPLIED]: '{}',
    'endpoints.kubernetes.io/last-change-trigger-time': 'x',
    kept: 'x',
  }
  const mirror = new Mirror(customEndpoints(ONE_SUBSET, { annotations }))
  mirror.sync()
  assert.deepEqual(mirror.slices[0]?.metadata?.annotations, { kept: 'x' })
  assert.deepEqual(mirror.sync().verbs, [])
})

test('The last-applied annotation already present on a slice is removed on the next sync.', () => {
  const mirror = new Mirror()
  mirror.sync()
  mirror.slices = mirror.slices.map((each) => ({
    ...each,
    metadata: { ...each.metadata, annotations: { [APPLIED]: '{}' } },
  }))
  assert.deepEqual(mirror.sync().verbs, ['update'])
})

test('Changing only a port number yields exactly one update.', () => {
  const mirror = mirrorOf(subset(['10.1.2.3']))
  mirror.sync()
  mirror.endpoints = customEndpoints([subset(['10.1.2.3'], 81)])
  assert.deepEqual(mirror.sync().verbs, ['update'])
  assert.deepEqual(
    [mirror.shown, mirror.slices[0]?.metadata?.name],
    [['IPv4 81: 10.1.2.3'], 'svc-1'],
  )
})

test('a kept slice is written under its name alone, a recycled one also says how names are generated', () => {
  const mirror = mirrorOf(subset(['10.1.2.3']))
  mirror.sync()
  const written: (string | undefined)[] = []
  const look = (write: Write): undefined => {
    if (write.verb === 'update') written.push(write.object.metadata?.generateName)
  }
  for (const changed of [subset(['10.1.2.4']), subset(['10.1.2.4'], 81)]) {
    mirror.endpoints = customEndpoints([changed])
    mirror.sync(look)
  }
  assert.deepEqual(written, [undefined, 'svc-'])
})

const CHANGES: readonly (readonly [string, EndpointSubset])[] = [
  ['an address more', subset(['10.1.2.3', '10.1.2.4'])],
  ['another address', subset(['10.1.2.4'])],
  [
    'an address more and a node',
    { addresses: [{ ip: '10.1.2.3', nodeName: 'n' }, { ip: '10.1.2.4' }], ports: [{ port: 80 }] },
  ],
  ['readiness', { notReadyAddresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
  ['a node', { addresses: [{ ip: '10.1.2.3', nodeName: 'n' }], ports: [{ port: 80 }] }],
  ['a hostname', { addresses: [{ ip: '10.1.2.3', hostname: 'h' }], ports: [{ port: 80 }] }],
  [
    'a reference',
    {
      addresses: [{ ip: '10.1.2.3', targetRef: { kind: 'Pod', name: 'p' } }],
      ports: [{ port: 80 }],
    },
  ],
]
for (const [title, changed] of CHANGES) {
  test(`a change of an endpoint is one update: ${title}`, () => {
    const mirror = mirrorOf(subset(['10.1.2.3']))
    mirror.sync()
    mirror.endpoints = customEndpoints([changed])
    assert.deepEqual(mirror.sync().verbs, ['update'])
    assert.deepEqual(mirror.sync().verbs, [])
  })
}

test('`targetRef` is copied as is, including resourceVersion, and an empty hostname is none', () => {
  const targetRef = { kind: 'Pod', name: 'p', resourceVersion: '7' }
  const address = { ip: '10.1.2.3', hostname: '', nodeName: 'n', targetRef }
  const mirror = mirrorOf({
    addresses: [address],
    ports: [{ name: 'p', port: 80, appProtocol: 'http' }],
  })
  mirror.sync()
  const [only] = mirror.slices
  assert.deepEqual(only?.endpoints, [
    { addresses: ['10.1.2.3'], conditions: { ready: true }, targetRef, nodeName: 'n' },
  ])
  assert.deepEqual(only.ports, [{ name: 'p', port: 80, protocol: 'TCP', appProtocol: 'http' }])
})

test('of several slices of a group one is kept, the others are deleted', () => {
  const mirror = mirrorOf(subset(['10.1.2.3']))
  mirror.sync()
  const [first] = mirror.slices
  mirror.slices = [
    first!,
    { ...first!, metadata: { ...first!.metadata, name: 'twin', uid: 'twin' } },
  ]
  assert.deepEqual(mirror.sync().verbs, ['delete'])
  assert.deepEqual(mirror.slices, [first])
})

test('a cache that is behind is an error and nothing is written', () => {
  const mirror = new Mirror()
  mirror.sync()
  const written = mirror.slices
  mirror.slices = []
  assert.deepEqual(mirror.sync(), {
    verbs: [],
    events: [],
    error: 'EndpointSlice informer cache is out of date',
  })
  mirror.slices = written
  assert.equal(mirror.sync().error, undefined)
})

test('A no-op sync still registers the kept slice in the tracker.', () => {
  const before = new Mirror()
  before.sync()
  const restarted = new Mirror()
  restarted.slices = before.slices
  restarted.sync()
  assert.ok(!restarted.tracker.isForeignChange(before.slices[0]!))
})

test('a refused write is retried', () => {
  const { error } = new Mirror().sync(() => refused(500, 'x', 'no'))
  assert.equal(error, 'failed to create EndpointSlice for Endpoints ns/svc: no')
})

test('slices of address type FQDN are deleted', () => {
  const mirror = new Mirror()
  mirror.slices = [{ ...slice({ manager: MANAGER }), addressType: 'FQDN' }]
  assert.deepEqual(mirror.sync().verbs, ['create', 'delete'])
})

test('metrics count endpoints and slices, and their changes', () => {
  const mirror = mirrorOf(subset(['10.1.2.3', '10.1.2.4', 'x']), subset(['10.1.2.9'], 81))
  mirror.sync()
  const sumOf = (name: string) => mirror.metrics.observed(`${PREFIX}${name}`).at(-1)
  assert.deepEqual(
    ['endpoints_desired', 'num_endpoint_slices', 'desired_endpoint_slices'].map((name) =>
      mirror.value(name),
    ),
    [3, 2, 2],
  )
  assert.deepEqual([sumOf('endpoints_added_per_sync'), sumOf('addresses_skipped_per_sync')], [3, 1])
  mirror.endpoints = customEndpoints([
    { addresses: [{ ip: '10.1.2.3', nodeName: 'n' }, { ip: '10.1.2.5' }], ports: [{ port: 80 }] },
  ])
  mirror.sync()
  assert.deepEqual(
    ['added', 'updated', 'removed'].map((what) => sumOf(`endpoints_${what}_per_sync`)),
    [1, 1, 2],
  )
  const changes = (operation: string) => mirror.metrics.value(`${PREFIX}changes`, { operation })
  assert.deepEqual(['create', 'update', 'delete'].map(changes), [2, 1, 1])
})

const at = (ip: string): { ip: string } => ({ ip })
const side = { name: 'side', port: 70, appProtocol: 'kubernetes.io/h2c' }

test('a port with an application protocol is not joined with an equal one of another subset', () => {
  const http = { name: 'http', port: 80 }
  const mirror = new Mirror(
    customEndpoints([
      { addresses: [at('10.1.2.3')], ports: [side] },
      { addresses: [at('10.1.2.4')], ports: [http, side] },
    ]),
  )
  mirror.sync()
  assert.deepEqual(mirror.shown.toSorted(), ['IPv4 70+80: 10.1.2.4', 'IPv4 70: 10.1.2.3'])
})

test('subsets with equal ports share a slice, also with an application protocol', () => {
  const subsets = [
    { addresses: [at('10.1.2.3')], ports: [side] },
    { addresses: [at('10.1.2.4')], ports: [side] },
  ]
  const mirror = new Mirror(customEndpoints(subsets))
  mirror.sync()
  assert.deepEqual(mirror.shown, ['IPv4 70: 10.1.2.3, 10.1.2.4'])
  assert.deepEqual(mirror.sync().verbs, [])
})
