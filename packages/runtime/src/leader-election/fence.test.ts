/** Until when `holdsLease` lets writes pass. Contract: docs/behaviour/runtime/leader-election.md, Fence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { statusError } from '../testing/index.ts'
import { NOW, lease, world } from './fixtures.ts'

const ANSWER_MS = 4_000

interface Path {
  readonly title: string
  readonly setup?: Parameters<ReturnType<typeof world>['elector']>[0]
  /** Which of the writes is the last that is answered. */
  readonly write: number
  /** So many writes before it are refused. */
  readonly refused?: number
}

const ours = { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: NOW }

const paths: readonly Path[] = [
  { title: 'a lease that was created', write: 1 },
  { title: 'a lease that was free', setup: { lease: lease({ holderIdentity: '' }) }, write: 1 },
  { title: 'a lease that was our own in an earlier life', setup: { lease: lease(ours) }, write: 1 },
  { title: 'a renewal', write: 2 },
  { title: 'a renewal after a conflict', write: 3, refused: 1 },
  {
    title: 'a renewal where the server chooses',
    setup: { lease: lease(ours), coordinated: true },
    write: 1,
  },
]

for (const { title, setup, write, refused = 0 } of paths) {
  test(`the fence counts from the sending of the last write that was answered: ${title}`, async () => {
    const { elector, server, clock } = world()
    const me = elector(setup)
    let writes = 0
    let sentMs = -1
    server.onRequest = async ({ verb }) => {
      if (writes >= write) await new Promise(() => {})
      if (verb !== 'create' && verb !== 'update') return
      writes++
      if (writes > 1 && writes < write && refused > 0) throw statusError(409, 'Conflict')
      if (writes < write) return
      sentMs = clock.monotonicMs()
      await sleep(clock, ANSWER_MS)
    }
    await me.run()
    assert.ok(await clock.advanceUntil(() => sentMs >= 0, 20_000))
    await clock.advance(ANSWER_MS)
    assert.equal(me.elector.holdsLease, true)
    await clock.advance(sentMs + 14_999 - clock.monotonicMs())
    assert.equal(me.elector.holdsLease, true, '1 ms before the end')
    await clock.advance(1)
    assert.equal(me.elector.holdsLease, false)
    me.stop.abort()
    await clock.advance(0)
  })
}

test('before a write was answered the fence is closed, though the lease names us', async () => {
  const { elector, server, clock } = world()
  const me = elector({ lease: lease(ours) })
  server.onRequest = ({ verb }) => (verb === 'update' ? new Promise(() => {}) : undefined)
  await me.run()
  assert.equal(me.elector.isLeader, true)
  assert.equal(me.elector.holdsLease, false)
  me.stop.abort()
  await clock.advance(0)
})

for (const [verb, endMs] of [
  ['create', 0],
  ['update', 15_000],
] as const)
  test(`an answer that comes after the end opens nothing: ${verb}`, async () => {
    const { elector, server, clock } = world()
    const me = elector()
    const answer = Promise.withResolvers<void>()
    let writes = 0
    server.onRequest = async (request) => {
      if (request.verb !== verb) return
      writes++
      await answer.promise
    }
    await me.run()
    await clock.advance(2_000)
    assert.equal(writes, 1)
    me.stop.abort()
    await me.ended()
    answer.resolve()
    await clock.advance(Math.max(0, endMs - clock.monotonicMs()))
    assert.equal(me.elector.holdsLease, false)
  })

test('Given a leader whose machine was asleep for longer than the lease, when it wakes up, then the lease is not held, before any timer tells.', async () => {
  const { elector, clock } = world()
  const me = elector()
  await me.run()
  await clock.advance(1_000)
  // Its monotonic clock and its timers stood still, the world went on.
  clock.jumpWallTime(13_999)
  assert.equal(me.elector.holdsLease, true)
  clock.jumpWallTime(1)
  assert.equal(me.elector.holdsLease, false)
  await clock.advance(1_000)
  assert.equal(me.elector.holdsLease, true, 'nobody took it over, and it was renewed')
  me.stop.abort()
})

test('a wall clock that is set back closes the fence until the next renewal, and prolongs nothing', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  await clock.advance(1_000)
  clock.jumpWallTime(-60_000)
  assert.equal(me.elector.holdsLease, false)
  await clock.advance(1_000)
  assert.equal(me.elector.holdsLease, true)
  server.onRequest = () => new Promise(() => {})
  await clock.advance(14_999)
  assert.equal(me.elector.holdsLease, true)
  await clock.advance(1)
  assert.equal(me.elector.holdsLease, false)
  me.stop.abort()
})

test('a lease that names another is not held from the moment that this is seen', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  server.put(resources.leases, lease({ holderIdentity: 'other', leaseDurationSeconds: 15 }))
  await clock.advance(2_000)
  assert.equal(me.elector.holdsLease, false)
  me.stop.abort()
  await clock.advance(0)
})
