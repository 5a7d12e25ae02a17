/** One HTTP/2 connection beside a server that is played frame by frame: RFC 9113. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { SeededRandom, settle } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { FrameReader } from '../http2/frame-reader.ts'
import { FrameWriter } from '../http2/frame-writer.ts'
import { HpackDecoder } from '../http2/hpack-decoder.ts'
import { HpackEncoder } from '../http2/hpack-encoder.ts'
import { FLAG, FRAME, PREFACE, SETTING } from '../http2/protocol.ts'
import type { TransportError, TransportRequest } from '../transport.ts'
import type { Exchange, WireAnswer } from './connection.ts'
import { Http2Connection } from './http2-connection.ts'

/** The client's end; what it writes is with the server at once. */
class ClientSocket extends EventEmitter {
  written: Buffer[] = []
  isRef = true
  isDestroyed = false
  isBlocked = false
  readonly #ends: (() => void)[] = []

  write(bytes: Buffer, written?: () => void): void {
    this.written.push(Buffer.from(bytes))
    if (written === undefined) return
    this.#ends.push(written)
    setImmediate(() => this.isBlocked || this.unblock())
  }
  unblock(): void {
    for (const end of this.#ends.splice(0)) end()
  }
  cork(): void {}
  uncork(): void {}
  ref(): void {
    this.isRef = true
  }
  unref(): void {
    this.isRef = false
  }
  /** As of a peer that takes no more: what is written is never sent. */
  destroySoon(): void {
    if (!this.isBlocked) this.destroy()
  }
  destroy(): void {
    this.isDestroyed = true
    queueMicrotask(() => this.emit('close'))
  }
}

interface Played {
  readonly connection: Http2Connection
  readonly socket: ClientSocket
  readonly server: FrameWriter
  readonly clock: ReturnType<typeof virtualClock>
  readonly closed: () => number
  /** What the client has sent since the last look: `HEADERS 1 /path end`, `DATA 1 500`, ... */
  seen(): Promise<string[]>
  /** What the server has written goes to the client, in one piece or cut by `cut`. */
  deliver(cut?: (bytes: Buffer) => Buffer[]): Promise<void>
  answer(id: number, fields: Record<string, string>, endsStream: boolean): void
  bytes(hex: string): void
}

const names = Object.fromEntries(Object.entries(FRAME).map(([name, type]) => [type, name]))

async function play(settings: [number, number][] = [], greets = true): Promise<Played> {
  const socket = new ClientSocket()
  const clock = virtualClock()
  let closedCount = 0
  const connection = new Http2Connection(socket as unknown as Socket, new URL('https://h:1'), {
    clock,
    pingAfterIdleMs: 30_000,
    pingTimeoutMs: 15_000,
    onClosed: () => closedCount++,
  })
  const decoder = new HpackDecoder(1 << 20)
  const encoder = new HpackEncoder()
  const out: Buffer[] = []
  const server = new FrameWriter(
    { write: (bytes) => out.push(Buffer.from(bytes)), cork() {}, uncork() {} },
    () => {},
  )
  let lines: string[] = []
  let dataLine = ''
  const reader = new FrameReader(
    {
      onFrame(type, flags, id, bytes, start, end) {
        if (type !== FRAME.headers) {
          const rest = flags & FLAG.ack ? 'ack' : bytes.toString('hex', start, end)
          lines.push(`${names[type]} ${id} ${rest}`)
          return
        }
        let path = ''
        decoder.decode(bytes, start, end, (name, value) => {
          if (name === ':path') path = value
        })
        lines.push(`headers ${id} ${path}${flags & FLAG.endStream ? ' end' : ''}`)
      },
      onDataFrame: (id, length) => (dataLine = `data ${id} ${length}`),
      onDataPiece: () => {},
      onDataEnd: (endsStream) => lines.push(`${dataLine}${endsStream ? ' end' : ''}`),
    },
    60_000,
  )
  let hasPreface = false
  const played: Played = {
    connection,
    socket,
    server,
    clock,
    closed: () => closedCount,
    async seen() {
      await settle()
      let bytes = Buffer.concat(socket.written.splice(0))
      if (!hasPreface) {
        assert.equal(bytes.toString('latin1', 0, PREFACE.length), PREFACE)
        bytes = bytes.subarray(PREFACE.length)
        hasPreface = true
      }
      reader.push(bytes)
      const now = lines
      lines = []
      return now
    },
    async deliver(cut = (bytes) => [bytes]) {
      server.flush()
      for (const piece of cut(Buffer.concat(out.splice(0)))) socket.emit('data', piece)
      await settle()
    },
    answer(id, fields, endsStream) {
      encoder.begin()
      for (const [name, value] of Object.entries(fields)) encoder.add(name, value)
      server.headers(id, encoder.end(), endsStream, 16_384)
    },
    bytes(hex) {
      server.raw(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    },
  }
  if (!greets) return played
  server.settings(settings)
  server.settingsAck()
  await played.deliver()
  await connection.ready()
  await played.seen()
  return played
}

function exchange(path: string, rest: Partial<TransportRequest> = {}, body?: Buffer): Exchange {
  const request: TransportRequest = { method: 'GET', path, headers: {}, ...rest }
  return { request, path, headers: { ...request.headers }, body, what: `GET ${path}` }
}

async function textOf(answer: WireAnswer): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of answer.chunks) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  return promise.then(
    () => assert.fail('resolved'),
    (error) => error,
  )
}

