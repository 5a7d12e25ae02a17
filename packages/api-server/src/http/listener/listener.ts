/** The listening socket: HTTP/2 and HTTP/1.1 with TLS on one port. Only the `listener` files know the network. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse as Http1Response } from 'node:http'
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import { Server as TlsServer, type TLSSocket } from 'node:tls'
import { refusePlainHttp, type TurnGate } from '@gyropilot/foundation'
import { contentTypeOf, type Answer } from '../answer.ts'
import { protobufAnswers } from '@gyropilot/protobuf'
import { asciiBody, encodeBody, protobufEvents } from '../encode.ts'
import type { ServerRequest } from '../exchange.ts'
import { GatheredAnswers } from './gathered-answers.ts'
import { readBody, requestOf, switchesProtocols } from './incoming.ts'
import {
  DEADLINES,
  ExchangeBounds,
  expectFirstRequest,
  watchSession,
  type Deadlines,
} from './deadlines.ts'
import { breakOff, cutOff, answerDrained, setStatus, writeChunks, writeText } from './outgoing.ts'
import { isGone } from './peer.ts'
import type { Incoming, Outgoing } from './peer.ts'
import {
  canBeTold,
  lastExchange,
  problemOf,
  refuseRead,
  refuseUnread,
  requestOfUnknownMethod,
} from './unread-requests.ts'
import type { ParserError } from './unread-requests.ts'
import { WatchStream } from './watch-writes.ts'
import { PROTOBUF } from '../negotiation.ts'

interface ListenerOptions {
  readonly certificatePem: string
  readonly keyPem: string
  /** Asks clients for certificates; the authenticator judges them. */
  readonly requestClientCertificates: boolean
  readonly deadlines?: Deadlines
  /** Requests pass it before they are answered. Absent: each is answered as it comes. */
  readonly gate?: TurnGate
  /** Default: answers of the event loop's own turns. */
  readonly answers?: GatheredAnswers
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

