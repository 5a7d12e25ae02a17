/** The listening socket: HTTP/2 and HTTP/1.1 with TLS on one port. The only place of the server that knows the network. */
import { once } from 'node:events'
import {
  constants as http2Constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { IncomingMessage, ServerResponse as Http1Response } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { constants, createGzip, gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { WatchEventType, WatchSink } from '../handlers/watch.ts'
import type { Stored } from '../registry/kind-rules.ts'
import type { Answer } from './answer.ts'
import { encodeBody, encodeEvent } from './encode.ts'
import type { ServerRequest } from './exchange.ts'
import {
  DEADLINES,
  boundExchange,
  expectFirstRequest,
  watchSession,
  type Deadlines,
} from './listener-deadlines.ts'
import { BODY_LIMIT_BYTES } from './request-body.ts'

type Incoming = IncomingMessage | Http2ServerRequest
type Outgoing = Http1Response | Http2ServerResponse

export interface ListenerOptions {
  readonly certificatePem: string
  readonly keyPem: string
  /** Asks clients for certificates; the authenticator judges them. */
  readonly requestClientCertificates: boolean
  readonly deadlines?: Deadlines
  answer(request: ServerRequest): Promise<Answer>
  /** WebSocket and SPDY upgrades; absent: refused. */
  upgrade?(request: ServerRequest, socket: Duplex, head: Buffer): void
}

export interface Listener {
  readonly port: number
  readonly host: string
  /** Stops accepting, lets requests finish within the time, ends streams. */
  stop(graceMs: number): Promise<void>
}

const MOST_STREAMS_PER_CONNECTION = 1000
const MOST_HEADER_BYTES = 131_072
/** Connections of HTTP/1.1 are kept open between requests this long. */
const KEEP_ALIVE_MS = 90_000
/** Smaller answers are not worth compressing. */
const COMPRESS_FROM_BYTES = 131_072
/** A watch whose reader leaves this much unread is cut off; it continues from its last version. */
const MOST_UNREAD_BYTES = 8_388_608
/** The initial state of a watch waits for its reader at this much. */
const COMFORTABLE_BYTES = 1_048_576
const compress = promisify(gzip)

export async function listen(
  host: string,
  port: number,
  options: ListenerOptions,
): Promise<Listener> {
  const connection = new HttpsListener(options)
  await connection.open(host, port)
  return connection
}

class HttpsListener implements Listener {
  readonly #options: ListenerOptions
  readonly #deadlines: Deadlines
  readonly #server: Http2SecureServer
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #sockets = new Set<Duplex>()
  readonly #watches = new Set<() => void>()
  readonly #awaited = new WeakMap<Duplex, () => void>()
  #busy = 0
  #whenIdle: (() => void) | undefined
  port = 0
  host = ''

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#deadlines = options.deadlines ?? DEADLINES
    const { headersMs, requestMs } = this.#deadlines
    this.#server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificatePem,
      key: options.keyPem,
      minVersion: 'TLSv1.2',
      requestCert: options.requestClientCertificates,
      rejectUnauthorized: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      handshakeTimeout: headersMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: headersMs / 2,
      keepAliveTimeout: KEEP_ALIVE_MS,
      settings: {
        maxConcurrentStreams: MOST_STREAMS_PER_CONNECTION,
        maxHeaderListSize: MOST_HEADER_BYTES,
        initialWindowSize: 1_048_576,
      },
    } as Parameters<typeof createSecureServer>[0])
    this.#server.on(
      'request',
      (incoming: Incoming, outgoing: Outgoing) => void this.#serve(incoming, outgoing),
    )
    this.#server.on('session', (session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      session.on('error', () => session.destroy())
      watchSession(session, this.#deadlines)
    })
    this.#server.on('secureConnection', (socket) => {
      socket.setNoDelay(true)
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      socket.on('error', () => socket.destroy())
      if (socket.alpnProtocol !== 'h2')
        this.#awaited.set(socket, expectFirstRequest(socket, this.#deadlines))
    })
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(incoming, socket, head),
    )
  }

  async open(host: string, port: number): Promise<void> {
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (typeof address === 'object' && address !== null) this.port = address.port
    this.host = host
  }

  async stop(graceMs: number): Promise<void> {
    this.#server.close()
    for (const stop of this.#watches) stop()
    if (this.#busy > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, graceMs)
      this.#whenIdle = resolve
      await promise
      clearTimeout(timer)
    }
    for (const session of this.#sessions) session.close()
    for (const socket of this.#sockets) socket.end()
    // Peers that do not answer the goodbye.
    const timer = setTimeout(() => this.#destroyAll(), 100)
    await Promise.all([...this.#sockets].map((socket) => once(socket, 'close')))
    clearTimeout(timer)
  }

  #destroyAll(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#awaited.get(incoming.socket)?.()
    if (this.#options.upgrade === undefined) {
      socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      return
    }
    this.#options.upgrade(requestOf(incoming, undefined), socket, head)
  }

  async #serve(incoming: Incoming, outgoing: Outgoing): Promise<void> {
    this.#busy++
    outgoing.on('error', () => {})
    if (!('stream' in incoming)) this.#awaited.get(incoming.socket)?.()
    const settle = boundExchange(() => cutOff(outgoing), this.#deadlines)
    // Not before the last byte has gone out: an answer that nobody reads is unfinished.
    outgoing.once('close', settle)
    try {
      const bytes = await readBody(incoming)
      const answer = await this.#options.answer(requestOf(incoming, bytes))
      const endless = answer.body.kind === 'watch' || answer.body.kind === 'stream'
      if (endless) {
        settle()
        this.#busy--
      }
      try {
        await this.#write(incoming, outgoing, answer)
      } finally {
        if (endless) this.#busy++
      }
    } catch {
      // The peer went away while it was being read or answered.
      outgoing.destroy?.()
    } finally {
      this.#busy--
      if (this.#busy === 0) this.#whenIdle?.()
    }
  }

  async #write(incoming: Incoming, outgoing: Outgoing, answer: Answer): Promise<void> {
    const { body, mediaType = 'application/json' } = answer
    for (const [name, value] of Object.entries(answer.headers ?? {}))
      outgoing.setHeader(name, value)
    if (incoming.method === 'HEAD' && body.kind !== 'watch') {
      writeHead(outgoing, answer.status)
      outgoing.end()
      return
    }
    switch (body.kind) {
      case 'object':
      case 'list':
        outgoing.setHeader('content-type', answer.contentType ?? mediaType)
        return writeChunks(
          incoming,
          outgoing,
          answer.status,
          await encodeBody(body, mediaType, answer.pretty === true),
          COMPRESS_FROM_BYTES,
        )
      case 'bytes':
        outgoing.setHeader('content-type', body.contentType)
        return writeChunks(
          incoming,
          outgoing,
          answer.status,
          [body.bytes],
          body.compressible === true ? 0 : COMPRESS_FROM_BYTES,
        )
      case 'connection':
      case 'empty':
        writeHead(outgoing, answer.status)
        outgoing.end()
        return
      case 'stream':
        outgoing.setHeader('content-type', body.contentType)
        writeHead(outgoing, answer.status)
        ;(outgoing as Http1Response).flushHeaders()
        await this.#stream(outgoing, body.chunks[Symbol.asyncIterator]())
        return
      case 'watch': {
        outgoing.setHeader('content-type', 'application/json')
        writeHead(outgoing, answer.status)
        ;(outgoing as Http1Response).flushHeaders()
        const sink = new StreamSink(outgoing, body.transform)
        const stop = body.watch.start(sink)
        this.#watches.add(stop)
        outgoing.once('close', stop)
        await sink.ended
        this.#watches.delete(stop)
      }
    }
  }

  async #stream(outgoing: Outgoing, chunks: AsyncIterator<Uint8Array>): Promise<void> {
    const stop = (): void => void chunks.return?.()
    this.#watches.add(stop)
    outgoing.once('close', stop)
    try {
      for (;;) {
        const { done, value } = await chunks.next()
        if (done === true || isGone(outgoing)) break
        if (!(outgoing as Http1Response).write(value)) await drained(outgoing)
      }
    } finally {
      this.#watches.delete(stop)
    }
    outgoing.end()
  }
}

function writeHead(outgoing: Outgoing, status: number): void {
  outgoing.statusCode = status
}

async function writeChunks(
  incoming: Incoming,
  outgoing: Outgoing,
  status: number,
  chunks: readonly Uint8Array[],
  compressFrom: number,
): Promise<void> {
  const size = chunks.reduce((total, chunk) => total + chunk.length, 0)
  writeHead(outgoing, status)
  if (size > compressFrom && acceptsGzip(incoming)) {
    outgoing.setHeader('content-encoding', 'gzip')
    outgoing.setHeader('vary', 'Accept-Encoding')
    if (chunks.length === 1) {
      const packed = await compress(chunks[0]!, { level: constants.Z_BEST_SPEED })
      outgoing.setHeader('content-length', packed.length)
      ;(outgoing as Http1Response).end(packed)
      return
    }
    const packer = createGzip({ level: constants.Z_BEST_SPEED })
    packer.pipe(outgoing as Http1Response)
    for (const chunk of chunks) if (!packer.write(chunk)) await once(packer, 'drain')
    packer.end()
    return
  }
  outgoing.setHeader('content-length', size)
  for (let i = 0; i < chunks.length - 1; i++) {
    if (!(outgoing as Http1Response).write(chunks[i]!)) await drained(outgoing)
    if (isGone(outgoing)) return
  }
  ;(outgoing as Http1Response).end(chunks.at(-1))
}

/** Resolves when more can be written, or when nobody reads any more. */
function drained(outgoing: Outgoing): Promise<void> {
  return new Promise((resolve) => {
    if (isGone(outgoing)) return resolve()
    const done = (): void => {
      outgoing.removeListener('drain', done)
      outgoing.removeListener('close', done)
      resolve()
    }
    ;(outgoing as Http1Response).on('drain', done)
    ;(outgoing as Http1Response).on('close', done)
  })
}

/** Nobody will read what is written from now on. HTTP/2 answers do not say it themselves, their streams do. */
function isGone(outgoing: Outgoing): boolean {
  if (!('stream' in outgoing)) return outgoing.destroyed
  return outgoing.stream === undefined || outgoing.stream.closed || outgoing.stream.destroyed
}

/** Ends a stream whose reader is behind, without sending what waits. */
function cutOff(outgoing: Outgoing): void {
  if ('stream' in outgoing) outgoing.stream?.close(http2Constants.NGHTTP2_CANCEL)
  else outgoing.destroy()
}

function acceptsGzip(incoming: Incoming): boolean {
  return /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''))
}

/** At most one byte more than is allowed: the pipeline refuses what is larger. */
async function readBody(incoming: Incoming): Promise<Uint8Array | undefined> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if (size > BODY_LIMIT_BYTES) continue
    chunks.push(chunk)
    size += chunk.length
  }
  return size === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

