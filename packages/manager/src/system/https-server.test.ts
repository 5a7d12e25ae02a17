import assert from 'node:assert/strict'
import { connect as connectHttp2, constants } from 'node:http2'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect as connectPlain, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { gunzipSync } from 'node:zlib'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { generateKeyPair, issueCertificate, privateKeyPem } from '@gyropilot/foundation/x509'
import type { IncomingRequest } from '../serving/request.ts'
import { startHttpsServer } from './https-server.ts'
import type { HttpsServerOptions } from './https-server.ts'

const HAS_IPV6 = networkInterfaces().lo?.some(({ family }) => family === 'IPv6') === true
/** 2020 to 2050: the handshake goes by the machine's clock. */
const LIFETIME = { notBeforeMs: 1_577_836_800_000, notAfterMs: 2_524_608_000_000 }

function pair(commonName: string, usage: 'server' | 'client') {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName }
  const serialNumber = Uint8Array.from({ length: 16 }, (_, i) => i + 1)
  const request = { subject, publicKey, usage, dnsNames: ['localhost'], serialNumber, ...LIFETIME }
  const certificatePem = issueCertificate(request, { subject, privateKey })
  return { certificatePem, privateKeyPem: privateKeyPem(privateKey) }
}

async function serve(t: TestContext, more: Partial<HttpsServerOptions> = {}) {
  const asked: IncomingRequest[] = []
  const server = await startHttpsServer({
    host: '127.0.0.1',
    port: 0,
    tls: { minVersion: 'TLSv1.2' },
    material: { certificate: pair('first', 'server'), named: [], authoritiesPem: '' },
    allowHttp2: true,
    maxStreams: 0,
    async answer(request) {
      asked.push(request)
      return { status: 200, contentType: 'text/plain', body: await request.body() }
    },
    onFault: (error) => assert.ifError(error),
    ...more,
  })
  t.after(() => server.close())
  return { server, asked }
}

/** One handshake; what the server showed and chose. */
async function handshake(port: number, options: object = {}) {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  const shown = {
    subject: socket.getPeerCertificate().subject.CN,
    version: socket.getProtocol(),
    protocol: socket.alpnProtocol,
  }
  socket.destroy()
  return shown
}

test('over HTTP/2 headers, body and client certificate arrive', async (t) => {
  const { server, asked } = await serve(t)
  const client = pair('alice', 'client')
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, {
    rejectUnauthorized: false,
    cert: client.certificatePem,
    key: client.privateKeyPem,
  })
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'PUT',
    [constants.HTTP2_HEADER_PATH]: '/debug/flags/v?a=1&a=2',
    'x-remote-group': ['dev', 'ops'],
    'x-remote-user': Buffer.from('jörg').toString('latin1'),
  })
  stream.end('4')
  let body = ''
  for await (const piece of stream) body += String(piece)
  session.destroy()
  const [request] = asked
  assert.equal(body, '4')
  assert.equal(request?.method, 'PUT')
  assert.equal(request?.path, '/debug/flags/v')
  assert.deepEqual(request?.query.getAll('a'), ['1', '2'])
  assert.deepEqual(request?.headers['x-remote-group'], ['dev', 'ops'])
  assert.deepEqual(request?.headers['x-remote-user'], ['jörg'])
  assert.equal(request?.peerCertificates[0]?.subject, 'CN=alice')
})

test('headers of an answer are sent beside those that every answer has', async (t) => {
  const { server } = await serve(t, {
    answer: async () => ({
      status: 200,
      contentType: 'text/plain',
      body: '',
      headers: { warning: '299 - "old"' },
    }),
  })
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  const stream = session.request({ [constants.HTTP2_HEADER_PATH]: '/' })
  const [headers] = await once(stream, 'response')
  session.destroy()
  assert.deepEqual(
    [headers.warning, headers['cache-control']],
    ['299 - "old"', 'no-cache, private'],
  )
})

test('a replaced certificate is shown from the next handshake on, and an unusable one changes nothing', async (t) => {
  const { server } = await serve(t)
  assert.equal((await handshake(server.port)).subject, 'first')
  server.replace({ certificate: pair('second', 'server'), named: [], authoritiesPem: '' })
  assert.equal((await handshake(server.port)).subject, 'second')
  const certificate = { certificatePem: 'nothing', privateKeyPem: 'nothing' }
  assert.throws(() => server.replace({ certificate, named: [], authoritiesPem: '' }))
  assert.equal((await handshake(server.port)).subject, 'second')
})

