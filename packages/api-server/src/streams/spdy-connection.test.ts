import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock, Timer } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { statusOfEnd } from '../kubelets/command-end.ts'
import { SpdyConnection, type SpdyStream } from './spdy-connection.ts'
import { DICTIONARY, HeaderReader, HeaderWriter } from './spdy-headers.ts'
import { serveCommand, servePorts } from './spdy-sessions.ts'

const SYN_STREAM = 1
const SYN_REPLY = 2
const RST_STREAM = 3
const PING = 6
const GOAWAY = 7
const FIN = 1

interface Frame {
  /** A control type, or 0 for data. */
  readonly type: number
  readonly id: number
  readonly flags: number
  readonly payload: Buffer
}

/** The client's end: writes frames, reads what comes back. */
class Client {
  readonly connection: SpdyConnection
  readonly received: Frame[] = []
  readonly #writer = new HeaderWriter()
  #bytes: Buffer = Buffer.alloc(0)
  ended = false

  constructor(onStream: (connection: SpdyConnection) => (stream: SpdyStream) => void) {
    const sink = {
      write: async (bytes: Uint8Array) => this.#take(bytes),
      end: () => void (this.ended = true),
    }
    const taken: { serve?: (stream: SpdyStream) => void } = {}
    this.connection = new SpdyConnection(sink, (stream) => taken.serve!(stream))
    taken.serve = onStream(this.connection)
  }

  async open(id: number, headers: Record<string, string>): Promise<void> {
    const block = await this.#writer.write(new Map(Object.entries(headers)))
    const head = Buffer.alloc(10)
    head.writeUInt32BE(id)
    this.control(SYN_STREAM, Buffer.concat([head, block]))
  }

  control(type: number, payload: Buffer): void {
    const header = Buffer.alloc(8)
    header.writeUInt16BE(0x8003)
    header.writeUInt16BE(type, 2)
    header.writeUInt32BE(payload.length, 4)
    // In two cuts: frames need not arrive whole.
    const frame = Buffer.concat([header, payload])
    this.connection.receive(frame.subarray(0, 5))
    this.connection.receive(frame.subarray(5))
  }

  data(id: number, text: string, flags = 0): void {
    const payload = Buffer.from(text)
    const header = Buffer.alloc(8)
    header.writeUInt32BE(id)
    header.writeUInt32BE(((flags << 24) | payload.length) >>> 0, 4)
    this.connection.receive(Buffer.concat([header, payload]))
  }

  /** Resolves when `count` frames have come. */
  async frames(count: number): Promise<readonly Frame[]> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.received
  }

  #wake: (() => void) | undefined

  #take(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    while (this.#bytes.length >= 8) {
      const length = this.#bytes.readUInt32BE(4) & 0xffffff
      if (this.#bytes.length < 8 + length) return
      const control = (this.#bytes[0]! & 0x80) !== 0
      const payload = Buffer.from(this.#bytes.subarray(8, 8 + length))
      this.received.push({
        type: control ? this.#bytes.readUInt16BE(2) : 0,
        id: control
          ? payload.length >= 4
            ? payload.readUInt32BE(0)
            : 0
          : this.#bytes.readUInt32BE(0),
        flags: this.#bytes[4]!,
        payload,
      })
      this.#bytes = this.#bytes.subarray(8 + length)
      this.#wake?.()
    }
  }

  text(id: number): string {
    const own = this.received.filter((frame) => frame.type === 0 && frame.id === id)
    return Buffer.concat(own.map(({ payload }) => payload)).toString()
  }

  closed(id: number): boolean {
    return this.received.some((frame) => frame.type === 0 && frame.id === id && frame.flags === FIN)
  }
}

const echo = (connection: SpdyConnection, clock: Clock): ((stream: SpdyStream) => void) =>
  servePorts(
    connection,
    {
      kind: 'ports',
      ports: [],
      async forward(port, { input, output }) {
        if (port !== 80) return `nothing at ${port}`
        for await (const chunk of input) await output(chunk)
        return undefined
      },
    },
    clock,
  )
const echoAtPort80 = (connection: SpdyConnection): ((stream: SpdyStream) => void) =>
  echo(connection, virtualClock())

