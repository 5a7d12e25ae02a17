import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { Duplex } from 'node:stream'
import { connect as connectPlain } from 'node:net'
import { after, before, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { SeededRandom, SystemClock, SystemRandom, integerBetween } from '@gyropilot/foundation'
import { createClusterCertificates } from '../../tls/index.ts'
import type { Answer } from '../answer.ts'
import type { ServerRequest } from '../exchange.ts'
import { listen, type Listener } from './listener.ts'

const { serving } = createClusterCertificates({
  clock: new SystemClock(),
  random: new SystemRandom(),
})
const LARGE = Buffer.alloc(8_000_000, 'x')
/** Many chunks that compression does not make smaller. */
const ITEMS = Array.from({ length: 400 }, () =>
  Object.freeze({ text: randomBytes(30_000).toString('latin1') }),
)
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const FRAME = { data: 0, headers: 1, settings: 4, continuation: 9 } as const
const END_STREAM = 1
const END_HEADERS = 4
/** GET, /, https, authority "x". */
const REQUEST_FIELDS = Buffer.from([0x82, 0x84, 0x87, 0x41, 1, 0x78])

let listener: Listener
let streamsLeft = 0
let whenLeft = (): void => {}
/** Says one word and nothing more. */
const SILENT: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]() {
    let isFirst = true
    return {
      next() {
        if (!isFirst) return new Promise(() => {})
        isFirst = false
        return Promise.resolve({ done: false, value: Buffer.from('word') })
      },
      async return() {
        streamsLeft++
        whenLeft()
        return { done: true, value: undefined }
      },
    }
  },
}
async function* broken(): AsyncIterable<Uint8Array> {
  yield Buffer.from('half of it')
  throw new Error('the other half is lost')
}

/** What the answer of a watch calls when its stream is gone. */
let watchesStopped = 0
const watchesOf = new Map<number, () => void>()

/** Told of the next large answer that is begun: aborts when the server has given it up. */
let whenBegun = (_givenUp: AbortSignal): void => {}

/** Longer than the bound of requests here. */
const LATE_MS = 900

async function lateAnswer({ path, unbounded }: ServerRequest): Promise<Answer> {
  if (path === '/passed-on') unbounded?.()
  await new Promise((resolve) => setTimeout(resolve, LATE_MS))
  return { status: 200, body: { kind: 'object', value: { path } } }
}

function answer(request: ServerRequest): Answer | Promise<Answer> {
  const { path, signal } = request
  if (path === '/passed-on' || path === '/late') return lateAnswer(request)
  if (path === '/large') {
    whenBegun(signal!)
    return { status: 200, body: { kind: 'bytes', bytes: LARGE, contentType: 'text/plain' } }
  }
  if (path === '/list')
    return {
      status: 200,
      body: { kind: 'list', head: { kind: 'List' }, items: ITEMS, selfDescribing: true },
    }
  if (path === '/broken')
    return { status: 200, body: { kind: 'stream', chunks: broken(), contentType: 'text/plain' } }
  if (path === '/stream')
    return { status: 200, body: { kind: 'stream', chunks: SILENT, contentType: 'text/plain' } }
  if (path !== '/watch') return { status: 200, body: { kind: 'object', value: { path } } }
  const watch = {
    start: () => () => {
      watchesStopped++
      watchesOf.get(watchesStopped)?.()
    },
  }
  return { status: 200, body: { kind: 'watch', watch, transform: undefined } }
}

before(async () => {
  listener = await listen('127.0.0.1', 0, {
    certificatePem: serving.certificatePem,
    keyPem: serving.privateKeyPem,
    requestClientCertificates: true,
    deadlines: { headersMs: 600, requestMs: 600, idleMs: 200 },
    answer: async (request) => answer(request),
  })
})
after(() => listener.stop(0))

async function open(protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port: listener.port,
    ALPNProtocols: [protocol],
    rejectUnauthorized: false,
  })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const SETTINGS = frame(FRAME.settings, 0, 0, Buffer.alloc(0))

/** Also after an error, which `once` would throw. */
function closed(stream: Duplex): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve))
}

/** What the server sends until it closes the connection. `paused`: nothing is read until the socket is resumed. */
async function untilClosed(socket: TLSSocket, paused = false): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  if (paused) socket.pause()
  if (!socket.closed) await closed(socket)
  return text
}

const MOST_TRIES = 20

/**
 * A well-behaved client on a connection of its own. On a machine so busy that its own handshake outlasts the deadlines above it is
 * cut off as well, and tries again.
 */
