/** Requests that Node does not take. Contract: docs/behaviour/api-server/requests.md, "Requests that cannot be read". */
import { IncomingMessage, METHODS, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/** What Node says of bytes that it cannot read. */
export interface ParserError {
  readonly code?: string
  readonly rawPacket?: Uint8Array
  /** Of the packet, which may hold requests that were read before. */
  readonly bytesParsed?: number
}

const TOKEN = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/
const HOST = /^[-!$%&'()*+,.0-9:;=@A-Z[\]_a-z~]*$/
const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}
const BAD_REQUEST = '400 Bad Request'

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** Node knows a list of methods, and a server of any: the request of another, if its whole head came at once. */
export function requestOfUnknownMethod(
  { code, rawPacket, bytesParsed = 0 }: ParserError,
  socket: Duplex,
): Exchange | undefined {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return undefined
  const packet = Buffer.from(rawPacket).toString('latin1')
  // It begins with a line: what came before it in the packet has been taken already.
  const text = packet.slice(packet.slice(0, bytesParsed).lastIndexOf('\n') + 1)
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const [, method = '', url = ''] = /^(\S+) (\S+) HTTP\/1\.1$/.exec(first) ?? []
  // One that Node knows is the end of a body and what follows on it, read as one word.
  if (!TOKEN.test(method) || METHODS.includes(method)) return undefined
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    if (!TOKEN.test(name)) return undefined
    headers[name.toLowerCase()] = line.slice(colon + 1).trim()
  }
  const incoming = new IncomingMessage(socket as Socket)
  Object.assign(incoming, { method, url, headers, httpVersion: '1.1', complete: true })
  // Its body, if it has one, is not looked at, and ends the connection.
  incoming.push(null)
  return lastExchange(incoming, socket)
}

/** The last on its connection. */
export function lastExchange(incoming: IncomingMessage, socket: Duplex): Exchange {
  const outgoing = new ServerResponse(incoming)
  outgoing.assignSocket(socket as Socket)
  outgoing.shouldKeepAlive = false
  outgoing.once('finish', () => socket.end())
  return { incoming, outgoing }
}

/**
 * Whether words may be written to it. Handshakes that fail and sessions of HTTP/2 come as client errors too: what is written beneath a
 * session meets its own writes, and Node ends the process. So do connections that are gone.
 */
export function canBeTold({ code }: ParserError, socket: Duplex): boolean {
  const { alpnProtocol } = socket as TLSSocket
  if (alpnProtocol !== 'http/1.1' && alpnProtocol !== false) return false
  return socket.writable && code !== 'ECONNRESET'
}

/** Ends the connection as Go does, in words. */
export function refuseUnread({ code }: ParserError, socket: Duplex): void {
  const text = REFUSALS[code ?? ''] ?? BAD_REQUEST
  const head = `HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n`
  socket.end(head + text)
}

/** What is wrong with a request that Node takes: `400 ...`. Undefined: nothing. */
export function problemOf({ headers, httpVersion }: IncomingMessage): string | undefined {
  const { host, 'transfer-encoding': coding } = headers
  if (host === undefined) {
    if (httpVersion === '1.1') return `${BAD_REQUEST}: missing required Host header`
  } else if (!HOST.test(host)) return `${BAD_REQUEST}: malformed Host header`
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return '501 Unsupported transfer encoding'
  return undefined
}

/** Answers it, and reads nothing more of the connection. */
export function refuseRead(outgoing: ServerResponse, problem: string): void {
  const status = Number(problem.slice(0, 3))
  // Of what is not built the status has its own phrase, and the body the reason alone.
  const [phrase, body] =
    status === 501 ? ['Not Implemented', problem.slice(4)] : [problem.slice(4), problem]
  // It ends with the connection.
  outgoing.useChunkedEncodingByDefault = false
  outgoing.writeHead(status, phrase, {
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
  })
  outgoing.end(body)
}
