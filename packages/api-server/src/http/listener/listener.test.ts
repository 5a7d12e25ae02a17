import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import { Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { PrometheusRegistry, SystemClock, SystemRandom, VirtualClock } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { AdmissionPlugin } from '../../contracts.ts'
import { createTestServer, turn, until, type TestServer } from '../../testing/test-server.ts'
import { createClusterCertificates } from '../../tls/index.ts'
import type { Listener } from './listener.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const AUTHORIZATION = { authorization: 'Bearer test-token' }

let server: TestServer
let listener: Listener
let session: ClientHttp2Session
// Certificates are judged by real time.
const now = new SystemClock().nowMs()
const certificates = createClusterCertificates({
  clock: new SystemClock(),
  random: new SystemRandom(),
})

const metrics = new PrometheusRegistry()
/** Refuses with what is no status of HTTP/2. */
const oddRefusals: AdmissionPlugin = {
  name: 'odd',
  handles: ({ name }) => name === 'odd',
  validate: () => {
    throw new ApiError(650, 'Odd', 'no')
  },
}

before(async () => {
  server = await createTestServer({
    metrics,
    admission: [oddRefusals],
    clock: new VirtualClock({ settle: turn, startMs: now }),
    clientAuthorityPem: certificates.authority.certificatePem,
    frontProxyAuthorityPem: certificates.frontProxyAuthority.certificatePem,
  })
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  listener = await server.server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  session = connect(`https://127.0.0.1:${listener.port}`, {
    ca: certificates.authority.certificatePem,
  })
})
after(async () => {
  session.destroy()
  await server.server.stop(0)
})

interface Answer {
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

function send(
  path: string,
  headers: Record<string, string | string[]> = {},
  method = 'GET',
  body?: string,
): Promise<Answer> {
  const stream = session.request({ ':path': path, ':method': method, ...AUTHORIZATION, ...headers })
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  let received: IncomingHttpHeaders = {}
  const chunks: Buffer[] = []
  stream.on('response', (head) => (received = head))
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('end', () => resolve({ headers: received, bytes: Buffer.concat(chunks) }))
  stream.on('error', reject)
  stream.end(body)
  return promise
}

function sendHttp1(
  path: string,
  headers: Record<string, string | string[]> = {},
  options: RequestOptions = {},
  body?: string,
): Promise<{ status: number; text: string; version: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    text: string
    version: string
  }>()
  const own = {
    host: '127.0.0.1',
    port: listener.port,
    path,
    headers,
    agent: new Agent(),
    ca: certificates.authority.certificatePem,
  }
  httpsRequest({ ...own, ...options }, (incoming) => {
    let text = ''
    incoming.on('data', (chunk) => (text += chunk))
    incoming.on('end', () =>
      resolve({ status: incoming.statusCode!, text, version: incoming.httpVersion }),
    )
  })
    .on('error', reject)
    .end(body)
  return promise
}

test('one port speaks HTTP/2 and HTTP/1.1', async () => {
  assert.equal((await send('/healthz')).bytes.toString(), 'ok')
  assert.deepEqual(await sendHttp1('/healthz'), { status: 200, text: 'ok', version: '1.1' })
})

test('a request that would switch protocols and has a body is answered for its body', async () => {
  const body = JSON.stringify({ metadata: { name: 'upgraded' } })
  const headers = { ...AUTHORIZATION, connection: 'Upgrade', upgrade: 'h2c' }
  const { status } = await sendHttp1(MAPS, headers, { method: 'POST' }, body)
  assert.equal(status, 201)
})

test('Given a watch by somebody who offers h2c, then it is told of events like any other', async () => {
  const socket = connectTls({
    host: '127.0.0.1',
    port: listener.port,
    ca: certificates.authority.certificatePem,
  })
  socket.write(
    `GET ${MAPS}?watch=true HTTP/1.1\r\nhost: here\r\nauthorization: ${AUTHORIZATION.authorization}\r\n` +
      'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAA\r\n\r\n',
  )
  const body = JSON.stringify({ metadata: { name: 'seen-over-h2c' } })
  let received = ''
  for await (const chunk of socket) {
    if (received === '') await sendHttp1(MAPS, AUTHORIZATION, { method: 'POST' }, body)
    received += String(chunk)
    if (received.includes('seen-over-h2c')) break
  }
  assert.match(received, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(received, /"type":"ADDED".*"seen-over-h2c"/)
})

test('of many requests at once, again and again, each gets its own answer, on either protocol', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `none-${i}`)
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all([
      ...names.map(async (name) => (await sendHttp1(`${MAPS}/${name}`, AUTHORIZATION)).text),
      ...names.map(async (name) => (await send(`${MAPS}/${name}`)).bytes.toString()),
    ])
    assert.deepEqual(
      answers.map((text) => JSON.parse(text).details.name),
      [...names, ...names],
    )
  }
})