async function serves(path = '/ok'): Promise<void> {
  let answer: string | undefined
  for (let tries = 0; answer === undefined && tries < MOST_TRIES; tries++)
    answer = await asked(path).catch(() => undefined)
  assert.equal(answer, `{"path":"${path}"}\n`)
}

async function asked(path: string): Promise<string> {
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  const stream = session.request({ ':path': path })
  let text = ''
  try {
    for await (const chunk of stream) text += String(chunk)
  } finally {
    session.close()
  }
  // A stream that is cancelled ends without an error.
  if (stream.rstCode !== 0) throw new Error(`the stream was cut off with code ${stream.rstCode}`)
  return text
}

test('an answer that may take any time is waited for, and another one is not', async () => {
  await serves('/passed-on')
  await assert.rejects(asked('/late'), /cut off/)
})

test('an answer that breaks off is not taken for whole', async () => {
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  const stream = session.request({ ':path': '/broken' })
  const ended = new Promise((resolve) => {
    stream.once('error', resolve)
    stream.once('close', () => resolve('closed'))
  })
  stream.resume()
  assert.match(String(await ended), /NGHTTP2_INTERNAL_ERROR/)
  session.destroy()
  const socket = await open('http/1.1')
  socket.write('GET /broken HTTP/1.1\r\nhost: x\r\n\r\n')
  const text = await untilClosed(socket)
  assert.ok(!text.endsWith('0\r\n\r\n'), text)
})

test('a connection without a request is closed, of either protocol', async () => {
  await Promise.all([await open('http/1.1'), await open('h2')].map((socket) => untilClosed(socket)))
  await serves()
})

test('a head or body that does not end is answered with 408', async () => {
  const head = await open('http/1.1')
  head.write('GET / HTTP/1.1\r\nhost: x\r\n')
  assert.match(await untilClosed(head), /^HTTP\/1\.1 408 /)
  const body = await open('http/1.1')
  body.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{')
  assert.match(await untilClosed(body), /^HTTP\/1\.1 408 |^$/)
  await serves()
})

test('an HTTP/2 body that does not end loses its stream, and the connection goes on', async () => {
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false })
  const slow = session.request({ ':path': '/', ':method': 'POST' })
  slow.on('error', () => {})
  slow.write('{')
  await closed(slow)
  const next = session.request({ ':path': '/next' })
  let text = ''
  for await (const chunk of next) text += String(chunk)
  assert.equal(text, '{"path":"/next"}\n')
  session.close()
})

/**
 * What arrives of a large answer whose reader stops: read on only when the server has given it up. A busy machine may cut the connection off
 * before its request is seen: then another one asks.
 */
async function unread(protocol: 'h2' | 'http/1.1', request: Uint8Array): Promise<string> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const begun = new Promise<AbortSignal>((resolve) => (whenBegun = resolve))
    const socket = await open(protocol).catch(() => undefined)
    if (socket === undefined) continue
    // HTTP/2 says with its window that it reads no more: the socket itself stays open to what else is said.
    const received = untilClosed(socket, protocol === 'http/1.1')
    socket.write(request)
    const givenUp = await Promise.race([begun, closed(socket)])
    if (givenUp === undefined) continue
    if (!givenUp.aborted) await once(givenUp, 'abort')
    socket.resume()
    return received
  }
  throw new Error('no connection lived long enough')
}

test('an answer that nobody reads is given up, of either protocol', async () => {
  const http1 = Buffer.from('GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.ok((await unread('http/1.1', http1)).length < LARGE.length)
  const path = Buffer.from('/large')
  const fields = Buffer.concat([Buffer.from([0x82, 0x87, 0x41, 1, 0x78, 0x04, path.length]), path])
  const http2 = frame(FRAME.headers, END_STREAM | END_HEADERS, 1, fields)
  // The window is never opened further.
  const received = await unread('h2', Buffer.concat([PREFACE, SETTINGS, http2]))
  assert.ok(received.length < 100_000)
  await serves()
})

test('a peer that answers no ping is given up', async () => {
  const socket = await open('h2')
  socket.write(
    Buffer.concat([
      PREFACE,
      SETTINGS,
      frame(FRAME.headers, END_STREAM | END_HEADERS, 1, REQUEST_FIELDS),
    ]),
  )
  await untilClosed(socket)
})

test('headers beyond the limit are refused in both protocols', async () => {
  const http1 = await open('http/1.1')
  http1.write(`GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(1_100_000)}\r\n\r\n`)
  // Nothing, when the rest of the header met a closed connection.
  assert.match(await untilClosed(http1), /^(HTTP\/1\.1 431 |$)/)
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, {
    rejectUnauthorized: false,
    maxSendHeaderBlockLength: 1_000_000,
  })
  session.on('error', () => {})
  const stream = session.request({ ':path': '/', a: 'x'.repeat(200_000) })
  let status: number | undefined
  stream.on('response', (headers) => (status = headers[':status']))
  stream.on('error', () => {})
  await closed(stream)
  assert.ok(status === undefined || status === 431, `${status}`)
  session.destroy()
  await serves()
})

