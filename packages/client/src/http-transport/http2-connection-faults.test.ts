/** One HTTP/2 connection beside a server that is played frame by frame: RFC 9113. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { play, exchange, textOf, failureOf, OK } from './testing/played-connection.ts'

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

test('GOAWAY without an error is no reason: what the connection then ends amid is cut off', async () => {
  const { connection, server, socket, deliver } = await play()
  const pending = failureOf(connection.start(exchange('/')))
  server.goAway(1, 0)
  await deliver()
  socket.emit('end')
  assert.equal((await pending).code, 'EOF')
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

test('a dead connection is given up after 30 s of silence and 15 s, also when each request waits for a few seconds only', async () => {
  const { connection, clock, closed, seen } = await play()
  const pingedAfterMs: number[] = []
  const startMs = clock.monotonicMs()
  for (let request = 0; closed() === 0 && request < 60; request++) {
    const given = new AbortController()
    const failed = failureOf(connection.start(exchange('/', { signal: given.signal })))
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000)
      const pings = (await seen()).filter((line) => line.startsWith('ping 0'))
      if (pings.length > 0) pingedAfterMs.push(clock.monotonicMs() - startMs)
    }
    given.abort()
    await failed
  }
  assert.deepEqual(pingedAfterMs, [30_000])
  assert.equal(connection.available, false)
  const elapsedMs = clock.monotonicMs() - startMs
  assert.ok(elapsedMs >= 45_000 && elapsedMs <= 50_000, `${elapsedMs}`)
})

test('a connection that answers, between requests too, is not asked', async () => {
  const { connection, clock, server, deliver, answer, seen, closed } = await play()
  for (let id = 1; id < 40; id += 2) {
    const sent = connection.start(exchange('/'))
    await clock.advance(2_000)
    answer(id, OK, true)
    await deliver()
    assert.equal((await sent).status, 200)
    await clock.advance(20_000)
  }
  // It was silent for longer than that, but for what the server says by itself.
  await clock.advance(20_000)
  server.settings([])
  await deliver()
  await clock.advance(20_000)
  const last = connection.start(exchange('/'))
  await clock.advance(9_000)
  answer(41, OK, true)
  await deliver()
  assert.equal((await last).status, 200)
  assert.deepEqual(
    (await seen()).filter((line) => line.startsWith('ping')),
    [],
  )
  assert.equal(closed(), 0)
})
