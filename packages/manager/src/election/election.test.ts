import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import { PrometheusRegistry, SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { createElection } from './election.ts'
import type { ElectionOptions } from './election.ts'
import { obedientLoop, stubbornLoop } from '../fixtures.ts'

function world(more: Partial<ElectionOptions> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const stop = new AbortController()
  const state = { outcome: 'running' as unknown }
  const contender = (identity: string, also: Partial<ElectionOptions> = {}) =>
    createElection({
      logPrefix: '',
      leaseName: 'kube-controller-manager',
      leaseNamespace: 'kube-system',
      identity,
      client: server,
      recorder: { record() {} },
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      coordinated: false,
      releasesLease: false,
      shutdownTimeoutMs: 10_000,
      clock,
      random: new SeededRandom(identity),
      logger,
      metrics: new PrometheusRegistry(),
      run: (term) => obedientLoop.run(term),
      ...more,
      ...also,
    })
  const election = contender('me')
  const holder = () =>
    (server.get(resources.leases, 'kube-system', 'kube-controller-manager') as Lease | undefined)
      ?.spec?.holderIdentity
  return {
    server,
    clock,
    logger,
    stop,
    state,
    election,
    contender,
    holder,
    async start() {
      election.run(stop.signal).then(
        () => (state.outcome = 'ended in order'),
        (error: unknown) => (state.outcome = error),
      )
      await clock.advance(0)
      assert.equal(holder(), 'me')
    },
  }
}

const codeOf = (outcome: unknown) => (outcome as { code?: string }).code

test('Given the release gate on, when the process is stopped, then the lease holder becomes empty within 10 s', async () => {
  const { start, stop, clock, state, holder, logger } = world({ releasesLease: true })
  await start()
  stop.abort()
  await clock.advance(0)
  assert.equal(holder(), '')
  assert.equal(state.outcome, 'ended in order')
  assert.ok(logger.messages().includes('leaderelection stopped'))
})

test("Given the manager with the release gate on, when it stops, then the Lease's holder is empty", async () => {
  let endLoops = (): void => {}
  const { start, stop, clock, state, holder } = world({
    releasesLease: true,
    run: () => new Promise<void>((resolve) => (endLoops = resolve)),
  })
  await start()
  stop.abort()
  await clock.advance(3_000)
  assert.equal(holder(), 'me', 'not before the loops have ended')
  endLoops()
  await clock.advance(0)
  assert.equal(holder(), '')
  assert.equal(state.outcome, 'ended in order')
})

test('loops that do not end in time keep the lease, and the process fails', async () => {
  const { start, stop, clock, state, holder } = world({
    releasesLease: true,
    shutdownTimeoutMs: 4_000,
    run: (term) => stubbornLoop.run(term),
  })
  await start()
  stop.abort()
  await clock.advance(3_999)
  assert.equal(state.outcome, 'running')
  await clock.advance(1)
  assert.equal(codeOf(state.outcome), 'SHUTDOWN_TIMEOUT')
  assert.equal(holder(), 'me')
})

test('with the gate off a signal ends the process without waiting for loops, and the lease stays', async () => {
  const { start, stop, clock, state, holder, logger } = world({
    run: (term) => stubbornLoop.run(term),
  })
  await start()
  stop.abort()
  await clock.advance(0)
  assert.equal(codeOf(state.outcome), 'LEASE_LOST')
  assert.equal(holder(), 'me')
  assert.ok(logger.messages().includes('leaderelection lost'))
})

test('a lost lease ends the term by the renew deadline, and the process; there is no second term', async () => {
  let terms = 0
  let endedMs = -1
  const { start, clock, state, server } = world({
    async run(term) {
      terms++
      await obedientLoop.run(term)
      endedMs = clock.monotonicMs()
    },
  })
  await start()
  const cutMs = clock.monotonicMs()
  server.onRequest = () => {
    throw new Error('connection refused')
  }
  await clock.advance(12_000)
  assert.ok(endedMs >= 0 && endedMs - cutMs <= 12_000)
  assert.equal(codeOf(state.outcome), 'LEASE_LOST')
  server.onRequest = undefined
  await clock.advance(60_000)
  assert.equal(terms, 1)
})

test('holdsLease is true while renewals succeed, and false by itself when they stop', async () => {
  let holdsLease = (): boolean => false
  const { start, clock, server } = world({
    run(term, holds) {
      holdsLease = holds
      return obedientLoop.run(term)
    },
  })
  await start()
  await clock.advance(60_000)
  assert.equal(holdsLease(), true)
  server.onRequest = () => new Promise(() => {})
  await clock.advance(15_001)
  assert.equal(holdsLease(), false)
})

test('an error of the work ends the process; with the gate on the lease is given back first', async () => {
  for (const releasesLease of [false, true]) {
    const { clock, state, holder, election, stop } = world({
      releasesLease,
      run: () => Promise.reject(new Error('no such file')),
    })
    election.run(stop.signal).catch((error: unknown) => (state.outcome = error))
    await clock.advance(0)
    assert.equal((state.outcome as Error).message, 'no such file')
    assert.equal(holder(), releasesLease ? '' : 'me')
  }
})

test('Given leadership claimed and no renewal for >35 s, when /healthz is fetched, then 500; as standby 200', async () => {
  const { start, clock, server, election, contender } = world()
  await start()
  const standby = contender('other')
  const stopStandby = new AbortController()
  void standby.run(stopStandby.signal).catch(() => {})
  await clock.advance(1_000)
  assert.equal(election.check(), undefined)
  server.onRequest = () => {
    throw new Error('connection refused')
  }
  await clock.advance(34_000)
  assert.equal(election.check(), undefined)
  await clock.advance(4_000)
  assert.equal(
    election.check(),
    'failed election to renew leadership on lease kube-controller-manager',
  )
  assert.equal(standby.check(), undefined)
  stopStandby.abort()
})

test('durations that cannot work are an error of exit code 2', () => {
  assert.throws(() => world({ renewDeadlineMs: 20_000 }), {
    code: 'LEADER_ELECTION_TIMING_INVALID',
    exitCode: 2,
    message: 'leaseDuration must be greater than renewDeadline',
  })
})