const OK = { ':status': '200' }

test('says its preface and SETTINGS at once, and is ready when those of the server are here', async () => {
  const played = await play([], false)
  assert.deepEqual(await played.seen(), [
    'settings 0 000200000000000400400000000600100000',
    'windowUpdate 0 3fff0001',
  ])
  let isReady = false
  void played.connection.ready().then(() => (isReady = true))
  await settle()
  assert.equal(isReady, false)
  played.server.settings([])
  await played.deliver()
  assert.equal(isReady, true)
  assert.deepEqual(await played.seen(), ['settings 0 ack'])
  assert.equal(played.socket.isRef, false)
})

test('a conversation comes to the same wherever its bytes are cut', async () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const random = new SeededRandom(seed)
    const { connection, server, answer, deliver, seen } = await play()
    const paths = Array.from({ length: 8 }, (_, i) => `/${i}`)
    const answers = Promise.all(
      paths.map(async (path) => textOf(await connection.start(exchange(path)))),
    )
    assert.equal((await seen()).length, 8)
    const bodies = paths.map((_, i) => Buffer.from(String(i).repeat(1 + i * 3000)))
    bodies.forEach((body, i) => {
      answer(1 + 2 * i, { ':status': '100' }, false)
      answer(1 + 2 * i, { ...OK, 'audit-id': `${i}`, 'content-length': `${body.length}` }, false)
    })
    for (let at = 0; at < 24_000; at += 7000)
      bodies.forEach((body, i) => {
        if (at < body.length)
          server.data(1 + 2 * i, body, at, Math.min(body.length, at + 7000), false)
      })
    bodies.forEach((_, i) => {
      if (i % 2 === 0) answer(1 + 2 * i, { 'x-trailer': 'y' }, true)
      else server.data(1 + 2 * i, Buffer.alloc(0), 0, 0, true)
    })
    await deliver((bytes) => {
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length;) {
        const end = at + 1 + Math.floor(random.next() * (seed < 3 ? 20 : 9000))
        pieces.push(bytes.subarray(at, end))
        at = end
      }
      return pieces
    })
    assert.deepEqual(await answers, bodies.map(String))
    assert.equal(connection.openExchanges, 0)
  }
})

