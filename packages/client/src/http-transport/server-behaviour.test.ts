/** What API servers, load balancers and proxies do to connections, over real sockets. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { SystemClock, settle } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import type { TransportRequest, TransportResponse } from '../transport.ts'
import { Http1Connections } from './http1-connections.ts'
import { HttpTransport } from './http-transport.ts'
import { LoopbackServer } from './loopback-server.ts'
import * as certificates from './test-certificates.ts'
import type { TlsMaterial } from './tls-source.ts'

const cleanups: (() => Promise<void>)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function serve(...args: Parameters<typeof LoopbackServer.start>): Promise<LoopbackServer> {
  const server = await LoopbackServer.start(...args)
  cleanups.push(() => server.stop())
  return server
}

function transportTo(server: LoopbackServer): HttpTransport {
  const tls = { ca: certificates.authority }
  const transport = new HttpTransport({ server: server.url, clock: new SystemClock(), tls })
  cleanups.push(() => transport.close())
  return transport
}

const request = (path: string, rest: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  path,
  headers: {},
  ...rest,
})

function readerOf(response: TransportResponse): AsyncIterator<Uint8Array> {
  assert.equal(response.body.kind, 'bytes')
  return (response.body as { chunks: AsyncIterable<Uint8Array> }).chunks[Symbol.asyncIterator]()
}

async function textOf(response: TransportResponse): Promise<string> {
  const reader = readerOf(response)
  const pieces: Uint8Array[] = []
  for (let next = await reader.next(); !next.done; next = await reader.next())
    pieces.push(next.value)
  return Buffer.concat(pieces).toString()
}

/** As a watch: answered, and then silent until the end of the test. */
function holdOpen(response: Http2ServerResponse): void {
  response.writeHead(200)
  response.write(' ')
}

for (const limit of [1, 20, 100]) {
  test(`a server that allows ${limit} streams on a connection, and 130 watches, lists and writes at the same moment: all are answered`, async () => {
    const server = await serve(
      (incoming, response) => {
        if (incoming.url.startsWith('/watch')) holdOpen(response)
        else response.end('done')
      },
      { maxConcurrentStreams: limit },
    )
    const transport = transportTo(server)
    const watches = Array.from({ length: limit === 1 ? 6 : 110 }, (_, i) =>
      transport.send(request(`/watch/${i}`, { longRunning: true })),
    )
    const others = Array.from({ length: 10 }, (_, i) => [
      transport.send(request(`/list/${i}`)),
      transport.send(request(`/write/${i}`, { method: 'POST', body: { json: {} } })),
    ]).flat()
    for (const answer of await Promise.all(watches)) assert.equal(answer.status, 200)
    for (const answer of await Promise.all(others)) assert.equal(await textOf(answer), 'done')
    assert.equal(await textOf(await transport.send(request('/list/later'))), 'done')
    assert.ok(server.accepted >= watches.length / limit, `${server.accepted} connections`)
  })
}

test('GOAWAY in the middle of many writes: what the server did not look at is sent again, and nothing twice', async () => {
  const done: string[] = []
  const sessions: ServerHttp2Session[] = []
  const server = await serve((incoming, response) => {
    const session = incoming.stream.session as ServerHttp2Session
    if (!sessions.includes(session)) sessions.push(session)
    if (session === sessions[0]) {
      const nth = (incoming.stream.id! + 1) / 2
      // Streams behind the one that is named were not looked at (RFC 9113, section 6.8).
      if (nth === 8) session.goaway(0, 9)
      if (nth > 5) return
    }
    done.push(incoming.url)
    response.end('done')
  })
  const transport = transportTo(server)
  const paths = Array.from({ length: 10 }, (_, i) => `/write/${i}`)
  const answers = await Promise.all(
    paths.map((path) => transport.send(request(path, { method: 'POST', body: { json: {} } }))),
  )
  for (const answer of answers) assert.equal(await textOf(answer), 'done')
  assert.deepEqual(done.sort(), paths)
  assert.equal(server.accepted, 2)
})

test('a compressed body that nobody reads lets go of its stream', async () => {
  const closed = Promise.withResolvers<void>()
  const body = gzipSync(randomBytes(12 << 20))
  const server = await serve((incoming, response) => {
    incoming.stream.on('close', () => closed.resolve())
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(body)
  })
  const reader = readerOf(await transportTo(server).send(request('/')))
  await reader.return!()
  await closed.promise
})

test('a compressed body that is cut off is an error', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.write(gzipSync(randomBytes(100_000)).subarray(0, 50_000))
    setImmediate(() => server.resetConnections())
  })
  const response = await transportTo(server).send(request('/'))
  await assert.rejects(textOf(response), { name: 'TransportError' })
})

