import { errorText, silentLogger } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import { TransportError } from '../transport.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'
import { JsonBodies } from './body-text.ts'
import type { Connection, Exchange, WireAnswer } from './connection.ts'
import { SharedDials } from './shared-dials.ts'
import { staticTls } from './tls-source.ts'
import type { TlsMaterial, TlsSource } from './tls-source.ts'

interface Dialled {
  readonly connection: Connection
  /** What it was made with. */
  readonly material: TlsMaterial | undefined
  readonly protocol: string
}

const PING_AFTER_IDLE_MS = 30_000
const PING_TIMEOUT_MS = 15_000
const TLS_RECHECK_MS = 5 * 60_000
const MOST_RESENDS = 3
/** Servers compress what is larger than 128 KiB; Node's pieces of 16 KiB cost more than the inflating, each a visit of another thread. */
const GUNZIPPED_CHUNK_BYTES = 256 << 10

/** Only server and clock are needed; times of connections run on that clock. */
export interface HttpTransportOptions {
  /** `https://10.0.0.1:6443`; a path is put in front of every request's path. `http://` is HTTP/1.1 in plain text. */
  readonly server: string
  readonly clock: Clock
  readonly logger?: Logger
  /** For https. Default: the machine's authorities, no client certificate. */
  readonly tls?: TlsMaterial | TlsSource
  /** `http://`, `https://` or `socks5://` proxy for this server, with `user:password@` where it wants them. */
  readonly proxyUrl?: string
  /** Never offer HTTP/2. */
  readonly http1Only?: boolean
  /** Do not ask for gzip. */
  readonly disableCompression?: boolean
  /** HTTP/2: PING after so long without a byte from the server. 0: never. Default 30 s. */
  readonly pingAfterIdleMs?: number
  /** HTTP/2: give the connection up when PING is not answered. Default 15 s. */
  readonly pingTimeoutMs?: number
}

/**
 * HTTP to one server. Everything goes over one HTTP/2 connection; another is opened only when the server's limit of
 * concurrent streams is reached, or the first is going away. Connections are made when needed and made again after a loss.
 * Giving up a request closes its stream and nothing else. docs/decisions/0019-own-http2-framing.md says why HTTP/2 is its own.
 */
