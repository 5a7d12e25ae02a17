import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { statusError } from '../testing/index.ts'
import { NOW, lateRandom, lease, soonRandom, verbs, world } from './fixtures.ts'
import { LeaseWatch } from './lease-watch.ts'

const held = (renewTime = NOW): Lease =>
  lease({ holderIdentity: 'other', leaseDurationSeconds: 15, leaseTransitions: 1, renewTime })

test('a standby watches its lease and nothing else, from what it read', async () => {
  const { elector, server } = world()
  const me = elector({ lease: held() })
  await me.run()
  assert.deepEqual(server.requested('watch')[0]!.options, {
    fieldSelector: 'metadata.name=kcm',
    resourceVersion: server.resourceVersion,
  })
  me.stop.abort()
})

test('a contender that has not read the lease does not watch it', async () => {
  const { elector, clock, server } = world()
  server.onRequest = ({ verb }) => {
    if (verb === 'get') throw statusError(500, 'InternalError')
  }
  const me = elector({ lease: held() })
  await me.run()
  await clock.advance(10_000)
  assert.ok(verbs(server).every((verb) => verb === 'get'))
  me.stop.abort()
})

test('a contender that was not the first to create the lease watches it at once, and counts from its next renewal', async () => {
  const { elector, clock, server, lease: current } = world()
  server.onRequest = ({ verb }) => {
    if (verb === 'create') server.put(resources.leases, held())
  }
  const me = elector({ random: lateRandom })
  await me.run()
  assert.deepEqual(verbs(server), ['get', 'create', 'get', 'watch'])
  // The holder renews once, and is killed before the first poll of the other, which may be 4.4 s after its first try.
  await clock.advance(2_000)
  server.put(resources.leases, held('2026-01-01T00:00:02.000000Z'))
  await clock.advance(15_200)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  me.stop.abort()
})

test('what happens to other leases means nothing', async () => {
  const { elector, clock, server } = world()
  const me = elector({ lease: held() })
  await me.run()
  const reads = server.requested('get').length
  server.put(resources.leases, lease({ holderIdentity: '' }, { name: 'another' }))
  await clock.advance(200)
  assert.equal(server.requested('get').length, reads)
  assert.equal(me.elector.leader, 'other')
  me.stop.abort()
})

test('the watch ends with the wait for the lease', async () => {
  const { elector, clock, server } = world()
  const leads = elector({ lease: held() })
  await leads.run()
  assert.equal(server.watches.length, 1)
  await clock.advance(15_200)
  assert.equal(leads.elector.isLeader, true)
  assert.equal(server.watches.length, 0)
  leads.stop.abort()

  const stops = elector({ identity: 'stops' })
  await stops.run()
  assert.equal(server.watches.length, 1)
  stops.stop.abort()
  await clock.advance(0)
  assert.equal(server.watches.length, 0)
})

test('a lease is taken within a tenth of a retry period of its end, counted from the last change', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({ lease: held() })
  await me.run()
  await clock.advance(7_000)
  server.put(resources.leases, held('2026-01-01T00:00:07.000000Z'))
  await clock.advance(14_999)
  assert.equal(current()!.spec!.holderIdentity, 'other')
  await clock.advance(201)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  me.stop.abort()
})

test('contenders spread over a tenth of a retry period when a lease is given back', async () => {
  for (const [random, takenMs] of [
    [soonRandom, 500],
    [lateRandom, 700],
  ] as const) {
    const { elector, clock, server, lease: current } = world()
    const me = elector({ lease: held(), random })
    await me.run()
    await clock.advance(500)
    server.put(resources.leases, lease({ holderIdentity: '' }))
    await clock.advance(takenMs - 1 - 500)
    assert.equal(current()!.spec!.holderIdentity, takenMs === 500 ? 'me' : '')
    await clock.advance(1)
    assert.equal(current()!.spec!.holderIdentity, 'me')
    me.stop.abort()
  }
})

