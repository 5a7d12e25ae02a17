/** What wget and curl share: a request, its answer, and where it leads on. */
import type { Process } from '../shell/process.ts'
import { readAnswer, requestBytes } from './http-exchange.ts'
import type { HttpAnswer, HttpRequest } from './http-exchange.ts'
import { reach } from './reach.ts'
import type { Reached } from './reach.ts'
import { redirectedTo } from './url.ts'
import type { HttpUrl } from './url.ts'

const MOST_REDIRECTIONS = 10

interface HttpWish extends HttpRequest {
  readonly mostMs: number
  /** How long it may take until somebody takes the connection. Default: all of the time. */
  readonly connectMs?: number | undefined
  /** Default: it asks the first address of a name alone. */
  readonly triesAll?: boolean | undefined
  readonly follows: boolean
  /** Told of each connection before its outcome is known to the caller. */
  connected?(url: HttpUrl, address: string): Promise<void>
}

export type HttpOutcome =
  | {
      readonly kind: 'answered'
      readonly url: HttpUrl
      readonly address: string
      readonly answer: HttpAnswer
      readonly isReal: boolean
    }
  /** Who answered does not speak HTTP. */
  | { readonly kind: 'garbled' }
  | { readonly kind: 'circle' }
  /** Leads to where another protocol is spoken. */
  | { readonly kind: 'foreign'; readonly location: string }
  | Exclude<Reached, { readonly kind: 'answered' }>

export async function httpExchange(task: Process, wish: HttpWish): Promise<HttpOutcome> {
  let { url, method, body } = wish
  for (let left = MOST_REDIRECTIONS; left >= 0; left--) {
    const bytes = requestBytes({ ...wish, url, method, body })
    const reached = await reach(task, {
      host: url.host,
      port: url.port,
      bytes,
      mostMs: wish.mostMs,
      connectMs: wish.connectMs,
      isEncrypted: url.isEncrypted,
      triesAll: wish.triesAll,
    })
    if ('address' in reached) await wish.connected?.(url, reached.address)
    if (reached.kind !== 'answered') return reached
    const answer = readAnswer(reached.bytes)
    if (answer === undefined) return { kind: 'garbled' }
    const location = answer.headers.get('location')
    const leadsOn = answer.status >= 300 && answer.status < 400 && location !== undefined
    if (!leadsOn || !wish.follows)
      return { kind: 'answered', url, address: reached.address, answer, isReal: reached.isReal }
    const next = redirectedTo(url, location)
    if (next === undefined) {
      task.place.onUnknown?.(location)
      return { kind: 'foreign', location }
    }
    url = next
    // As browsers have it since ever; 307 and 308 keep what was asked.
    if (answer.status < 307 && method !== 'HEAD') {
      method = 'GET'
      body = new Uint8Array(0)
    }
  }
  return { kind: 'circle' }
}

/**
 * Before a body is printed: the page of a simulated pod is not what its program would say, so a script that reads it cannot be
 * run by it.
 */
export function refuseGuess({ place, isRead }: Process, url: HttpUrl, isReal: boolean): void {
  if (isRead && !isReal) place.onUnknown?.(`what ${url.text} answers`)
}
