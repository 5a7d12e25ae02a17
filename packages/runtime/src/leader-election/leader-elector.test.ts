import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { statusError } from '../testing/index.ts'
import { NOW, lease, verbs, world } from './fixtures.ts'
import { validate } from './elector-options.ts'
import type { LeaderElectorOptions } from './elector-options.ts'
import { checkLockType } from './lease-lock.ts'
import { recordOf, specOf } from './lease-record.ts'

test('Given no lease, when a try runs, then it is created with transitions 0 and true.', async () => {
  const { elector, lease } = world()
  const me = elector()
  await me.run()
  assert.equal(me.elector.isLeader, true)
  assert.deepEqual(lease()!.spec, {
    holderIdentity: 'me',
    leaseDurationSeconds: 15,
    acquireTime: NOW,
    renewTime: NOW,
    leaseTransitions: 0,
  })
  me.stop.abort()
})

test('Given a lease without holder, then it is taken at once.', async () => {
  const { elector, lease: current } = world()
  const me = elector({
    lease: lease({
      holderIdentity: '',
      leaseTransitions: 3,
      leaseDurationSeconds: 3600,
      renewTime: NOW,
    }),
  })
  await me.run()
  assert.equal(current()!.spec!.holderIdentity, 'me')
  assert.equal(current()!.spec!.leaseTransitions, 4)
  me.stop.abort()
})

test('Given a foreign lease whose renewTime is long past, when first seen, then not taken; after its own duration without change, taken with transitions + 1.', async () => {
  const { elector, clock, lease: current } = world()
  const me = elector({
    lease: lease({
      holderIdentity: 'other',
      leaseDurationSeconds: 15,
      renewTime: '2025-01-01T00:00:00.000000Z',
      leaseTransitions: 1,
    }),
  })
  await me.run()
  await clock.advance(14_999)
  assert.equal(current()!.spec!.holderIdentity, 'other')
  assert.equal(me.elector.isLeader, false)
  await clock.advance(4_401)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  assert.equal(current()!.spec!.leaseTransitions, 2)
  assert.notEqual(current()!.spec!.acquireTime, NOW)
  me.stop.abort()
})

test('a lease that is renewed is not taken, whatever its renewTime says', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: NOW }),
  })
  await me.run()
  for (let i = 1; i < 10; i++) {
    await clock.advance(10_000)
    server.put(resources.leases, {
      ...current()!,
      spec: { ...current()!.spec, renewTime: `2020-01-01T00:00:0${i}.000000Z` },
    })
  }
  assert.equal(current()!.spec!.holderIdentity, 'other')
  me.stop.abort()
})

test('metadata changes are no renewal', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: NOW }),
  })
  await me.run()
  for (let second = 2; second < 15; second += 2) {
    await clock.advance(2_000)
    server.put(resources.leases, {
      ...current()!,
      metadata: { ...current()!.metadata, labels: { second: String(second) } },
    })
  }
  await clock.advance(1_000)
  assert.equal(current()!.spec!.holderIdentity, 'other')
  await clock.advance(200)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  me.stop.abort()
})

test('a renewal in the same second as the one before it counts', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: NOW }),
  })
  await me.run()
  await clock.advance(500)
  server.put(resources.leases, {
    ...current()!,
    spec: { ...current()!.spec, renewTime: '2026-01-01T00:00:00.500000Z' },
  })
  await clock.advance(14_999)
  assert.equal(current()!.spec!.holderIdentity, 'other')
  await clock.advance(201)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  me.stop.abort()
})

test('Given a foreign lease with another leaseDurationSeconds, then that value decides.', async () => {
  for (const [seconds, taken] of [
    [3, true],
    [60, false],
  ] as const) {
    const { elector, clock, lease: current } = world()
    const me = elector({
      lease: lease({ holderIdentity: 'other', leaseDurationSeconds: seconds, renewTime: NOW }),
    })
    await me.run()
    await clock.advance(20_000)
    assert.equal(current()!.spec!.holderIdentity === 'me', taken)
    me.stop.abort()
  }
})

test('a lease of a fraction of a second is not taken from a holder that renews it in time', async () => {
  const { elector, clock, lease: current } = world()
  const timing = { leaseDurationMs: 900, renewDeadlineMs: 800, retryPeriodMs: 600 }
  const holder = elector({ identity: 'holder', ...timing })
  const other = elector({ identity: 'other', ...timing })
  await holder.run()
  await other.run()
  await clock.advance(10_000)
  assert.equal(current()!.spec!.leaseDurationSeconds, 1)
  assert.equal(current()!.spec!.leaseTransitions, 0)
  assert.equal(holder.elector.isLeader, true)
  holder.stop.abort()
  other.stop.abort()
})

