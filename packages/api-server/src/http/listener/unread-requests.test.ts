import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { createTestServer, type TestServer } from '../../testing/test-server.ts'
import { createClusterCertificates } from '../../tls/index.ts'

let server: TestServer
let port: number

before(async () => {
  const { serving } = createClusterCertificates({
    clock: new SystemClock(),
    random: new SystemRandom(),
  })
  server = await createTestServer()
  const { certificatePem, privateKeyPem: keyPem } = serving
  const listener = await server.server.listen({
    host: '127.0.0.1',
    port: 0,
    certificatePem,
    keyPem,
  })
  port = listener.port
})
after(() => server.server.stop(0))

/** What comes back until the connection is closed, which the last request asks for. */
async function sent(text: string): Promise<{ head: string; body: string }> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  socket.write(text, 'latin1')
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  const end = answer.indexOf('\r\n\r\n')
  return { head: answer.slice(0, end), body: answer.slice(end + 4) }
}

const HEAD = 'Host: x\r\nAuthorization: Bearer test-token\r\nConnection: close\r\n\r\n'
const REFUSED: readonly (readonly [what: string, text: string, status: string, body?: string])[] = [
  ['no request', 'hello\r\n\r\n', '400 Bad Request'],
  ['a method that is no token', `G(T /healthz HTTP/1.1\r\n${HEAD}`, '400 Bad Request'],
  ['a name with a space', `GET /healthz HTTP/1.1\r\nX y: z\r\n${HEAD}`, '400 Bad Request'],
  ['a length that is none', `PUT /x HTTP/1.1\r\nContent-Length: x\r\n${HEAD}`, '400 Bad Request'],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', '400 Bad Request: missing required Host header'],
  [
    'an odd host',
    'GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n',
    '400 Bad Request: malformed Host header',
  ],
  [
    'a coding that is not known',
    `PUT /x HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n${HEAD}`,
    '501 Not Implemented',
    'Unsupported transfer encoding',
  ],
  [
    'a head that is too long',
    `GET /healthz HTTP/1.1\r\nX: ${'x'.repeat(1_052_700)}\r\n${HEAD}`,
    '431 Request Header Fields Too Large',
  ],
]

for (const [what, text, status, body = status] of REFUSED) {
  test(`${what} is refused in words`, async () => {
    const answer = await sent(text)
    assert.equal(answer.head.split('\r\n')[0], `HTTP/1.1 ${status}`)
    assert.match(answer.head, /content-type: text\/plain; charset=utf-8/i)
    assert.equal(answer.body, body)
  })
}

test('a method that nobody knows is answered as any other that is not taken', async () => {
  const health = await sent(`FOO /healthz HTTP/1.1\r\n${HEAD}`)
  assert.match(health.head, /^HTTP\/1\.1 200 OK/)
  assert.equal(health.body, 'ok')
  const list = await sent(`get /api/v1/namespaces HTTP/1.1\r\n${HEAD}`)
  assert.match(list.head, /^HTTP\/1\.1 405 Method Not Allowed/)
  assert.equal(JSON.parse(list.body).reason, 'MethodNotAllowed')
  const path = '/api/v1/namespaces/default/pods'
  const stranger = await sent(`FOO ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer no\r\n\r\n`)
  assert.match(stranger.head, /^HTTP\/1\.1 401 Unauthorized/)
})

test('what cannot be read behind a request waits for its answer, and is told of once', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const first = `DELETE ${path}/none HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n\r\n`
  // A body without a length is the beginning of the next request, whose method it then seems to be.
  const unframed = await sent(`${first}{"kind":"DeleteOptions"}GET ${path} HTTP/1.1\r\n${HEAD}`)
  assert.match(unframed.head, /^HTTP\/1\.1 404 Not Found/)
  assert.match(unframed.body, /"reason":"NotFound".*\}\nHTTP\/1\.1 400 Bad Request\r\n/s)

  const unknown = await sent(`${first}FOO /healthz HTTP/1.1\r\n${HEAD}`)
  assert.match(unknown.head, /^HTTP\/1\.1 404 Not Found/)
  assert.match(unknown.body, /\}\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nok$/s)

  const name = `once-${port}`
  const created = `{"metadata":{"name":"${name}"}}`
  const twice = await sent(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\nContent-Length: ${created.length}\r\n\r\n${created}\r\nFOO /healthz HTTP/1.1\r\n${HEAD}`,
  )
  assert.match(twice.head, /^HTTP\/1\.1 201 Created/)
  assert.match(twice.body, /\}\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nok$/s)
  // The last byte of a body and a word that is no method make one that is.
  const joined = await sent(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\nContent-Length: 1\r\n\r\nDELETE ${path}/${name} HTTP/1.1\r\n${HEAD}`,
  )
  assert.match(joined.body, /\}\nHTTP\/1\.1 400 Bad Request\r\n/)

  const tunnel = await sent(`${first}CONNECT /healthz HTTP/1.1\r\n${HEAD}`)
  assert.match(tunnel.body, /\}\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nok$/s)

  const switched = await sent(
    `${first}GET /healthz HTTP/1.1\r\nUpgrade: x\r\nHost: x\r\nConnection: Upgrade\r\n\r\n`,
  )
  assert.match(switched.body, /\}\nHTTP\/1\.1 200 OK\r\n.*\r\n\r\nok$/s)
})

test('more that cannot be read, while the first of it is answered, changes nothing', async () => {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const stranger = 'FOO /api/v1/pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer no\r\n\r\n'
  let answer = ''
  socket.on('data', (chunk) => (answer += String(chunk)))
  // The connection ends before all has been written.
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (let sendings = 0; sendings < 5 && socket.writable; sendings++) {
    socket.write(stranger)
    await new Promise(setImmediate)
  }
  await closed
  assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1)
  assert.match(answer, /^HTTP\/1\.1 401 /)
})

test('CONNECT is a method like others', async () => {
  assert.equal((await sent(`CONNECT /healthz HTTP/1.1\r\n${HEAD}`)).body, 'ok')
  assert.match((await sent(`CONNECT x:443 HTTP/1.1\r\n${HEAD}`)).head, /^HTTP\/1\.1 404 /)
})

test('a target may name the server too', async () => {
  assert.equal((await sent(`GET https://example.com/healthz HTTP/1.1\r\n${HEAD}`)).body, 'ok')
})

test('heads may be long: labels to select by stand in them', async () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `X-${index}: 1\r\n`).join('')
  assert.equal((await sent(`GET /healthz HTTP/1.1\r\n${lines}${HEAD}`)).body, 'ok')
  const query = 'x'.repeat(900_000)
  assert.equal((await sent(`GET /healthz?${query} HTTP/1.1\r\n${HEAD}`)).body, 'ok')

  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    maxSendHeaderBlockLength: 1_000_000,
  })
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, '1']))
  const stream = session.request({ ':path': `/healthz?${'x'.repeat(60_000)}`, ...many })
  const [head] = (await once(stream, 'response')) as [Record<string, number>]
  assert.equal(head[':status'], 200)
  session.destroy()
})