test('requests sent one behind the other without waiting are answered in their order', async () => {
  const socket = connectTls({
    host: '127.0.0.1',
    port: listener.port,
    ca: certificates.authority.certificatePem,
  })
  const names = Array.from({ length: 30 }, (_, i) => `none-${i}`)
  const heads = names.map(
    (name, i) =>
      `GET ${MAPS}/${name} HTTP/1.1\r\nhost: here\r\nauthorization: ${AUTHORIZATION.authorization}\r\n` +
      (i === names.length - 1 ? 'connection: close\r\n\r\n' : '\r\n'),
  )
  socket.write(heads.join(''))
  let received = ''
  for await (const chunk of socket) received += chunk
  const told = [...received.matchAll(/"details":\{"name":"([^"]*)"/g)].map(([, name]) => name)
  assert.deepEqual(told, names)
})

test('Given changes sent one behind the other without waiting, then each is worked on when the one before has been answered', async () => {
  const socket = connectTls({
    host: '127.0.0.1',
    port: listener.port,
    ca: certificates.authority.certificatePem,
  })
  const send1 = (method: string, path: string, body = '', last = false): string =>
    `${method} ${path} HTTP/1.1\r\nhost: here\r\nauthorization: ${AUTHORIZATION.authorization}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n` +
    `${last ? 'connection: close\r\n' : ''}\r\n${body}`
  const names = Array.from({ length: 20 }, (_, i) => `behind-${i}`)
  const requests = names.flatMap((name, i) => [
    send1('POST', MAPS, JSON.stringify({ metadata: { name } })),
    send1('GET', `${MAPS}/${name}`),
    send1('DELETE', `${MAPS}/${name}`, '', i === names.length - 1),
  ])
  socket.write(requests.join(''))
  let received = ''
  for await (const chunk of socket) received += chunk
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  assert.deepEqual(
    statuses,
    names.flatMap(() => ['201', '200', '200']),
  )
})

test('a refusal with a code that is no status of the protocol is an internal error there, and says its code', async () => {
  const body = JSON.stringify({ metadata: { name: 'odd' } })
  const { headers, bytes } = await send(MAPS, {}, 'POST', body)
  assert.equal(headers[':status'], 500)
  assert.equal(JSON.parse(bytes.toString()).code, 650)
})

test('the bytes of what is read are counted, before compression, and those of watches at their end', async () => {
  const sizes = (): Record<string, string> =>
    Object.fromEntries(
      metrics
        .expose()
        .split('\n')
        .filter((line) => /^apiserver_response_sizes_(?:sum|count).*"secrets"/.test(line))
        .map((line) => [
          `${/_(sum|count)/.exec(line)![1]} ${/verb="(\w+)"/.exec(line)![1]}`,
          line.split(' ').at(-1)!,
        ]),
    )
  const secrets = '/api/v1/namespaces/default/secrets'
  const data = { long: 'A'.repeat(200_000) }
  await send(secrets, {}, 'POST', JSON.stringify({ metadata: { name: 's' }, data }))
  const whole = (await send(`${secrets}/s`)).bytes.length
  await send(`${secrets}/s`, { 'accept-encoding': 'gzip' })
  const refused = (await send(`${secrets}/none`)).bytes.length
  const list = (await send(secrets)).bytes.length
  const watched = send(`${secrets}?watch=true&timeoutSeconds=1`)
  await until(async () => /^apiserver_longrunning_requests.*"secrets".* 1$/m.test(metrics.expose()))
  await server.clock.advance(1_000)
  assert.deepEqual(sizes(), {
    'sum GET': String(2 * whole + refused),
    'count GET': '3',
    'sum LIST': String(list),
    'count LIST': '1',
    'sum WATCH': String((await watched).bytes.length),
    'count WATCH': '1',
  })
})

test('what is beyond ASCII arrives as UTF-8 of the length that was told, on either protocol', async () => {
  for (const [name, text] of Object.entries({ ascii: 'plain', latin: 'grüße', wide: '日本 🙂' })) {
    const body = JSON.stringify({ metadata: { name }, data: { text } })
    const { headers, bytes } = await send(
      MAPS,
      { 'content-type': 'application/json' },
      'POST',
      body,
    )
    assert.equal(headers['content-length'], String(bytes.length))
    const read = await sendHttp1(`${MAPS}/${name}`, AUTHORIZATION)
    for (const answered of [bytes.toString(), read.text])
      assert.equal(JSON.parse(answered).data.text, text)
  }
})

test('each Impersonate-Group of a request is a group, on either protocol', async () => {
  const asMember = (groups: string[]): [string, Record<string, string | string[]>] => [
    '/api/v1/namespaces',
    { ...AUTHORIZATION, 'impersonate-user': 'jane', 'impersonate-group': groups },
  ]
  const { headers } = await send(...asMember(['devs', 'system:masters']))
  assert.equal(headers[':status'], 200)
  assert.equal((await sendHttp1(...asMember(['devs', 'system:masters']))).status, 200)
  assert.equal((await sendHttp1(...asMember(['devs, system:masters']))).status, 403)
})

test('a group is named as often as it was sent where nobody is impersonated', async () => {
  const headers = { ...AUTHORIZATION, 'impersonate-group': ['devs', 'ops'] }
  const told = 'Groups:[]string{"devs", "ops"}'
  for (const text of [
    (await send('/api/v1/namespaces', headers)).bytes.toString(),
    (await sendHttp1('/api/v1/namespaces', headers)).text,
  ])
    assert.ok(JSON.parse(text).message.includes(told), text)
})

test('each X-Remote-Group and X-Remote-Extra of a front proxy is one, on either protocol', async () => {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const body = JSON.stringify({})
  const headers = {
    'x-remote-user': ['jane', 'joe'],
    'x-remote-uid': '42',
    'x-remote-group': ['devs', 'ops'],
    'x-remote-extra-team%2fid': ['7', '8, 9'],
  }
  const { certificatePem: cert, privateKeyPem: key } = certificates.frontProxyClient
  const ca = certificates.authority.certificatePem
  const proxy = connect(`https://127.0.0.1:${listener.port}`, { ca, cert, key })
  try {
    const stream = proxy.request({ ':path': path, ':method': 'POST', ...headers })
    stream.end(body)
    const overHttp2 = await textOf(stream)
    const { text } = await sendHttp1(path, headers, { method: 'POST', cert, key }, body)
    for (const answer of [overHttp2, text])
      assert.deepEqual(JSON.parse(answer).status.userInfo, {
        username: 'jane',
        uid: '42',
        groups: ['devs', 'ops', 'system:authenticated'],
        extra: { 'team/id': ['7', '8, 9'] },
      })
  } finally {
    proxy.destroy()
  }
})

test('objects go out compact with one newline, indented for curl and for ?pretty', async () => {
  await server.request('POST', MAPS, { metadata: { name: 'shown' } })
  const compact = (await send(`${MAPS}/shown`)).bytes.toString()
  assert.ok(
    compact.startsWith('{"kind":"ConfigMap","apiVersion":"v1","metadata":{') &&
      compact.endsWith('}\n'),
  )
  for (const [path, agent] of [
    [`${MAPS}/shown`, 'curl/8'],
    [`${MAPS}/shown?pretty=true`, 'x'],
  ] as const) {
    assert.ok(
      (await send(path, { 'user-agent': agent })).bytes
        .toString()
        .startsWith('{\n  "kind": "ConfigMap",\n'),
    )
  }
  assert.equal(
    (await send(`${MAPS}/shown?pretty=false`, { 'user-agent': 'curl/8' })).bytes.toString(),
    compact,
  )
  const refused = async (path: string, agent: string): Promise<string> =>
    (await send(path, { 'user-agent': agent })).bytes.toString()
  assert.ok((await refused(`${MAPS}/nosuch`, 'x')).startsWith('{"kind":"Status",'))
  for (const path of [`${MAPS}/nosuch`, `${MAPS}?labelSelector=!!`])
    assert.ok((await refused(path, 'curl/8')).startsWith('{\n  "kind": "Status",\n'), path)
  assert.ok((await refused(`${MAPS}/nosuch?pretty=1`, 'x')).startsWith('{\n  "kind": "Status",\n'))
})

test('every answer carries Audit-Id, Cache-Control and Date, and echoes a given Audit-Id', async () => {
  const { headers } = await send(MAPS, { 'audit-id': 'mine' })
  assert.equal(headers['audit-id'], 'mine')
  assert.equal(headers['cache-control'], 'no-cache, private')
  assert.ok(headers['date'])
  assert.match(String((await send('/nope')).headers['audit-id']), /^[0-9a-f-]{36}$/)
})

test('items of lists have no kind of their own, pages of any size are whole', async () => {
  for (let i = 0; i < 300; i++)
    await server.request('POST', MAPS, {
      metadata: { name: `big-${i}` },
      data: { text: 'ü'.repeat(1500) },
    })
  const plain = await send(MAPS)
  const list = JSON.parse(plain.bytes.toString())
  assert.ok(list.items.length > 300)
  assert.ok(list.items.every((item: object) => !('kind' in item) && !('apiVersion' in item)))
  assert.equal(Number(plain.headers['content-length']), plain.bytes.length)
  const packed = await send(MAPS, { 'accept-encoding': 'gzip' })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.equal(packed.headers['vary'], 'Accept-Encoding')
  assert.deepEqual(gunzipSync(packed.bytes), plain.bytes)
  assert.equal(
    (await send(`${MAPS}/shown`, { 'accept-encoding': 'gzip' })).headers['content-encoding'],
    undefined,
  )
  for (const weighed of ['gzip;q=1', 'gzip;q=0', 'x-gzip', '*', 'GZIP'])
    assert.equal(
      (await send(MAPS, { 'accept-encoding': weighed })).headers['content-encoding'],
      undefined,
      weighed,
    )
})

test('some documents are compressed for whoever weighs that above nothing, those of OpenAPI 3 for nobody', async () => {
  const codingOf = async (path: string, accepted: string): Promise<unknown> =>
    (await send(path, { 'accept-encoding': accepted })).headers['content-encoding']
  for (const accepted of ['gzip', 'br, gzip;q=0.1'])
    assert.equal(await codingOf('/openapi/v2', accepted), 'gzip', accepted)
  for (const accepted of ['gzip;q=0', 'x-gzip', '*'])
    assert.equal(await codingOf('/openapi/v2', accepted), undefined, accepted)
  assert.equal(await codingOf('/openapi/v3/apis/apps/v1', 'gzip'), undefined)
})

test('a watch answers its headers at once and each event as one line', async () => {
  const stream = session.request({
    ':path': `${MAPS}?watch=true&resourceVersion=${server.server.store.revision}`,
    ...AUTHORIZATION,
  })
  const head = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve))
  assert.deepEqual(
    [head[':status'], head['content-type'], head['content-length']],
    [200, 'application/json', undefined],
  )
  const line = new Promise<string>((resolve) =>
    stream.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  )
  await server.request('POST', MAPS, { metadata: { name: 'watched' } })
  const text = await line
  assert.ok(text.startsWith('{"type":"ADDED","object":{"kind":"ConfigMap"') && text.endsWith('}\n'))
  stream.close()
})