/** The events of a watch in protobuf. */
const STREAMED = `${PROTOBUF};stream=watch`
const MOST_STREAMS_PER_CONNECTION = 1000
/** Of a head in HTTP/1.1: a mebibyte, and some for the first line. */
const MOST_HEAD_BYTES = 1_052_672
/** Of one in HTTP/2. */
const MOST_HEADER_BYTES = 131_072
const MOST_HEADERS = 4096
/** Connections of HTTP/1.1 are kept open between requests this long. */
const KEEP_ALIVE_MS = 90_000
/** A silent peer is asked by TCP whether it is there, after this. */
const PROBE_AFTER_MS = 180_000
/** Smaller answers are not worth compressing. */
const COMPRESS_FROM_BYTES = 131_072
const LARGE_ONES = { above: COMPRESS_FROM_BYTES, weighed: false }
const ALL_WEIGHED = { above: 0, weighed: true }
const NEVER = { above: Infinity, weighed: false }

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
  readonly #bounds: ExchangeBounds
  readonly #server: Http2SecureServer
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #sockets = new Set<TLSSocket>()
  readonly #watches = new Set<() => void>()
  readonly #answers: GatheredAnswers
  readonly #awaited = new WeakMap<Duplex, () => void>()
  /**
   * The last answer that each connection of HTTP/1.1 waits for. What a peer sends without waiting is worked on one after the other, as
   * what comes later may build on what comes first.
   */
  readonly #ahead = new WeakMap<Duplex, Http1Response>()
  /** Connections of HTTP/1.1 from which no further request is taken. */
  readonly #unread = new WeakSet<Duplex>()
  /** Requests whose answers have not gone out to the last byte; those without an end do not count. */
  #busy = 0
  #stopping = false
  #whenIdle: (() => void) | undefined
  port = 0
  host = ''

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#deadlines = options.deadlines ?? DEADLINES
    this.#answers = options.answers ?? new GatheredAnswers()
    this.#bounds = new ExchangeBounds(this.#deadlines)
    const { headersMs, requestMs } = this.#deadlines
    this.#server = createSecureServer({
      allowHTTP1: true,
      cert: options.certificatePem,
      key: options.keyPem,
      minVersion: 'TLSv1.2',
      requestCert: options.requestClientCertificates,
      rejectUnauthorized: false,
      maxHeaderSize: MOST_HEAD_BYTES,
      maxHeaderListPairs: MOST_HEADERS,
      // Asked for here, in upstream's words.
      requireHostHeader: false,
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
    refusePlainHttp(this.#server)
    this.#server.on(
      'request',
      (incoming: Incoming, outgoing: Outgoing) => void this.#serve(incoming, outgoing),
    )
    Object.assign(this.#server, {
      // What is too long is seen by its bytes.
      maxHeadersCount: 0,
      // Node before 24.9 does not ask.
      shouldUpgradeCallback: switchesProtocols,
    })
    this.#server.on('clientError', (error: ParserError, socket: Duplex) => {
      if (!canBeTold(error, socket)) return void socket.destroy()
      this.#asLast(socket, () => {
        const exchange = requestOfUnknownMethod(error, socket)
        if (exchange === undefined) refuseUnread(error, socket)
        else void this.#serve(exchange.incoming, exchange.outgoing)
      })
    })
    this.#server.on('connect', (incoming: Incoming, outgoing: Outgoing | Duplex) => {
      if ('stream' in incoming) return void this.#serve(incoming, outgoing as Outgoing)
      const socket = outgoing as Duplex
      this.#asLast(socket, () => {
        const exchange = lastExchange(incoming, socket)
        void this.#serve(exchange.incoming, exchange.outgoing)
      })
    })
    this.#server.on('session', (session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
      session.on('error', () => session.destroy())
      watchSession(session, this.#deadlines)
    })
    this.#server.on('secureConnection', (socket) => this.#connected(socket))
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#asLast(socket, () => this.#upgrade(incoming, socket, head)),
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
    this.#stopping = true
    // Not as a server of HTTP is closed: that breaks off connections between requests, on which an answer may still be going out.
    TlsServer.prototype.close.call(this.#server)
    for (const stop of this.#watches) stop()
    // What comes on a session after the goodbye is sent again elsewhere; what came before is answered.
    for (const session of this.#sessions) session.close()
    if (this.#busy > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, graceMs)
      this.#whenIdle = resolve
      await promise
      clearTimeout(timer)
    }
    // Sessions end their own when their last stream has.
    for (const socket of this.#sockets) if (socket.alpnProtocol !== 'h2') socket.end()
    // Peers that do not answer the goodbye.
    const timer = setTimeout(() => this.#destroyAll(), 100)
    // Also by those that a peer resets: an error comes ahead of their end.
    await Promise.all([...this.#sockets].map(closing))
    clearTimeout(timer)
    this.#server.close()
  }

  #connected(socket: TLSSocket): void {
    socket.setNoDelay(true)
    // Streams to a peer that went without a word have no other end.
    socket.setKeepAlive(true, PROBE_AFTER_MS)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    if (socket.alpnProtocol !== 'h2')
      this.#awaited.set(socket, expectFirstRequest(socket, this.#deadlines))
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
    const leaveBusy = this.#enterBusy()
    outgoing.on('error', () => {})
    if (!('stream' in incoming || 'stream' in outgoing)) {
      const { socket } = incoming
      this.#awaited.get(socket)?.()
      const turn = this.#turnOf(outgoing, socket)
      if (turn !== undefined) {
        await turn
        if (socket.destroyed) return leaveBusy()
      }
      const problem = problemOf(incoming)
      if (problem !== undefined) {
        leaveBusy()
        return refuseRead(outgoing, problem)
      }
    }
    const settle = this.#bounds.begin(() => cutOff(outgoing))
    // Not before the last byte has gone out: an answer that nobody reads is unfinished.
    outgoing.once('close', () => {
      settle()
      leaveBusy()
    })
    try {
      const bytes = await readBody(incoming)
      await this.#options.gate?.pass()
      if (isGone(outgoing)) return
      this.#answers.sendLate()
      const answer = await this.#options.answer(requestOf(incoming, bytes, outgoing, settle))
      if (answer.body.kind === 'watch' || answer.body.kind === 'stream') {
        settle()
        leaveBusy()
      }
      if (this.#stopping && !('stream' in outgoing)) outgoing.shouldKeepAlive = false
      const stream =
        answer.body.kind === 'stream' ? answer.body.chunks[Symbol.asyncIterator]() : undefined
      try {
        await this.#write(incoming, outgoing, answer, stream)
      } finally {
        // Also when the peer was gone before the first chunk, or asked for no body.
        leave(stream)
      }
    } catch {
      // The peer went away while it was being read or answered, or what was passed on to it broke off.
      breakOff(outgoing)
    }
  }

  /**
   * What comes behind requests that are being answered, and takes the connection to its end, waits for their answers: a socket has one
   * answer at a time, and Node ends the process over a second. What can no longer be read is told of once, however much more of it
   * comes. A body that breaks off keeps its own answer from coming, so that is not waited for.
   */
  #asLast(socket: Duplex, then: () => void): void {
    if (this.#unread.has(socket)) return
    this.#unread.add(socket)
    const ahead = this.#ahead.get(socket)
    if (ahead === undefined || ahead.closed || !ahead.req.complete) return then()
    ahead.once('close', () => {
      if (socket.writable) then()
      else socket.destroy()
    })
  }

  /** Resolves when all that came before on the connection has been answered; undefined when it has. */
  #turnOf(outgoing: Http1Response, socket: Duplex): Promise<void> | undefined {
    const ahead = this.#ahead.get(socket)
    this.#ahead.set(socket, outgoing)
    outgoing.once('close', () => {
      if (this.#ahead.get(socket) === outgoing) this.#ahead.delete(socket)
    })
    if (ahead === undefined || ahead.closed) return undefined
    return new Promise((resolve) => ahead.once('close', resolve))
  }

  /** Counts a request until what it answers is called, however often. */
  #enterBusy(): () => void {
    this.#busy++
    let entered = true
    return () => {
      if (!entered) return
      entered = false
      this.#busy--
      if (this.#busy === 0) this.#whenIdle?.()
    }
  }

  async #write(
    incoming: Incoming,
    outgoing: Outgoing,
    answer: Answer,
    stream: AsyncIterator<Uint8Array> | undefined,
  ): Promise<void> {
    const { body, mediaType = 'application/json' } = answer
    const text = incoming.method === 'HEAD' ? undefined : shortText(answer)
    if (text !== undefined) return writeText(outgoing, answer, text, this.#answers)
    this.#answers.sendAll()
    for (const [name, value] of Object.entries(answer.headers ?? {}))
      outgoing.setHeader(name, value)
    if (incoming.method === 'HEAD' && body.kind !== 'watch') {
      const contentType = contentTypeOf(answer)
      if (contentType !== undefined) outgoing.setHeader('content-type', contentType)
      setStatus(outgoing, answer.status)
      outgoing.end()
      return
    }
    switch (body.kind) {
      case 'object':
      case 'list': {
        outgoing.setHeader('content-type', answer.contentType ?? mediaType)
        return writeChunks(
          incoming,
          outgoing,
          answer.status,
          await encodeBody(body, mediaType, answer.pretty === true),
          LARGE_ONES,
          answer.sent,
        )
      }
      case 'bytes':
        outgoing.setHeader('content-type', body.contentType)
        return writeChunks(
          incoming,
          outgoing,
          answer.status,
          [body.bytes],
          body.compressible === undefined ? LARGE_ONES : body.compressible ? ALL_WEIGHED : NEVER,
          answer.sent,
        )
      case 'connection':
      case 'tunnel':
      case 'empty':
        setStatus(outgoing, answer.status)
        outgoing.end()
        return
      case 'stream':
        if (body.contentType !== undefined) outgoing.setHeader('content-type', body.contentType)
        setStatus(outgoing, answer.status)
        ;(outgoing as Http1Response).flushHeaders()
        await this.#stream(outgoing, stream!)
        return
      case 'watch': {
        const encode = mediaType === PROTOBUF ? protobufEvents(await protobufAnswers()) : undefined
        outgoing.setHeader('content-type', encode === undefined ? 'application/json' : STREAMED)
        setStatus(outgoing, answer.status)
        ;(outgoing as Http1Response).flushHeaders()
        const sink = new WatchStream(outgoing, body.transform, encode)
        const stop = body.watch.start(sink)
        this.#watches.add(stop)
        outgoing.once('close', stop)
        await sink.ended
        answer.sent?.(sink.bytes)
        this.#watches.delete(stop)
      }
    }
  }

  async #stream(outgoing: Outgoing, chunks: AsyncIterator<Uint8Array>): Promise<void> {
    const stop = (): void => leave(chunks)
    this.#watches.add(stop)
    outgoing.once('close', stop)
    try {
      for (;;) {
        const { done, value } = await chunks.next()
        if (done === true || isGone(outgoing)) break
        if (!(outgoing as Http1Response).write(value)) await answerDrained(outgoing)
      }
    } finally {
      this.#watches.delete(stop)
    }
    outgoing.end()
  }
}

/** A body that goes out as one text, as it is. */
function shortText({ body, mediaType = 'application/json', pretty }: Answer): string | undefined {
  if (body.kind !== 'object') return undefined
  const text = asciiBody(body, mediaType, pretty === true)
  return text === undefined || text.length > COMPRESS_FROM_BYTES ? undefined : text
}

/** Tells a stream that nobody reads on, whatever it is doing. */
function leave(stream: AsyncIterator<Uint8Array> | undefined): void {
  stream?.return?.().catch(() => {})
}

const closing = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()))
