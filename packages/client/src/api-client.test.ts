import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from './answers/status-error.ts'
import { all, pod, pods, setup } from './fixtures.ts'
import { eventStream, jsonAnswer, statusAnswer, textAnswer, watchBytes } from './testing/index.ts'
import { TransportError } from './transport.ts'

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

test('the transport is told of a creation whose object is sent again', async () => {
  const { client, transport } = setup([jsonAnswer(pod, 201)], { repeatLast: true })
  await client.resource(pods, 'a').create(pod, { repeated: true })
  await client.resource(pods, 'a').create(pod)
  assert.deepEqual(
    transport.requests.map(({ body }) => body !== undefined && 'json' in body && body.repeated),
    [true, undefined],
  )
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
    [
      [added, new TransportError('ECONNRESET', 'read ECONNRESET')],
      ['Unable to decode an event from the watch stream'],
    ],
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
