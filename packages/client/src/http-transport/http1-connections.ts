import { createRequire } from 'node:module'
import type * as nodeHttp from 'node:http'
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorText } from '@gyropilot/foundation'
import { TransportError } from '../transport.ts'
import { ChunkStream } from './chunk-stream.ts'
import type { Connection, Exchange, WireAnswer } from './connection.ts'
import { codeOf } from './dial.ts'

/**
 * Not imported: an import binds all that a module exports, and what node:http exports includes a WebSocket for which Node
 * then loads all of its fetch: 15 MiB of memory and 80 ms of each start, Node 26.10.
 */
const http = createRequire(import.meta.url)('node:http') as typeof nodeHttp

const IDLE_CONNECTIONS = 25

/** Keep-alive HTTP/1.1 connections to one server: one exchange at a time on each, as many as are needed at once. */
export class Http1Connections implements Connection {
  readonly #agent: Agent
  readonly #host: string
  readonly #longRunning = new Set<() => void>()
  #open = 0
  #closed = false

  /** `first` is a connection that was dialled to find out the protocol. */
  constructor(first: Duplex, host: string, dialAnother: () => Promise<Duplex>) {
    this.#host = host
    this.#agent = new http.Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS })
    // Nobody may want it any more; then nobody else listens either, and an error that nobody hears ends the process.
    first.on('error', () => {})
    let unused: Duplex | undefined = first
    this.#agent.createConnection = (_options, callback) => {
      const socket = unused
      unused = undefined
      if (socket !== undefined && !socket.destroyed) return socket
      dialAnother().then(
        (dialled) => callback?.(null, dialled),
        (error: Error) => callback?.(error, undefined as unknown as Duplex),
      )
      return undefined
    }
  }

  get openExchanges(): number {
    return this.#open
  }

  get available(): boolean {
    return !this.#closed
  }

  async start(exchange: Exchange): Promise<WireAnswer> {
    this.#open++
    const attempt = this.#exchange(exchange)
    const { request, answer } = attempt
    try {
      return await answer
    } catch (error) {
      const { method } = exchange.request
      const idleClosed =
        request.reusedSocket && error instanceof TransportError && error.code === 'ECONNRESET'
      if (!idleClosed || (method !== 'GET' && method !== 'HEAD')) throw error
      // The server closed the idle connection while the request was on its way.
      this.#open++
      return await this.#exchange(exchange).answer
    }
  }

  drain(): void {
    this.#closed = true
    this.#agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.#agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy()
    if (this.#open === 0) this.#agent.destroy()
  }

  retire(): void {
    for (const breakOff of this.#longRunning) breakOff()
    this.drain()
  }

  destroy(): void {
    this.#closed = true
    this.#agent.destroy()
  }

  #exchange(exchange: Exchange): {
    readonly request: ClientRequest
    readonly answer: Promise<WireAnswer>
  } {
    const { signal } = exchange.request
    const headers: Record<string, string | readonly string[]> = {
      host: this.#host,
      ...exchange.headers,
    }
    const request = http.request({
      agent: this.#agent,
      method: exchange.request.method,
      path: exchange.path,
      headers: headers as Record<string, string | string[]>,
      setHost: false,
    })
    const answer = new Promise<WireAnswer>((resolve, reject) => {
      const onAbort = (): void => {
        const error = new TransportError('ABORTED', `${exchange.what}: given up by its caller`, {
          cause: signal?.reason,
        })
        request.destroy(error)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      const breakOff = (): void =>
        void request.destroy(new TransportError('EOF', `${exchange.what}: closed by this client`))
      if (exchange.request.longRunning) this.#longRunning.add(breakOff)
      request.on('response', (message) => resolve(received(message, exchange)))
      request.on('error', (error) => reject(wrapped(error, exchange)))
      request.on('close', () => {
        signal?.removeEventListener('abort', onAbort)
        this.#longRunning.delete(breakOff)
        this.#open--
        if (this.#closed && this.#open === 0) this.#agent.destroy()
      })
    })
    request.end(exchange.body)
    return { request, answer }
  }
}

function received(message: IncomingMessage, exchange: Exchange): WireAnswer {
  const chunks = new ChunkStream({
    pause: () => message.pause(),
    resume: () => message.resume(),
    cancel: () => message.destroy(),
  })
  message.on('data', (chunk: Buffer) => chunks.push(chunk))
  message.on('error', (error) => chunks.finish(wrapped(error, exchange)))
  message.on('close', () => {
    const cutOff = new TransportError('EOF', `${exchange.what}: unexpected EOF in the body`)
    chunks.finish(message.complete ? undefined : cutOff)
  })
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined) headers[name] = value
  return { status: message.statusCode ?? 0, headers, chunks }
}

function wrapped(error: Error, exchange: Exchange): TransportError {
  if (error instanceof TransportError) return error
  return new TransportError(codeOf(error), `${exchange.what}: ${errorText(error)}`, {
    cause: error,
  })
}
