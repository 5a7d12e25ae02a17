/** Redirections of the server, followed as Go's client does. Contract: docs/behaviour/runtime/rest-client.md, part "Redirections". */
import { discardBody, headerOf } from '../answers/response-body.ts'
import { TransportError } from '../transport.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'

const MOST_REQUESTS = 10
/** Those after which anything but GET and HEAD becomes a GET without a body (RFC 9110, section 15.4, notes). */
const BECOMES_GET: ReadonlySet<number> = new Set([301, 302, 303])
const STAYS: ReadonlySet<number> = new Set([307, 308])
const OF_THE_BODY = [
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
] as const

/**
 * Goes where answers of `transport` point, which is for `server` (with the path in front of every other). It stands outside of what adds
 * credentials, so these go along, to whatever server that is: client-go adds them to every request too. Those among the headers of a
 * request go no further than `server` and names below it.
 */
export function followingRedirects(transport: Transport, server: string): Transport {
  const home = new URL(server).hostname
  const base = server.replace(/\/+$/, '')
  return {
    async send(request: TransportRequest): Promise<TransportResponse> {
      let at = base + request.path
      let outgoing = request
      for (let sent = 1; ; sent++) {
        const response = await transport.send(outgoing)
        if (!BECOMES_GET.has(response.status) && !STAYS.has(response.status)) return response
        const location = headerOf(response, 'location')
        // Go reads such an answer like any other.
        if (!location) return response
        await discardBody(response)
        const what = `${outgoing.method} ${at.split('?', 1)[0]}`
        const next = targetOf(location, at, what)
        if (sent === MOST_REQUESTS) {
          throw new TransportError('REDIRECT_REFUSED', `${what}: stopped after 10 redirects`)
        }
        outgoing = redirected(outgoing, response.status, next, at)
        // Once they are off they stay off, as in Go.
        if (!isAtHome(next.hostname, home)) {
          const { authorization: _, cookie: __, ...headers } = outgoing.headers ?? {}
          outgoing = { ...outgoing, headers }
        }
        at = next.href
      }
    },
    close: () => transport.close(),
  }
}

/** As Go compares them: ports do not matter, and an address is no name below another. */
function isAtHome(hostname: string, home: string): boolean {
  if (hostname === home) return true
  return !home.includes(':') && !/^[\d.]+$/.test(home) && hostname.endsWith(`.${home}`)
}

function targetOf(location: string, at: string, what: string): URL {
  const text = JSON.stringify(location)
  let target: URL
  try {
    target = new URL(location, at)
  } catch (error) {
    const message = `${what}: failed to parse Location header ${text}`
    throw new TransportError('REDIRECT_REFUSED', message, { cause: error })
  }
  if (target.protocol === 'https:' || target.protocol === 'http:') return target
  const scheme = JSON.stringify(target.protocol.slice(0, -1))
  throw new TransportError(
    'REDIRECT_REFUSED',
    `${what}: redirected to ${text}: unsupported protocol scheme ${scheme}`,
  )
}

function redirected(
  request: TransportRequest,
  status: number,
  target: URL,
  from: string,
): TransportRequest {
  const headers = { ...request.headers }
  // Where it came from is not told in plain text (RFC 9110, section 10.1.3).
  if (from.startsWith('https:') && target.protocol === 'http:') delete headers['referer']
  else headers['referer'] = from
  const to = { server: target.origin, path: target.pathname + target.search }
  const { method } = request
  if (!BECOMES_GET.has(status) || method === 'GET' || method === 'HEAD')
    return { ...request, ...to, headers }
  for (const name of OF_THE_BODY) delete headers[name]
  const { body: _, ...rest } = request
  return { ...rest, ...to, headers, method: 'GET' }
}
