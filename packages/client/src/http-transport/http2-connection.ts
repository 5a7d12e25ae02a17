import http2 from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { errorText } from '@gyropilot/foundation'
import type { Clock, Timer } from '@gyropilot/foundation'
import { TransportError } from '../transport.ts'
import { ChunkStream } from './chunk-stream.ts'
import { codeOf } from './dial.ts'
import type { Connection, Exchange, WireAnswer } from './connection.ts'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants
const STREAM_WINDOW_BYTES = 4 << 20
// As Go: in effect unlimited, so that a watch nobody reads cannot hold up the others. Each stream still has its own window.
const CONNECTION_WINDOW_BYTES = 1 << 30
const SESSION_MEMORY_MEGABYTES = 1024
/** RFC 9113 recommends no smaller limit; for servers whose SETTINGS name none. */
const STREAMS_WITHOUT_LIMIT = 100
const SETTINGS_TIMEOUT_MS = 10_000

export interface Http2Options {
  readonly clock: Clock
  /** PING after so long without a byte from the server; 0: never. */
  readonly pingAfterIdleMs: number
  /** The connection is given up when the PING is not answered for so long. */
  readonly pingTimeoutMs: number
  onClosed(): void
}

/** One HTTP/2 connection. Keeps the process alive only while exchanges are under way. */
export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session
  readonly #socket: Socket
  readonly #options: Http2Options
  readonly #authority: string
  readonly #longRunning = new Set<() => void>()
  #open = 0
  #draining = false
  #lost: TransportError | undefined
  #healthTimer: Timer | undefined
  #bytesSeen = 0
  #lastUsedMs: number

  constructor(socket: Socket, server: URL, options: Http2Options) {
    this.#socket = socket
    this.#options = options
    this.#authority = server.host
    this.#lastUsedMs = options.clock.monotonicMs()
    this.#session = http2.connect(server.origin, {
      createConnection: () => socket,
      settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
      maxSessionMemory: SESSION_MEMORY_MEGABYTES,
    })
    this.#session.once('connect', () => this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES))
    this.#session.on('goaway', (code: number) => this.#onGoAway(code))
    this.#session.on('error', (error: Error) => this.#lose(error))
    this.#session.on('close', () => this.#onClose())
    // A TLS alert after the handshake (a client certificate that the server refuses) destroys the session without any event of
    // its own and leaves the socket open: Node 26.10.
    socket.on('error', (error) => {
      this.#lose(error)
      socket.destroy()
    })
    socket.once('close', () => this.#onClose())
  }

  /**
   * Resolves when the server's SETTINGS are here. Requests sent earlier, as many as wait for a new connection at the start of a
   * process, would go beyond a limit that nobody knows yet and be refused.
   */
  async ready(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const what = `connection to ${this.#authority}`
    const onClose = (): void =>
      reject(this.#lost ?? lostError('EOF', `${what}: closed before its SETTINGS`))
    const timer = this.#options.clock.after(SETTINGS_TIMEOUT_MS, () => {
      reject(
        new TransportError('ETIMEDOUT', `${what}: no SETTINGS in ${SETTINGS_TIMEOUT_MS / 1000}s`),
      )
      this.destroy()
    })
    this.#session.once('remoteSettings', () => resolve())
    this.#session.once('close', onClose)
    this.#socket.once('close', onClose)
    try {
      await promise
    } finally {
      timer.cancel()
      this.#session.off('close', onClose)
      this.#socket.off('close', onClose)
      if (this.#open === 0 && !this.#session.destroyed) this.#session.unref()
    }
  }

  get openExchanges(): number {
    return this.#open
  }

  /** It can take one more exchange now. */
  get available(): boolean {
    const { remoteSettings } = this.#session
    const limit = remoteSettings?.maxConcurrentStreams ?? STREAMS_WITHOUT_LIMIT
    return (
      !this.#draining && !this.#session.closed && !this.#session.destroyed && this.#open < limit
    )
  }

  start(exchange: Exchange): Promise<WireAnswer> {
    let stream: ClientHttp2Stream
    try {
      stream = this.#session.request(
        {
          ...exchange.headers,
          ':method': exchange.request.method,
          ':scheme': 'https',
          ':authority': this.#authority,
          ':path': exchange.path,
        },
        { endStream: exchange.body === undefined },
      )
    } catch (error) {
      return Promise.reject(notProcessed(exchange.what, error))
    }
    this.#opened()
    if (exchange.body !== undefined) stream.end(exchange.body)
    return this.#answer(stream, exchange)
  }

  drain(): void {
    this.#draining = true
    if (this.#open === 0) this.#session.close()
  }

  retire(): void {
    for (const breakOff of this.#longRunning) breakOff()
    this.drain()
  }

  destroy(): void {
    this.#draining = true
    // Else Node ends bodies under way as if they were complete.
    this.#lost ??= closedHere(`connection to ${this.#authority}`)
    this.#session.destroy()
  }

  #answer(stream: ClientHttp2Stream, exchange: Exchange): Promise<WireAnswer> {
    const { signal } = exchange.request
    return new Promise((resolve, reject) => {
      const body = new ChunkStream({
        pause: () => stream.pause(),
        resume: () => stream.resume(),
        cancel: () => stream.close(NGHTTP2_CANCEL),
      })
      let failure: Error | undefined
      let answered = false
      const onAbort = (): void => {
        failure = new TransportError('ABORTED', `${exchange.what}: given up by its caller`, {
          cause: signal?.reason,
        })
        if (answered) body.finish(failure)
        else reject(failure)
        stream.close(NGHTTP2_CANCEL)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      const breakOff = (): void => {
        failure = closedHere(exchange.what)
        stream.close(NGHTTP2_CANCEL)
      }
      if (exchange.request.longRunning) this.#longRunning.add(breakOff)
      stream.on('response', (headers) => {
        answered = true
        resolve({ ...answerHead(headers), chunks: body })
      })
      stream.on('data', (chunk: Buffer) => body.push(chunk))
      stream.on('error', (error: Error) => {
        failure ??= error
      })
      stream.on('close', () => {
        signal?.removeEventListener('abort', onAbort)
        this.#longRunning.delete(breakOff)
        this.#closed()
        const fault = this.#faultOf(stream, failure, answered, exchange)
        if (answered) body.finish(fault)
        else reject(fault ?? new TransportError('EOF', `${exchange.what}: EOF before the answer`))
      })
    })
  }

  /** Why a stream closed, or undefined for a clean end. */
  #faultOf(
    stream: ClientHttp2Stream,
    failure: Error | undefined,
    answered: boolean,
    exchange: Exchange,
  ): Error | undefined {
    if (failure instanceof TransportError) return failure
    const code = stream.rstCode ?? NGHTTP2_NO_ERROR
    if (code === NGHTTP2_REFUSED_STREAM && !answered) return notProcessed(exchange.what, failure)
    if (this.#lost !== undefined) {
      return new TransportError(this.#lost.code, `${exchange.what}: ${this.#lost.message}`, {
        cause: this.#lost,
      })
    }
    if (this.#session.destroyed || this.#socket.destroyed) {
      // Torn down under the stream: Node ends it without an error, which must not look like a clean end.
      const clean =
        answered && stream.readableEnded && code === NGHTTP2_NO_ERROR && failure === undefined
      return clean
        ? undefined
        : lostError('EOF', `${exchange.what}: connection closed: unexpected EOF`, failure)
    }
    if (failure !== undefined || code !== NGHTTP2_NO_ERROR) {
      const text = failure === undefined ? `stream closed with code ${code}` : errorText(failure)
      return new TransportError('HTTP2_STREAM_ERROR', `${exchange.what}: ${text}`, {
        cause: failure,
      })
    }
    return undefined
  }

  #opened(): void {
    if (this.#open++ > 0) return
    this.#session.ref()
    const { clock, pingAfterIdleMs } = this.#options
    if (pingAfterIdleMs <= 0) return
    // Nobody listened while it was idle: a connection that died meanwhile is found now, not half a minute later.
    if (clock.monotonicMs() - this.#lastUsedMs >= pingAfterIdleMs) this.#ping()
    else this.#watchHealth()
  }

  #closed(): void {
    this.#lastUsedMs = this.#options.clock.monotonicMs()
    if (--this.#open > 0) return
    this.#healthTimer?.cancel()
    if (this.#draining) this.#session.close()
    else if (!this.#session.destroyed) this.#session.unref()
  }

  #watchHealth(): void {
    this.#bytesSeen = this.#socket.bytesRead
    this.#healthTimer = this.#options.clock.after(this.#options.pingAfterIdleMs, () => {
      if (this.#socket.bytesRead === this.#bytesSeen) this.#ping()
      else this.#watchHealth()
    })
  }

  #ping(): void {
    if (this.#session.destroyed) return
    this.#healthTimer = this.#options.clock.after(this.#options.pingTimeoutMs, () => {
      this.#lost = lostError(
        'HTTP2_CONNECTION_LOST',
        `http2: client connection lost: no answer to PING in ${this.#options.pingTimeoutMs / 1000}s`,
      )
      this.#draining = true
      this.#session.destroy()
      this.#socket.destroy()
    })
    this.#session.ping((error) => {
      this.#healthTimer?.cancel()
      if (error === null && this.#open > 0) this.#watchHealth()
    })
  }

  #onGoAway(code: number): void {
    this.#draining = true
    if (code === NGHTTP2_NO_ERROR) return
    this.#lost = lostError(
      'HTTP2_CONNECTION_LOST',
      `http2: server sent GOAWAY with error code ${code}`,
    )
  }

  #lose(error: Error): void {
    const message = `connection to ${this.#authority}: ${errorText(error)}`
    this.#lost ??= lostError(codeOf(error), message, error)
  }

  #onClose(): void {
    this.#draining = true
    this.#healthTimer?.cancel()
    this.#options.onClosed()
  }
}

function answerHead(headers: IncomingHttpHeaders): Pick<WireAnswer, 'status' | 'headers'> {
  const plain: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(':')) plain[name] = value
  }
  return { status: Number(headers[':status']), headers: plain }
}

function lostError(code: string, message: string, cause?: unknown): TransportError {
  return new TransportError(
    code === 'UNKNOWN' || code.startsWith('ERR_HTTP2') ? 'HTTP2_CONNECTION_LOST' : code,
    message,
    {
      cause,
    },
  )
}

function closedHere(what: string): TransportError {
  return new TransportError('HTTP2_CONNECTION_LOST', `${what}: closed by this client`)
}

function notProcessed(what: string, cause: unknown): TransportError {
  return new TransportError(
    'HTTP2_CONNECTION_LOST',
    `${what}: connection closed before the request was taken`,
    {
      cause,
      notProcessed: true,
    },
  )
}