test('a server that refuses the client certificate: the error says so, nothing is retried, and the one that replaces it is used by the next request', async () => {
  let requests = 0
  const server = await serve(
    (_, response) => {
      requests++
      response.end('done')
    },
    { requireCert: true },
  )
  const alice = { cert: certificates.aliceCertificate, key: certificates.aliceKey }
  let identity: Partial<typeof alice> = {}
  const transport = new HttpTransport({
    server: server.url,
    clock: new SystemClock(),
    tls: { load: async () => ({ ca: certificates.authority, ...identity }) },
  })
  cleanups.push(() => transport.close())
  await assert.rejects(transport.send(request('/')), { name: 'TransportError', message: /alert/ })
  assert.equal(server.accepted, 1)
  identity = alice
  assert.equal(await textOf(await transport.send(request('/'))), 'done')
  assert.deepEqual([requests, server.accepted], [1, 2])
})

const ROTATIONS: readonly [string, Partial<TlsMaterial>, boolean][] = [
  [
    'client certificate, which is who we are',
    { cert: certificates.bobCertificate, key: certificates.bobKey },
    false,
  ],
  ['authority, which says whom we trust from now on', { ca: certificates.otherAuthority }, true],
]
for (const [[what, changed, goesOn], http1] of ROTATIONS.flatMap(
  (rotation) =>
    [
      [rotation, false],
      [rotation, true],
    ] as const,
)) {
  test(`a watch that is open when files are rotated ${goesOn ? 'goes on' : 'ends'}: another ${what}; HTTP/${http1 ? 1 : 2}`, async () => {
    const watching = Promise.withResolvers<Http2ServerResponse>()
    const server = await serve(
      (incoming, response) => {
        if (!incoming.url.startsWith('/watch')) return void response.end('done')
        holdOpen(response)
        watching.resolve(response)
      },
      { requestCert: true, http1 },
    )
    let material: TlsMaterial = {
      ca: certificates.authority,
      cert: certificates.aliceCertificate,
      key: certificates.aliceKey,
    }
    const listeners: (() => void)[] = []
    const transport = new HttpTransport({
      server: server.url,
      clock: new SystemClock(),
      tls: {
        load: async () => material,
        onChange: (listener) => void listeners.push(listener),
      },
    })
    cleanups.push(() => transport.close())
    const reader = readerOf(await transport.send(request('/watch', { longRunning: true })))
    await reader.next()
    const watch = await watching.promise
    material = { ...material, ...changed }
    const next = reader.next()
    for (const listener of listeners) listener()
    if (goesOn) {
      watch.write('more')
      assert.equal(Buffer.from((await next).value).toString(), 'more')
      watch.end()
      assert.equal((await reader.next()).done, true)
    } else {
      await assert.rejects(next, { name: 'TransportError' })
    }
  })
}

const alice: TlsMaterial = {
  ca: certificates.authority,
  cert: certificates.aliceCertificate,
  key: certificates.aliceKey,
}
const bob: TlsMaterial = { ...alice, cert: certificates.bobCertificate, key: certificates.bobKey }

/** The name that the client shows. */
function peerOf(incoming: Http2ServerRequest): string {
  return String((incoming.socket as TLSSocket).getPeerCertificate().subject?.CN)
}

for (const http1 of [false, true]) {
  test(`a connection that is being dialled when certificates are rotated is not used; HTTP/${http1 ? 1 : 2}`, async () => {
    const server = await serve((incoming, response) => response.end(peerOf(incoming)), {
      requestCert: true,
      http1,
    })
    let material = alice
    let rotate = (): void => {}
    const transport = new HttpTransport({
      server: server.url,
      clock: new SystemClock(),
      tls: {
        async load() {
          // Behind the read with which the dial goes on, and before the server can have answered.
          if (material === alice) queueMicrotask(() => queueMicrotask(rotate))
          return material
        },
        onChange(listener) {
          rotate = () => {
            material = bob
            listener()
          }
        },
      },
    })
    cleanups.push(() => transport.close())
    assert.equal(await textOf(await transport.send(request('/'))), 'bob')
    assert.equal(transport.connectionCount, 1)
  })
}

test('a rotation that a dial finds ends the watches of older connections', async () => {
  const server = await serve(
    (incoming, response) => {
      if (incoming.url === '/watch') holdOpen(response)
      else response.end(peerOf(incoming))
    },
    { requestCert: true, maxConcurrentStreams: 1 },
  )
  let material = alice
  const transport = new HttpTransport({
    server: server.url,
    clock: new SystemClock(),
    tls: { load: async () => material },
  })
  cleanups.push(() => transport.close())
  const reader = readerOf(await transport.send(request('/watch', { longRunning: true })))
  await reader.next()
  material = bob
  const next = reader.next()
  next.catch(() => {})
  assert.equal(await textOf(await transport.send(request('/'))), 'bob')
  await assert.rejects(next, { name: 'TransportError' })
})

