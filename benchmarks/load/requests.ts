/** A fixed number of HTTPS connections, each with one request at a time, and what the requests took. */
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import type { Target } from './target.ts'

interface Answer {
  readonly status: number
  readonly body: Buffer
}

export class LoadClient {
  readonly #target: Target
  readonly #free: Connection[] = []
  readonly #waiting: ((connection: Connection) => void)[] = []
  readonly #all: Connection[] = []

  private constructor(target: Target) {
    this.#target = target
  }

  static async open(target: Target, connections: number): Promise<LoadClient> {
    const client = new LoadClient(target)
    for (let i = 0; i < connections; i++) client.#all.push(await Connection.open(target.server))
    client.#free.push(...client.#all)
    return client
  }

  /** Waits for a free connection. */
  async send(
    method: string,
    path: string,
    body = '',
    contentType = 'application/json',
  ): Promise<Answer> {
    const head =
      `${method} ${path} HTTP/1.1\r\nhost: ${new URL(this.#target.server).host}\r\n` +
      `authorization: Bearer ${this.#target.token}\r\naccept: application/json\r\n` +
      (body === ''
        ? '\r\n'
        : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`)
    const connection =
      this.#free.pop() ?? (await new Promise<Connection>((resolve) => this.#waiting.push(resolve)))
    try {
      return await connection.exchange(head + body)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(connection)
      else next(connection)
    }
  }

  /** Throws when the answer is not 2xx: a benchmark of refusals measures nothing. */
  async ok(method: string, path: string, body?: string, contentType?: string): Promise<Buffer> {
    const answer = await this.send(method, path, body, contentType)
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString().slice(0, 300)}`)
    return answer.body
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }
}

/**
 * HTTP/1.1 by hand: the client shares two cores with the server, and a general client would be half of what is measured.
 * Knows the two forms that API servers answer with, a length and chunks.
 */
class Connection {
  readonly #socket: TLSSocket
  #received: Buffer[] = []
  #pending: { resolve(answer: Answer): void; reject(error: Error): void } | undefined

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    const fail = (error?: Error): void =>
      this.#pending?.reject(error ?? new Error('the server closed the connection'))
    socket.on('error', fail)
    socket.on('close', () => fail())
  }

  static open(server: string): Promise<Connection> {
    const { hostname, port } = new URL(server)
    return new Promise((resolve, reject) => {
      // Whoever gives a server by URL knows it; its certificate is not what is measured.
      const options = { host: hostname, port: Number(port), rejectUnauthorized: false }
      const socket = connect(options, () => resolve(new Connection(socket)))
      socket.once('error', reject)
    })
  }

  exchange(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the server closed the connection'))
      this.#pending = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#pending = undefined
    this.#socket.destroy()
  }

  /** What a long answer is known to need before it is worth looking at again. */
  #needed = 0
  #size = 0

  #take(chunk: Buffer): void {
    this.#received.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return
    const bytes = this.#received.length === 1 ? chunk : Buffer.concat(this.#received)
    this.#received = [bytes]
    const headEnd = bytes.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = bytes.toString('latin1', 0, headEnd)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    const start = headEnd + 4
    let body: Buffer
    if (length !== undefined) {
      this.#needed = start + Number(length)
      if (bytes.length < this.#needed) return
      body = bytes.subarray(start)
    } else {
      if (!bytes.subarray(-5).equals(LAST_CHUNK)) return
      body = withoutChunkSizes(bytes.subarray(start))
    }
    this.#received = []
    this.#needed = 0
    this.#size = 0
    const pending = this.#pending
    this.#pending = undefined
    pending?.resolve({ status: Number(head.slice(9, 12)), body })
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')

function withoutChunkSizes(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (!(size > 0)) return Buffer.concat(parts)
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

/** Durations in milliseconds. */
export class Durations {
  readonly #values: number[] = []

  add(ms: number): void {
    this.#values.push(ms)
  }

  get count(): number {
    return this.#values.length
  }

  /** The value that this share of all values does not exceed. */
  quantile(share: number): number {
    const sorted = Float64Array.from(this.#values).sort()
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  }
}