test('a change that lets the lease end sooner is not slept through', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({ lease: held(), random: lateRandom })
  await me.run()
  await clock.advance(100)
  server.put(resources.leases, lease({ holderIdentity: 'third', leaseDurationSeconds: 1 }))
  await clock.advance(1_000 + 199)
  assert.equal(current()!.spec!.holderIdentity, 'third')
  await clock.advance(1)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  me.stop.abort()
})

test('a lease that is given back or deleted is taken within a tenth of a retry period', async () => {
  for (const free of [
    (w: ReturnType<typeof world>) => w.server.put(resources.leases, lease({ holderIdentity: '' })),
    (w: ReturnType<typeof world>) => w.server.remove(resources.leases, w.lease()!),
  ]) {
    const all = world()
    const me = all.elector({ lease: held() })
    await me.run()
    await all.clock.advance(500)
    free(all)
    await all.clock.advance(200)
    assert.equal(all.lease()!.spec!.holderIdentity, 'me')
    me.stop.abort()
  }
})

test('the other contenders do not even try for a lease that one of them has taken', async () => {
  const { elector, clock, server } = world()
  const contenders = ['a', 'b', 'c', 'd'].map((identity) =>
    elector({ identity, ...(identity === 'a' ? { lease: held() } : {}) }),
  )
  for (const { run } of contenders) await run()
  await clock.advance(14_900)
  server.requests.length = 0
  await clock.advance(400)
  assert.equal(contenders.filter(({ elector: { isLeader } }) => isLeader).length, 1)
  assert.equal(server.requested('get').length, 1, 'every try begins with a read')
  for (const { stop } of contenders) stop.abort()
})

test('a lease that is free or has run out, and cannot be written, is left to the polls', async () => {
  for (const [existing, random] of [
    [lease({ holderIdentity: '' })],
    [lease({ holderIdentity: '', leaseDurationSeconds: 1, renewTime: NOW })],
    [held()],
    // Tried at the very moment at which it ends.
    [held(), soonRandom],
  ] as const) {
    const { elector, clock, server } = world()
    const me = elector({ lease: existing, ...(random === undefined ? {} : { random }) })
    const triesMs: number[] = []
    server.onRequest = ({ verb }) => {
      if (verb !== 'update') return
      triesMs.push(clock.monotonicMs())
      throw statusError(500, 'InternalError')
    }
    await me.run()
    await clock.advance(60_000)
    const gaps = triesMs.slice(1).map((ms, i) => ms - triesMs[i]!)
    assert.ok(gaps.length > 5)
    assert.ok(
      gaps.every((ms) => ms >= 2_000 && ms < 4_400),
      String(gaps),
    )
    me.stop.abort()
  }
})

test('a poll shortly before the end of the lease is left out', async () => {
  const { elector, clock, server } = world()
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 10, renewTime: NOW }),
    random: lateRandom,
  })
  await me.run()
  const readsMs: number[] = [0]
  server.onRequest = ({ verb }) => {
    if (verb === 'get') readsMs.push(Math.round(clock.monotonicMs()))
  }
  await clock.advance(10_200)
  assert.equal(me.elector.isLeader, true)
  assert.deepEqual(readsMs, [0, 4_398, 10_200], 'and none at 8,795')
  me.stop.abort()
})

test('a poll a retry period before the end of the lease is left out, one sooner is not', async () => {
  const { elector, clock, server } = world()
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 10, renewTime: NOW }),
    random: soonRandom,
  })
  const readsMs: number[] = []
  server.onRequest = ({ verb }) => {
    if (verb === 'get') readsMs.push(clock.monotonicMs())
  }
  await me.run()
  await clock.advance(10_000)
  assert.deepEqual(readsMs, [0, 2_000, 4_000, 6_000, 10_000])
  assert.equal(me.elector.isLeader, true, 'a lease is over at its end')
  me.stop.abort()
})

