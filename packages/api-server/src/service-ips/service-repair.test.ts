import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { SeededRandom, silentLogger, VirtualClock } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { SERVER_IDENTITY } from '../auth/index.ts'
import { makeNamespace, PATCH, START_MS, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { ApiError } from '../contracts.ts'
import type { AdmissionPlugin } from '../contracts.ts'
import type { ApiServerOptions } from '../server-options.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { turn } from '../testing/test-server.ts'
import { ServiceAllocation } from './service-allocation.ts'
import { ServiceRepair } from './service-repair.ts'

const PERIOD_MS = 180_000
const ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses'
const CIDRS = '/apis/networking.k8s.io/v1/servicecidrs'

interface World extends TestServer {
  readonly services: string
  address(name: string): Stored | undefined
  /** `<object> <reason> <note>`, with ` x<count>` of a series. */
  events(): string[]
}

async function world(t: TestContext, options: Partial<ApiServerOptions> = {}): Promise<World> {
  const base = await startServer(options)
  t.after(() => base.server.stop())
  const { server } = base
  return {
    ...base,
    services: `${await makeNamespace(base, 'a')}/services`,
    address: (name) => server.internals.get('networking.k8s.io', 'ipaddresses', '', name),
    events: () =>
      server.internals
        .list('', 'events')
        .map(
          ({ involvedObject, reason, message, series }) =>
            `${involvedObject.name} ${reason} ${message}${series ? ` x${series.count}` : ''}`,
        )
        .toSorted(),
  }
}

function service(name: string, spec: Draft = {}): Draft {
  return { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }
}

function ipAddress(name: string, parentRef: Draft, isManaged = true): Draft {
  const labels = {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  }
  return {
    metadata: { name, ...(isManaged ? { labels } : {}) },
    spec: { parentRef: { resource: 'services', ...parentRef } },
  }
}

/** Past the allocators. */
function commit(it: World, name: string, spec: Draft): void {
  it.server.store.commit({ collection: 'services', key: `a/${name}` }, (revision) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'a', uid: name, resourceVersion: String(revision) },
    spec,
  }))
}

const LACKING = 's ClusterIPNotAllocated Cluster IP [IPv4]: 10.0.12.7 is not allocated; repairing'

async function deleteAddressOfService({ call, services, clock, address }: World): Promise<void> {
  await call('POST', services, service('s', { clusterIP: '10.0.12.7' }))
  assert.equal((await call('DELETE', `${ADDRESSES}/10.0.12.7`)).status, 200)
  await clock.advance(0)
  assert.equal(address('10.0.12.7'), undefined)
}