test('a body goes out as the windows of stream and connection allow, also when SETTINGS change them midway', async () => {
  const { connection, server, answer, deliver, seen } = await play([
    [SETTING.initialWindowSize, 10],
  ])
  const body = Buffer.alloc(100_000, 1)
  const sent = connection.start(exchange('/', { method: 'POST' }, body))
  assert.deepEqual(await seen(), ['headers 1 /', 'data 1 10'])
  server.windowUpdate(1, 5)
  await deliver()
  assert.deepEqual(await seen(), ['data 1 5'])
  server.settings([[SETTING.initialWindowSize, 4]])
  await deliver()
  server.windowUpdate(1, 6)
  await deliver()
  assert.deepEqual(await seen(), ['settings 0 ack'], 'six below nothing and six more')
  server.settings([
    [SETTING.initialWindowSize, 200_000],
    [SETTING.maxFrameSize, 60_000],
  ])
  await deliver()
  assert.deepEqual(await seen(), ['settings 0 ack', 'data 1 60000', 'data 1 5520'])
  server.windowUpdate(0, 1 << 20)
  await deliver()
  assert.deepEqual(await seen(), ['data 1 34465 end'])
  answer(1, OK, true)
  await deliver()
  assert.equal((await sent).status, 200)
})

test('what is read is told to the server, what nobody reads is not', async () => {
  const { connection, server, answer, deliver, seen } = await play()
  const [read, unread] = [connection.start(exchange('/1')), connection.start(exchange('/3'))]
  await seen()
  const piece = Buffer.alloc(16_384)
  for (const id of [1, 3]) answer(id, OK, false)
  await deliver()
  const reader = (await read).chunks[Symbol.asyncIterator]()
  const waiting = (await unread).chunks[Symbol.asyncIterator]()
  for (let i = 0; i < 128; i++) {
    for (const id of [1, 3]) server.data(id, piece, 0, piece.length, false)
    await deliver()
    await reader.next()
  }
  assert.deepEqual(await seen(), ['windowUpdate 1 00200000'])
  for (let i = 0; i < 128; i++) await waiting.next()
  assert.deepEqual(await seen(), ['windowUpdate 3 00200000'])
})

test('a reader that goes away ends its stream, and what still comes of it is dropped', async () => {
  const { connection, server, answer, deliver, seen } = await play()
  const first = connection.start(exchange('/1'))
  const second = connection.start(exchange('/3'))
  await seen()
  answer(1, OK, false)
  await deliver()
  await (await first).chunks[Symbol.asyncIterator]().return!()
  assert.deepEqual(await seen(), ['rstStream 1 00000008'])
  server.data(1, Buffer.from('late'), 0, 4, true)
  answer(1, { trailer: 'adds to the table' }, true)
  answer(3, { ...OK, trailer: 'adds to the table' }, true)
  await deliver()
  assert.equal((await second).headers['trailer'], 'adds to the table')
})

test('GOAWAY: streams behind the one it names were not looked at, those before it go on', async () => {
  const { connection, server, answer, deliver, closed, seen } = await play()
  const first = connection.start(exchange('/1'))
  const failed = failureOf(connection.start(exchange('/3')))
  server.goAway(1, 0)
  await deliver()
  const failure = await failed
  assert.equal(failure.code, 'HTTP2_CONNECTION_LOST')
  assert.equal(failure.notProcessed, true)
  assert.equal(connection.available, false)
  answer(1, OK, true)
  await deliver()
  assert.equal((await first).status, 200)
  assert.equal(closed(), 1)
  assert.equal((await seen()).at(-1), 'goAway 0 0000000000000000')
})

test('GOAWAY with an error is the reason of what fails after it', async () => {
  const { connection, server, socket, deliver } = await play()
  const pending = failureOf(connection.start(exchange('/')))
  server.goAway(1, 11)
  await deliver()
  socket.emit('end')
  const { code, message } = await pending
  assert.equal(code, 'HTTP2_CONNECTION_LOST')
  assert.equal(message, 'GET /: http2: server sent GOAWAY with error code ENHANCE_YOUR_CALM')
})