test('the dictionary has the length that the protocol gives it', () => {
  assert.equal(DICTIONARY.length, 1423)
})

test('headers pass from writer to reader, block after block', async () => {
  const writer = new HeaderWriter()
  const reader = new HeaderReader()
  for (const headers of [
    { streamtype: 'error' },
    { streamtype: 'data', port: '80', long: 'x'.repeat(5000) },
  ]) {
    const given = new Map(Object.entries(headers))
    assert.deepEqual(await reader.read(await writer.write(given)), given)
  }
})

test('a header block that unpacks to more than it may is refused', async () => {
  const writer = new HeaderWriter()
  const block = await writer.write(new Map([['a', 'x'.repeat(100_000)]]))
  await assert.rejects(new HeaderReader().read(block), /too large/)
})

test('a stream echoes what the client sends, and both sides close', async () => {
  const client = new Client(() => async (stream) => {
    for await (const chunk of stream.input) await stream.write(chunk)
    await stream.close()
  })
  await client.open(1, { streamType: 'data' })
  client.data(1, 'hello ')
  client.data(1, 'world', FIN)
  const [reply] = await client.frames(4)
  assert.deepEqual([reply!.type, reply!.id], [SYN_REPLY, 1])
  assert.equal(client.text(1), 'hello world')
  assert.ok(client.closed(1))
})

test('pings are answered as they are', async () => {
  const client = new Client(() => () => {})
  client.control(PING, Buffer.from([0, 0, 0, 7]))
  const [pong] = await client.frames(1)
  assert.deepEqual([pong!.type, pong!.id], [PING, 7])
})

test('a stream that is opened twice is reset', async () => {
  const client = new Client(() => () => {})
  await client.open(1, {})
  await client.open(1, {})
  const frames = await client.frames(2)
  assert.deepEqual([frames[1]!.type, frames[1]!.id], [RST_STREAM, 1])
})

test('a client that says goodbye, speaks another version or sends endless frames is left', async () => {
  const goodbye = new Client(() => () => {})
  goodbye.control(GOAWAY, Buffer.alloc(8))
  const stranger = new Client(() => () => {})
  stranger.connection.receive(Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0]))
  const endless = new Client(() => () => {})
  endless.connection.receive(Buffer.from([0, 0, 0, 1, 0, 0xff, 0xff, 0xff]))
  for (const client of [goodbye, stranger, endless]) {
    if (!client.connection.signal.aborted) {
      await new Promise((resolve) => client.connection.signal.addEventListener('abort', resolve))
    }
    assert.ok(client.ended)
  }
})

test('a command runs when all its streams are there, and ends with its status', async () => {
  const client = new Client((connection) =>
    serveCommand(
      connection,
      {
        kind: 'command',
        wanted: { stdin: true, stdout: true, stderr: true, tty: false },
        async run({ stdin, stdout, stderr }) {
          for await (const chunk of stdin)
            await stdout(Buffer.from(Buffer.from(chunk).toString().toUpperCase()))
          await stderr(Buffer.from('oops'))
          return { exitCode: 3 }
        },
      },
      'v4.channel.k8s.io',
    ),
  )
  await client.open(1, { streamType: 'error' })
  await client.open(3, { streamType: 'stdin' })
  await client.open(5, { streamType: 'stdout' })
  await client.open(7, { streamType: 'stderr' })
  client.data(3, 'abc', FIN)
  await new Promise((resolve) => client.connection.signal.addEventListener('abort', resolve))
  assert.deepEqual([client.text(5), client.text(7)], ['ABC', 'oops'])
  assert.equal(client.text(1), statusOfEnd({ exitCode: 3 }))
  assert.ok([1, 5, 7].every((id) => client.closed(id)))
})

test('ports: every pair of streams is a connection; what cannot be served says so on its error stream', async () => {
  const client = new Client(echoAtPort80)
  await client.open(1, { streamType: 'error', port: '80', requestID: '0' })
  await client.open(3, { streamType: 'data', port: '80', requestID: '0' })
  await client.open(5, { streamType: 'error', port: '81', requestID: '1' })
  await client.open(7, { streamType: 'data', port: '81', requestID: '1' })
  client.data(3, 'ping', FIN)
  await client.frames(10)
  assert.equal(client.text(3), 'ping')
  assert.equal(client.text(1), '')
  assert.equal(client.text(5), 'nothing at 81')
  assert.ok([1, 3, 5, 7].every((id) => client.closed(id)))
})

