import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType, WatchEvent } from '@gyropilot/api'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger, virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from './api-client.ts'
import type { ApiClientOptions } from './api-client.ts'
import { serverBackoffFrom } from './requests/server-backoff.ts'
import { StatusError } from './answers/status-error.ts'
import {
  fakeTransport,
  jsonAnswer,
  statusAnswer,
  textAnswer,
  watchBytes,
  eventStream,
} from './testing/index.ts'
import type { Answer, FakeTransport } from './testing/index.ts'
import { TransportError } from './transport.ts'

const pods = resources.pods as ResourceType
const pod = { metadata: { name: 'x' } }
const reset = new TransportError('ECONNRESET', 'read ECONNRESET')
const eof = new TransportError('EOF', 'EOF')

function setup(
  answers: readonly Answer[],
  options: Partial<ApiClientOptions> & { repeatLast?: boolean } = {},
): {
  client: ApiClient
  transport: FakeTransport
  clock: ReturnType<typeof virtualClock>
  logger: RecordingLogger
  metrics: PrometheusRegistry
} {
  const transport = fakeTransport(answers, { repeatLast: options.repeatLast ?? false })
  const clock = virtualClock()
  const logger = new RecordingLogger()
  const metrics = new PrometheusRegistry()
  const client = new ApiClient({
    transport,
    clock,
    logger,
    metrics,
    qps: -1,
    host: 'h:6443',
    ...options,
  })
  return { client, transport, clock, logger, metrics }
}

/** The outcome of a promise once the clock has run. */
function outcome<T>(promise: Promise<T>): { value?: T; error?: unknown; done: boolean } {
  const state: { value?: T; error?: unknown; done: boolean } = { done: false }
  promise.then(
    (value) => Object.assign(state, { value, done: true }),
    (error: unknown) => Object.assign(state, { error, done: true }),
  )
  return state
}

async function all(
  events: AsyncIterable<WatchEvent<KubernetesObject>>,
): Promise<WatchEvent<KubernetesObject>[]> {
  const seen: WatchEvent<KubernetesObject>[] = []
  for await (const event of events) seen.push(event)
  return seen
}

test('verbs send their request and give back the decoded answer', async () => {
  const { client, transport } = setup(
    [jsonAnswer(pod), jsonAnswer({ metadata: {}, items: null }), jsonAnswer(pod, 201)],
    {
      userAgent: 'me/v1',
    },
  )
  const inA = client.resource(pods, 'a')
  assert.deepEqual(await inA.get('x'), pod)
  assert.deepEqual((await inA.list()).items, [])
  assert.deepEqual(await inA.create(pod), pod)
  assert.deepEqual(
    transport.requests.map(({ method, path, headers }) => [method, path, headers['user-agent']]),
    [
      ['GET', '/api/v1/namespaces/a/pods/x', 'me/v1'],
      ['GET', '/api/v1/namespaces/a/pods', 'me/v1'],
      ['POST', '/api/v1/namespaces/a/pods', 'me/v1'],
    ],
  )
  const withKind = { apiVersion: 'v1', kind: 'Pod', ...pod }
  assert.deepEqual(transport.requests[2]!.body, { json: withKind }, 'custom resources need it')
})

test('the transport is told of a creation that it is due', async () => {
  const { client, transport } = setup([jsonAnswer(pod, 201)], { repeatLast: true })
  await client.resource(pods, 'a').create(pod)
  await client.resource(pods, 'a').create(pod, { due: true })
  assert.deepEqual(
    transport.requests.map(({ due }) => due),
    [undefined, true],
  )
})

test('pages follow the continue token without the resourceVersion', async () => {
  const { client, transport } = setup([
    jsonAnswer({ metadata: { continue: 't1', resourceVersion: '9' }, items: [1] }),
    jsonAnswer({ metadata: { resourceVersion: '9' }, items: [2] }),
  ])
  const items: unknown[] = []
  for await (const page of client
    .resource(pods)
    .pages({ resourceVersion: '0', labelSelector: 'a=b' })) {
    items.push(...page.items)
  }
  assert.deepEqual(items, [1, 2])
  assert.deepEqual(
    transport.requests.map(({ path }) => path),
    [
      '/api/v1/pods?labelSelector=a%3Db&resourceVersion=0&limit=500',
      '/api/v1/pods?labelSelector=a%3Db&limit=500&continue=t1',
    ],
  )
})

