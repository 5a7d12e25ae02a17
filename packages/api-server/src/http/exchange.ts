/**
 * A request and its answer, the same over the network and within one process. In-process callers hand over JSON values
 * and get the store's own frozen objects back; only the listener turns them into bytes.
 */
import type { X509Certificate } from 'node:crypto'
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'

type HeaderValue = string | readonly string[] | undefined
export type Headers = Readonly<Record<string, HeaderValue>>

export type ServerRequestBody = { readonly json: unknown } | { readonly bytes: Uint8Array }

export interface ServerRequest {
  readonly method: string
  /** With the query string: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Headers
  readonly body?: ServerRequestBody
  /** True for watches and logs: no bound on the duration. */
  readonly longRunning?: boolean
  /** Called where the answer may take any time to begin: its reader waits for something else than this server. */
  readonly unbounded?: () => void
  readonly signal?: AbortSignal
  /** Where the request comes from, if over the network. */
  readonly clientAddress?: string | undefined
  /** What the peer showed of certificates, not judged yet: its own first. Absent or empty: none. */
  readonly clientCertificates?: readonly X509Certificate[]
}

/** Structurally a TransportResponse of the client. */
export interface ServerResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ServerResponseBody
}

export type ServerResponseBody =
  | { readonly kind: 'bytes'; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'events'; readonly events: AsyncIterable<WatchEvent<KubernetesObject>> }

/** One value of a header that may be repeated: the first. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'object' ? value[0] : value
}

/** Bytes that are there already, as a stream of one chunk. */
export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
