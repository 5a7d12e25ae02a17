/** An HTTP/2 connection to a server that the test plays frame by frame. */
/** One HTTP/2 connection beside a server that is played frame by frame: RFC 9113. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { settle } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { FrameReader } from '../../http2/frame-reader.ts'
import { FrameWriter } from '../../http2/frame-writer.ts'
import { HpackDecoder } from '../../http2/hpack-decoder.ts'
import { HpackEncoder } from '../../http2/hpack-encoder.ts'
import { FLAG, FRAME, PREFACE } from '../../http2/protocol.ts'
import type { TransportError, TransportRequest } from '../../transport.ts'
import type { Exchange, WireAnswer } from '../connection.ts'
import { receiveFrom } from '../socket-reads.ts'
import { Http2Connection } from '../http2-connection.ts'

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

function wireOf(socket: Socket) {
  return { socket, receive: receiveFrom(socket) }
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

export async function play(settings: [number, number][] = [], greets = true): Promise<Played> {
  const socket = new ClientSocket()
  const clock = virtualClock()
  let closedCount = 0
  const connection = new Http2Connection(
    wireOf(socket as unknown as Socket),
    new URL('https://h:1'),
    {
      clock,
      pingAfterIdleMs: 30_000,
      pingTimeoutMs: 15_000,
      onClosed: () => closedCount++,
    },
  )
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

export function exchange(
  path: string,
  rest: Partial<TransportRequest> = {},
  body?: Buffer,
): Exchange {
  const request: TransportRequest = { method: 'GET', path, headers: {}, ...rest }
  return { request, path, headers: { ...request.headers }, body, what: `GET ${path}` }
}

export async function textOf(answer: WireAnswer): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of answer.chunks) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

export function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  return promise.then(
    () => assert.fail('resolved'),
    (error) => error,
  )
}

export const OK = { ':status': '200' }
