import assert from 'node:assert/strict'
import type { Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { SystemClock } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { decodeWatch } from '../watches/decoded-events.ts'
import { TransportError } from '../transport.ts'
import type { TransportRequest, TransportResponse } from '../transport.ts'
import { HttpTransport } from './http-transport.ts'
import type { HttpTransportOptions } from './http-transport.ts'
import { LoopbackServer } from './loopback-server.ts'
import * as certificates from './test-certificates.ts'

const cleanups: (() => Promise<void>)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function serve(...args: Parameters<typeof LoopbackServer.start>): Promise<LoopbackServer> {
  const server = await LoopbackServer.start(...args)
  cleanups.push(() => server.stop())
  return server
}

function transportTo(
  server: Pick<LoopbackServer, 'url'>,
  options: Partial<HttpTransportOptions> = {},
): HttpTransport {
  const transport = new HttpTransport({
    server: server.url,
    clock: new SystemClock(),
    tls: { ca: certificates.authority },
    ...options,
  })
  cleanups.push(() => transport.close())
  return transport
}

function get(path: string, rest: Partial<TransportRequest> = {}): TransportRequest {
  return { method: 'GET', path, headers: {}, ...rest }
}

async function textOf(response: TransportResponse): Promise<string> {
  assert.equal(response.body.kind, 'bytes')
  const pieces: Uint8Array[] = []
  if (response.body.kind === 'bytes')
    for await (const chunk of response.body.chunks) pieces.push(chunk)
  return Buffer.concat(pieces).toString()
}

function chunksOf(response: TransportResponse): AsyncIterable<Uint8Array> {
  assert.equal(response.body.kind, 'bytes')
  return (response.body as { chunks: AsyncIterable<Uint8Array> }).chunks
}

const isTransportError =
  (code: string) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof TransportError, String(error))
    assert.equal(error.code, code, error.message)
    return true
  }

/** A promise and its switch, for events of the server. */
function signalled<T = void>(): { promise: Promise<T>; resolve(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { promise, resolve }
}

test('sends method, path with prefix, headers and JSON body, and gives back status, headers and bytes', async () => {
  const server = await serve((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      response.writeHead(201, {
        'content-type': 'application/json',
        'x-method': request.method,
        'x-path': request.url,
      })
      response.end(Buffer.concat(pieces))
    })
  })
  const transport = transportTo(server, { server: `${server.url}/prefix/` })
  const response = await transport.send({
    method: 'POST',
    path: '/api/v1/namespaces?x=1',
    headers: { 'content-type': 'application/json' },
    body: { json: { kind: 'Namespace', ü: '日本' } },
  })
  assert.equal(response.status, 201)
  assert.equal(response.headers['x-method'], 'POST')
  assert.equal(response.headers['x-path'], '/prefix/api/v1/namespaces?x=1')
  assert.equal(await textOf(response), '{"kind":"Namespace","ü":"日本"}')
  assert.equal(response.sentBytes, Buffer.byteLength('{"kind":"Namespace","ü":"日本"}'))
})

test('sixty watches, lists and writes share one connection, and giving up one watch ends only that one', async () => {
  const watches = new Map<string, Http2ServerResponse>()
  const closed = signalled<string>()
  const server = await serve((request, response) => {
    if (request.url.startsWith('/watch/')) {
      watches.set(request.url, response)
      request.stream.on('close', () => closed.resolve(request.url))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"type":"ADDED","object":{"kind":"Pod"}}\n')
      return
    }
    response.end('{}')
  })
  const transport = transportTo(server)
  const giveUp = new AbortController()
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      transport.send(
        get(`/watch/${i}`, { longRunning: true, ...(i === 7 ? { signal: giveUp.signal } : {}) }),
      ),
    ),
  )
  const streams = responses.map((response) =>
    decodeWatch(chunksOf(response))[Symbol.asyncIterator](),
  )
  for (const stream of streams) assert.equal((await stream.next()).value?.type, 'ADDED')
  for (let i = 0; i < 20; i++) await textOf(await transport.send(get('/list')))
  assert.equal(server.accepted, 1)

  const pending = streams[7]!.next()
  giveUp.abort()
  await assert.rejects(pending, isTransportError('ABORTED'))
  assert.equal(await closed.promise, '/watch/7')
  watches.get('/watch/8')!.write('{"type":"MODIFIED","object":{"kind":"Pod"}}\n')
  assert.equal((await streams[8]!.next()).value?.type, 'MODIFIED')
  assert.equal(server.accepted, 1)
})