test('raw gives JSON as a value and text as it is', async () => {
  const { client } = setup([textAnswer('ok'), jsonAnswer({ major: '1' })])
  assert.equal(await client.raw({ method: 'GET', path: '/healthz' }), 'ok')
  assert.deepEqual(await client.raw({ method: 'GET', path: '/version' }), { major: '1' })
})

test('a refusal without a Status says what a raw path is of, where that is known', async () => {
  const { client } = setup([textAnswer('no', 401)], { repeatLast: true })
  const message = 'the server has asked for the client to provide credentials'
  const get = { method: 'GET', path: '/apis/example.com/v1/x/a/b' } as const
  const about = { group: 'example.com', resource: 'x', name: 'a' }
  await assert.rejects(client.raw(get), { message })
  await assert.rejects(client.raw({ ...get, about }), {
    message: `${message} (get x.example.com a)`,
  })
})

test('the field manager of the client is sent with writes that name none', async () => {
  const { client, transport } = setup([jsonAnswer({})], { fieldManager: 'mine', repeatLast: true })
  await client.resource(pods, 'a').update(pod)
  await client.resource(pods, 'a').update(pod, { fieldManager: 'other' })
  assert.deepEqual(
    transport.requests.map(({ path }) => path.split('?')[1]),
    ['fieldManager=mine', 'fieldManager=other'],
  )
})

test('Given 429 or 503 with `Retry-After: 1` and a POST, then it is sent again after 1 s, up to 10 times.', async () => {
  for (const code of [429, 503]) {
    const refusal = (): ReturnType<typeof statusAnswer> =>
      statusAnswer(code, 'TooManyRequests', 'busy', { 'retry-after': '1' })
    const { client, transport, clock, metrics } = setup([refusal], { repeatLast: true })
    const state = outcome(client.resource(pods, 'a').create(pod))
    await clock.advance(999)
    assert.equal(transport.requests.length, 1)
    await clock.advance(1)
    assert.equal(transport.requests.length, 2)
    await clock.advance(60_000)
    assert.equal(transport.requests.length, 11)
    assert.ok(state.error instanceof StatusError)
    assert.equal(state.error.code, code)
    assert.match(
      metrics.expose(),
      new RegExp(
        `rest_client_request_retries_total\\{code="${code}",host="h:6443",verb="POST"\\} 10`,
      ),
    )
    assert.match(
      metrics.expose(),
      new RegExp(`rest_client_requests_total\\{code="${code}",host="h:6443",method="POST"\\} 11`),
    )
  }
})

test('Given KUBE_CLIENT_BACKOFF_BASE and _DURATION, then the waits between retries of one request double up to the duration, never below Retry-After.', async () => {
  const variables = { KUBE_CLIENT_BACKOFF_BASE: '2', KUBE_CLIENT_BACKOFF_DURATION: '6' }
  const backoff = serverBackoffFrom(new FakeHost({}, variables))
  const busy = (seconds: string) => () =>
    statusAnswer(503, 'ServiceUnavailable', 'busy', { 'retry-after': seconds })
  const { client, transport, clock } = setup(
    [busy('1'), busy('1'), busy('1'), busy('9'), () => jsonAnswer({}), busy('1'), busy('1')],
    { backoff, repeatLast: true },
  )
  const waits = async (calls: number): Promise<number[]> => {
    const seen: number[] = []
    for (let i = 0; i < calls; i++) {
      const before = transport.requests.length
      const startMs = clock.nowMs()
      while (transport.requests.length === before) await clock.advance(500)
      seen.push((clock.nowMs() - startMs) / 1000)
    }
    return seen
  }
  void client.resource(pods, 'a').create(pod)
  await clock.advance(0)
  assert.deepEqual(await waits(4), [2, 4, 6, 9])
  void client.resource(pods, 'a').create(pod)
  await clock.advance(0)
  assert.equal(transport.requests.length, 6, 'the first try of another request waits for nothing')
  assert.deepEqual(await waits(1), [2])
  const incomplete: Record<string, string>[] = [
    {},
    { KUBE_CLIENT_BACKOFF_BASE: '2' },
    { KUBE_CLIENT_BACKOFF_BASE: '2', KUBE_CLIENT_BACKOFF_DURATION: 'x' },
  ]
  for (const some of incomplete) assert.equal(serverBackoffFrom(new FakeHost({}, some)), undefined)
})

