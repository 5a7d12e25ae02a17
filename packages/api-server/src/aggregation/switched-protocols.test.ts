/** Requests that ask the server behind an APIService to speak another protocol, over a real connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, test } from 'node:test'
import { until } from '../testing/test-server.ts'
import {
  GROUP_VERSION,
  available,
  backend,
  certificates,
  withBackend,
  world,
} from '../testing/backend-server.ts'

const PATH = `${GROUP_VERSION}/namespaces/a/loads/x/console?tty=true`

withBackend()

let port = 0
beforeEach(async () => {
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const listener = await world.server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  port = listener.port
  await available()
})
afterEach(() => world.server.stop(0))

function ask(protocol: string, headers: object = {}, method = 'GET') {
  return request({
    host: '127.0.0.1',
    port,
    path: PATH,
    method,
    rejectUnauthorized: false,
    headers: {
      authorization: 'Bearer admin-token',
      connection: 'Upgrade',
      upgrade: protocol,
      ...headers,
    },
  }).end()
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += chunk.toString()
  return text
}

for (const [protocol, method] of [
  ['websocket', 'GET'],
  ['SPDY/3.1', 'POST'],
] as const)
  test(`${protocol}: what each side says reaches the other, until one ends`, async () => {
    let seen: IncomingMessage | undefined
    const left = Promise.withResolvers<void>()
    backend.switchTo = (asked, socket) => {
      seen = asked
      socket.on('close', () => left.resolve())
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\nX-Own: 1\r\n\r\nhello',
      )
      socket.on('data', (data: Buffer) => socket.write(data.toString().toUpperCase()))
    }
    const sent = ask(protocol, { 'x-stream-protocol-version': 'v4' }, method)
    const [answer, socket, head] = (await once(sent, 'upgrade')) as [
      IncomingMessage,
      Duplex,
      Buffer,
    ]
    assert.deepEqual([answer.statusCode, answer.headers['x-own']], [101, '1'])
    let heard = head.toString()
    socket.on('data', (data: Buffer) => (heard += data.toString()))
    socket.write('one')
    await until(async () => heard === 'helloONE')
    socket.end()
    await left.promise
    const { headers, url } = seen!
    assert.deepEqual([seen!.method, url], [method, PATH])
    assert.deepEqual(
      [headers.upgrade, headers['x-remote-user'], headers['x-stream-protocol-version']],
      [protocol, 'admin', 'v4'],
    )
    assert.equal(headers.authorization, undefined)
  })

test('when the other server ends, what it said last is heard', async () => {
  backend.switchTo = (_, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nbye')
  const sent = ask('websocket')
  const [, socket, head] = (await once(sent, 'upgrade')) as [IncomingMessage, Duplex, Buffer]
  assert.equal(head.toString() + (await textOf(socket)), 'bye')
})

test('who is refused by the other server gets its answer, and the connection ends', async () => {
  backend.switchTo = (_, socket) =>
    socket.end('HTTP/1.1 403 Forbidden\r\nx-own: 1\r\ncontent-type: text/plain\r\n\r\nnot you')
  const [answer] = (await once(ask('websocket'), 'response')) as [IncomingMessage]
  assert.deepEqual([answer.statusCode, answer.headers['x-own']], [403, '1'])
  assert.equal(answer.headers.connection, 'close')
  assert.equal(await textOf(answer), 'not you')
})

test('who may not ask is refused here', async () => {
  backend.switchTo = () => assert.fail('asked')
  const sent = ask('websocket', { authorization: 'Bearer jane-token' })
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  assert.equal(answer.statusCode, 403)
  assert.match(await textOf(answer), /cannot get resource \\"loads\/console\\"/)
})

test('a server that is not there is told of', async () => {
  backend.reachedAt = 1
  const [answer] = (await once(ask('websocket'), 'response')) as [IncomingMessage]
  const text = 'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused\n'
  assert.deepEqual([answer.statusCode, await textOf(answer)], [503, text])
})

test('an answer that neither switches nor refuses, or none at all, is told of', async () => {
  for (const [sent, told] of [
    ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', 'invalid upgrade response: status code 200'],
    [
      'HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n',
      'invalid upgrade response: status code 302',
    ],
    ['', 'unexpected EOF'],
    ['hello\r\n\r\n', 'malformed HTTP response "hello"'],
  ]) {
    backend.switchTo = (_, socket) => socket.end(sent)
    const [answer] = (await once(ask('websocket'), 'response')) as [IncomingMessage]
    assert.deepEqual([answer.statusCode, await textOf(answer)], [503, `${told}\n`])
  }
})

test('protocols that nobody asked to switch are not switched', async () => {
  backend.respond = (asked) =>
    void asked.socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    )
  const { status, body } = await world.call('GET', PATH)
  assert.deepEqual(
    [status, body],
    [503, 'error trying to reach service: unexpected switch of protocols\n'],
  )
})