test('a reader that leaves megabytes unread for half a minute is cut off without an error event', async () => {
  const slow = connect(`https://127.0.0.1:${listener.port}`, {
    ca: certificates.authority.certificatePem,
  })
  const stream = slow.request({
    ':path': `${MAPS}?watch=true&resourceVersion=${server.server.store.revision}`,
    ...AUTHORIZATION,
  })
  await new Promise((resolve) => stream.once('response', resolve))
  stream.pause()
  const closed = new Promise((resolve) => stream.once('close', resolve))
  stream.on('error', () => {})
  for (let i = 0; i < 30; i++) {
    await server.request(
      'PATCH',
      `${MAPS}/shown`,
      { data: { text: String(i).padEnd(500_000, 'x') } },
      { 'content-type': 'application/merge-patch+json' },
    )
    await turn()
  }
  await server.clock.advance(29_000)
  assert.equal(stream.closed, false)
  await server.clock.advance(1_000)
  await closed
  slow.destroy()
})

test('a body of more than 3 MiB is refused with 413 and read no further into memory', async () => {
  const { headers, bytes } = await send(
    MAPS,
    {},
    'POST',
    `{"metadata":{"name":"x"},"data":{"a":"${'x'.repeat(4_000_000)}"}}`,
  )
  assert.equal(headers[':status'], 413)
  assert.equal(JSON.parse(bytes.toString()).message, 'Request entity too large: limit is 3145728')
})

