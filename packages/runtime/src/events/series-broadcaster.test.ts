import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, statusError, testClock } from '../testing/index.ts'
import { unreachable } from './fixtures.ts'
import { SeriesBroadcaster } from './series-broadcaster.ts'
import type { SeriesEventRecord } from './series-broadcaster.ts'

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name, uid: `uid-${name}` },
})

function recording() {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const broadcaster = new SeriesBroadcaster({
    client: server,
    clock,
    random: new SeededRandom('series'),
    logger,
    controller: 'example.com/tester',
    hostname: 'host-1',
  })
  const record = (extra: Partial<SeriesEventRecord> = {}) =>
    broadcaster.record({
      regarding: pod('a'),
      type: 'Normal',
      reason: 'Bound',
      action: 'Binding',
      note: 'bound',
      ...extra,
    })
  const stored = () =>
    server.list(resources.eventsV1) as { series?: { count: number; lastObservedTime: string } }[]
  return {
    server,
    clock,
    logger,
    broadcaster,
    record,
    stored,
    verbs: () => server.requests.map(({ verb }) => verb),
  }
}

test('Given equal events.k8s.io events, then a series with count 2.', async () => {
  const { server, clock, record, stored, verbs } = recording()
  record()
  await clock.advance(1_000)
  const { metadata, ...first } = server.requests[0]!.body as { metadata: { name: string } }
  assert.match(metadata.name, /^a\.[0-9a-f]+$/)
  assert.deepEqual(first, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.com/tester',
    reportingInstance: 'example.com/tester-host-1',
    action: 'Binding',
    reason: 'Bound',
    note: 'bound',
    type: 'Normal',
    regarding: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'shop',
      name: 'a',
      uid: 'uid-a',
      resourceVersion: undefined,
    },
  })
  record()
  await clock.advance(1_000)
  assert.deepEqual(stored()[0]!.series, {
    count: 2,
    lastObservedTime: '2026-01-01T00:00:01.000000Z',
  })
  record()
  record()
  await clock.advance(1_000)
  assert.deepEqual(verbs(), ['create', 'patch'], 'further ones are counted locally')
})

test('equal events recorded before the first was written are a creation and a series', async () => {
  const { clock, record, stored, verbs } = recording()
  record()
  record()
  await clock.advance(0)
  assert.deepEqual(verbs(), ['create', 'patch'])
  assert.equal(stored()[0]!.series!.count, 2)
})

test('another regarding, related, action, reason or type is another event', async () => {
  const { clock, record, stored } = recording()
  record()
  for (const other of [
    { regarding: pod('b') },
    { related: pod('r') },
    { action: 'X' },
    { reason: 'X' },
    { type: 'Warning' as const },
  ])
    record(other)
  record({ note: 'another note alone is no other event' })
  await clock.advance(0)
  assert.equal(stored().length, 6)
  assert.equal(stored().filter(({ series }) => series !== undefined).length, 1)
})

test('a running series is written every 30 min', async () => {
  const { clock, record, stored, verbs } = recording()
  for (let minute = 0; minute < 31; minute++) {
    record()
    await clock.advance(60_000)
  }
  assert.deepEqual(verbs(), ['create', 'patch', 'patch'])
  assert.equal(stored()[0]!.series!.count, 30)
})

test('a series that was idle for 6 min is written a last time and forgotten', async () => {
  const { clock, record, stored, verbs } = recording()
  for (let i = 0; i < 5; i++) record()
  await clock.advance(12 * 60_000)
  assert.deepEqual(verbs(), ['create', 'patch', 'patch'])
  assert.equal(stored()[0]!.series!.count, 5)
  record()
  await clock.advance(0)
  assert.equal(stored().length, 2)
})

test('a series whose event is gone is created anew; refusals are not retried, transport errors are', async () => {
  const { server, clock, record, stored, verbs } = recording()
  record()
  await clock.advance(0)
  server.remove(resources.eventsV1, server.list(resources.eventsV1)[0]!)
  record()
  await clock.advance(0)
  assert.deepEqual(verbs(), ['create', 'patch', 'create'])
  assert.equal(stored()[0]!.series!.count, 2)

  server.onRequest = () => {
    throw statusError(403, 'Forbidden')
  }
  record({ reason: 'Refused' })
  await clock.advance(60_000)
  assert.equal(server.requests.length, 4)
  server.onRequest = () => {
    throw new TransportError('ECONNREFUSED', 'refused')
  }
  record({ reason: 'Unreachable' })
  await clock.advance(12_500 * 12)
  assert.equal(server.requests.length, 4 + 12)
})

