/** Subprotocols that a WebSocket client offers. One of them may be a token: browsers can send no other header of their own. */
import { headerOf, type Headers } from './exchange.ts'

const TOKEN_PREFIX = 'base64url.bearer.authorization.k8s.io.'

/** Without those that only show a token, in their order. */
export function offeredProtocols(headers: Headers): readonly string[] {
  return protocolsIn(headers).filter((protocol) => !protocol.startsWith(TOKEN_PREFIX))
}

/** Undefined: none is shown this way. Empty: one that is good for nothing, or beside which nothing is offered to speak. */
export function tokenOffered(headers: Headers): string | undefined {
  if (headerOf(headers, 'upgrade')?.toLowerCase() !== 'websocket') return undefined
  const all = protocolsIn(headers)
  const tokens = all.filter((protocol) => protocol.startsWith(TOKEN_PREFIX))
  if (tokens.length === 0) return undefined
  if (tokens.length > 1 || all.length === 1) return ''
  const encoded = tokens[0]!.slice(TOKEN_PREFIX.length)
  const isEncoded = /^[A-Za-z0-9_-]+$/.test(encoded) && encoded.length % 4 !== 1
  return isEncoded ? Buffer.from(encoded, 'base64url').toString() : ''
}

function protocolsIn(headers: Headers): readonly string[] {
  return [headers['sec-websocket-protocol'] ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '')
}
