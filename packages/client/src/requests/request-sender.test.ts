import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHost } from '@gyropilot/foundation/testing'
import type { ApiClient } from '../api-client.ts'
import { StatusError } from '../answers/status-error.ts'
import { all, outcome, pod, pods, setup } from '../fixtures.ts'
import { jsonAnswer, statusAnswer, watchBytes } from '../testing/index.ts'
import type { Answer } from '../testing/index.ts'
import { TransportError } from '../transport.ts'
import { serverBackoffFrom } from './server-backoff.ts'

const reset = new TransportError('ECONNRESET', 'read ECONNRESET')
const eof = new TransportError('EOF', 'EOF')

test('Given 429 or 503 with `Retry-After: 1` and a POST, then it is sent again after 1 s, up to 10 times.', async () => {
  for (const code of [429, 500, 503]) {
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

test('that back-off is forgotten after a lost connection, and after twice its duration', async () => {
  const backoff = { baseMs: 2_000, mostMs: 6_000 }
  const busy = (seconds: string) => () =>
    statusAnswer(503, 'ServiceUnavailable', 'busy', { 'retry-after': seconds })
  const sentSeconds: number[] = []
  const script = [busy('1'), busy('1'), () => reset, busy('1'), busy('13'), busy('1')]
  const answers = [...script, () => jsonAnswer(pod)].map((answer) => () => {
    sentSeconds.push(clock.monotonicMs() / 1000 - startSeconds)
    return answer()
  })
  const { client, clock } = setup(answers, { backoff })
  const startSeconds = clock.monotonicMs() / 1000
  const state = outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(60_000)
  assert.deepEqual(state.value, pod)
  assert.deepEqual(sentSeconds, [0, 2, 6, 7, 9, 22, 24])
})

test('the body of an answer that is not taken is let go', async () => {
  const seen: string[] = []
  const endless: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        seen.push('let go')
        return { value: undefined, done: true }
      },
    }),
  }
  const refusal = statusAnswer(503, 'ServiceUnavailable', 'busy', { 'retry-after': '1' })
  const { client, clock } = setup([
    { ...refusal, body: { kind: 'bytes', chunks: endless } },
    jsonAnswer(pod),
  ])
  const state = outcome(client.resource(pods, 'a').get('x'))
  await clock.advance(1000)
  assert.deepEqual(seen, ['let go'])
  assert.deepEqual(state.value, pod)
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

const WRITES: [string, (resource: ReturnType<ApiClient['resource']>) => Promise<unknown>][] = [
  ['an update', (resource) => resource.update(pod)],
  ['a patch', (resource) => resource.patch('x', { type: 'merge', value: {} })],
  ['a deletion', (resource) => resource.delete('x')],
  ['the deletion of a collection', (resource) => resource.deleteCollection()],
]
for (const [what, write] of WRITES) {
  test(`${what} whose connection is lost may have been done: it is not sent again`, async () => {
    for (const lost of [reset, eof]) {
      const { client, transport, clock } = setup([lost])
      const state = outcome(write(client.resource(pods, 'a')))
      await clock.advance(60_000)
      assert.equal(state.error, lost)
      assert.equal(transport.requests.length, 1)
    }
  })
}

test('a Status that says Failure is a refusal whatever the code, and so is a code above 206', async () => {
  const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Conflict' }
  for (const answer of [jsonAnswer({ ...failure, code: 409 }), jsonAnswer(pod, 207)]) {
    const { client } = setup([answer])
    await assert.rejects(client.resource(pods, 'a').update(pod), StatusError)
  }
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
  for (const lost of [eof, new TransportError('ETIMEDOUT', 'i/o timeout')]) {
    const { client, transport, clock } = setup([lost], { repeatLast: true })
    const state = outcome(client.resource(pods).watch())
    await clock.advance(9_999)
    assert.equal(state.done, false)
    await clock.advance(1)
    assert.equal(transport.requests.length, 11)
    assert.deepEqual(await all(state.value!), [])
  }
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
