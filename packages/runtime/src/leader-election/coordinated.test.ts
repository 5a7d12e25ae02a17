import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { NOW, lease, verbs, world } from './fixtures.ts'

test('Given CLE, when the holder is me, then renewed; when it is another one with a live lease, then false and no write.', async () => {
  const mine = world()
  const me = mine.elector({
    coordinated: true,
    lease: lease({
      holderIdentity: 'me',
      leaseDurationSeconds: 5,
      renewTime: NOW,
      strategy: 'OldestEmulationVersion',
    }),
  })
  await mine.clock.advance(1_000)
  await me.run()
  assert.deepEqual(mine.lease()!.spec, {
    holderIdentity: 'me',
    leaseDurationSeconds: 15,
    renewTime: '2026-01-01T00:00:01.000000Z',
    leaseTransitions: 0,
    strategy: 'OldestEmulationVersion',
  })
  const slow = me.metrics.value('leader_election_slowpath_total', { name: 'kcm' })
  assert.equal(slow, 2, 'to acquire and to renew')
  me.stop.abort()

  for (const existing of [
    lease({ holderIdentity: 'other', leaseDurationSeconds: 15 }),
    undefined,
  ]) {
    const theirs = world()
    const standby = theirs.elector({ coordinated: true, lease: existing })
    await standby.run()
    await theirs.clock.advance(60_000)
    assert.equal(standby.log.includes('started'), false)
    assert.ok(verbs(theirs.server).every((verb) => verb === 'get' || verb === 'watch'))
    standby.stop.abort()
  }
})

test('Given CLE and a live lease held by me with preferredHolder set, then no renewal and the lease moves to the preferred holder.', async () => {
  const { elector, clock, server, lease: current } = world()
  const me = elector({
    coordinated: true,
    lease: lease({ holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: NOW }),
  })
  await me.run()
  server.put(resources.leases, {
    ...current()!,
    spec: { ...current()!.spec, preferredHolder: 'better' },
  })
  const better = elector({ identity: 'better', coordinated: true })
  await better.run()
  await clock.advance(12_000)
  await me.ended()
  assert.ok(me.log.includes('stopped'))
  // What the server's controller does when the lease has expired.
  server.put(
    resources.leases,
    lease({
      holderIdentity: 'better',
      leaseDurationSeconds: 5,
      renewTime: '2026-01-01T00:00:20.000000Z',
    }),
  )
  await clock.advance(200)
  assert.equal(better.elector.isLeader, true)
  assert.ok(better.log.includes('started'))
  better.stop.abort()
})