test('after shutdown nothing more is taken and no timer runs', async () => {
  const { server, clock, record, broadcaster } = recording()
  record()
  record()
  await broadcaster.shutdown()
  const before = server.requests.length
  record()
  await clock.advance(3600_000)
  assert.equal(server.requests.length, before)
  assert.equal(before, 2)
})

test('an event that is no series is written once, whatever time passes', async () => {
  const { clock, record, verbs } = recording()
  await clock.advance(29 * 60_000)
  record()
  await clock.advance(3600_000)
  assert.deepEqual(verbs(), ['create'])
})

test('an event that was seen 6 min ago is still the same', async () => {
  const { clock, record, verbs } = recording()
  record()
  await clock.advance(7 * 60_000)
  record()
  await clock.advance(0)
  assert.deepEqual(verbs(), ['create', 'patch'])
})

test('a patch that is refused is no creation', async () => {
  const { server, clock, record, verbs } = recording()
  record()
  await clock.advance(0)
  server.onRequest = () => {
    throw statusError(500, 'InternalError')
  }
  record()
  await clock.advance(60_000)
  assert.deepEqual(verbs(), ['create', 'patch'])
})

test('what is recorded after the end is not written; what is queued has one try', async () => {
  const { server, clock, record, broadcaster } = recording()
  server.onRequest = () => {
    throw new TransportError('ECONNREFUSED', 'refused')
  }
  record()
  record({ reason: 'Queued' })
  await broadcaster.shutdown()
  assert.equal(server.requests.length, 2)
  record({ reason: 'Late' })
  await clock.advance(60_000)
  assert.equal(server.requests.length, 2)
})

test('a server that does not answer in half a second gets no more', async () => {
  const { server, clock, record, broadcaster } = recording()
  const answer = Promise.withResolvers<undefined>()
  server.onRequest = () => answer.promise
  record()
  record({ reason: 'Queued' })
  await clock.advance(0)
  const ended = broadcaster.shutdown()
  await clock.advance(500)
  await ended
  answer.resolve(undefined)
  await clock.advance(60_000)
  assert.equal(server.requests.length, 1)
})

test('an event about what is in no namespace is in default, one about no kind or no version is not written', async () => {
  const { server, clock, record, stored } = recording()
  const metadata = { name: 'node-1' }
  record({ regarding: { apiVersion: 'v1', kind: 'Node', metadata } })
  record({ regarding: { apiVersion: 'v1', metadata } })
  record({ regarding: { kind: 'Node', metadata } })
  await clock.advance(0)
  assert.equal(server.requests.length, 1)
  assert.equal(
    (stored()[0] as { metadata?: { namespace?: string } }).metadata!.namespace,
    'default',
  )
})

test('tries are 10 to 12.5 s apart, with jitter', async () => {
  const { server, clock, record } = recording()
  const gapsMs = unreachable(server, clock)
  record()
  await clock.advance(60_000)
  const gaps = gapsMs()
  assert.ok(gaps.every((ms) => ms >= 10_000 && ms < 12_500))
  assert.ok(new Set(gaps).size > 1)
})

test('who records is not held up by the request', async () => {
  const { server, clock, record } = recording()
  record()
  assert.equal(server.requests.length, 0)
  await clock.advance(0)
  assert.equal(server.requests.length, 1)
})

test('while the server does not answer, no more than 1000 events wait for it; one line tells of those that are dropped', async () => {
  const { server, clock, logger, record } = recording()
  const open = Promise.withResolvers<undefined>()
  server.onRequest = () => open.promise
  record()
  await clock.advance(0)
  for (let i = 0; i < 1100; i++) record({ reason: `Reason${i}` })
  open.resolve(undefined)
  await clock.advance(0)
  assert.equal(server.list(resources.eventsV1).length, 1001)
  const dropped = (): number => logger.lines.filter(({ message }) => /queue/.test(message)).length
  assert.equal(dropped(), 1)
  record({ reason: 'Later' })
  await clock.advance(0)
  assert.equal(server.list(resources.eventsV1).length, 1002)
  assert.equal(dropped(), 1)
})
