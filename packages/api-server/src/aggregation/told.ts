/** What another API server says of itself, when it is asked. */
import { errorText } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import type { UserInfo } from '../contracts.ts'
import { leaveUnread } from '../http/outgoing-calls/passed-answer.ts'
import type { PassedAnswer } from '../http/outgoing-calls/passed-answer.ts'
import { readLimited } from '../http/limited-body.ts'
import { remoteHeaders, UnresolvedService } from './backends.ts'
import type { Backends } from './backends.ts'

const TIMEOUT_MS = 5_000
const LATE = 'net/http: request canceled (Client.Timeout exceeded while awaiting headers)'
const MOST_DOCUMENT_BYTES = 8 * 2 ** 20

interface Question {
  readonly path: string
  readonly accept: string
  readonly asker: UserInfo
  /** Of the document that is known: what has not changed since is not told again. */
  readonly etag?: string | undefined
}

export type Told = { readonly document: Stored; readonly etag: string | undefined } | NotTold

/** `why`: a status that is none of success, or what went wrong. */
interface NotTold {
  readonly why: number | string
  /** No connection was tried: where to is not known. */
  readonly unresolved?: boolean
  /** It answered with success, in a form that cannot be read. */
  readonly answered?: boolean
}

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
  const timer = clock.after(TIMEOUT_MS, () => late.abort(new Error(LATE)))
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
    if (answer.status < 200 || answer.status > 299) {
      leaveUnread(answer)
      return { why: answer.status }
    }
    return await documentOf(answer)
  } catch (error) {
    return { why: errorText(error), unresolved: error instanceof UnresolvedService }
  } finally {
    timer.cancel()
  }
}

/** What comes of an answer of success. */
async function documentOf({ headers, chunks }: PassedAnswer): Promise<Told> {
  try {
    const document = objectIn(await readLimited(chunks, MOST_DOCUMENT_BYTES))
    if (document === undefined) return { why: 'no JSON object', answered: true }
    const shown = headers['etag']
    return { document, etag: typeof shown === 'string' ? shown : undefined }
  } catch (error) {
    return { why: errorText(error), answered: true }
  }
}

function objectIn(text: string): Stored | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Stored) : undefined
  } catch {
    return undefined
  }
}