test('Given own lease, when renewed, then acquireTime and transitions are kept.', async () => {
  const { elector, clock, lease: current } = world()
  const acquireTime = '2025-12-31T00:00:00.000000Z'
  const me = elector({
    lease: lease({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime,
      renewTime: acquireTime,
      leaseTransitions: 4,
    }),
  })
  await clock.advance(1_000)
  await me.run()
  assert.equal(
    me.elector.isLeader,
    true,
    'an earlier life with the same identity is taken over at once',
  )
  assert.equal(current()!.spec!.acquireTime, acquireTime)
  assert.equal(current()!.spec!.leaseTransitions, 4)
  assert.equal(current()!.spec!.renewTime, '2026-01-01T00:00:01.000000Z')
  await clock.advance(10_000)
  assert.equal(current()!.spec!.acquireTime, acquireTime)
  me.stop.abort()
})

test('Given leadership, when renewing, then request order is get, create, update, update (no get).', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  await clock.advance(2_000)
  assert.deepEqual(verbs(server), ['get', 'create', 'update', 'update'])
  me.stop.abort()
})

test('a read that fails leads to no write', async () => {
  const { elector, server } = world()
  server.onRequest = ({ verb }) => {
    if (verb === 'get') throw statusError(500, 'InternalError')
  }
  const me = elector()
  await me.run()
  assert.deepEqual(verbs(server), ['get'])
  me.stop.abort()
})

test('a lease of another that is taken is no slow path', async () => {
  const { elector } = world()
  const me = elector({ lease: lease({ holderIdentity: '' }) })
  await me.run()
  assert.equal(me.elector.isLeader, true)
  assert.equal(me.metrics.value('leader_election_slowpath_total', { name: 'kcm' }), undefined)
  me.stop.abort()
})

test('Given the fast update gets 409, then get and update follow in the same try.', async () => {
  const { elector, clock, server, lease: current } = world()
  const logger = new RecordingLogger()
  const me = elector({ logger })
  await me.run()
  server.requests.length = 0
  server.put(resources.leases, {
    ...current()!,
    metadata: { ...current()!.metadata, labels: { touched: 'yes' } },
  })
  await clock.advance(2_000)
  assert.deepEqual(verbs(server), ['update', 'get', 'update'])
  assert.equal(me.metrics.value('leader_election_slowpath_total', { name: 'kcm' }), 1)
  assert.equal(me.elector.isLeader, true)
  const told = logger.lines.find(({ message }) => message.includes('slow path'))
  assert.deepEqual(Object.keys(told!.fields), ['lock', 'err'])
  me.stop.abort()
})

test('a leader keeps the time of its term, and its number, in a Lease that is deleted or emptied under it', async () => {
  for (const [change, leaseTransitions] of [
    ['deleted', 4],
    ['emptied', 5],
  ] as const) {
    const { elector, clock, server, lease: current } = world()
    const me = elector({ lease: lease({ holderIdentity: '', leaseTransitions: 3 }) })
    await me.run()
    await clock.advance(2000)
    if (change === 'deleted') server.remove(resources.leases, current()!)
    else
      server.put(resources.leases, {
        ...current()!,
        spec: { ...current()!.spec, holderIdentity: '' },
      })
    await clock.advance(2000)
    const { holderIdentity, acquireTime, ...spec } = current()!.spec!
    assert.deepEqual(
      { holderIdentity, acquireTime, leaseTransitions: spec.leaseTransitions },
      { holderIdentity: 'me', acquireTime: NOW, leaseTransitions },
    )
    me.stop.abort()
  }
})

test('polls are 2 to 4.4 s apart, renewals exactly 2 s', async () => {
  const { elector, clock, server } = world()
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 100, renewTime: NOW }),
  })
  const triesMs: number[] = []
  server.onRequest = ({ verb }) => {
    if (verb !== 'watch') triesMs.push(clock.monotonicMs())
  }
  await me.run()
  await clock.advance(90_000)
  const gaps = triesMs.slice(1).map((ms, i) => ms - triesMs[i]!)
  assert.ok(
    gaps.every((ms) => ms >= 2_000 && ms < 4_400),
    String(gaps),
  )
  assert.ok(Math.max(...gaps) - Math.min(...gaps) > 1_000, 'with jitter')
  await clock.advance(20_000)
  triesMs.length = 0
  await clock.advance(20_000)
  assert.ok(triesMs.slice(1).every((ms, i) => ms === triesMs[i]! + 2_000))
  me.stop.abort()
})