test('a watch that is refused is asked for once a minute, and polls find what changes', async () => {
  const { elector, clock, server, lease: current } = world()
  let isAllowed = false
  server.onRequest = ({ verb }) => {
    if (verb === 'watch' && !isAllowed) throw statusError(403, 'Forbidden')
  }
  const me = elector({
    lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 100, renewTime: NOW }),
  })
  await me.run()
  await clock.advance(59_000)
  assert.equal(server.requested('watch').length, 1)
  isAllowed = true
  await clock.advance(6_000)
  assert.equal(server.requested('watch').length, 2)
  assert.equal(server.watches.length, 1)
  await clock.advance(36_000)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  me.stop.abort()
})

test('a refused watch is not asked for for 60 s, and then is', async () => {
  const { elector, clock, server } = world()
  const askedMs: number[] = []
  server.onRequest = ({ verb }) => {
    if (verb !== 'watch') return
    askedMs.push(clock.monotonicMs())
    throw statusError(403, 'Forbidden')
  }
  const existing = lease({ holderIdentity: 'other', leaseDurationSeconds: 100, renewTime: NOW })
  const me = elector({ lease: existing, random: soonRandom })
  await me.run()
  await clock.advance(60_000)
  assert.deepEqual(askedMs, [0, 60_000])
  me.stop.abort()
})

test('a watch that was closed tells nothing any more', async () => {
  const { elector, clock, server } = world()
  const { lock } = elector({ lease: held() })
  await lock.read()
  const seen: (string | undefined)[] = []
  const watch: LeaseWatch = new LeaseWatch({
    lock,
    clock,
    logger: new RecordingLogger(),
    retryPeriodMs: 2_000,
    onChange(record) {
      seen.push(record?.holderIdentity)
      watch.close()
    },
    onEnd: () => void seen.push('end'),
  })
  watch.open()
  await clock.advance(2_000)
  server.put(resources.leases, lease({ holderIdentity: 'first' }))
  server.put(resources.leases, lease({ holderIdentity: 'second' }))
  await clock.advance(0)
  assert.deepEqual(seen, ['first'])
})

test('while nobody may watch, a free lease is taken by polls', async () => {
  const { elector, clock, server, lease: current } = world()
  server.onRequest = ({ verb }) => {
    if (verb === 'watch') throw statusError(403, 'Forbidden')
  }
  const me = elector({ lease: held() })
  await me.run()
  await clock.advance(60_000)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  assert.equal(server.requested('watch').length, 1)
  me.stop.abort()
})

test('a watch that the server ends is replaced at once, one that fails or ends soon with the next poll', async () => {
  for (const [afterMs, failure, atOnce] of [
    [2_000, undefined, true],
    [2_000, statusError(410, 'Expired'), true],
    [500, undefined, false],
    [500, statusError(500, 'InternalError'), false],
  ] as const) {
    const { elector, clock, server } = world()
    const me = elector({
      lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 100, renewTime: NOW }),
      // No poll falls into the time that is looked at.
      random: lateRandom,
    })
    await me.run()
    await clock.advance(afterMs)
    server.watches[0]!.end(failure)
    await clock.advance(200)
    assert.equal(server.watches.length, atOnce ? 1 : 0, `${afterMs} ${failure?.code}`)
    await clock.advance(4_400)
    assert.equal(server.watches.length, 1)
    me.stop.abort()
  }
})

test('a watch that tells nothing is replaced when a poll finds a change', async () => {
  const { elector, clock, server } = world()
  const me = elector({ lease: held() })
  await me.run()
  const silent = server.watches[0]!
  silent.send = () => {}
  await clock.advance(5_000)
  assert.equal(server.watches[0], silent)
  server.put(resources.leases, held('2026-01-01T00:00:05.000000Z'))
  await clock.advance(4_400)
  assert.equal(server.watches.length, 1)
  assert.notEqual(server.watches[0], silent)
  me.stop.abort()
})