test('a client is shown the certificate of the name it asks for, over HTTP/2 and HTTP/1.1', async (t) => {
  for (const allowHttp2 of [true, false]) {
    const material = {
      certificate: pair('default', 'server'),
      named: [
        { ...pair('own.example', 'server'), names: [] },
        { ...pair('patterns', 'server'), names: ['*.flag.example'] },
      ],
      authoritiesPem: '',
    }
    const { server } = await serve(t, { material, allowHttp2, tls: { minVersion: 'TLSv1.3' } })
    const shown = async (servername: string) =>
      (await handshake(server.port, { servername })).subject
    assert.equal(await shown('own.example'), 'own.example')
    assert.equal(await shown('a.flag.example'), 'patterns')
    assert.equal(await shown('elsewhere.example'), 'default')
    assert.equal((await handshake(server.port)).subject, 'default')
    // The settings count for all of them.
    await assert.rejects(
      handshake(server.port, { servername: 'own.example', maxVersion: 'TLSv1.2' }),
    )
    const named = [{ certificatePem: 'nothing', privateKeyPem: 'nothing', names: ['x.example'] }]
    assert.throws(() => server.replace({ ...material, named }))
    assert.equal(await shown('own.example'), 'own.example')
    server.replace({ ...material, named: [{ ...pair('new', 'server'), names: ['own.example'] }] })
    assert.equal(await shown('own.example'), 'new')
    assert.equal(await shown('a.flag.example'), 'default')
  }
})

test('the TLS settings count: lowest version, and HTTP/2 only when it is allowed', async (t) => {
  const { server } = await serve(t, { tls: { minVersion: 'TLSv1.3' }, allowHttp2: false })
  const shown = await handshake(server.port, { ALPNProtocols: ['h2', 'http/1.1'] })
  assert.equal(shown.version, 'TLSv1.3')
  assert.equal(shown.protocol, 'http/1.1')
  await assert.rejects(handshake(server.port, { maxVersion: 'TLSv1.2' }))
  const other = await serve(t)
  const asking = { ALPNProtocols: ['h2', 'http/1.1'] }
  assert.equal((await handshake(other.server.port, asking)).protocol, 'h2')
})

test('a port that is taken is told', async (t) => {
  const { server } = await serve(t)
  await assert.rejects(serve(t, { port: server.port }), {
    code: 'SERVING_FAILED',
    message: /failed to create listener: failed to listen on 127.0.0.1:\d+/,
  })
})

test('0.0.0.0 and no address at all are those of both families', async (t) => {
  for (const host of ['0.0.0.0', '']) {
    const { server } = await serve(t, { host })
    await handshake(server.port)
    if (HAS_IPV6) await handshake(server.port, { host: '::1' })
  }
})

test('a port that is taken for IPv6 is not served to IPv4 alone', async (t) => {
  const other = createServer().listen({
    port: 0,
    host: HAS_IPV6 ? '::' : '0.0.0.0',
    ipv6Only: HAS_IPV6,
  })
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await assert.rejects(serve(t, { host: '0.0.0.0', port }), {
    message: `failed to create listener: failed to listen on 0.0.0.0:${port}: listen tcp 0.0.0.0:${port}: bind: address already in use`,
  })
})

test('a port that is taken, and an address that is not here, are told as Go does', async (t) => {
  const { server } = await serve(t)
  await assert.rejects(serve(t, { port: server.port }), {
    code: 'SERVING_FAILED',
    message: `failed to create listener: failed to listen on 127.0.0.1:${server.port}: listen tcp 127.0.0.1:${server.port}: bind: address already in use`,
  })
  await assert.rejects(serve(t, { host: '192.0.2.1', port: 1234 }), {
    message:
      'failed to create listener: failed to listen on 192.0.2.1:1234: listen tcp 192.0.2.1:1234: bind: cannot assign requested address',
  })
})

