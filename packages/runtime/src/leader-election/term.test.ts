import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { statusError } from '../testing/index.ts'
import { lease, verbs, world } from './fixtures.ts'
import { LeaderElectionHealthCheck } from './health-check.ts'

test('a leader that cannot renew stops at the latest 12 s after its last success, and does not contend again', async () => {
  const { elector, clock, server } = world()
  const me = elector({ releaseOnCancel: true })
  await me.run()
  await clock.advance(2_000)
  server.onRequest = () => {
    throw statusError(500, 'InternalError')
  }
  await clock.advance(11_999)
  assert.ok(!me.log.includes('stopped'))
  assert.equal(me.master(), 1)
  await clock.advance(1)
  await me.ended()
  assert.deepEqual(
    me.log.filter((line) => !line.startsWith('leader')),
    ['started', 'term ended', 'stopped'],
  )
  assert.equal(me.master(), 0)
  server.onRequest = undefined
  const before = server.requests.length
  await clock.advance(60_000)
  assert.equal(server.requests.length, before)
})

test('a request that hangs is cut off at the deadline', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  await clock.advance(2_000)
  server.onRequest = () => new Promise(() => {})
  await clock.advance(12_000)
  await me.ended()
  assert.ok(me.log.includes('stopped'))
})

test('a renew cycle tries every retry period until it succeeds', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  const atMs: number[] = []
  server.onRequest = ({ verb }) => {
    if (verb === 'update') atMs.push(clock.monotonicMs())
    if (atMs.length < 4) throw statusError(500, 'InternalError')
  }
  await clock.advance(12_000)
  assert.deepEqual(atMs.slice(0, 4), [2_000, 4_000, 6_000, 8_000])
  assert.equal(me.elector.isLeader, true)
  me.stop.abort()
})

test('a try that overruns its tick is followed at once, and of the ticks it missed only one is kept', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  await clock.advance(1_999)
  const atMs: number[] = []
  server.onRequest = async ({ verb }) => {
    if (verb === 'update') atMs.push(clock.monotonicMs())
    if (atMs.length === 1 && verb === 'update') await sleep(clock, 5_000)
    throw statusError(500, 'InternalError')
  }
  await clock.advance(10_000)
  assert.deepEqual(atMs, [2_000, 7_000, 8_000, 10_000])
  me.stop.abort()
})

test('Cancel of the outer context ends any phase at once: no request follows', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  server.requests.length = 0
  server.onRequest = () => {
    me.stop.abort()
    throw statusError(409, 'Conflict')
  }
  await clock.advance(2_000)
  await me.ended()
  assert.deepEqual(verbs(server), ['update'])
})

test('the work ends with the term, whatever a callback throws', async () => {
  const { elector, clock, server } = world()
  const signals: AbortSignal[] = []
  const me = elector({
    callbacks: {
      onStartedLeading: (signal) => void signals.push(signal),
      onStoppedLeading() {},
      onNewLeader(leader) {
        if (leader === 'other') throw new Error('no such leader')
      },
    },
  })
  await me.run()
  const ended = assert.rejects(me.ended(), /no such leader/)
  server.put(resources.leases, lease({ holderIdentity: 'other', leaseDurationSeconds: 15 }))
  await clock.advance(12_000)
  await ended
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  )
})

test('who leads instead is reported before the term ends', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  await me.run()
  server.put(resources.leases, lease({ holderIdentity: 'other', leaseDurationSeconds: 15 }))
  await clock.advance(12_000)
  await me.ended()
  assert.deepEqual(me.log, ['leader me', 'started', 'leader other', 'term ended', 'stopped'])
})

test('stopped-leading is called also when leadership was never held', async () => {
  const { elector, clock } = world()
  const me = elector({ lease: lease({ holderIdentity: 'other', leaseDurationSeconds: 100 }) })
  await me.run()
  me.stop.abort()
  await clock.advance(0)
  await me.ended()
  assert.deepEqual(me.log, ['leader other', 'stopped'])
  assert.deepEqual(me.events, [])
})

