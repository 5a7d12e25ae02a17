/** A request that another API server answers. Contract: docs/behaviour/api-server/requests.md, "APIServices". */
import { errorText } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import type { UserInfo } from '../contracts.ts'
import { text } from '../http/answer.ts'
import type { Answer, Tunnel } from '../http/answer.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { leaveUnread } from '../http/outgoing-calls/passed-answer.ts'
import type { PassedAnswer } from '../http/outgoing-calls/passed-answer.ts'
import { headersPassedBack, headersPassedOn } from '../http/outgoing-calls/passed-headers.ts'
import { cleanedPath, writtenPath, writtenQuery } from '../http/outgoing-calls/written-urls.ts'
import { remoteHeaders } from './backends.ts'
import type { Backends } from './backends.ts'

/** Never rejects: who does not answer is told of with 503. */
export async function passedToBackend(
  backends: Backends,
  apiService: Stored,
  request: ServerRequest,
  user: UserInfo,
): Promise<Answer> {
  const { method, signal } = request
  const body = bytesOf(request)
  const { path, query } = targetOf(request.path)
  const protocol = protocolToSwitchTo(request)
  const switching =
    protocol === undefined ? undefined : { connection: 'Upgrade', upgrade: protocol }
  try {
    const answer = await backends.send(apiService, {
      method,
      path: `${path}${query}`,
      headers: {
        ...contentType(request),
        ...headersPassedOn(request.headers),
        ...forwardedFor(request),
        'x-forwarded-uri': `${cleanedPath(path)}${path.endsWith('/') ? '/' : ''}`,
        ...remoteHeaders(user),
        ...switching,
      },
      ...(body === undefined ? {} : { body }),
      ...(LIST_OF_RESOURCES.test(path) ? { headWithinMs: LIST_WITHIN_MS } : {}),
      ...(signal === undefined ? {} : { signal }),
    })
    if ('peer' in answer) return tunnelled(answer, switching !== undefined)
    if (switching === undefined || answer.status >= 400) return passedBack(answer)
    leaveUnread(answer)
    return unreached(`invalid upgrade response: status code ${answer.status}`)
  } catch (error) {
    return unreached(
      switching === undefined
        ? `error trying to reach service: ${errorText(error)}`
        : notSwitched(error as Error),
    )
  }
}

/** Who asks which resources there are waits no longer: a client's discovery asks all group versions for theirs. */
const LIST_OF_RESOURCES = /^\/+apis\/[^/]+\/[^/]+\/*$/
const LIST_WITHIN_MS = 5_000

function unreached(why: string): Answer {
  return text(503, `${why}\n`, { 'x-content-type-options': 'nosniff' })
}

/** Once there is a connection, what comes over it is told of as it is. */
function notSwitched({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as { readonly code?: string }
  if (code === 'ECONNRESET') return 'unexpected EOF'
  if (code?.startsWith('HPE_')) return message.slice(message.indexOf('malformed HTTP response'))
  return `error dialing backend: ${message}`
}

/** A redirection would lead clients, with what they are known by, wherever the other server wants. */
function passedBack(answer: PassedAnswer): Answer {
  const { status, headers, chunks } = answer
  if (status >= 300 && status <= 399 && headers['location'] !== undefined) {
    leaveUnread(answer)
    return text(502, 'the backend attempted to redirect this request, which is not permitted')
  }
  const { 'content-type': contentType, 'content-length': length } = headers
  return {
    status,
    headers: {
      ...headersPassedBack(headers),
      ...(length === undefined ? {} : { 'content-length': length }),
    },
    body: {
      kind: 'stream',
      chunks,
      ...(contentType === undefined ? {} : { contentType: String(contentType) }),
    },
  }
}

/** As it was understood here. */
function targetOf(target: string): { readonly path: string; readonly query: string } {
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(target)!
  const written = writtenQuery(query)
  return { path: writtenPath(path), query: written === '' ? '' : `?${written}` }
}

function forwardedFor({ headers, clientAddress }: ServerRequest): Readonly<Record<string, string>> {
  if (clientAddress === undefined) return {}
  const before = headers['x-forwarded-for']
  const told = before === undefined ? '' : `${[before].flat().join(', ')}, `
  return { 'x-forwarded-for': `${told}${clientAddress}` }
}

/** Throws when nobody asked to switch. */
function tunnelled(tunnel: Tunnel, wasAsked: boolean): Answer {
  if (wasAsked) return { status: 101, body: { kind: 'tunnel', tunnel } }
  tunnel.peer.destroy()
  throw new Error('unexpected switch of protocols')
}

/** What this connection would speak from now on (`websocket`, `SPDY/3.1`). */
function protocolToSwitchTo({ headers }: ServerRequest): string | undefined {
  const isAsked = /(?:^|[\s,])upgrade(?:$|[\s,])/i.test(headerOf(headers, 'connection') ?? '')
  return isAsked ? headerOf(headers, 'upgrade') : undefined
}

function bytesOf({ body }: ServerRequest): Uint8Array | undefined {
  if (body === undefined) return undefined
  return 'bytes' in body ? body.bytes : Buffer.from(stringifyExact(body.json))
}

/** Values from within the process have no form of their own. */
function contentType({ body }: ServerRequest): { readonly 'content-type'?: string } {
  return body !== undefined && 'json' in body ? { 'content-type': 'application/json' } : {}
}