test('Given 500 without the header, then one request.', async () => {
  const dated = { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }
  for (const answer of [
    statusAnswer(500, 'InternalError'),
    statusAnswer(429, 'TooManyRequests'),
    statusAnswer(503, '', '', dated),
  ]) {
    const { client, transport, clock } = setup([answer])
    const state = outcome(client.resource(pods, 'a').get('x'))
    await clock.advance(60_000)
    assert.ok(state.error instanceof StatusError)
    assert.equal(transport.requests.length, 1)
  }
})

test('Given a reset connection on GET, then retried; on POST not.', async () => {
  const { client, transport, clock } = setup([reset, jsonAnswer(pod), reset])
  const read = outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(1000)
  assert.deepEqual(read.value, pod)
  const write = outcome(client.resource(pods, 'a').create(pod))
  await clock.advance(60_000)
  assert.equal(write.error, reset)
  assert.equal(transport.requests.length, 3)
})

test('connection refused is not retried', async () => {
  const refused = new TransportError('ECONNREFUSED', 'connect ECONNREFUSED')
  const { client, transport, clock } = setup([refused])
  const state = outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(60_000)
  assert.equal(state.error, refused)
  assert.equal(transport.requests.length, 1)
})

test('the last error tells of a different earlier one', async () => {
  const refused = new TransportError('ECONNREFUSED', 'connection refused')
  const { client, clock } = setup([reset, refused])
  const state = outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(60_000)
  assert.equal(
    (state.error as Error).message,
    'connection refused - error from a previous attempt: read ECONNRESET',
  )
  assert.equal((state.error as TransportError).code, 'ECONNREFUSED')
})

test('Given EOF on watch start, then retried and finally an empty watch.', async () => {
  const { client, transport, clock } = setup([eof], { repeatLast: true })
  const state = outcome(client.resource(pods).watch())
  await clock.advance(9_999)
  assert.equal(state.done, false)
  await clock.advance(1)
  assert.equal(transport.requests.length, 11)
  assert.deepEqual(await all(state.value!), [])
})

test('a watch that is refused rejects with the Status', async () => {
  const { client } = setup([statusAnswer(410, 'Expired', 'too old resource version')])
  await assert.rejects(
    client.resource(pods).watch(),
    (error) => error instanceof StatusError && error.reason === 'Expired',
  )
})

const added = '{"type":"ADDED","object":{"metadata":{"name":"x"}}}\n'

test('a list whose items are no list is no empty one', async () => {
  for (const [items, metadataOnly, told] of [
    [{}, false, 'object into Go struct field PodList.items of type []v1.Pod'],
    ['x', false, 'string into Go struct field PodList.items of type []v1.Pod'],
    [
      {},
      true,
      'object into Go struct field PartialObjectMetadataList.items of type []v1.PartialObjectMetadata',
    ],
  ] as const) {
    const { client } = setup([jsonAnswer({ kind: 'PodList', metadata: {}, items })])
    await assert.rejects(client.resource(pods).list({ metadataOnly }), {
      code: 'ANSWER_UNDECODABLE',
      message: `json: cannot unmarshal ${told}`,
    })
  }
  const { client } = setup([jsonAnswer({ kind: 'PodList', metadata: {}, items: null })])
  assert.deepEqual((await client.resource(pods).list()).items, [])
})

for (const contentType of ['application/yaml', 'text/html'])
  test(`a watch that is answered in ${contentType} rejects: events are read from JSON alone`, async () => {
    const { client } = setup([{ ...watchBytes(added), headers: { 'content-type': contentType } }])
    await assert.rejects(client.resource(pods).watch(), { code: 'ANSWER_UNDECODABLE' })
  })

test('Given a broken watch frame, then an ERROR event.', async () => {
  const { client } = setup([watchBytes(added, '{"type":"ADDED","object":nonsense}\n', added)])
  const events = await all(await client.resource(pods).watch())
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'ERROR'],
  )
  const status = events[1]!.object as {
    code?: number
    message?: string
    details?: { causes?: { reason?: string }[] }
  }
  assert.equal(status.code, 500)
  assert.match(status.message!, /unable to decode an event from the watch stream/)
  assert.deepEqual(
    status.details!.causes!.map(({ reason }) => reason),
    ['UnexpectedServerResponse', 'ClientWatchDecoding'],
  )
})