test('new leaders are reported once each, oneself and nobody included', async () => {
  const { elector, clock } = world()
  const first = elector({ identity: 'first', releaseOnCancel: true })
  const second = elector({ identity: 'second' })
  await first.run()
  await second.run()
  await clock.advance(10_000)
  assert.deepEqual(second.log, ['leader first'])
  first.stop.abort()
  await first.ended()
  assert.deepEqual(first.log, [
    'leader first',
    'started',
    'term ended',
    'leader (nobody)',
    'stopped',
  ])
  await clock.advance(4_400)
  assert.deepEqual(second.log, ['leader first', 'leader second', 'started'])
  second.stop.abort()
})

test('two contenders never lead at the same time', async () => {
  const { elector, clock, server } = world()
  const contenders = ['a', 'b', 'c'].map((identity) => elector({ identity }))
  for (const contender of contenders) await contender.run()
  for (let round = 0; round < 50; round++) {
    await clock.advance(2_500)
    server.onRequest =
      round % 9 === 3
        ? () => {
            throw statusError(500, 'InternalError')
          }
        : undefined
    const leading = contenders.filter(
      ({ log }) => log.includes('started') && !log.includes('term ended'),
    )
    assert.ok(leading.length <= 1)
  }
  for (const { stop } of contenders) stop.abort()
})

test('Given a holder with no success for leaseDuration + tolerance, then the check fails; a standby and an unbound adaptor pass.', async () => {
  const { elector, clock, server } = world()
  const check = new LeaderElectionHealthCheck(20_000)
  assert.equal(check.name, 'leaderElection')
  assert.equal(check.check(), undefined)
  const me = elector({ renewDeadlineMs: 14_000, name: 'manager' })
  const standby = elector({ identity: 'standby' })
  check.bind(me.elector)
  await me.run()
  const standbyCheck = new LeaderElectionHealthCheck(0)
  standbyCheck.bind(standby.elector)
  await standby.run()
  server.onRequest = () => new Promise(() => {})
  await clock.advance(35_000)
  assert.equal(check.check(), undefined)
  assert.equal(standbyCheck.check(), undefined)
  await clock.advance(1)
  assert.equal(check.check()?.message, 'failed election to renew leadership on lease manager')
  assert.equal(standbyCheck.check(), undefined)
  me.stop.abort()
  standby.stop.abort()
})

test('Given became/stopped leading, then one event each with the identity.', async () => {
  const { elector, clock } = world()
  const me = elector()
  await me.run()
  await clock.advance(10_000)
  me.stop.abort()
  await clock.advance(0)
  await me.ended()
  assert.deepEqual(me.events, [
    'Normal LeaderElection Lease me became leader',
    'Normal LeaderElection Lease me stopped leading',
  ])
})

test('the event is about the Lease as this elector wrote it last', async () => {
  const { elector, lease: stored } = world()
  const me = elector({
    callbacks: {
      onStartedLeading: () => {},
      onStoppedLeading: () => {},
      // The first renewal follows at once.
      onNewLeader: () => void versions.push(stored()?.metadata?.resourceVersion),
    },
  })
  const versions: (string | undefined)[] = []
  await me.run()
  assert.equal(versions.length, 1)
  assert.deepEqual(me.regarded, versions)
  me.stop.abort()
})

test('the gauge is 0 from construction and 1 while leading', async () => {
  const { elector } = world()
  const me = elector()
  assert.equal(me.master(), 0)
  await me.run()
  assert.equal(me.master(), 1)
  me.stop.abort()
})

test('Given concurrent Check and renew, then no data race.', async () => {
  const { elector, clock, server } = world()
  const me = elector()
  const answers: unknown[] = []
  server.onRequest = () => void answers.push(me.elector.check(0))
  await me.run()
  for (let i = 0; i < 20; i++) {
    answers.push(me.elector.check(0))
    await clock.advance(1_000)
  }
  assert.ok(answers.length > 30)
  assert.ok(
    answers.every((answer) => answer === undefined),
    'asked in the middle of each request too',
  )
  me.stop.abort()
})