const RESETS: readonly [number, boolean, string, string, boolean][] = [
  [7, false, 'HTTP2_CONNECTION_LOST', 'connection closed before the request was taken', true],
  [0, false, 'EOF', 'EOF before the answer', false],
  [2, false, 'HTTP2_STREAM_ERROR', 'stream closed with error code INTERNAL_ERROR', false],
  [7, true, 'HTTP2_STREAM_ERROR', 'stream closed with error code REFUSED_STREAM', false],
  [0, true, 'HTTP2_STREAM_ERROR', 'stream closed with error code NO_ERROR', false],
  [99, true, 'HTTP2_STREAM_ERROR', 'stream closed with error code 99', false],
]
for (const [reset, answered, code, text, notProcessed] of RESETS) {
  test(`RST_STREAM with code ${reset} ${answered ? 'amid the body' : 'before the answer'}`, async () => {
    const { connection, server, answer, deliver } = await play()
    const sent = connection.start(exchange('/'))
    if (answered) answer(1, OK, false)
    server.rstStream(1, reset)
    const failed = failureOf(answered ? sent.then(textOf) : sent)
    await deliver()
    const failure = await failed
    assert.equal(failure.code, code)
    assert.equal(failure.message, `GET /: ${text}`)
    assert.equal(failure.notProcessed, notProcessed)
    assert.equal(connection.available, true)
  })
}

test('an answer that comes before the whole request is an answer, and the rest is not sent', async () => {
  const { connection, answer, deliver, seen } = await play()
  const sent = connection.start(exchange('/', { method: 'POST' }, Buffer.alloc(100_000)))
  await seen()
  answer(1, { ':status': '413' }, true)
  await deliver()
  assert.equal((await sent).status, 413)
  assert.deepEqual(await seen(), ['rstStream 1 00000000'])
})

test('headers of a block in pieces, repeated ones, and trailers', async () => {
  const { connection, deliver, bytes } = await play()
  const sent = connection.start(exchange('/'))
  // :status 200, then twice warning: a and warning: b, cut inside a name.
  bytes('000004 01 00 00000001 88 00 07 77')
  bytes('000003 09 00 00000001 61 72 6e')
  bytes('000000 09 00 00000001')
  bytes('000010 09 04 00000001 69 6e 67 01 61 00 07 77 61 72 6e 69 6e 67 01 62')
  bytes('000000 00 01 00000001')
  await deliver()
  assert.deepEqual((await sent).headers, { warning: ['a', 'b'] })
})

/** The stream alone fails. */
const STREAM_FAULTS: readonly [string, string, string][] = [
  ['DATA before the headers', '000001 00 00 00000001 61', '01'],
  ['no status', '000000 01 05 00000001', '01'],
  ['two of them', '000002 01 05 00000001 88 88', '01'],
  ['a name with upper case', '000006 01 05 00000001 88 00 01 41 01 62', '01'],
  ['101', '000005 01 04 00000001 08 03 31 30 31', '01'],
  ['an end with 1xx', '000005 01 05 00000001 08 03 31 30 33', '01'],
  ['trailers that do not end', '000001 01 04 00000001 88 000004 01 04 00000001 00 01 61 00', '01'],
  ['less than its length', '000005 01 05 00000001 88 0f0d 01 35', '01'],
  ['more than its length', '000005 01 04 00000001 88 0f0d 01 30 000001 00 01 00000001 61', '01'],
  ['WINDOW_UPDATE of nothing', '000004 08 00 00000001 00000000', '01'],
  ['a window that is too large', '000004 08 00 00000001 7fffffff', '03'],
]
for (const [what, hex, code] of STREAM_FAULTS) {
  test(`a fault of one stream ends that one only: ${what}`, async () => {
    const { connection, answer, bytes, deliver, seen } = await play()
    const failed = failureOf(connection.start(exchange('/1')).then(textOf))
    const other = connection.start(exchange('/3'))
    await seen()
    bytes(hex)
    await deliver()
    assert.equal((await failed).code, 'HTTP2_STREAM_ERROR')
    assert.deepEqual(await seen(), [`rstStream 1 000000${code}`])
    answer(3, OK, true)
    await deliver()
    assert.equal((await other).status, 200)
  })
}

