import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { statusError } from '../testing/index.ts'
import { lease, verbs, world } from './fixtures.ts'

test('Given a release, then holder is empty, duration 1, transitions kept, and a next holder can acquire at once.', async () => {
  const { elector, clock, lease: current } = world()
  const me = elector({
    releaseOnCancel: true,
    lease: lease({ holderIdentity: '', leaseTransitions: 6 }),
  })
  await me.run()
  await clock.advance(3_000)
  me.stop.abort()
  await clock.advance(0)
  assert.deepEqual(current()!.spec, {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: '2026-01-01T00:00:03.000000Z',
    renewTime: '2026-01-01T00:00:03.000000Z',
    leaseTransitions: 7,
  })
  const next = elector({ identity: 'next' })
  await next.run()
  assert.equal(current()!.spec!.holderIdentity, 'next')
  assert.equal(current()!.spec!.leaseTransitions, 8)
  next.stop.abort()
})

test('Given a release, then the lease is read first.', async () => {
  const { elector, clock, server } = world()
  const me = elector({ releaseOnCancel: true })
  await me.run()
  server.requests.length = 0
  me.stop.abort()
  await clock.advance(0)
  assert.deepEqual(verbs(server), ['get', 'update'])
  await me.ended()
})

test('a lease that names somebody else by then is not cleared', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({ releaseOnCancel: true })
  await me.run()
  server.put(resources.leases, lease({ holderIdentity: 'other', leaseDurationSeconds: 15 }))
  me.stop.abort()
  await clock.advance(0)
  assert.equal(current()!.spec!.holderIdentity, 'other')
  await me.ended()
})

test('the lease is released only after the work of the leader has ended', async () => {
  const { elector, clock, lease: current } = world()
  const me = elector({
    releaseOnCancel: true,
    callbacks: {
      onStartedLeading: (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => clock.after(3_000, resolve)),
        ),
      onStoppedLeading() {},
    },
  })
  await me.run()
  me.stop.abort()
  await clock.advance(2_999)
  assert.equal(current()!.spec!.holderIdentity, 'me')
  await clock.advance(1)
  assert.equal(current()!.spec!.holderIdentity, '')
  await me.ended()
})

test('a release has a renew deadline of its own, however long the work took to end', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({
    releaseOnCancel: true,
    callbacks: {
      onStartedLeading: (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => clock.after(9_000, resolve)),
        ),
      onStoppedLeading() {},
    },
  })
  await me.run()
  server.onRequest = async () => void (await sleep(clock, 2_000))
  me.stop.abort()
  await clock.advance(13_000)
  await me.ended()
  assert.equal(current()!.spec!.holderIdentity, '')
})

test('work that does not end keeps the lease until it expires, and the run ends', async () => {
  const { elector, clock, lease: current } = world()
  const me = elector({
    releaseOnCancel: true,
    callbacks: { onStartedLeading: () => new Promise(() => {}), onStoppedLeading() {} },
  })
  await me.run()
  me.stop.abort()
  await clock.advance(10_000)
  await me.ended()
  assert.equal(current()!.spec!.holderIdentity, 'me')
})

test('Given cancel during a get or update with releaseOnCancel, then the lease is released.', async () => {
  for (const verb of ['get', 'update']) {
    const { elector, clock, server, lease: current } = world()
    const me = elector({ releaseOnCancel: true })
    await me.run()
    server.onRequest = (request) => {
      if (verb === 'get' && request.verb === 'update') throw statusError(409, 'Conflict')
      if (request.verb !== verb) return undefined
      server.onRequest = undefined
      me.stop.abort()
      return new Promise(() => {})
    }
    await clock.advance(2_000)
    await me.ended()
    assert.equal(current()!.spec!.holderIdentity, '', verb)
  }
})

test('without releaseOnCancel the lease is left as it is', async () => {
  const { elector, clock, lease: current } = world()
  const me = elector()
  await me.run()
  me.stop.abort()
  await clock.advance(0)
  await me.ended()
  assert.equal(current()!.spec!.holderIdentity, 'me')
})
