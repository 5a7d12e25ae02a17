/** A request that another API server answers. Contract: docs/behaviour/api-server/requests.md, "APIServices". */
import { errorText } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { stringifyExact } from '@gyropilot/schema/exact-json'
import type { UserInfo } from '../contracts.ts'
import { text } from '../http/answer.ts'
import type { Answer } from '../http/answer.ts'
import type { ServerRequest } from '../http/exchange.ts'
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
  try {
    const { status, headers, chunks } = await backends.send(apiService, {
      method,
      path,
      headers: {
        ...contentType(request),
        ...headersPassedOn(request.headers),
        'x-forwarded-proto': 'https',
        'x-forwarded-uri': path.split('?', 1)[0]!,
        ...remoteHeaders(user),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    })
    return {
      status,
      headers: headersPassedBack(headers),
      body: {
        kind: 'stream',
        chunks,
        contentType: String(headers['content-type'] ?? 'application/octet-stream'),
      },
    }
  } catch (error) {
    const why = `error trying to reach service: ${errorText(error)}\n`
    return text(503, why, { 'x-content-type-options': 'nosniff' })
  }
}

function bytesOf({ body }: ServerRequest): Uint8Array | undefined {
  if (body === undefined) return undefined
  return 'bytes' in body ? body.bytes : Buffer.from(stringifyExact(body.json))
}

/** Values from within the process have no form of their own. */
function contentType({ body }: ServerRequest): { readonly 'content-type'?: string } {
  return body !== undefined && 'json' in body ? { 'content-type': 'application/json' } : {}
}
