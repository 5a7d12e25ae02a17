import type { KubernetesObject, WatchEvent } from '@gyropilot/api'

/** Carries requests to an API server: over HTTP/2, or within one process. Knows nothing of kinds, verbs or retries. */
export interface Transport {
  /**
   * Rejects with TransportError when no answer came; every HTTP status, also 500, is an answer. When the request's signal
   * aborts, a pending send rejects (`ABORTED`) and a body that is being read ends; only this exchange is given up.
   */
  send(request: TransportRequest): Promise<TransportResponse>
  /** Ends idle and busy connections. Requests sent afterwards reject. */
  close(): Promise<void>
}

/** One HTTP request, complete but for the server, its credentials and content-length. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS'
  /** With the query string: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Another server than the transport's own, where that pointed to: `https://10.0.0.2:6443`. The path is then all there is of it. */
  readonly server?: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** A JSON value (never edited by anybody afterwards) or encoded bytes. The content-type header says what bytes are. */
  readonly body?: RequestBody
  /** True for watches and logs: no bound on the duration, and not counted against a request timeout. */
  readonly longRunning?: boolean
  /** It is late for as long as it waits. Says nothing to the server. */
  readonly due?: boolean
  readonly signal?: AbortSignal
}

/**
 * JSON by its value, so that a server in this process takes it as it is; anything else by its bytes. `repeated`: the next request is
 * likely to have the very same value.
 */
export type RequestBody =
  | { readonly json: unknown; readonly repeated?: boolean }
  | { readonly bytes: Uint8Array }

/** The head of an answer, with its body on the way. */
export interface TransportResponse {
  readonly status: number
  /** Lower-case names; a repeated header is a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ResponseBody
  /** How many bytes of body the request had, where it became bytes. */
  readonly sentBytes?: number
}

/**
 * What came back. Over the network it is bytes. Within one process a server hands over values as they are, so that store
 * and caches share one object; they must not be edited by anybody.
 */
export type ResponseBody =
  | { readonly kind: 'bytes'; readonly chunks: BodyChunks }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'events'; readonly events: AsyncIterable<WatchEvent<KubernetesObject>> }

/** A body on its way; read once, piece by piece or, where the transport can, as a whole. */
export interface BodyChunks extends AsyncIterable<Uint8Array> {
  /** All of it, in one piece. */
  whole?(): Promise<Uint8Array>
}

const BRAND = Symbol.for('@gyropilot/client TransportError')

/**
 * No answer: the connection was refused, reset or timed out, or the request was given up by its signal. One that another copy of this
 * package made is one too, as of StatusError.
 */
export class TransportError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  /**
   * Node's code where there is one (`ECONNREFUSED`, `ECONNRESET`, `ENOTFOUND`, `CERT_HAS_EXPIRED`), else
   * `ABORTED` (given up by its signal), `ETIMEDOUT`, `EOF` (closed before or inside the answer),
   * `HTTP2_CONNECTION_LOST` (no answer to PING, GOAWAY with an error), `HTTP2_STREAM_ERROR`, or `CLOSED` (this transport was closed).
   */
  readonly code: string
  /** It is certain that the server has not looked at the request (RFC 9113, section 8.7): any request may be sent again. */
  readonly notProcessed: boolean

  constructor(
    code: string,
    message: string,
    options?: ErrorOptions & { readonly notProcessed?: boolean },
  ) {
    super(message, options)
    this.name = 'TransportError'
    this.code = code
    this.notProcessed = options?.notProcessed ?? false
  }
}

// Not a member: classes of two copies have the same type.
Object.defineProperty(TransportError.prototype, BRAND, { value: true })

/** The connection ended under the request: reset, closed, lost. The server may have done what was asked. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof TransportError && LOST.has(error.code)
}

/** No connection was made: nothing was done. */
export function isConnectionRefused(error: unknown): boolean {
  return error instanceof TransportError && error.code === 'ECONNREFUSED'
}

/** Given up by the signal of its caller. */
export function isAborted(error: unknown): boolean {
  return error instanceof TransportError && error.code === 'ABORTED'
}

/** A deadline passed before there was an answer. */
export function isTransportTimeout(error: unknown): boolean {
  return error instanceof TransportError && error.code === 'ETIMEDOUT'
}

const LOST: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'EOF',
  'HTTP2_CONNECTION_LOST',
])