/** The whole connection ends, with this code. */
const CONNECTION_FAULTS: readonly [string, string, string][] = [
  ['a frame that is too large', '004001 00 00 00000001', '06'],
  ['DATA of a stream that never was', '000001 00 00 00000005 61', '01'],
  ['headers of an even stream', '000001 01 05 00000002 88', '01'],
  ['PUSH_PROMISE', '000005 05 04 00000001 00000002 88', '01'],
  ['CONTINUATION of nothing', '000001 09 04 00000001 88', '01'],
  ['a header block that is broken off', '000001 01 00 00000001 88 000000 06 00 00000000', '01'],
  ['one that DATA breaks off', '000001 01 00 00000001 88 000000 00 00 00000001', '01'],
  ['one that goes on elsewhere', '000001 01 00 00000001 88 000000 09 04 00000003', '01'],
  ['headers with more padding than bytes', '000002 01 0d 00000001 05 88', '01'],
  ['headers that cannot be decoded', '000001 01 05 00000001 ff', '09'],
  ['SETTINGS of a stream', '000000 04 00 00000001', '01'],
  ['SETTINGS of a wrong size', '000005 04 00 00000000 0001000000', '06'],
  ['an acknowledgement with SETTINGS', '000006 04 01 00000000 000100000000', '06'],
  ['a window beyond all bounds', '000006 04 00 00000000 000480000000', '03'],
  ['frames that are too small', '000006 04 00 00000000 000500003fff', '01'],
  ['push, enabled', '000006 04 00 00000000 000200000001', '01'],
  ['PING of a stream', '000008 06 00 00000001 0000000000000000', '01'],
  ['PING of a wrong size', '000004 06 00 00000000 00000000', '06'],
  ['GOAWAY of a stream', '000008 07 00 00000001 0000000000000000', '01'],
  ['GOAWAY of a wrong size', '000004 07 00 00000000 00000000', '06'],
  ['RST_STREAM of a wrong size', '000003 03 00 00000001 000000', '06'],
  ['WINDOW_UPDATE of a wrong size', '000003 08 00 00000001 000000', '06'],
  ['WINDOW_UPDATE of nothing', '000004 08 00 00000000 00000000', '01'],
  ['a window of the connection that is too large', '000004 08 00 00000000 7fffffff', '03'],
]
for (const [what, hex, code] of CONNECTION_FAULTS) {
  test(`a fault of the connection ends it: ${what}`, async () => {
    const { connection, bytes, deliver, seen, closed, socket } = await play()
    const failed = failureOf(connection.start(exchange('/')).then(textOf))
    await seen()
    bytes(hex)
    await deliver()
    const failure = await failed
    assert.equal(failure.code, 'HTTP2_CONNECTION_LOST')
    assert.match(
      failure.message,
      /^GET \/: connection to h:1: http2: the server broke the protocol: /,
    )
    assert.deepEqual(await seen(), [`goAway 0 00000000000000${code}`])
    assert.deepEqual([closed(), socket.isDestroyed, connection.available], [1, true, false])
  })
}

test('a server that says anything before its SETTINGS is given up', async () => {
  const { connection, server, deliver } = await play([], false)
  server.ping(Buffer.alloc(8), false)
  const ready = failureOf(connection.ready())
  await deliver()
  assert.match((await ready).message, /no SETTINGS at first \(PROTOCOL_ERROR\)$/)
})

test('PING and SETTINGS are answered, but not without end to a server that does not read', async () => {
  const { server, socket, deliver, seen, closed } = await play()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 500; i++) server.ping(Buffer.from('abcdefgh'), false)
    await deliver()
    assert.equal((await seen()).filter((line) => line === 'ping 0 ack').length, 500)
  }
  socket.isBlocked = true
  for (let i = 0; i < 1001; i++) server.ping(Buffer.from('abcdefgh'), false)
  await deliver()
  assert.deepEqual([closed(), socket.isDestroyed], [1, true])
})