describe('an IPAddress that was deleted while a Service has the address', () => {
  test('Given a Service whose IPAddress is deleted, then within 3 min it is there again with event ClusterIPNotAllocated, and no other Service gets the address.', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    await it.clock.advance(PERIOD_MS)
    const { spec, metadata } = it.address('10.0.12.7')!
    assert.deepEqual(spec.parentRef, { resource: 'services', namespace: 'a', name: 's' })
    assert.equal(metadata.managedFields[0].manager, 'kube-apiserver')
    assert.deepEqual(it.events(), [LACKING])
    const second = await it.call('POST', it.services, service('t', { clusterIP: '10.0.12.7' }))
    assert.equal(second.status, 422)
    assert.match(second.body.message, /provided IP is already allocated/)
  })

  test('is there again as soon as the Service is written', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    const { body } = await it.call(
      'PATCH',
      `${it.services}/s`,
      { metadata: { labels: { x: 'y' } } },
      PATCH,
    )
    assert.ok(it.address('10.0.12.7') !== undefined)
    await it.clock.advance(0)
    const [event] = it.server.internals.list('', 'events', 'a')
    assert.deepEqual(event!['involvedObject'], {
      kind: 'Service',
      namespace: 'a',
      name: 's',
      uid: body.metadata.uid,
      apiVersion: 'v1',
      resourceVersion: body.metadata.resourceVersion,
    })
    const { type, action, reportingComponent, reportingInstance, source, eventTime } = event!
    assert.deepEqual(
      [type, action, reportingComponent, reportingInstance, source],
      [
        'Warning',
        'ClusterIPAllocation',
        'ipallocator-repair-controller',
        'ipallocator-repair-controller-localhost',
        {},
      ],
    )
    assert.match(eventTime, /^2026-11-21T00:00:00\.0{6}Z$/)
    assert.match(event!['metadata'].name, /^s\.[0-9a-f]{16}$/)
  })

  test('that another Service has taken meanwhile is told of until one of them goes', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    await it.call('POST', it.services, service('t', { clusterIP: '10.0.12.7' }))
    const doubled =
      's ClusterIPAlreadyAllocated Cluster IP [IPv4]:10.0.12.7 was assigned to multiple services; please recreate service'
    await it.clock.advance(PERIOD_MS)
    assert.deepEqual(it.events(), [doubled])
    await it.clock.advance(2 * PERIOD_MS)
    assert.deepEqual(it.events(), [`${doubled} x3`])
    await it.call('DELETE', `${it.services}/s`)
    await it.clock.advance(2 * PERIOD_MS)
    assert.deepEqual(it.events(), [`${doubled} x3`])
    assert.equal(it.address('10.0.12.7')!['spec'].parentRef.name, 't')
  })

  test('of the other family gets an event whose name is a UUID', async (t) => {
    const it = await world(t, { serviceRanges: ['fd00::/112'] })
    await it.call('POST', ADDRESSES, {
      ...ipAddress('fd00::77', { resource: 'gateways', group: 'g.io', namespace: 'a', name: 'g' }),
    })
    await it.clock.advance(0)
    const [event] = it.server.internals.list('', 'events', 'default')
    assert.equal(event!['involvedObject'].name, 'fd00::77')
    assert.match(event!['metadata'].name, /^[0-9a-f-]{36}$/)
  })
})

describe('an IPAddress that somebody made', () => {
  test('in place of that of a Service is replaced at the next look, one with a finalizer when it is gone', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    const own = ipAddress('10.0.12.7', { namespace: 'a', name: 's' }, false)
    own['metadata'].finalizers = ['example.com/wait']
    const made = await it.call('POST', ADDRESSES, own)
    assert.equal(made.status, 201, made.body.message)
    await it.clock.advance(PERIOD_MS)
    const held = it.address('10.0.12.7')!['metadata']
    assert.equal(held.uid, made.body.metadata.uid)
    assert.ok(held.deletionTimestamp !== undefined)
    const released = { metadata: { finalizers: null } }
    await it.call('PATCH', `${ADDRESSES}/10.0.12.7`, released, PATCH)
    await it.clock.advance(PERIOD_MS)
    const { labels } = it.address('10.0.12.7')!['metadata']
    assert.equal(labels['ipaddress.kubernetes.io/managed-by'], 'ipallocator.k8s.io')
    assert.deepEqual(it.events(), [LACKING])
  })

  test('without labels in place of that of a Service is replaced as soon as the Service is written, without a word', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    const own = ipAddress('10.0.12.7', { namespace: 'a', name: 's' }, false)
    await it.call('POST', ADDRESSES, own)
    await it.call('PATCH', `${it.services}/s`, { metadata: { labels: { x: 'y' } } }, PATCH)
    await it.clock.advance(0)
    const { labels } = it.address('10.0.12.7')!['metadata']
    assert.equal(labels['ipaddress.kubernetes.io/managed-by'], 'ipallocator.k8s.io')
    assert.deepEqual(it.events(), [])
  })

  test('for a Service that there is not goes a minute after it was made, one without labels stays', async (t) => {
    const it = await world(t)
    const parent = { namespace: 'a', name: 'nope' }
    await it.call('POST', ADDRESSES, ipAddress('10.0.21.1', parent))
    await it.call('POST', ADDRESSES, ipAddress('10.0.21.2', parent, false))
    await it.clock.advance(59_999)
    assert.ok(it.address('10.0.21.1') !== undefined)
    await it.clock.advance(1)
    assert.equal(it.address('10.0.21.1'), undefined)
    assert.deepEqual(it.events(), [
      '10.0.21.1 IPAddressNotAllocated IPAddress: 10.0.21.1 for Service a/nope appears to have leaked: cleaning up',
    ])
    const [event] = it.server.internals.list('', 'events', 'default')
    assert.equal(event!['involvedObject'].namespace, undefined)
    await it.clock.advance(2 * PERIOD_MS)
    assert.ok(it.address('10.0.21.2') !== undefined)
    assert.equal(it.events().length, 1)
  })

  test('stays when its Service comes within the minute', async (t) => {
    const it = await world(t)
    await it.call('POST', ADDRESSES, ipAddress('10.0.21.1', { namespace: 'a', name: 's' }))
    await it.clock.advance(30_000)
    // Not through the allocator, which would find the address taken.
    commit(it, 's', { clusterIP: '10.0.21.1', clusterIPs: ['10.0.21.1'] })
    await it.clock.advance(2 * PERIOD_MS)
    assert.ok(it.address('10.0.21.1') !== undefined)
    assert.deepEqual(it.events(), [])
  })

  test('for a Service that does not use it goes after 5 s', async (t) => {
    const it = await world(t)
    const parent = { namespace: 'default', name: 'kubernetes' }
    await it.call('POST', ADDRESSES, ipAddress('10.0.22.1', parent))
    await it.clock.advance(4999)
    assert.ok(it.address('10.0.22.1') !== undefined)
    await it.clock.advance(1)
    assert.equal(it.address('10.0.22.1'), undefined)
    assert.deepEqual(it.events(), [
      '10.0.22.1 IPAddressWrongReference IPAddress: 10.0.22.1 for Service default/kubernetes has a wrong reference; cleaning up',
    ])
  })
})