test('a clean end, half an event at the end and a lost connection all close the watch; only the last two are logged', async () => {
  const ends: [readonly (string | Error)[], string[]][] = [
    [[added], []],
    [[added, '{"type":"MOD'], ['Unexpected EOF during watch stream event decoding']],
    [[added, reset], ['Unable to decode an event from the watch stream']],
  ]
  for (const [pieces, messages] of ends) {
    const { client, logger } = setup([watchBytes(...pieces)])
    assert.equal((await all(await client.resource(pods).watch())).length, 1)
    assert.deepEqual(logger.messages(), messages)
  }
})

test('events within one process pass through as they are, until the signal aborts', async () => {
  const stream = eventStream()
  const { client } = setup([stream.response])
  const controller = new AbortController()
  const iterator = (await client.resource(pods).watch({ signal: controller.signal }))[
    Symbol.asyncIterator
  ]()
  const object = { kind: 'Pod' }
  stream.push({ type: 'ADDED', object })
  assert.equal((await iterator.next()).value?.object, object)
  const pending = iterator.next()
  controller.abort()
  assert.equal((await pending).done, true)
  assert.equal((await iterator.next()).done, true)
})

test('a cancelled wait between retries ends at once with ABORTED', async () => {
  const { client, transport, clock } = setup([
    statusAnswer(429, 'TooManyRequests', '', { 'retry-after': '30' }),
  ])
  const controller = new AbortController()
  const state = outcome(client.resource(pods, 'a').get('x', { signal: controller.signal }))
  await clock.advance(10)
  controller.abort()
  await clock.advance(0)
  assert.equal((state.error as TransportError).code, 'ABORTED')
  assert.equal(transport.requests.length, 1)
})

test('requests wait for the rate limit before the first try and before each retry; watches never', async () => {
  const { client, transport, clock, logger, metrics } = setup(
    [() => (transport.requests.at(-1)!.longRunning ? watchBytes() : jsonAnswer({}))],
    { qps: 1, burst: 2, repeatLast: true },
  )
  for (let i = 0; i < 4; i++) outcome(client.resource(pods, 'a').get('x'))
  for (let i = 0; i < 5; i++) outcome(client.resource(pods, 'a').watch())
  await clock.advance(0)
  assert.equal(transport.requests.filter(({ longRunning }) => longRunning).length, 5)
  assert.equal(transport.requests.filter(({ longRunning }) => !longRunning).length, 2)
  await clock.advance(1000)
  assert.equal(transport.requests.filter(({ longRunning }) => !longRunning).length, 3)
  await clock.advance(1000)
  assert.equal(transport.requests.filter(({ longRunning }) => !longRunning).length, 4)
  const waits = logger.lines.filter(({ message }) => message === 'Waited before sending request')
  assert.deepEqual(
    waits.map(({ verbosity, fields }) => [verbosity, fields['delay'], fields['reason']]),
    [
      [3, '1s', 'client-side throttling, not priority and fairness'],
      [0, '2s', 'client-side throttling, not priority and fairness'],
    ],
  )
  assert.match(
    metrics.expose(),
    /rest_client_rate_limiter_duration_seconds_count\{host="h:6443",verb="GET"\} 4/,
  )
})

test('a watch does not wait for the rate limit between its tries either', async () => {
  const busy = () => statusAnswer(429, 'TooManyRequests', 'busy', { 'retry-after': '1' })
  const answers = [() => jsonAnswer({}), busy, () => watchBytes()]
  const { client, transport, clock } = setup(answers, { qps: 0.001, burst: 1 })
  await client.resource(pods, 'a').get('x')
  outcome(client.resource(pods, 'a').watch())
  await clock.advance(1_000)
  assert.equal(transport.requests.length, 3)
})

test('a retry takes a token of its own', async () => {
  const { client, transport, clock } = setup([reset, jsonAnswer({})], { qps: 0.1, burst: 1 })
  outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(9_999)
  assert.equal(transport.requests.length, 1)
  await clock.advance(1)
  assert.equal(transport.requests.length, 2)
})