test('a watch that nobody reads does not hold up others on the same connection', async () => {
  const megabyte = Buffer.alloc(1 << 20, 0x20)
  const server = await serve((request, response) => {
    response.writeHead(200)
    if (request.url === '/flood') for (let i = 0; i < 16; i++) response.write(megabyte)
    else response.end('quick')
  })
  const transport = transportTo(server)
  await Promise.all([0, 1, 2].map(() => transport.send(get('/flood', { longRunning: true }))))
  assert.equal(await textOf(await transport.send(get('/quick'))), 'quick')
  assert.equal(server.accepted, 1)
})

test('opens another connection when the server allows no more streams on the first', async () => {
  const server = await serve(
    (_, response) => {
      response.writeHead(200)
      response.write(' ')
    },
    { maxConcurrentStreams: 2 },
  )
  const transport = transportTo(server)
  const open: TransportResponse[] = []
  for (let i = 0; i < 5; i++) open.push(await transport.send(get(`/${i}`, { longRunning: true })))
  assert.equal(open.length, 5)
  assert.equal(server.accepted, 3)
})

test('a connection reset in the middle of an event is an error, not a clean end', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200)
    response.write('{"type":"ADDED","object":{}}\n{"type":"MODI')
  })
  const transport = transportTo(server)
  const events = decodeWatch(chunksOf(await transport.send(get('/w', { longRunning: true }))))
  assert.equal((await events.next()).value?.type, 'ADDED')
  const next = events.next()
  server.resetConnections()
  await assert.rejects(next, (error) => error instanceof TransportError)
})

test('a connection closed without a word in the middle of a body is an error, not a clean end', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200)
    response.write('half')
  })
  const transport = transportTo(server)
  const chunks = chunksOf(await transport.send(get('/w', { longRunning: true })))[
    Symbol.asyncIterator
  ]()
  assert.equal(Buffer.from((await chunks.next()).value).toString(), 'half')
  const next = chunks.next()
  for (const socket of server.sockets) socket.destroy()
  await assert.rejects(next, (error) => error instanceof TransportError)
})

test('the server ending a watch is a clean end', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200)
    response.end('{"type":"BOOKMARK","object":{}}\n')
  })
  const events = decodeWatch(
    chunksOf(await transportTo(server).send(get('/w', { longRunning: true }))),
  )
  assert.equal((await events.next()).value?.type, 'BOOKMARK')
  assert.equal((await events.next()).done, true)
})

test('a stream that the server breaks off is an error of that stream only', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/ok') return void response.end('ok')
    response.writeHead(200)
    response.write('x', () => response.stream.close(2))
  })
  const transport = transportTo(server)
  await assert.rejects(
    textOf(await transport.send(get('/broken'))),
    isTransportError('HTTP2_STREAM_ERROR'),
  )
  assert.equal(await textOf(await transport.send(get('/ok'))), 'ok')
  assert.equal(server.accepted, 1)
})

test('connects again after the server has restarted', async () => {
  const first = await LoopbackServer.start((_, response) => void response.end('first'))
  const transport = transportTo(first)
  assert.equal(await textOf(await transport.send(get('/'))), 'first')
  const { port } = first
  await first.stop()
  await assert.rejects(transport.send(get('/')), (error) => error instanceof TransportError)
  await assert.rejects(transport.send(get('/')), isTransportError('ECONNREFUSED'))
  await serve((_, response) => void response.end('second'), { port })
  assert.equal(await textOf(await transport.send(get('/'))), 'second')
})

test('after GOAWAY running streams finish and new requests go to a new connection', async () => {
  const watching = signalled<Http2ServerResponse>()
  const server = await serve((request, response) => {
    if (request.url === '/quick') return void response.end('quick')
    response.writeHead(200)
    response.write('first ')
    watching.resolve(response)
  })
  const transport = transportTo(server)
  const chunks = chunksOf(await transport.send(get('/watch', { longRunning: true })))[
    Symbol.asyncIterator
  ]()
  assert.equal(Buffer.from((await chunks.next()).value).toString(), 'first ')
  const [session] = server.sessions
  session!.goaway(0)
  const watch = await watching.promise
  watch.write('second')
  assert.equal(Buffer.from((await chunks.next()).value).toString(), 'second')
  assert.equal(await textOf(await transport.send(get('/quick'))), 'quick')
  assert.equal(server.accepted, 2)
  watch.end()
  assert.equal((await chunks.next()).done, true)
})

