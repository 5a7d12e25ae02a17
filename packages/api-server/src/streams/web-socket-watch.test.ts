/** Watches as browsers read them: with an origin, and a token among the protocols. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { WebSocket } from 'ws'
import { listenOnLoopback, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { until } from '../testing/test-server.ts'
import type { AnyValue } from '../testing/test-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const ORIGIN = { origin: 'https://dashboard.example' }
const ADMINISTRATOR = { ...ORIGIN, authorization: 'Bearer admin-token' }
const inProtocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`

let world: TestServer
let port = 0

before(async () => {
  world = await startServer()
  port = await listenOnLoopback(world)
  await world.call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  await world.call('POST', MAPS, { metadata: { name: 'first' } })
})
after(() => world.server.stop(0))

interface Watched {
  readonly socket: WebSocket
  readonly messages: { readonly data: Buffer; readonly binary: boolean }[]
  readonly closed: Promise<number>
}

async function watch(
  query: string,
  headers: Record<string, string>,
  protocols: string[] = [],
): Promise<Watched> {
  const url = `wss://127.0.0.1:${port}${MAPS}?watch=true&${query}`
  const socket = new WebSocket(url, protocols, { headers, rejectUnauthorized: false })
  const messages: Watched['messages'] = []
  socket.on('message', (data: Buffer, binary) => messages.push({ data, binary }))
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  return { socket, messages, closed }
}

/** The status of a refusal. */
async function refused(headers: Record<string, string>, protocols: string[] = []): Promise<number> {
  const url = `wss://127.0.0.1:${port}${MAPS}?watch=true`
  const socket = new WebSocket(url, protocols, { headers, rejectUnauthorized: false })
  const [, answer] = (await once(socket, 'unexpected-response')) as [AnyValue, AnyValue]
  socket.on('error', () => {})
  socket.terminate()
  return answer.statusCode
}

test('each event is a message of text, and the end of the watch closes normally', async () => {
  const { messages, closed } = await watch('resourceVersion=0&timeoutSeconds=60', ADMINISTRATOR)
  await until(async () => messages.length === 1)
  await world.call('POST', MAPS, { metadata: { name: 'second' } })
  await until(async () => messages.length === 2)
  assert.deepEqual(
    messages.map(({ data, binary }) => {
      const { type, object } = JSON.parse(data.toString())
      return [binary, type, object.kind, object.metadata.name]
    }),
    [
      [false, 'ADDED', 'ConfigMap', 'first'],
      [false, 'ADDED', 'ConfigMap', 'second'],
    ],
  )
  await world.clock.advance(60_000)
  assert.equal(await closed, 1000)
})

test('a reader that leaves ends its watch', async () => {
  const { socket, messages, closed } = await watch('resourceVersion=0', ADMINISTRATOR)
  await until(async () => messages.length > 0)
  socket.close()
  await closed
  await world.call('POST', MAPS, { metadata: { name: 'unseen' } })
  assert.ok(messages.every(({ data }) => !data.includes('unseen')))
  await world.call('DELETE', `${MAPS}/unseen`)
})

test('events in protobuf are messages of bytes, without the length of their frames', async () => {
  const accept = 'application/vnd.kubernetes.protobuf'
  const { socket, messages } = await watch('resourceVersion=0', { ...ADMINISTRATOR, accept })
  await until(async () => messages.length > 0)
  const [{ data, binary }] = messages as [{ data: Buffer; binary: boolean }]
  assert.ok(binary)
  assert.equal(data.subarray(0, 7).toString(), '\n\u0005ADDED')
  socket.terminate()
})

test('one protocol is agreed to, whatever it is called', async () => {
  const { socket } = await watch('resourceVersion=0', ADMINISTRATOR, ['anything'])
  assert.equal(socket.protocol, 'anything')
  socket.terminate()
  assert.equal(await refused(ADMINISTRATOR, ['one', 'two']), 400)
})

test('who does not say where it comes from is refused', async () => {
  const { authorization } = ADMINISTRATOR
  assert.equal(await refused({ authorization }), 403)
})

test('a token may be offered as a protocol beside another one', async () => {
  const { socket } = await watch('resourceVersion=0', ORIGIN, [
    inProtocol('admin-token'),
    'base64.binary.k8s.io',
  ])
  assert.equal(socket.protocol, 'base64.binary.k8s.io')
  socket.terminate()
  const cases: readonly (readonly [string[], number])[] = [
    [[inProtocol('admin-token')], 401],
    [[inProtocol('nobody'), 'x'], 401],
    [[inProtocol('admin-token'), inProtocol('jane-token'), 'x'], 401],
    [['base64url.bearer.authorization.k8s.io.a+b', 'x'], 401],
    [[inProtocol('jane-token'), 'x'], 403],
  ]
  for (const [protocols, status] of cases)
    assert.equal(await refused(ORIGIN, protocols), status, protocols.join(' '))
})

/** All bytes of the answer to an upgrade by hand; nothing is said after it. */
async function answerTo(headers: readonly string[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  const bytes: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void bytes.push(chunk))
  const target = `${MAPS}?watch=true&resourceVersion=0&timeoutSeconds=60`
  const always = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket']
  const lines = [...always, `Authorization: ${ADMINISTRATOR.authorization}`, ...headers]
  const ended = once(socket, 'end')
  socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  await world.clock.advance(60_000)
  await ended
  return Buffer.concat(bytes).toString('latin1')
}

const KEY = 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg=='
const FROM = `Origin: ${ORIGIN.origin}`

test('what is no handshake of RFC 6455 is refused before the origin is looked at', async () => {
  const keyless = await answerTo(['Sec-WebSocket-Version: 13'])
  assert.match(keyless, /^HTTP\/1.1 400 [^]*\r\n\r\nmismatch challenge\/response$/)
  for (const version of ['8', '13, 8']) {
    const answer = await answerTo([KEY, `Sec-WebSocket-Version: ${version}`])
    assert.match(
      answer,
      /^HTTP\/1.1 400 [^]*Sec-WebSocket-Version: 13\r\n[^]*\r\n\r\nmissing or bad WebSocket Version$/,
    )
  }
  assert.match(await answerTo([KEY, 'Sec-WebSocket-Version: 13', 'Origin: ']), /^HTTP\/1.1 403 /)
})

test('the end of a watch ends its connection, also when the reader says no goodbye', async () => {
  const answer = await answerTo([KEY, FROM, 'Sec-WebSocket-Version: 13'])
  assert.match(answer, /^HTTP\/1.1 101 [^]*"ADDED"/)
  const closeFrame = Buffer.from([0x88, 2, 0x03, 0xe8]).toString('latin1')
  assert.ok(answer.endsWith(closeFrame))
})