test('a Pod of 1.7 MB, then 500 `etcdserver: request is too large`', async () => {
  await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const env = [{ name: 'A', value: 'x'.repeat(1_700_000) }]
  const pod = { metadata: { name: 'huge' }, spec: { containers: [{ name: 'c', image: 'i', env }] } }
  const { headers, bytes } = await send(
    '/api/v1/namespaces/default/pods',
    { 'content-type': 'application/json' },
    'POST',
    JSON.stringify(pod),
  )
  assert.deepEqual(
    [headers[':status'], JSON.parse(bytes.toString()).message],
    [500, 'etcdserver: request is too large'],
  )
})

test('peers that went without a word are found by TCP: each connection is probed after 3 min of silence', async (t) => {
  const kept = t.mock.method(Socket.prototype, 'setKeepAlive')
  const socket = connectTls({ host: '127.0.0.1', port: listener.port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  await until(async () => kept.mock.callCount() > 0)
  assert.deepEqual(
    kept.mock.calls.map((call) => call.arguments),
    [[true, 180_000]],
  )
  socket.destroy()
})

test('a client certificate of the cluster names the user', async () => {
  const { certificatePem: cert, privateKeyPem: key } = certificates.issueClient({
    commonName: 'jane',
    organizations: ['dev'],
  })
  const answer = await sendHttp1('/api/v1/pods', {}, { cert, key })
  assert.equal(answer.status, 403)
  assert.match(JSON.parse(answer.text).message, /User "jane" cannot list resource "pods"/)
})

test('stopping ends watches cleanly and lets requests finish', async () => {
  const own = await createTestServer()
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const other = await own.server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  const client = connect(`https://127.0.0.1:${other.port}`, {
    ca: certificates.authority.certificatePem,
  })
  const stream = client.request({ ':path': `${MAPS}?watch=true`, ...AUTHORIZATION })
  await new Promise((resolve) => stream.once('response', resolve))
  const ended = new Promise((resolve) => stream.once('end', resolve))
  stream.resume()
  await own.server.stop(1000)
  await ended
})