test('what may be compressed is, for those who want it; and only what may be sniffed goes without its guard', async (t) => {
  const { server } = await serve(t, {
    answer: async ({ path }) => ({
      status: 200,
      contentType: 'text/plain',
      body: 'many words '.repeat(100),
      ...(path === '/metrics' ? { sniffable: true, compressible: true } : {}),
    }),
  })
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  t.after(() => session.destroy())
  const ask = async (path: string, encoding: string) => {
    const stream = session.request({ ':path': path, 'accept-encoding': encoding })
    const [headers] = await once(stream, 'response')
    const body = Buffer.concat(await stream.toArray())
    const encoded = headers['content-encoding']
    assert.equal(headers['content-length'], String(body.length))
    const text = encoded === 'gzip' ? gunzipSync(body) : body
    assert.equal(text.toString(), 'many words '.repeat(100))
    return [encoded, headers['x-content-type-options']]
  }
  assert.deepEqual(await ask('/metrics', 'gzip, deflate'), ['gzip', undefined])
  assert.deepEqual(await ask('/metrics', 'identity'), [undefined, undefined])
  assert.deepEqual(await ask('/configz', 'gzip'), [undefined, 'nosniff'])
})

test('an HTTP/2 connection ends after an answer that ends it', async (t) => {
  const { server } = await serve(t, {
    answer: async ({ path }) => ({
      status: 403,
      contentType: 'text/plain',
      body: 'no',
      ...(path === '/unknown' ? { endsConnection: true } : {}),
    }),
  })
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  t.after(() => session.destroy())
  const ask = async (path: string): Promise<string> => {
    const stream = session.request({ ':path': path })
    return Buffer.concat(await stream.toArray()).toString()
  }
  const ended = once(session, 'goaway')
  assert.equal(await ask('/known'), 'no')
  assert.equal(session.closed, false)
  assert.equal(await ask('/unknown'), 'no')
  assert.deepEqual((await ended).slice(0, 1), [0])
})

test('who speaks HTTP without TLS is told so, with HTTP/2 and without', async (t) => {
  for (const allowHttp2 of [true, false]) {
    const { server } = await serve(t, { allowHttp2 })
    const socket = connectPlain(server.port, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'close')
    assert.equal(
      answer,
      'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
    )
  }
})

for (const protocol of ['h2', 'http/1.1'])
  test(`a fault of ours is a 500 to one request, over ${protocol}, and goes into the log`, async (t) => {
    const faults: unknown[] = []
    const { server } = await serve(t, {
      allowHttp2: protocol === 'h2',
      answer: () => Promise.reject(new Error('broken')),
      onFault: (error, asked) => faults.push([(error as Error).message, asked]),
    })
    const { status, body } = await get(server.port, protocol, '/metrics?x')
    assert.deepEqual(
      [status, body],
      [500, 'internal server error: look in the log for what happened\n'],
    )
    assert.deepEqual(faults, [['broken', { method: 'GET', target: '/metrics?x' }]])
  })

for (const protocol of ['h2', 'http/1.1'])
  test(`a client that leaves in the midst of its body ends nothing but its request, over ${protocol}`, async (t) => {
    const left = Promise.withResolvers<unknown>()
    const { server } = await serve(t, {
      allowHttp2: protocol === 'h2',
      async answer(request) {
        const body = await request.body().catch((error: unknown) => {
          left.resolve(error)
          throw error
        })
        return { status: 200, contentType: 'text/plain', body }
      },
    })
    await leaveWithinBody(server.port, protocol)
    assert.match(String(await left.promise), /aborted|premature close/i)
    assert.equal((await get(server.port, protocol, '/')).status, 200)
  })

async function get(port: number, protocol: string, path: string) {
  if (protocol === 'h2') {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const stream = session.request({ [constants.HTTP2_HEADER_PATH]: path })
    const [headers] = await once(stream, 'response')
    let body = ''
    for await (const piece of stream) body += String(piece)
    session.destroy()
    return { status: headers[constants.HTTP2_HEADER_STATUS], body }
  }
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, resolve)
      .on('error', reject)
      .end(),
  )
  let body = ''
  for await (const piece of response) body += String(piece)
  return { status: response.statusCode, body }
}

async function leaveWithinBody(port: number, protocol: string): Promise<void> {
  if (protocol === 'h2') {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const stream = session.request({ [constants.HTTP2_HEADER_METHOD]: 'PUT' })
    stream.on('error', () => {})
    await new Promise((resolve) => stream.write('4', resolve))
    await new Promise((resolve) => session.ping(resolve))
    session.destroy()
    return
  }
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const head = 'PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n4'
  await new Promise((resolve) => socket.write(head, resolve))
  socket.destroy()
}
