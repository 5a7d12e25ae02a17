import { headerOfText } from '@gyropilot/foundation'
import type { Impersonation } from '../kubeconfig/kubeconfig.ts'
import type { Transport } from '../transport.ts'

/** Asks the server to act as somebody else. A request that already asks for it is left alone. */
export function impersonatingTransport(transport: Transport, as: Impersonation): Transport {
  const headers = impersonationHeaders(as)
  return {
    send: (request) =>
      transport.send(
        request.headers['impersonate-user'] === undefined
          ? { ...request, headers: { ...request.headers, ...headers } }
          : request,
      ),
    close: () => transport.close(),
  }
}

/** The Impersonate-* headers (lower case) of somebody to act as; keys of `extra` are escaped. */
export function impersonationHeaders(
  as: Impersonation,
): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {
    'impersonate-user': headerOfText(as.user),
  }
  if (as.uid) headers['impersonate-uid'] = headerOfText(as.uid)
  if (as.groups !== undefined && as.groups.length > 0)
    headers['impersonate-group'] = as.groups.map(headerOfText)
  for (const [key, values] of Object.entries(as.extra ?? {}))
    headers[`impersonate-extra-${escapedKey(key.toLowerCase())}`] = values.map(headerOfText)
  return headers
}

/** What may not stand in a header name (RFC 9110), and `%` itself, goes as percent bytes. */
function escapedKey(key: string): string {
  let escaped = ''
  for (const byte of new TextEncoder().encode(key)) {
    const character = String.fromCharCode(byte)
    escaped += /[a-z0-9!#$&'*+\-.^_`|~]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return escaped
}
