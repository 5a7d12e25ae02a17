import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import type { EventRecord } from '../effects.ts'
import { FakeServer, statusError, testClock } from '../testing/index.ts'
import { unreachable } from './fixtures.ts'
import { EventBroadcaster } from './event-broadcaster.ts'
import { EventNames } from './event-names.ts'

const pod = (name = 'web', metadata: Pod['metadata'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: '5', ...metadata },
})

function recording(host?: string) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const broadcaster = new EventBroadcaster({
    client: server,
    clock,
    logger,
    random: new SeededRandom('events'),
    host,
  })
  const recorder = broadcaster.recorder('test-controller')
  const record = (event: Partial<EventRecord> = {}) =>
    recorder.record({
      regarding: pod(),
      type: 'Normal',
      reason: 'Started',
      message: 'started',
      ...event,
    })
  const stored = () => server.list(resources.events) as Event[]
  return { server, clock, logger, broadcaster, record, stored, recorder }
}

test('an event as kube-controller-manager writes it', async () => {
  const { clock, record, stored } = recording()
  record()
  await clock.advance(0)
  const [event] = stored()
  const { metadata, ...rest } = event!
  const [object, suffix] = metadata!.name!.split('.')
  assert.equal(object, 'web')
  assert.equal(BigInt(`0x${suffix}`) / 1_000_000n, 1767225600000n)
  assert.equal(metadata!.namespace, 'shop')
  assert.deepEqual(rest, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: {
      kind: 'Pod',
      namespace: 'shop',
      name: 'web',
      uid: 'uid-web',
      apiVersion: 'v1',
      resourceVersion: '5',
    },
    reason: 'Started',
    message: 'started',
    type: 'Normal',
    source: { component: 'test-controller' },
    reportingComponent: 'test-controller',
    reportingInstance: '',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
  })
})

test('the part of the object that an event is about tells it from those about other parts', async () => {
  const { clock, record, stored } = recording()
  for (const name of ['a', 'b', 'a']) record({ fieldPath: `spec.containers{${name}}` })
  await clock.advance(0)
  assert.deepEqual(
    stored().map(({ involvedObject, count }) => [involvedObject.fieldPath, count]),
    [
      ['spec.containers{a}', 2],
      ['spec.containers{b}', 1],
    ],
  )
})

test('events of two processes about one object in one millisecond have two names', async () => {
  const names = ['one', 'two'].map((seed) =>
    new EventNames(testClock(), new SeededRandom(seed)).next('web'),
  )
  assert.equal(new Set(names).size, 2)
})

test('a host is in source and reporting instance', async () => {
  const { clock, record, stored } = recording('node-1')
  record()
  await clock.advance(0)
  assert.deepEqual(stored()[0]!.source, { component: 'test-controller', host: 'node-1' })
  assert.equal(stored()[0]!.reportingInstance, 'node-1')
})

test('Given equal events, then one create then patches with count; ten distinct messages → combined.', async () => {
  const { clock, record, server, stored } = recording()
  for (let i = 0; i < 3; i++) {
    record()
    await clock.advance(1_000)
  }
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    ['create', 'patch', 'patch'],
  )
  assert.deepEqual(server.requests[2]!.body, {
    type: 'strategic',
    value: { count: 3, lastTimestamp: '2026-01-01T00:00:02Z', message: 'started' },
  })
  assert.equal(stored().length, 1)
  assert.equal(stored()[0]!.count, 3)
  assert.equal(stored()[0]!.firstTimestamp, '2026-01-01T00:00:00Z')

  for (let i = 0; i < 12; i++) {
    record({ reason: 'Failed', message: `attempt ${i}` })
    await clock.advance(1_000)
  }
  const failed = stored().filter(({ reason }) => reason === 'Failed')
  assert.equal(failed.length, 10)
  const combined = failed.find(({ message }) => message!.startsWith('(combined'))!
  assert.equal(combined.message, '(combined from similar events): attempt 11')
  assert.equal(combined.count, 3)
  assert.deepEqual([combined.reportingComponent, combined.reportingInstance], ['', ''])
})

