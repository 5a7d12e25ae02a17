import type { BodyChunks, TransportRequest } from '../transport.ts'

/** A request in the form that goes on the wire. */
export interface Exchange {
  readonly request: TransportRequest
  /** With the prefix of the server's address. */
  readonly path: string
  readonly headers: Record<string, string | readonly string[]>
  readonly body: Buffer | undefined
  /** `GET https://host/path`, for messages. */
  readonly what: string
}

export interface WireAnswer {
  readonly status: number
  readonly headers: Record<string, string | readonly string[]>
  readonly chunks: BodyChunks
}

/** One HTTP/2 connection, or a pool of HTTP/1.1 connections. */
export interface Connection {
  readonly openExchanges: number
  readonly available: boolean
  /** Takes its place at once; rejects with TransportError. */
  start(exchange: Exchange): Promise<WireAnswer>
  /** No new exchanges; closes when those under way have ended. */
  drain(): void
  /** As `drain`, and exchanges that have no end of their own (watches, logs) are broken off now. */
  retire(): void
  /** Closes now. */
  destroy(): void
}
