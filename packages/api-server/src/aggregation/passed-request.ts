/** A request that another API server answers. Contract: docs/behaviour/api-server/requests.md, "APIServices". */
import { errorText } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { stringifyExact } from '@gyropilot/schema/exact-json'
import type { UserInfo } from '../contracts.ts'
import { text } from '../http/answer.ts'
import type { Answer, Tunnel } from '../http/answer.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import type { PassedAnswer } from '../http/outgoing-calls/passed-answer.ts'
import { headersPassedBack, headersPassedOn } from '../http/outgoing-calls/passed-headers.ts'
import { remoteHeaders } from './backends.ts'
import type { Backends } from './backends.ts'

/** Never rejects: who does not answer is told of with 503. */
export async function passedToBackend(
  backends: Backends,
  apiService: Stored,
  request: ServerRequest,
  user: UserInfo,
): Promise<Answer> {
  const { method, path, signal } = request
  const body = bytesOf(request)
  const protocol = protocolToSwitchTo(request)
  const switching =
    protocol === undefined ? undefined : { connection: 'Upgrade', upgrade: protocol }
  try {
    const answer = await backends.send(apiService, {
      method,
      path,
      headers: {
        ...contentType(request),
        ...headersPassedOn(request.headers),
        'x-forwarded-proto': 'https',
        'x-forwarded-uri': path.split('?', 1)[0]!,
        ...remoteHeaders(user),
        ...switching,
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    })
    return 'peer' in answer ? tunnelled(answer, switching !== undefined) : passedBack(answer)
  } catch (error) {
    const what = switching === undefined ? 'trying to reach service' : 'dialing backend'
    const why = `error ${what}: ${errorText(error)}\n`
    return text(503, why, { 'x-content-type-options': 'nosniff' })
  }
}

function passedBack({ status, headers, chunks }: PassedAnswer): Answer {
  const contentType = String(headers['content-type'] ?? 'application/octet-stream')
  return {
    status,
    headers: headersPassedBack(headers),
    body: { kind: 'stream', chunks, contentType },
  }
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