test('a group of similar events is forgotten after 600 s without one', async () => {
  const { clock, record, stored } = recording()
  for (let i = 0; i < 9; i++) record({ message: `attempt ${i}` })
  await clock.advance(600_001)
  record({ message: 'attempt 9' })
  await clock.advance(0)
  assert.ok(stored().every(({ message }) => !message!.startsWith('(combined')))
})

test('Given 26 events of one object and type within 300 s, then the last is dropped.', async () => {
  const { clock, record, server } = recording()
  for (let i = 0; i < 26; i++) record({ reason: `Reason${i}` })
  await clock.advance(299_999)
  assert.equal(server.requests.length, 25)
  record({ type: 'Warning' })
  await clock.advance(0)
  assert.equal(server.requests.length, 26, 'another type has a bucket of its own')
  record({ regarding: pod('other') })
  await clock.advance(1)
  assert.equal(server.requests.length, 27, 'and so has another object')
  record({ reason: 'Again' })
  record({ reason: 'AndAgain' })
  await clock.advance(0)
  assert.equal(server.requests.length, 28, 'one token every 300 s')
})

test('a dropped repetition is counted: a later patch shows the full count', async () => {
  const { clock, record, stored } = recording()
  for (let i = 0; i < 30; i++) record()
  await clock.advance(300_000)
  record()
  await clock.advance(0)
  assert.equal(stored()[0]!.count, 31)
})

test('Given a 404 on the patch, then create.', async () => {
  const { clock, record, server, stored } = recording()
  record()
  await clock.advance(0)
  server.remove(resources.events, stored()[0]!)
  record()
  await clock.advance(0)
  assert.deepEqual(
    server.requests.map(({ verb }) => verb),
    ['create', 'patch', 'create'],
  )
  assert.equal((server.requests[2]!.body as Event).metadata!.resourceVersion, undefined)
  assert.equal(stored()[0]!.count, 2)
})

test('Given API rejections, then no retry; transport error, then retry.', async () => {
  const rejected = recording()
  rejected.server.onRequest = () => {
    throw statusError(500, 'InternalError')
  }
  rejected.record()
  await rejected.clock.advance(600_000)
  assert.equal(rejected.server.requests.length, 1)

  const { clock, record, server, stored } = recording()
  server.onRequest = () => {
    if (server.requests.length < 4) throw new TransportError('ECONNREFUSED', 'refused')
  }
  record()
  await clock.advance(9_999)
  assert.equal(server.requests.length, 2, 'the first wait is a random part of 10 s')
  await clock.advance(30_000)
  assert.equal(server.requests.length, 4)
  assert.equal(stored().length, 1)
})

test('an event is given up after 12 tries, and the next one has its turn', async () => {
  const { clock, record, server } = recording()
  server.onRequest = () => {
    throw new TransportError('ECONNREFUSED', 'refused')
  }
  record()
  record({ reason: 'Next' })
  await clock.advance(120_000)
  assert.equal(
    server.requests.filter(({ body }) => (body as Event).reason === 'Started').length,
    12,
  )
  assert.ok(server.requests.some(({ body }) => (body as Event).reason === 'Next'))
})

test('what a terminating namespace or an existing event refuses is not an error in the log', async () => {
  for (const error of [
    statusError(403, 'Forbidden', 'namespace is terminating', {
      causes: [{ reason: 'NamespaceTerminating' }],
    }),
    statusError(409, 'AlreadyExists'),
  ]) {
    const { clock, record, server, logger } = recording()
    server.onRequest = () => {
      throw error
    }
    record()
    await clock.advance(0)
    assert.deepEqual(
      logger.lines.map(({ severity, verbosity }) => ({ severity, verbosity })),
      [{ severity: 'info', verbosity: 5 }],
    )
  }
})

test('Given no namespace on the object, then namespace default.', async () => {
  const { clock, record, server } = recording()
  record({ regarding: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } } })
  await clock.advance(0)
  assert.match(server.requests[0]!.path, /^\/api\/v1\/namespaces\/default\/events\/n1\./)
})

test('a name that is no DNS subdomain is replaced by a UUID', async () => {
  const { clock, record, server } = recording()
  record({ regarding: pod('system:node') })
  await clock.advance(0)
  assert.match((server.requests[0]!.body as Event).metadata!.name!, /^[0-9a-f]{8}-/)
})