test('an address whose ServiceCIDR is gone is told of, and stays', async (t) => {
  const it = await world(t)
  await it.call('POST', CIDRS, { metadata: { name: 'x' }, spec: { cidrs: ['192.168.7.0/24'] } })
  const { status } = await it.call('POST', it.services, service('g', { clusterIP: '192.168.7.9' }))
  assert.equal(status, 201)
  // Looked at before, and found in order.
  await it.clock.advance(2 * PERIOD_MS)
  await it.call('DELETE', `${CIDRS}/x`)
  await it.clock.advance(PERIOD_MS)
  assert.deepEqual(it.events(), [
    'g ClusterIPOutOfRange Cluster IP [IPv4]: 192.168.7.9 is not within any configured Service CIDR; please recreate service',
  ])
  assert.ok(it.address('192.168.7.9') !== undefined)
})

test('an address whose ServiceCIDR is going away is in order as long as that is there', async (t) => {
  const it = await world(t)
  await it.call('POST', CIDRS, {
    metadata: { name: 'x', finalizers: ['example.com/wait'] },
    spec: { cidrs: ['192.168.7.0/24'] },
  })
  await it.call('POST', it.services, service('g', { clusterIP: '192.168.7.9' }))
  const { body } = await it.call('DELETE', `${CIDRS}/x`)
  assert.ok(body.metadata.deletionTimestamp !== undefined)
  await it.clock.advance(2 * PERIOD_MS)
  assert.deepEqual(it.events(), [])
})

describe('events', () => {
  test('that were deleted begin anew as the series that they are', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    await it.call('POST', it.services, service('t', { clusterIP: '10.0.12.7' }))
    await it.clock.advance(PERIOD_MS)
    await it.call('DELETE', '/api/v1/namespaces/a/events')
    assert.deepEqual(it.events(), [])
    await it.clock.advance(PERIOD_MS)
    assert.match(it.events().join(), / x2$/)
  })

  test('of what was not found for more than 6 min are new ones, others are counted', async (t) => {
    const it = await world(t)
    await deleteAddressOfService(it)
    await it.clock.advance(PERIOD_MS)
    await it.call('DELETE', `${ADDRESSES}/10.0.12.7`)
    await it.clock.advance(PERIOD_MS)
    assert.deepEqual(it.events(), [`${LACKING} x2`])
    await it.clock.advance(2 * PERIOD_MS)
    await it.call('DELETE', `${ADDRESSES}/10.0.12.7`)
    await it.clock.advance(PERIOD_MS)
    assert.deepEqual(it.events(), [LACKING, `${LACKING} x2`])
  })

  test('come from the host of the server', async (t) => {
    const it = await world(t, { hostname: 'machine' })
    await deleteAddressOfService(it)
    await it.clock.advance(PERIOD_MS)
    const [event] = it.server.internals.list('', 'events')
    assert.equal(event!['reportingInstance'], 'ipallocator-repair-controller-machine')
  })
})