export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions
  readonly #server: URL
  readonly #prefix: string
  readonly #tls: TlsSource | undefined
  readonly #logger: Logger
  readonly #bodies = new JsonBodies()
  #connections: Connection[] = []
  readonly #dials: SharedDials
  /** Wait for the server's SETTINGS. */
  readonly #starting = new Set<Connection>()
  /** As read last: what every connection should be made with. */
  #material: TlsMaterial | undefined
  #materialMs = 0
  /** Of the material: reads that were begun later know better. */
  #readsBegun = 0
  #lastRead = 0
  #closed = false

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.#server = new URL(options.server)
    this.#dials = new SharedDials(options.clock, () => this.#dial())
    this.#prefix = this.#server.pathname.replace(/\/+$/, '')
    if (this.#server.protocol === 'https:') {
      const tls = options.tls ?? {}
      this.#tls = 'load' in tls ? tls : staticTls(tls)
      this.#tls.onChange?.(() => void this.#recheckTls())
    }
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const exchange = this.#exchangeFor(request)
    this.#recheckTlsWhenDue()
    for (let resends = 0; ; resends++) {
      try {
        const answer = await (this.#startNow(exchange) ?? this.#start(exchange))
        return this.#response(answer, exchange)
      } catch (error) {
        if (resends === MOST_RESENDS || !wasNotProcessed(error)) throw error
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const connection of this.#starting) connection.destroy()
    for (const connection of this.#connections.splice(0)) connection.destroy()
  }

  /** Connections that are open or draining, for tests and debugging. */
  get connectionCount(): number {
    return this.#connections.length
  }

  /** On a connection that is there; undefined: it has to be waited for. Throws TransportError. */
  #startNow(exchange: Exchange): Promise<WireAnswer> | undefined {
    if (this.#closed)
      throw new TransportError('CLOSED', `${exchange.what}: the transport is closed`)
    if (exchange.request.signal?.aborted) throw abortedError(exchange)
    return this.#connections.find((candidate) => candidate.available)?.start(exchange)
  }

  async #start(exchange: Exchange): Promise<WireAnswer> {
    for (;;) {
      await orAborted(this.#dials.next(), exchange)
      const answer = this.#startNow(exchange)
      if (answer !== undefined) return answer
    }
  }

  async #dial(): Promise<void> {
    for (;;) {
      const { connection, material, protocol } = await this.#connect()
      if (this.#closed) return connection.destroy()
      if (!isSame(material, this.#material)) {
        // Rotated while it was dialled: it would speak as who we were.
        connection.destroy()
        continue
      }
      // A server that ends, or allows no streams: to dial until it takes a request would be without end.
      if (!connection.available) {
        connection.drain()
        const text = `connection to ${this.#server.host}: closed before a request was taken`
        throw new TransportError('HTTP2_CONNECTION_LOST', text, { notProcessed: true })
      }
      this.#connections.push(connection)
      this.#logger.verbosity(6).info('Connected', { server: this.#server.host, protocol })
      return
    }
  }

  async #connect(): Promise<Dialled> {
    const { clock, proxyUrl, http1Only } = this.#options
    const { dial } = await import('./dial.ts')
    // Before the dial: between its end and a connection that listens to the socket there must be no turn of the event loop.
    const { Http2Connection } = await import('./http2-connection.ts')
    const { Http1Connections } = await import('./http1-connections.ts')
    const dialWith = (tls: TlsMaterial | undefined): ReturnType<typeof dial> =>
      dial({
        clock,
        server: this.#server,
        tls,
        protocols: http1Only ? ['http/1.1'] : ['h2', 'http/1.1'],
        proxy: proxyUrl === undefined ? undefined : new URL(proxyUrl),
      })
    const material = await this.#loadTls()
    const { socket, protocol, receive } = await dialWith(material)
    if (protocol !== 'h2' || this.#closed) {
      const another = async (): Promise<typeof socket> =>
        (await dialWith(await this.#loadTls())).socket
      const connection = new Http1Connections(socket, this.#server.host, another)
      if (this.#closed) socket.destroy()
      return { connection, material, protocol }
    }
    const connection = new Http2Connection({ socket, receive }, this.#server, {
      clock,
      pingAfterIdleMs: this.#options.pingAfterIdleMs ?? PING_AFTER_IDLE_MS,
      pingTimeoutMs: this.#options.pingTimeoutMs ?? PING_TIMEOUT_MS,
      onClosed: () => this.#remove(connection),
    })
    this.#starting.add(connection)
    try {
      await connection.ready()
    } finally {
      this.#starting.delete(connection)
    }
    return { connection, material, protocol }
  }

  #remove(connection: Connection): void {
    this.#connections = this.#connections.filter((other) => other !== connection)
  }

  /** Whoever finds that the material has changed tells the connections that were made with the old one. */
  async #loadTls(): Promise<TlsMaterial | undefined> {
    if (this.#tls === undefined) return undefined
    const read = ++this.#readsBegun
    const now = await this.#tls.load()
    if (read < this.#lastRead) return now
    this.#lastRead = read
    const before = this.#material
    this.#material = now
    this.#materialMs = this.#options.clock.monotonicMs()
    if (before !== undefined && !isSame(now, before)) this.#letGo(isOtherIdentity(now, before))
    return now
  }

  #recheckTlsWhenDue(): void {
    if (this.#tls === undefined || this.#material === undefined) return
    if (this.#options.clock.monotonicMs() - this.#materialMs < TLS_RECHECK_MS) return
    this.#materialMs = this.#options.clock.monotonicMs()
    void this.#recheckTls()
  }

  async #recheckTls(): Promise<void> {
    try {
      // What was never read is read with the first dial.
      if (this.#readsBegun > 0) await this.#loadTls()
    } catch (error) {
      this.#logger.error(error, 'certificates could not be read again; going on with the old ones')
    }
  }

  /**
   * A new client certificate ends watches and, as soon as what is under way has its answer, all connections, for it is who we
   * are; new authorities only keep old connections from new use.
   */
  #letGo(identityChanged: boolean): void {
    this.#logger.info('certificate rotation detected, closing connections', {
      server: this.#server.host,
    })
    for (const connection of this.#connections.splice(0)) {
      if (identityChanged) connection.retire()
      else connection.drain()
    }
  }

  #exchangeFor(request: TransportRequest): Exchange {
    const headers: Record<string, string | readonly string[]> = { ...request.headers }
    let body: Buffer | undefined
    if (request.body !== undefined) {
      body =
        'json' in request.body
          ? this.#bodies.bytesOf(request.body)
          : Buffer.from(request.body.bytes)
      headers['content-length'] = String(body.length)
    }
    if (!this.#options.disableCompression && !request.longRunning)
      headers['accept-encoding'] ??= 'gzip'
    const path = this.#prefix + request.path
    const what = `${request.method} ${this.#server.origin}${path.split('?', 1)[0]}`
    return { request, path, headers, body, what }
  }

  #response(answer: WireAnswer, exchange: Exchange): TransportResponse {
    const zipped = answer.headers['content-encoding'] === 'gzip'
    return {
      status: answer.status,
      headers: answer.headers,
      body: { kind: 'bytes', chunks: zipped ? gunzipped(answer.chunks) : answer.chunks },
      sentBytes: exchange.body?.length ?? 0,
    }
  }
}

function isOtherIdentity(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.cert !== b.cert || a.key !== b.key
}

function isSame(a: TlsMaterial | undefined, b: TlsMaterial | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.ca === b.ca && !isOtherIdentity(a, b)
}

function wasNotProcessed(error: unknown): boolean {
  return error instanceof TransportError && error.notProcessed
}

function abortedError(exchange: Exchange): TransportError {
  return new TransportError('ABORTED', `${exchange.what}: given up by its caller`, {
    cause: exchange.request.signal?.reason,
  })
}

/** Waits for a dial that others wait for too: giving up leaves it running for them. */
function orAborted(dialling: Promise<void>, exchange: Exchange): Promise<void> {
  const { signal } = exchange.request
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(exchange))
    signal?.addEventListener('abort', onAbort, { once: true })
    dialling
      .finally(() => signal?.removeEventListener('abort', onAbort))
      .then(resolve, (error: unknown) => reject(dialError(error, exchange)))
  })
}

function dialError(error: unknown, exchange: Exchange): unknown {
  if (!(error instanceof TransportError)) return error
  const { code, notProcessed } = error
  const message = `${exchange.what}: ${errorText(error)}`
  return new TransportError(code, message, { cause: error, notProcessed })
}

function gunzipped(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const inner = inflate(chunks)
      let started = false
      return {
        next() {
          started = true
          return inner.next()
        },
        async return() {
          // A generator that never ran has nothing to clean up: whoever wants none of the body still lets go of its stream.
          if (!started) await chunks[Symbol.asyncIterator]().return?.()
          return inner.return(undefined)
        },
      }
    },
  }
}

async function* inflate(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { createGunzip } = await import('node:zlib')
  const { Readable, pipeline } = await import('node:stream')
  const gunzip = createGunzip({ chunkSize: GUNZIPPED_CHUNK_BYTES })
  pipeline(Readable.from(chunks, { objectMode: false }), gunzip, () => {})
  yield* gunzip as AsyncIterable<Uint8Array>
}