test('a header block without end is not kept', async () => {
  for (const piece of [0, 16_384]) {
    const { connection, server, deliver, closed, bytes } = await play()
    const failed = failureOf(connection.start(exchange('/')))
    bytes('000001 01 00 00000001 88')
    const header = Buffer.from('000000090000000001', 'hex')
    header.writeUIntBE(piece, 0, 3)
    for (let i = 0; i < 1100 && closed() === 0; i++) {
      server.raw(header)
      server.raw(Buffer.alloc(piece))
      if (i % 50 === 0) await deliver()
    }
    await deliver()
    assert.match((await failed).message, /ENHANCE_YOUR_CALM/)
  }
})

test('more DATA than the window allows: the stream fails, and the rest of it is dropped', async () => {
  const { connection, server, answer, deliver } = await play()
  const sent = connection.start(exchange('/'))
  answer(1, OK, false)
  const piece = Buffer.alloc(16_384)
  for (let i = 0; i < 257; i++) server.data(1, piece, 0, piece.length, false)
  await deliver()
  const failure = await failureOf(textOf(await sent))
  assert.match(failure.message, /more DATA than the window allows \(FLOW_CONTROL_ERROR\)$/)
  assert.equal(connection.openExchanges, 0)
})

test('no more streams than the server allows, and none after 2^31', async () => {
  const { connection, answer, deliver } = await play([[SETTING.maxConcurrentStreams, 1]])
  const first = connection.start(exchange('/'))
  assert.equal(connection.available, false)
  const failure = await failureOf(connection.start(exchange('/')))
  assert.equal(failure.notProcessed, true)
  answer(1, OK, true)
  await deliver()
  assert.equal((await first).status, 200)
  assert.equal(connection.available, true)
})

test('headers that would end a line are not sent', async () => {
  const { connection, seen } = await play()
  const cases: Exchange[] = [
    exchange('/a b'),
    exchange('/ü'),
    exchange('/', { headers: { a: 'b\r\nc: d' } }),
    exchange('/', { headers: { 'a\n': 'b' } }),
    exchange('/', { headers: { a: ['b', '日'] } }),
  ]
  for (const bad of cases)
    assert.match(
      (await failureOf(connection.start(bad))).message,
      /characters that HTTP does not allow$/,
    )
  assert.deepEqual(await seen(), [])
})

test('only exchanges keep the process alive, and the last one of a connection that drains closes it', async () => {
  const { connection, socket, answer, deliver, closed } = await play()
  const sent = connection.start(exchange('/'))
  assert.equal(socket.isRef, true)
  connection.drain()
  assert.equal(closed(), 0)
  answer(1, OK, true)
  await deliver()
  await sent
  assert.deepEqual([socket.isDestroyed, closed()], [true, 1])
})

test('retire breaks off watches, and lets other exchanges end', async () => {
  const { connection, answer, deliver, seen } = await play()
  const watch = failureOf(connection.start(exchange('/watch', { longRunning: true })))
  const list = connection.start(exchange('/list'))
  await seen()
  connection.retire()
  assert.equal((await watch).code, 'HTTP2_CONNECTION_LOST')
  assert.deepEqual(await seen(), ['rstStream 1 00000008'])
  answer(3, OK, true)
  await deliver()
  assert.equal((await list).status, 200)
})

test('an error of the socket has its code in everything that was under way', async () => {
  const { connection, socket } = await play()
  const failed = failureOf(connection.start(exchange('/')))
  socket.emit('error', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
  assert.equal((await failed).code, 'ECONNRESET')
})

test('an exchange that is given up leaves no listener behind', async () => {
  const { connection, answer, deliver, seen } = await play()
  const controller = new AbortController()
  const { signal } = controller
  const first = connection.start(exchange('/1', { signal }))
  answer(1, OK, true)
  await deliver()
  await first
  const second = failureOf(connection.start(exchange('/3', { signal })))
  await seen()
  controller.abort(new Error('enough'))
  assert.equal((await second).code, 'ABORTED')
  assert.deepEqual(await seen(), ['rstStream 3 00000008'])
})