test('an IPAddress whose deletion is refused is deleted when it no longer is', async (t) => {
  let isRefused = true
  const guard: AdmissionPlugin = {
    name: 'guard',
    handles: ({ operation, resource }) =>
      operation === 'DELETE' && resource.resource === 'ipaddresses',
    validate() {
      if (isRefused) throw new ApiError(403, 'Forbidden', 'not now')
    },
  }
  const it = await world(t, { admission: [guard] })
  const parent = { namespace: 'default', name: 'kubernetes' }
  await it.call('POST', ADDRESSES, ipAddress('10.0.22.1', parent))
  await it.clock.advance(PERIOD_MS)
  assert.ok(it.address('10.0.22.1') !== undefined)
  isRefused = false
  await it.clock.advance(PERIOD_MS)
  assert.equal(it.address('10.0.22.1'), undefined)
})

describe('while the IPAddress of a Service is replaced', () => {
  /** Up to the deletion, which hangs in admission until `go`. */
  async function replacing(t: TestContext): Promise<{ it: World; foreign: Draft; go(): void }> {
    const gate = Promise.withResolvers<void>()
    const guard: AdmissionPlugin = {
      name: 'guard',
      handles: ({ operation, resource, user }) =>
        operation === 'DELETE' &&
        resource.resource === 'ipaddresses' &&
        user.name === 'system:apiserver',
      validate: () => gate.promise,
    }
    const it = await world(t, { admission: [guard] })
    await deleteAddressOfService(it)
    const foreign = ipAddress('10.0.12.7', { namespace: 'a', name: 's' }, false)
    await it.call('POST', ADDRESSES, foreign)
    await it.call('PATCH', `${it.services}/s`, { metadata: { labels: { x: 'y' } } }, PATCH)
    await it.clock.advance(0)
    assert.ok(it.address('10.0.12.7') !== undefined)
    return { it, foreign, go: gate.resolve }
  }

  test('the Service goes: there is none', async (t) => {
    const { it, go } = await replacing(t)
    await it.call('DELETE', `${it.services}/s`)
    go()
    await it.clock.advance(0)
    assert.equal(it.address('10.0.12.7'), undefined)
  })

  test('another one takes its place: it is not the one that was to go', async (t) => {
    const { it, foreign, go } = await replacing(t)
    await it.call('DELETE', `${ADDRESSES}/10.0.12.7`)
    const { body } = await it.call('POST', ADDRESSES, foreign)
    go()
    await it.clock.advance(0)
    assert.equal(it.address('10.0.12.7')!['metadata'].uid, body.metadata.uid)
  })

  test('the server stops: none is made', async (t) => {
    const { it, go } = await replacing(t)
    await it.server.stop()
    go()
    await it.clock.advance(PERIOD_MS)
    assert.equal(it.address('10.0.12.7'), undefined)
  })
})

test('a Service that was made or refused leaves no timer behind', async (t) => {
  let turns = 0
  const settle = (): Promise<void> => {
    turns++
    return turn()
  }
  const clock = new VirtualClock({ startMs: START_MS, settle })
  const it = await world(t, { clock, store: createMemoryStore(clock) })
  const turnsOfMinute = async (): Promise<number> => {
    turns = 0
    await clock.advance(60_000)
    return turns
  }
  const usual = await turnsOfMinute()
  await it.call('POST', it.services, service('s'))
  assert.equal((await it.call('POST', it.services, service('s'))).status, 409)
  assert.equal(await turnsOfMinute(), usual)
})

test('a repair that was stopped does not start', async (t) => {
  const { server, clock } = await world(t)
  const random = new SeededRandom(1)
  const repair = new ServiceRepair({
    allocation: new ServiceAllocation({ store: server.store, random, logger: silentLogger }),
    server: server.internals,
    clock,
    random,
    logger: silentLogger,
    user: SERVER_IDENTITY,
  })
  repair.stop()
  const timers = t.mock.method(clock, 'after')
  repair.start()
  assert.equal(timers.mock.callCount(), 0)
})