test('the request timeout goes into the query and bounds the call with all retries, but not its first wait', async () => {
  const never: Answer = (request) =>
    new Promise((resolve) => {
      request.signal!.addEventListener('abort', () =>
        resolve(new TransportError('ABORTED', 'given up')),
      )
    })
  const { client, transport, clock } = setup([jsonAnswer({}), never], {
    requestTimeoutMs: 5000,
    qps: 1,
    burst: 1,
  })
  await client.resource(pods, 'a').get('x')
  assert.equal(transport.requests[0]!.path, '/api/v1/namespaces/a/pods/x?timeout=5s')
  const state = outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(5_999)
  assert.equal(state.done, false)
  await clock.advance(1)
  assert.equal((state.error as TransportError).code, 'ETIMEDOUT')
  assert.match((state.error as Error).message, /context deadline exceeded/)
})

test('a watch has no timeout of the client', async () => {
  const { client, transport } = setup([watchBytes()], { requestTimeoutMs: 5000 })
  await client.resource(pods).watch()
  assert.equal(transport.requests[0]!.path, '/api/v1/pods?watch=true')
})

test('warnings with code 299 reach the handler, others do not', async () => {
  const seen: string[] = []
  const header =
    '299 - "v1 Endpoints is deprecated", 199 - "other", 299 - "unknown field \\"spec.foo\\""'
  const { client } = setup(
    [jsonAnswer({}, 200, { warning: header }), jsonAnswer({}, 200, { warning: 'nonsense' })],
    {
      onWarning: (text) => seen.push(text),
    },
  )
  await client.resource(pods, 'a').get('x')
  await client.resource(pods, 'a').get('x')
  assert.deepEqual(seen, ['v1 Endpoints is deprecated', 'unknown field "spec.foo"'])
})

test('watches count as requests but not in the duration histogram', async () => {
  const { client, metrics } = setup([watchBytes(), jsonAnswer({ a: 1 })])
  await client.resource(pods).watch()
  await client.resource(pods, 'a').get('x')
  const text = metrics.expose()
  assert.match(text, /rest_client_requests_total\{code="200",host="h:6443",method="GET"\} 2/)
  assert.match(text, /rest_client_request_duration_seconds_count\{host="h:6443",verb="GET"\} 1/)
  assert.match(text, /rest_client_response_size_bytes_sum\{host="h:6443",verb="GET"\} 7/)
})

test('a request without an answer counts with code <error>', async () => {
  const { client, metrics } = setup([new TransportError('ECONNREFUSED', 'x')])
  await assert.rejects(client.resource(pods, 'a').create(pod))
  assert.match(
    metrics.expose(),
    /rest_client_requests_total\{code="<error>",host="h:6443",method="POST"\} 1/,
  )
})

test('an answer of success that is not JSON is an error that says so', async () => {
  const broken = { ...textAnswer('{"kind":'), headers: { 'content-type': 'application/json' } }
  const { client } = setup([broken])
  await assert.rejects(client.resource(pods, 'a').get('x'), { code: 'ANSWER_UNDECODABLE' })
})

test('a page that a proxy answers instead of the server is no object: neither a read nor a write has succeeded', async () => {
  const html = { ...textAnswer('<html>'), headers: { 'content-type': 'text/html' } }
  const blank = { ...textAnswer(''), headers: { 'content-type': 'application/json' } }
  const list = { ...textAnswer('[]'), headers: { 'content-type': 'application/json' } }
  const nothing = { ...textAnswer('null'), headers: {} }
  for (const answer of [html, blank, list, nothing]) {
    const { client } = setup(Array.from({ length: 6 }, () => answer))
    const all = client.resource(pods, 'a')
    const refused = { code: 'ANSWER_UNDECODABLE' }
    await assert.rejects(all.get('x'), refused)
    await assert.rejects(all.list(), refused)
    await assert.rejects(all.create(pod), refused)
    await assert.rejects(all.update(pod), refused)
    await assert.rejects(all.patch('x', { type: 'merge', value: {} }), refused)
  }
  const { client } = setup([html, blank, { ...blank, status: 204 }, textAnswer('ok')])
  const all = client.resource(pods, 'a')
  await assert.rejects(all.create(pod, { unread: true }), { code: 'ANSWER_UNDECODABLE' })
  // What is deleted is gone, however little the answer says; and who asks for a page of text gets it.
  await all.delete('x')
  await all.delete('x')
  assert.equal(await client.raw({ method: 'GET', path: '/healthz' }), 'ok')
})

test('an answer that names no type is read as JSON', async () => {
  const { client } = setup([{ ...textAnswer('{"kind":"Pod"}'), headers: {} }])
  assert.deepEqual(await client.resource(pods, 'a').get('x'), { kind: 'Pod' })
})