function requestOf(incoming: Incoming, bytes: Uint8Array | undefined): ServerRequest {
  const certificate = certificateOf(incoming)
  return {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    ...(bytes === undefined ? {} : { body: { bytes } }),
    ...(certificate === undefined ? {} : { clientCertificate: certificate }),
  }
}

const certificates = new WeakMap<object, Uint8Array | null>()

/** The leaf that the peer showed, once per connection. */
function certificateOf(incoming: Incoming): Uint8Array | undefined {
  const socket = 'stream' in incoming ? incoming.stream.session?.socket : incoming.socket
  if (!(socket instanceof TLSSocket)) return undefined
  let certificate = certificates.get(socket)
  if (certificate === undefined) {
    const { raw } = socket.getPeerCertificate()
    certificate = raw ?? null
    certificates.set(socket, certificate)
  }
  return certificate ?? undefined
}

/** A watch as lines of JSON. */
class StreamSink implements WatchSink {
  readonly #outgoing: Outgoing
  readonly #transform: ((object: Stored) => unknown) | undefined
  readonly #done = Promise.withResolvers<void>()

  constructor(outgoing: Outgoing, transform: ((object: Stored) => unknown) | undefined) {
    this.#outgoing = outgoing
    this.#transform = transform
  }

  get ended(): Promise<void> {
    return this.#done.promise
  }

  send(type: WatchEventType, object: Stored): boolean {
    if (isGone(this.#outgoing) || this.#unread() > MOST_UNREAD_BYTES) return false
    const shown = this.#transform === undefined ? object : this.#transform(object)
    ;(this.#outgoing as Http1Response).write(encodeEvent(type, object, shown))
    return true
  }

  ready(): Promise<void> | undefined {
    if (this.#unread() < COMFORTABLE_BYTES) return undefined
    return drained(this.#outgoing)
  }

  end(): void {
    if (this.#unread() > MOST_UNREAD_BYTES) cutOff(this.#outgoing)
    else this.#outgoing.end()
    this.#done.resolve()
  }

  #unread(): number {
    return 'stream' in this.#outgoing
      ? (this.#outgoing.stream?.writableLength ?? 0)
      : this.#outgoing.writableLength
  }
}