test('a request that the server refused unseen is sent again, also a POST', async () => {
  let tries = 0
  const server = await serve((request, response) => {
    if (tries++ === 0) request.stream.close(7)
    else response.end('done')
  })
  const response = await transportTo(server).send({
    method: 'POST',
    path: '/',
    headers: {},
    body: { json: {} },
  })
  assert.equal(await textOf(response), 'done')
  assert.equal(tries, 2)
})

test('a connection that does not answer PING is given up after 30 s of silence and 15 s', async () => {
  const clock = virtualClock()
  const asked = signalled()
  // Silent from its SETTINGS on, as a machine that lost power: it answers nothing and closes nothing.
  const identity = { cert: certificates.serverCertificate, key: certificates.serverKey }
  const server = createTlsServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {})
    socket.write(Buffer.from('000000040000000000', 'hex'))
    socket.on('data', (chunk) => chunk.includes('/hangs') && asked.resolve())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  cleanups.push(async () => void server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = transportTo({ url }, { clock })
  const pending = transport.send(get('/hangs')).then(
    () => undefined,
    (error: unknown) => error,
  )
  await asked.promise
  let settled = false
  void pending.then(() => (settled = true))
  await clock.advance(44_000)
  assert.equal(settled, false)
  await clock.advance(1_001)
  const error = await pending
  isTransportError('HTTP2_CONNECTION_LOST')(error)
  assert.match(String(error), /client connection lost/)
})

