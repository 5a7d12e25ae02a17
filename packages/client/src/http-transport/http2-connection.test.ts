/** One HTTP/2 connection beside a server that is played frame by frame: RFC 9113. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, settle } from '@gyropilot/foundation'
import { SETTING } from '../http2/protocol.ts'
import type { Exchange } from './connection.ts'
import { play, exchange, textOf, failureOf, OK } from './testing/played-connection.ts'

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

test('a connection that nobody uses is closed by GOAWAY, and by being drained', async () => {
  const left = await play()
  left.server.goAway(0, 0)
  await left.deliver()
  const drained = await play()
  drained.connection.drain()
  for (const { socket, closed } of [left, drained])
    assert.deepEqual([socket.isDestroyed, closed()], [true, 1])
})

test('of a request that is given up nothing more is sent, however much the server takes', async () => {
  const { connection, server, deliver, seen } = await play([[SETTING.initialWindowSize, 200_000]])
  const controller = new AbortController()
  const { signal } = controller
  const body = Buffer.alloc(100_000, 1)
  const failed = failureOf(connection.start(exchange('/', { method: 'POST', signal }, body)))
  assert.equal((await seen()).at(-1), 'data 1 16383', 'the window of the connection is used up')
  controller.abort()
  assert.equal((await failed).code, 'ABORTED')
  assert.deepEqual(await seen(), ['rstStream 1 00000008'])
  server.windowUpdate(0, 1 << 20)
  await deliver()
  assert.deepEqual(await seen(), [])
})

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
