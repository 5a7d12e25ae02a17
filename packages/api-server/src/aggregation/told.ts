/** What another API server says of itself, when it is asked. */
import { errorText } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import type { UserInfo } from '../contracts.ts'
import { readLimited } from '../http/limited-body.ts'
import { remoteHeaders } from './backends.ts'
import type { Backends } from './backends.ts'

const TIMEOUT_MS = 5_000
const MOST_DOCUMENT_BYTES = 8 * 2 ** 20

interface Question {
  readonly path: string
  readonly accept: string
  readonly asker: UserInfo
  /** Of the document that is known: what has not changed since is not told again. */
  readonly etag?: string | undefined
}

/** `why`: a status that is none of success, or what went wrong. */
export type Told =
  | { readonly document: Stored; readonly etag: string | undefined }
  | { readonly why: number | string }

export const UNCHANGED = 304

/** How they are reached, and whose time it is. */
export interface Asking {
  readonly backends: Backends
  readonly clock: Clock
}

/** Never rejects. */
export async function toldBy(
  { backends, clock }: Asking,
  apiService: Stored,
  { path, accept, asker, etag }: Question,
): Promise<Told> {
  const late = new AbortController()
  const timer = clock.after(TIMEOUT_MS, () => late.abort(new Error('context deadline exceeded')))
  try {
    const answer = await backends.send(apiService, {
      method: 'GET',
      path,
      headers: {
        accept,
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
        ...remoteHeaders(asker),
      },
      signal: late.signal,
    })
    if ('peer' in answer) {
      answer.peer.destroy()
      return { why: 101 }
    }
    const { status, headers, chunks } = answer
    const body = await readLimited(chunks, MOST_DOCUMENT_BYTES)
    if (status < 200 || status > 299) return { why: status }
    const shown = headers['etag']
    return {
      document: JSON.parse(body) as Stored,
      etag: typeof shown === 'string' ? shown : undefined,
    }
  } catch (error) {
    return { why: errorText(error) }
  } finally {
    timer.cancel()
  }
}
