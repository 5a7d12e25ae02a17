import { errorText } from '@gyropilot/foundation'
import { ERROR_CODE, Http2ProtocolError, errorCodeName } from '../http2/protocol.ts'
import { TransportError } from '../transport.ts'
import type { Exchange } from './connection.ts'
import { codeOf } from './dial.ts'

const PATH = /^[\x21-\x7e]+$/
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The part of the head that cannot be sent as it is. */
export function unsendable({ path, headers }: Exchange): string | undefined {
  if (!PATH.test(path)) return 'the path'
  for (const name in headers) {
    const value = headers[name]!
    const isValid =
      typeof value === 'string' ? VALUE.test(value) : value.every((v) => VALUE.test(v))
    if (!isValid || !NAME.test(name)) return `the header ${name}`
  }
  return undefined
}

export function violation(text: string): Http2ProtocolError {
  return new Http2ProtocolError('PROTOCOL_ERROR', text)
}

export function wrongSize(name: string): Http2ProtocolError {
  return new Http2ProtocolError('FRAME_SIZE_ERROR', `${name} of a wrong size`)
}

export function windowTooLarge(): Http2ProtocolError {
  return new Http2ProtocolError('FLOW_CONTROL_ERROR', 'a window of more than 2^31-1 bytes')
}

export function lostBy(authority: string, error: Error): TransportError {
  const message = `connection to ${authority}: ${errorText(error)}`
  return lostError(codeOf(error), message, error)
}

export function lostError(code: string, message: string, cause?: unknown): TransportError {
  return new TransportError(code === 'UNKNOWN' ? 'HTTP2_CONNECTION_LOST' : code, message, { cause })
}

export function closedHere(what: string): TransportError {
  return new TransportError('HTTP2_CONNECTION_LOST', `${what}: closed by this client`)
}

export function notProcessed(what: string): TransportError {
  return new TransportError(
    'HTTP2_CONNECTION_LOST',
    `${what}: connection closed before the request was taken`,
    { notProcessed: true },
  )
}

/** What RST_STREAM with this code means to the exchange. */
export function resetBy(
  code: number,
  { answered, exchange }: { readonly answered: boolean; readonly exchange: Exchange },
): TransportError {
  const { what } = exchange
  if (code === ERROR_CODE.REFUSED_STREAM && !answered) return notProcessed(what)
  if (code === ERROR_CODE.NO_ERROR && !answered)
    return new TransportError('EOF', `${what}: EOF before the answer`)
  const text = `${what}: stream closed with error code ${errorCodeName(code)}`
  return new TransportError('HTTP2_STREAM_ERROR', text)
}