const bad: [string, Partial<LeaderElectorOptions>, string][] = [
  [
    'lease duration',
    { leaseDurationMs: 10_000 },
    'leaseDuration must be greater than renewDeadline',
  ],
  [
    'renew deadline',
    { renewDeadlineMs: 2_400 },
    'renewDeadline must be greater than retryPeriod*JitterFactor',
  ],
  [
    'zero lease duration',
    { leaseDurationMs: 0, renewDeadlineMs: -1, retryPeriodMs: -2 },
    'leaseDuration must be greater than zero',
  ],
  [
    'zero renew deadline',
    { leaseDurationMs: 10, renewDeadlineMs: 0, retryPeriodMs: -1 },
    'renewDeadline must be greater than zero',
  ],
  [
    'less than a millisecond of renew deadline',
    { leaseDurationMs: 1, renewDeadlineMs: 0.5, retryPeriodMs: 0.1 },
    'renewDeadline must be greater than zero',
  ],
  [
    'less than a millisecond of retry period',
    { leaseDurationMs: 2, renewDeadlineMs: 1, retryPeriodMs: 0.5 },
    'retryPeriod must be greater than zero',
  ],
  ['zero retry period', { retryPeriodMs: 0 }, 'retryPeriod must be greater than zero'],
  [
    'no started callback',
    { callbacks: { onStoppedLeading() {}, onStartedLeading: undefined as never } },
    'OnStartedLeading callback must not be nil',
  ],
  [
    'no stopped callback',
    { callbacks: { onStartedLeading() {}, onStoppedLeading: undefined as never } },
    'OnStoppedLeading callback must not be nil',
  ],
]
for (const [title, options, message] of bad) {
  test(`Given each bad timing, nil callback or empty identity, then construction fails: ${title}`, () => {
    assert.throws(() => world().elector(options), { message })
  })
}

test('Given each bad timing, nil callback or empty identity, then construction fails: empty identity', () => {
  assert.throws(() => world().elector({ identity: '' }), { message: 'Lock identity is empty' })
})

test('Given each bad timing, nil callback or empty identity, then construction fails: nothing at all', () => {
  const timing = { leaseDurationMs: 3, renewDeadlineMs: 2, retryPeriodMs: 1 }
  const callbacks = { onStartedLeading() {}, onStoppedLeading() {} }
  const refusedWith = (given: object, message: string) =>
    assert.throws(() => validate({ ...timing, ...given } as LeaderElectorOptions), { message })
  refusedWith({}, 'OnStartedLeading callback must not be nil')
  for (const lock of [undefined, null]) refusedWith({ callbacks, lock }, 'Lock must not be nil.')
  validate({ ...timing, callbacks, lock: { identity: 'me' } } as never)
})

test('Given spec ↔ record conversion with and without optional fields, then round trip is exact.', () => {
  for (const spec of [
    {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: NOW,
      renewTime: NOW,
      leaseTransitions: 2,
      strategy: 'OldestEmulationVersion',
      preferredHolder: 'b',
    },
    { holderIdentity: '', leaseDurationSeconds: 0, leaseTransitions: 0 },
  ]) {
    assert.deepEqual(specOf(recordOf(spec)), spec)
  }
  assert.deepEqual(recordOf(undefined), {
    holderIdentity: '',
    leaseDurationSeconds: 0,
    acquireTime: '',
    renewTime: '',
    leaderTransitions: 0,
    strategy: '',
    preferredHolder: '',
  })
})

test('Given labels, then they are set on create and merged on update.', async () => {
  const { elector, server, lease: current } = world()
  const first = elector({ labels: { a: '1' } })
  await first.run()
  assert.deepEqual(current()!.metadata!.labels, { a: '1' })
  const [created] = server.requested('create')
  assert.deepEqual((created!.body as Lease).metadata!.labels, { a: '1' })
  first.stop.abort()
  const other = world()
  const me = other.elector({
    labels: { a: '2' },
    lease: lease({ holderIdentity: '' }, { labels: { a: '1', b: '1' } }),
  })
  await me.run()
  assert.deepEqual(other.lease()!.metadata!.labels, { a: '2', b: '1' })
  me.stop.abort()
})

test('an update before any read or create is refused', async () => {
  const { elector } = world()
  await assert.rejects(
    elector().lock.update(recordOf({})),
    /lease not initialized, call get or create first/,
  )
})

test('only leases can be locks', () => {
  checkLockType('leases')
  const messages = {
    endpoints: 'endpoints lock is removed, migrate to leases',
    configmaps: 'configmaps lock is removed, migrate to leases',
    endpointsleases: 'endpointsleases lock is removed, migrate to leases',
    configmapsleases: 'configmapsleases lock is removed, migrated to leases',
    x: 'Invalid lock-type x',
  }
  for (const [type, message] of Object.entries(messages))
    assert.throws(() => checkLockType(type), { message })
})

test('the lease is held from the sending of the last renewal on, whatever the process has not noticed since', async () => {
  const { elector, clock } = world()
  const me = elector()
  assert.equal(me.elector.holdsLease, false)
  await me.run()
  assert.equal(me.elector.holdsLease, true)
  await clock.advance(8_000)
  assert.equal(me.elector.holdsLease, true)
  me.stop.abort()
  await clock.advance(15_000)
  assert.equal(me.elector.isLeader, true)
  assert.equal(me.elector.holdsLease, false)
})