test('ports: the first stream of a pair waits for the second for 30 s', async () => {
  const clock = virtualClock()
  const client = new Client((connection) => echo(connection, clock))
  await client.open(1, { streamType: 'error', port: '80', requestID: '0' })
  await client.open(3, { streamType: 'data', port: '80', requestID: '1' })
  await client.frames(2)
  await clock.advance(29_999)
  await client.open(5, { streamType: 'error', port: '80', requestID: '1' })
  client.data(3, 'ping', FIN)
  await client.frames(6)
  assert.deepEqual([client.text(3), client.text(1)], ['ping', ''])
  await clock.advance(1)
  await client.frames(8)
  assert.equal(client.text(1), '(request=0) timed out waiting for streams')
  assert.ok(client.closed(1))
  // Its number is free, and the request begins anew.
  await client.open(1, { streamType: 'error', port: '81', requestID: '0' })
  await client.open(7, { streamType: 'data', port: '81', requestID: '0' })
  const frames = await client.frames(13)
  assert.ok(!frames.some(({ type }) => type === RST_STREAM))
  client.control(GOAWAY, Buffer.alloc(8))
})

test('ports: who is gone leaves no timer behind', async () => {
  const timers = new Set<Timer>()
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    turnMs: () => 0,
    after: () => {
      const timer: Timer = { cancel: () => void timers.delete(timer) }
      timers.add(timer)
      return timer
    },
  }
  const client = new Client((connection) => echo(connection, clock))
  await client.open(1, { streamType: 'error', port: '80', requestID: '0' })
  await client.frames(1)
  assert.equal(timers.size, 1)
  client.connection.close()
  assert.equal(timers.size, 0)
})

test('older protocols, and none, end with the text of a failure; nothing tells of success', async () => {
  for (const protocol of ['v3.channel.k8s.io', 'channel.k8s.io', '']) {
    for (const [exitCode, said] of [
      [0, ''],
      [3, 'command terminated with non-zero exit code: exit status 3'],
    ] as const) {
      const wanted = { stdin: false, stdout: true, stderr: false, tty: false }
      const run = () => Promise.resolve({ exitCode })
      const client = new Client((connection) =>
        serveCommand(connection, { kind: 'command', wanted, run }, protocol),
      )
      await client.open(1, { streamType: 'error' })
      await client.open(3, { streamType: 'stdout' })
      await new Promise((resolve) => client.connection.signal.addEventListener('abort', resolve))
      assert.equal(client.text(1), said, `${protocol} ${exitCode}`)
    }
  }
})

test('a stream whose reader is behind holds its connection back until it reads', async () => {
  const read = Promise.withResolvers<void>()
  const client = new Client(() => async (stream) => {
    await read.promise
    for await (const chunk of stream.input) await stream.write(Buffer.from(`${chunk.length};`))
  })
  await client.open(1, {})
  const piece = Buffer.alloc(600_000)
  const header = Buffer.alloc(8)
  header.writeUInt32BE(1)
  header.writeUInt32BE(piece.length, 4)
  await client.connection.receive(Buffer.concat([header, piece]))
  let taken = false
  const second = client.connection.receive(Buffer.concat([header, piece])).then(() => {
    taken = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(taken, false)
  read.resolve()
  await second
  await client.frames(3)
  assert.equal(client.text(1), '600000;600000;')
})

test('ports: more connections, one after the other, than streams may be open', async () => {
  const client = new Client(echoAtPort80)
  for (let i = 0; i < 600; i++) {
    const [error, data] = [4 * i + 1, 4 * i + 3]
    const headers = { port: '80', requestid: String(i) }
    await client.open(error, { ...headers, streamtype: 'error' })
    client.data(error, '', FIN)
    await client.open(data, { ...headers, streamtype: 'data' })
    client.data(data, 'x', FIN)
    const replies = await client.frames(5 * i + 2)
    assert.ok(!replies.some(({ type }) => type === RST_STREAM), `connection ${i}`)
    // The echo, and the ends of both.
    await client.frames(5 * i + 5)
  }
  assert.ok(!client.ended)
})