test('random frames, endless CONTINUATIONs and floods of resets end their own connection at most', async () => {
  const random = new SeededRandom('frames')
  const sockets: TLSSocket[] = []
  for (let i = 0; i < 40; i++) {
    const socket = await open('h2')
    const frames = Array.from({ length: 30 }, () =>
      frame(
        integerBetween(random, 0, 12),
        integerBetween(random, 0, 256),
        integerBetween(random, 0, 9),
        Buffer.from(
          Array.from({ length: integerBetween(random, 0, 40) }, () =>
            integerBetween(random, 0, 256),
          ),
        ),
      ),
    )
    socket.write(Buffer.concat([PREFACE, SETTINGS, ...frames]))
    sockets.push(socket)
  }
  const endless = await open('h2')
  const more = frame(FRAME.continuation, 0, 1, Buffer.alloc(1000, 0x82))
  endless.write(
    Buffer.concat([PREFACE, SETTINGS, frame(FRAME.headers, END_STREAM, 1, REQUEST_FIELDS)]),
  )
  for (let i = 0; i < 500 && !endless.destroyed; i++) endless.write(more)
  sockets.push(endless)
  const flood = await open('h2')
  const resets: Buffer[] = [PREFACE, SETTINGS]
  for (let stream = 1; stream < 6000; stream += 2) {
    resets.push(frame(FRAME.headers, END_STREAM | END_HEADERS, stream, REQUEST_FIELDS))
    resets.push(frame(3, 0, stream, Buffer.from([0, 0, 0, 8])))
  }
  flood.write(Buffer.concat(resets))
  sockets.push(flood)
  await serves()
  await Promise.all(sockets.map((socket) => untilClosed(socket)))
  await serves()
})

test('watches whose connection is cut are stopped', async () => {
  const count = 50
  const before = watchesStopped
  const allStopped = new Promise<void>((resolve) => watchesOf.set(before + count, resolve))
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  await Promise.all(
    Array.from({ length: count }, () => {
      const stream = session.request({ ':path': '/watch' })
      stream.on('error', () => {})
      return once(stream, 'response')
    }),
  )
  session.destroy()
  await allStopped
})

test('a stream is told that its reader has left, also while it is silent, and when nobody wanted its body', async () => {
  for (const method of ['GET', 'HEAD']) {
    const left = new Promise<void>((resolve) => (whenLeft = resolve))
    const session = connectHttp2(`https://127.0.0.1:${listener.port}`, {
      rejectUnauthorized: false,
    })
    const stream = session.request({ ':path': '/stream', ':method': method })
    stream.on('error', () => {})
    await once(stream, 'response')
    if (method === 'GET') session.destroy()
    await left
    session.destroy()
  }
  assert.ok(streamsLeft >= 2)
})

test('a peer that leaves in the middle of a compressed list leaves nothing behind: the server can stop at once', async () => {
  const other = await listen('127.0.0.1', 0, {
    certificatePem: serving.certificatePem,
    keyPem: serving.privateKeyPem,
    requestClientCertificates: false,
    answer: async (request) => answer(request),
  })
  const session = connectHttp2(`https://127.0.0.1:${other.port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  const stream = session.request({ ':path': '/list', 'accept-encoding': 'gzip' })
  stream.on('error', () => {})
  const [head] = await once(stream, 'response')
  assert.equal(head['content-encoding'], 'gzip')
  stream.pause()
  const startMs = performance.now()
  session.destroy()
  await other.stop(20_000)
  assert.ok(performance.now() - startMs < 10_000, 'no request is waited for')
})

/** All that the server sends to who says this without TLS. */
async function answerToPlain(text: string): Promise<string> {
  const socket = connectPlain(listener.port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return answer
}

test('who speaks HTTP without TLS is told so, in the words of Go; other words end their connection', async () => {
  const told = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'
  for (const method of ['GET', 'POST', 'HEAD', 'PUT'])
    assert.equal(await answerToPlain(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`), told, method)
  assert.doesNotMatch(await answerToPlain('hello, is anybody there?\r\n\r\n'), /HTTP/)
})