test('a slow read of certificates does not undo a quick one that was begun later', async () => {
  const server = await serve((incoming, response) => response.end(peerOf(incoming)), {
    requestCert: true,
  })
  const slow = Promise.withResolvers<TlsMaterial>()
  const firstRead = Promise.withResolvers<void>()
  let reads = 0
  let changed = (): void => {}
  const transport = new HttpTransport({
    server: server.url,
    clock: new SystemClock(),
    tls: {
      async load() {
        firstRead.resolve()
        return ++reads === 1 ? slow.promise : bob
      },
      onChange: (listener) => (changed = listener),
    },
  })
  cleanups.push(() => transport.close())
  const answer = transport.send(request('/'))
  await firstRead.promise
  changed()
  await settle()
  slow.resolve(alice)
  assert.equal(await textOf(await answer), 'bob')
})

test('a server or load balancer without HTTP/2: watches, lists and writes side by side, each on a connection of its own', async () => {
  const server = await serve(
    (incoming, response) => {
      if (incoming.url.startsWith('/watch')) holdOpen(response)
      else response.end(incoming.httpVersion)
    },
    { http1: true },
  )
  const transport = transportTo(server)
  const watches = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      transport.send(request(`/watch/${i}`, { longRunning: true })),
    ),
  )
  assert.equal(await textOf(await transport.send(request('/list'))), '1.1')
  const write = request('/write', { method: 'POST', body: { json: {} } })
  assert.equal(await textOf(await transport.send(write)), '1.1')
  assert.equal(server.accepted, 61, 'a list and a write, one after the other, share one')
  for (const watch of watches) await readerOf(watch).return!()
})

test('a connection of HTTP/1.1 that is reset while a request is on its way to it: reads are sent again, writes are not', async () => {
  const served = new WeakSet<object>()
  const seen: string[] = []
  const server = await serve(
    (incoming, response) => {
      const { socket } = incoming
      seen.push(incoming.method)
      if (served.has(socket)) return server.resetConnections()
      served.add(socket)
      response.end('done')
    },
    { http1: true },
  )
  const transport = transportTo(server)
  assert.equal(await textOf(await transport.send(request('/'))), 'done')
  assert.equal(await textOf(await transport.send(request('/'))), 'done')
  assert.equal(server.accepted, 2)
  await assert.rejects(transport.send(request('/', { method: 'POST' })), { name: 'TransportError' })
  assert.deepEqual(seen, ['GET', 'GET', 'GET', 'POST'])
})

test('a load balancer that cuts idle connections of HTTP/1.1: the next read and the next write get through', async () => {
  const server = await serve((incoming, response) => void response.end(incoming.method), {
    http1: true,
  })
  const transport = transportTo(server)
  for (const method of ['GET', 'POST', 'GET'] as const) {
    const answer = await transport.send(request('/', { method }))
    assert.equal(await textOf(answer), method)
    const cut = [...server.sockets].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    )
    for (const socket of server.sockets) socket.end()
    await Promise.all(cut)
  }
  assert.equal(server.accepted, 3)
})

test('a connection of HTTP/1.1 that nobody waits for any more may break without harm', async () => {
  const first = new PassThrough()
  const closed = new Promise<void>((resolve) => first.once('close', () => resolve()))
  const unused = new Http1Connections(first, 'h', () => assert.fail('dialled'))
  // Without a listener this error would end the process.
  first.destroy(new Error('reset'))
  await closed
  assert.equal(unused.openExchanges, 0)
})

/** Shakes hands for HTTP/2 and then says nothing; tells when the client has said its part. */
async function silentServer(): Promise<{ url: string; greeted: Promise<void> }> {
  const { promise: greeted, resolve } = Promise.withResolvers<void>()
  const identity = { cert: certificates.serverCertificate, key: certificates.serverKey }
  const server = createTlsServer({ ...identity, ALPNProtocols: ['h2'] }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => resolve())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  cleanups.push(async () => void server.close())
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, greeted }
}

test('a server that never sends its SETTINGS is given up after 10 s', async () => {
  const { url, greeted } = await silentServer()
  const clock = virtualClock()
  const tls = { ca: certificates.authority }
  const transport = new HttpTransport({ server: url, clock, tls })
  cleanups.push(() => transport.close())
  const sent = assert.rejects(transport.send(request('/')), {
    code: 'ETIMEDOUT',
    message: /no SETTINGS in 10s/,
  })
  await greeted
  await clock.advance(10_000)
  await sent
  assert.equal(transport.connectionCount, 0)
})

test('a transport that is closed does not wait for the SETTINGS of a server', async () => {
  const { url, greeted } = await silentServer()
  const tls = { ca: certificates.authority }
  const transport = new HttpTransport({ server: url, clock: virtualClock(), tls })
  const sent = assert.rejects(transport.send(request('/')), /closed by this client/)
  await greeted
  await transport.close()
  await sent
})