test('nothing is written after the server has stopped', async (t) => {
  const it = await world(t)
  await deleteAddressOfService(it)
  await it.call('POST', ADDRESSES, ipAddress('10.0.21.1', { namespace: 'a', name: 'nope' }))
  await it.call('PATCH', `${it.services}/s`, { metadata: { labels: { x: 'y' } } }, PATCH)
  await it.clock.advance(0)
  const lacking = { clusterIP: '10.0.30.1', clusterIPs: ['10.0.30.1'] }
  commit(it, 'before', lacking)
  const stopped = it.server.stop()
  commit(it, 'after', lacking)
  const { revision } = it.server.store
  await stopped
  await it.clock.advance(2 * PERIOD_MS)
  assert.equal(it.server.store.revision, revision)
})

test('a node port that was written past the allocator is taken within 3 min, with an event', async (t) => {
  const it = await world(t)
  await it.call('POST', it.services, service('other', { type: 'NodePort' }))
  const ports = [{ port: 80, protocol: 'TCP', nodePort: 30500 }]
  commit(it, 's', { type: 'NodePort', ports })
  await it.clock.advance(PERIOD_MS)
  assert.deepEqual(it.events(), ['s PortNotAllocated Port 30500 is not allocated; repairing'])
  const second = await it.call('POST', it.services, service('t', { type: 'NodePort', ports }))
  assert.match(second.body.message, /provided port is already allocated/)
})

test('a node port of two Services is told of until one of them goes', async (t) => {
  const it = await world(t)
  const ports = [{ port: 80, protocol: 'TCP', nodePort: 30500 }]
  for (const name of ['s', 't']) commit(it, name, { type: 'NodePort', ports })
  const doubled =
    't PortAlreadyAllocated Port 30500 was assigned to multiple services; please recreate service'
  await it.clock.advance(3 * PERIOD_MS)
  assert.deepEqual(it.events().slice(-1), [`${doubled} x3`])
})

test('a restart mends what was lost: a Service has its IPAddress before the server is ready', async (t) => {
  const clock = new VirtualClock({ startMs: START_MS, settle: turn })
  const store = createMemoryStore(clock)
  const before = await world(t, { clock, store })
  await deleteAddressOfService(before)
  const parent = { namespace: 'a', name: 'nope' }
  await before.call('POST', ADDRESSES, ipAddress('10.0.21.1', parent))
  await before.server.stop()
  await clock.advance(600_000)
  assert.equal(before.address('10.0.12.7'), undefined)
  assert.ok(before.address('10.0.21.1') !== undefined)
  const after = await startServer({ clock, store })
  t.after(() => after.server.stop())
  assert.ok(before.address('10.0.12.7') !== undefined)
  await clock.advance(0)
  assert.equal(before.address('10.0.21.1'), undefined)
  assert.deepEqual(before.events(), [
    '10.0.21.1 IPAddressNotAllocated IPAddress: 10.0.21.1 for Service a/nope appears to have leaked: cleaning up',
    LACKING,
  ])
})

test('nothing is said or written where all is in order, and nothing is looked at while nothing is written', async (t) => {
  const it = await world(t)
  for (const type of ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']) {
    const name = type.toLowerCase()
    const external = type === 'ExternalName' ? { externalName: 'example.com' } : {}
    const made = await it.call('POST', it.services, service(name, { type, ...external }))
    assert.equal(made.status, 201, made.body.message)
    assert.equal((await it.call('POST', it.services, service(name, { type }))).status >= 400, true)
  }
  const toCluster = { spec: { type: 'ClusterIP', externalName: null } }
  await it.call('PATCH', `${it.services}/externalname`, toCluster, PATCH)
  await it.call('DELETE', `${it.services}/clusterip`)
  await it.clock.advance(PERIOD_MS)
  const kinds = new Set<string>()
  const commits = it.server.store.onCommit(({ collection }) => kinds.add(collection))
  const lists = t.mock.method(it.server.store, 'list')
  await it.clock.advance(5 * PERIOD_MS)
  commits.stop()
  assert.deepEqual(it.events(), [])
  assert.deepEqual(
    [...kinds].filter((kind) => /services|ipaddresses|events/.test(kind)),
    [],
  )
  const looked = lists.mock.calls.filter(({ arguments: [collection] }) => collection === 'services')
  assert.equal(looked.length, 0)
})
