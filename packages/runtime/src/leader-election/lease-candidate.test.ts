import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourcesOnRequest } from '@gyropilot/api'
import type { LeaseCandidate as LeaseCandidateObject } from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, statusError, testClock } from '../testing/index.ts'
import { LeaseCandidate } from './lease-candidate.ts'

const { leasecandidates } = resourcesOnRequest

const leasecandidate = { apiVersion: 'coordination.k8s.io/v1beta1', kind: 'LeaseCandidate' }

function announcing() {
  const server = new FakeServer()
  const clock = testClock()
  const stop = new AbortController()
  const candidate = new LeaseCandidate({
    client: server,
    clock,
    random: new SeededRandom('candidate'),
    logger: new RecordingLogger(),
    namespace: 'kube-system',
    leaseName: 'kube-controller-manager',
    identity: 'me',
    binaryVersion: '1.36.0',
    emulationVersion: '1.35.0',
  })
  const stored = () =>
    server.get(leasecandidates, 'kube-system', 'me') as LeaseCandidateObject | undefined
  return { server, clock, stop, candidate, stored }
}

test('Given a candidate, then it exists with a renewTime; given a ping, then renewTime ≥ pingTime soon.', async () => {
  const { server, clock, stop, candidate, stored } = announcing()
  const running = candidate.run(stop.signal)
  await clock.advance(0)
  assert.deepEqual(stored()!.spec, {
    leaseName: 'kube-controller-manager',
    binaryVersion: '1.36.0',
    emulationVersion: '1.35.0',
    strategy: 'OldestEmulationVersion',
    renewTime: '2026-01-01T00:00:00.000000Z',
  })
  assert.equal(server.requests[0]!.options.fieldSelector, 'metadata.name=me')
  await clock.advance(1_000)
  const pingTime = '2026-01-01T00:00:01.000000Z'
  server.put(leasecandidates, { ...stored()!, spec: { ...stored()!.spec!, pingTime } })
  await clock.advance(0)
  assert.equal(stored()!.spec!.renewTime, pingTime)
  assert.equal(server.requested('update').length, 1, 'its own update is no ping')
  stop.abort()
  await running
  assert.ok(stored(), 'not deleted on exit')
})

test('it is renewed every five minutes after the last success, and failures are retried with backoff', async () => {
  const { server, clock, stop, candidate, stored } = announcing()
  let failures = 0
  server.onRequest = ({ verb }) => {
    if (verb === 'create' && failures++ < 3) throw statusError(500, 'InternalError')
  }
  const running = candidate.run(stop.signal)
  await clock.advance(35)
  assert.ok(stored(), 'after 5, 10 and 20 ms')
  await clock.advance(5 * 60_000 - 1)
  assert.equal(server.requested('update').length, 0)
  await clock.advance(1)
  assert.equal(server.requested('update').length, 1)
  server.onRequest = ({ verb }) => {
    if (verb === 'update' && failures++ < 5) throw statusError(500, 'InternalError')
  }
  await clock.advance(5 * 60_000)
  assert.equal(server.requested('update').length, 2)
  await clock.advance(5)
  assert.equal(server.requested('update').length, 3, 'a success forgets the failures before it')
  stop.abort()
  await running
})

test('a candidate that is there already is renewed', async () => {
  const { server, clock, stop, candidate, stored } = announcing()
  const spec = { leaseName: 'kube-controller-manager', binaryVersion: '1.35.0', strategy: 'x' }
  const metadata = { namespace: 'kube-system', name: 'me' }
  server.put(leasecandidates, { ...leasecandidate, metadata, spec })
  const running = candidate.run(stop.signal)
  await clock.advance(0)
  assert.deepEqual(stored()!.spec, { ...spec, renewTime: '2026-01-01T00:00:00.000000Z' })
  assert.equal(server.requested('create').length, 0)
  stop.abort()
  await running
})

test('a run that is over before it begins ends, and announces nothing', async () => {
  const { server, clock, stop, candidate } = announcing()
  stop.abort()
  let hasEnded = false
  void candidate.run(stop.signal).then(() => (hasEnded = true))
  await clock.advance(0)
  assert.equal(hasEnded, true)
  assert.deepEqual(server.requested('create', 'update'), [])
})