const UNUSABLE: readonly [string, string][] = [
  ['says GOAWAY with its SETTINGS', '000000040000000000 000008070000000000 0000000000000000'],
  ['allows no streams', '000006040000000000 000300000000'],
]
for (const [what, hex] of UNUSABLE) {
  test(`a server that ${what} is not dialled without end, and its connections are not kept`, async () => {
    const identity = { cert: certificates.serverCertificate, key: certificates.serverKey }
    const sockets: TLSSocket[] = []
    const server = createTlsServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => {})
      // After so many the test has failed, and must end all the same.
      if (sockets.push(socket) > 20) server.close()
      socket.write(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    cleanups.push(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const transport = transportTo({ url })
    await assert.rejects(transport.send(get('/')), {
      code: 'HTTP2_CONNECTION_LOST',
      notProcessed: true,
      message: `GET ${url}/: connection to ${new URL(url).host}: closed before a request was taken`,
    })
    assert.equal(sockets.length, 4)
    assert.equal(transport.connectionCount, 0)
  })
}

test('a silent but living connection survives PING after PING', async () => {
  const clock = virtualClock()
  const answer = signalled<Http2ServerResponse>()
  const server = await serve((_, response) => answer.resolve(response))
  const transport = transportTo(server, { clock })
  const pending = transport.send(get('/slow'))
  const response = await answer.promise
  const [session] = server.sessions
  for (let i = 0; i < 3; i++) {
    const pinged = new Promise((resolve) => session!.once('ping', resolve))
    await clock.advance(30_000)
    await pinged
    // The acknowledgement travels back before the answer to a request sent after it.
    await textOf(await respondQuickly(transport))
  }
  response.end('late')
  assert.equal(await textOf(await pending), 'late')
  assert.equal(server.accepted, 1)

  async function respondQuickly(via: HttpTransport): Promise<TransportResponse> {
    const { promise, resolve } = signalled<Http2ServerResponse>()
    session!.once('stream', (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('quick')
      resolve(undefined as never)
    })
    const sent = via.send(get('/quick'))
    await promise
    return sent
  }
})

test('giving up before the answer closes the stream and rejects with ABORTED', async () => {
  const closed = signalled()
  const asked = signalled()
  const server = await serve((request) => {
    request.stream.on('close', () => closed.resolve())
    asked.resolve()
  })
  const controller = new AbortController()
  const pending = transportTo(server).send(get('/', { signal: controller.signal }))
  await asked.promise
  controller.abort(new Error('enough'))
  await assert.rejects(pending, isTransportError('ABORTED'))
  await closed.promise
})

test('falls back to HTTP/1.1 where HTTP/2 is not offered, and keeps connections', async () => {
  const server = await serve(
    (request, response) => {
      if (request.url === '/half') {
        response.writeHead(200, { 'content-length': '10' })
        response.write('half', () => setImmediate(() => request.socket.destroy()))
        return
      }
      response.end(`${request.httpVersion} ${request.method}`)
    },
    { http1: true },
  )
  const transport = transportTo(server)
  assert.equal(await textOf(await transport.send(get('/'))), '1.1 GET')
  assert.equal(
    await textOf(await transport.send({ ...get('/'), method: 'PUT', body: { json: 1 } })),
    '1.1 PUT',
  )
  assert.equal(server.accepted, 1)
  await assert.rejects(
    textOf(await transport.send(get('/half'))),
    (error) => error instanceof TransportError,
  )
  assert.equal(await textOf(await transport.send(get('/'))), '1.1 GET')
})

test('shows the client certificate, checks the server by authority and name, or not at all when told so', async () => {
  const server = await serve(
    (request, response) => {
      const peer = (request.socket as TLSSocket).getPeerCertificate()
      response.end(String(peer.subject?.CN))
    },
    { requestCert: true },
  )
  const alice = { cert: certificates.aliceCertificate, key: certificates.aliceKey }
  const withCert = transportTo(server, { tls: { ca: certificates.authority, ...alice } })
  assert.equal(await textOf(await withCert.send(get('/'))), 'alice')
  const named = transportTo(server, {
    tls: { ca: certificates.authority, serverName: 'kubernetes.default.svc' },
  })
  assert.equal((await named.send(get('/'))).status, 200)
  const misnamed = transportTo(server, {
    tls: { ca: certificates.authority, serverName: 'elsewhere' },
  })
  await assert.rejects(misnamed.send(get('/')), isTransportError('ERR_TLS_CERT_ALTNAME_INVALID'))
  const distrusting = transportTo(server, { tls: { ca: certificates.otherAuthority } })
  await assert.rejects(distrusting.send(get('/')), (error) => error instanceof TransportError)
  const pinned = transportTo(server, { tls: { ca: certificates.serverCertificate } })
  assert.equal((await pinned.send(get('/'))).status, 200, 'the certificate itself, as Go takes it')
  const pinnedElsewhere = transportTo(server, {
    tls: { ca: certificates.serverCertificate, serverName: 'elsewhere' },
  })
  await assert.rejects(
    pinnedElsewhere.send(get('/')),
    isTransportError('ERR_TLS_CERT_ALTNAME_INVALID'),
  )
  const careless = transportTo(server, { tls: { insecure: true } })
  assert.equal((await careless.send(get('/'))).status, 200)
})

test('Given a rotated client certificate, then new connections use it', async () => {
  const clock = virtualClock()
  const server = await serve(
    (request, response) => {
      const peer = (request.stream.session!.socket as TLSSocket).getPeerCertificate()
      response.end(String(peer.subject?.CN))
    },
    { requestCert: true },
  )
  let material = {
    ca: certificates.authority,
    cert: certificates.aliceCertificate,
    key: certificates.aliceKey,
  }
  const transport = transportTo(server, { clock, tls: { load: async () => material } })
  assert.equal(await textOf(await transport.send(get('/'))), 'alice')
  material = {
    ca: certificates.authority,
    cert: certificates.bobCertificate,
    key: certificates.bobKey,
  }
  await clock.advance(299_000)
  assert.equal(await textOf(await transport.send(get('/'))), 'alice')
  await clock.advance(1_000)
  // The first request after five minutes finds the change; it may itself have gone out on the old connection.
  await transport.send(get('/')).then(textOf, () => '')
  assert.equal(await textOf(await transport.send(get('/'))), 'bob')
  assert.equal(server.accepted, 2)
})

test('decodes gzip, and does not ask for it when compression is disabled', async () => {
  const server = await serve((request, response) => {
    if (request.headers['accept-encoding'] !== 'gzip') return void response.end('plain')
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(gzipSync('x'.repeat(200_000)))
  })
  assert.equal((await textOf(await transportTo(server).send(get('/')))).length, 200_000)
  assert.equal(
    await textOf(await transportTo(server, { disableCompression: true }).send(get('/'))),
    'plain',
  )
  const watch = transportTo(server).send(get('/', { longRunning: true }))
  assert.equal(await textOf(await watch), 'plain', 'events must not wait in a compressor')
})

test('a closed transport refuses requests', async () => {
  const server = await serve((_, response) => void response.end())
  const transport = transportTo(server)
  await textOf(await transport.send(get('/')))
  await transport.close()
  await assert.rejects(transport.send(get('/')), isTransportError('CLOSED'))
})