test('events of one moment have different names', async () => {
  const { clock, record, stored } = recording()
  for (let i = 0; i < 5; i++) record({ reason: `R${i}` })
  await clock.advance(0)
  assert.equal(stored().length, 5)
})

test('events of another type than Normal and Warning, or about an object without kind, are dropped with a line', async () => {
  const { clock, record, server, logger } = recording()
  record({ type: 'Odd' as never })
  record({ regarding: { metadata: { name: 'x' } } })
  await clock.advance(0)
  assert.equal(server.requests.length, 0)
  assert.equal(logger.lines.length, 2)
})

test('a full queue drops what is recorded, with one line until it is empty again', async () => {
  const { clock, record, logger, server } = recording()
  const told = (): number =>
    logger.messages().filter((message) => message.includes('too many queued events')).length
  let answer = (): void => {}
  const answered = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined)
  })
  server.onRequest = () => answered
  for (let i = 0; i < 1_003; i++) record({ regarding: pod(`p${i}`) })
  await clock.advance(0)
  assert.equal(told(), 1)
  answer()
  await clock.advanceUntil(() => server.requests.length === 1_000, 60_000)
  await clock.advance(1_000)
  assert.equal(server.requests.length, 1_000)
  for (let i = 0; i < 1_001; i++) record({ regarding: pod(`q${i}`) })
  assert.equal(told(), 2)
})

test('events are written in the order of their recording', async () => {
  const { clock, record, server } = recording()
  for (let i = 0; i < 20; i++) record({ regarding: pod(`p${i}`) })
  await clock.advance(0)
  assert.deepEqual(
    server.requests.map(({ body }) => (body as Event).involvedObject.name),
    Array.from({ length: 20 }, (_, i) => `p${i}`),
  )
})

test('after shutdown what is queued has one try, and nothing more is taken', async () => {
  const { clock, record, server, broadcaster } = recording()
  server.onRequest = () => {
    throw new TransportError('ECONNREFUSED', 'refused')
  }
  record()
  record({ reason: 'Second' })
  await clock.advance(0)
  const before = server.requests.length
  assert.equal(before, 1, 'the first waits for its second try')
  await broadcaster.shutdown()
  assert.equal(server.requests.length, 3)
  record()
  await clock.advance(60_000)
  assert.equal(server.requests.length, 3)
})

test('a shutdown waits half a second for a server that does not answer, and what is queued is dropped', async () => {
  const { clock, record, server, broadcaster } = recording()
  let answer = (): void => {}
  server.onRequest = () => new Promise<void>((resolve) => (answer = resolve))
  record()
  record({ reason: 'Second' })
  await clock.advance(0)
  let ended = false
  void broadcaster.shutdown().then(() => (ended = true))
  await clock.advance(499)
  assert.equal(ended, false)
  await clock.advance(1)
  assert.equal(ended, true)
  answer()
  await clock.advance(60_000)
  assert.equal(server.requests.length, 1)
})

test('of what is about no kind or no version nothing is written', async () => {
  const { server, clock, record } = recording()
  const { kind, apiVersion, metadata } = pod()
  record({ regarding: { kind, metadata } })
  record({ regarding: { apiVersion, metadata } })
  await clock.advance(0)
  assert.equal(server.requests.length, 0)
})

test('servers need not answer with the event, and a patch that is refused is no creation', async () => {
  const { server, clock, record } = recording()
  record()
  await clock.advance(0)
  server.onRequest = () => {
    throw statusError(500, 'InternalError')
  }
  record()
  await clock.advance(60_000)
  assert.deepEqual(
    server.requests.map(({ verb, options }) => [verb, options]),
    [
      ['create', { unread: true }],
      ['patch', { unread: true }],
    ],
  )
})

test('the first wait between tries is a part of 10 s, those after it are 10 s', async () => {
  const { server, clock, record } = recording()
  const gapsMs = unreachable(server, clock)
  record()
  await clock.advance(35_000)
  const gaps = gapsMs()
  assert.ok(gaps[0]! < 10_000, String(gaps))
  assert.deepEqual(gaps.slice(1, 3), [10_000, 10_000])
})
