/** What Node hands over of a request, by either protocol. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'

export type Incoming = IncomingMessage | Http2ServerRequest
export type Outgoing = ServerResponse | Http2ServerResponse

/** Nobody will read what is written from now on. HTTP/2 answers do not say it themselves, their streams do. */
export function isGone(outgoing: Outgoing): boolean {
  if (!('stream' in outgoing)) return outgoing.destroyed
  return outgoing.stream === undefined || outgoing.stream.closed || outgoing.stream.destroyed
}
