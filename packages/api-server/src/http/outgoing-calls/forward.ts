/** Requests that another API server answers in this one's place, and answers as they come. */
import { request as httpsRequest } from 'node:https'
import type { Agent } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Tunnel } from '../answer.ts'
import type { OutgoingCall } from './outgoing-calls.ts'
import { passedAnswer } from './passed-answer.ts'
import type { PassedAnswer } from './passed-answer.ts'

/** As much as Go's client reads. */
const MOST_HEADER_BYTES = 10 * 2 ** 20

export interface ForwardedRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array
  /** Aborts when nobody waits for the answer any more, before or after its head. */
  readonly signal?: AbortSignal
  readonly connectTo: NonNullable<OutgoingCall['connectTo']>
  /** That the server's certificate must have. */
  readonly serverName: string
}

/** A tunnel if the other server switches protocols, else its answer. Rejects when nobody answers. */
export async function forward(
  request: ForwardedRequest,
  agent: Agent,
): Promise<PassedAnswer | Tunnel> {
  for (;;) {
    try {
      return await exchange(request, agent)
    } catch (error) {
      if (!(error instanceof ClosedMeanwhile)) throw error
    }
  }
}

/** A connection that was kept open was closed by the other side before it answered what may be asked again. */
class ClosedMeanwhile extends Error {}

const ASKED_AGAIN: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

async function exchange(request: ForwardedRequest, agent: Agent): Promise<PassedAnswer | Tunnel> {
  const { method, path, headers, body, signal, connectTo, serverName } = request
  const response = await new Promise<IncomingMessage | Tunnel>((resolve, reject) => {
    const sent = httpsRequest(
      {
        ...connectTo,
        method,
        path,
        agent,
        signal,
        servername: serverName,
        maxHeaderSize: MOST_HEADER_BYTES,
        headers: { ...headers, ...lengthOf(body) } as Record<string, string | string[]>,
      },
      resolve,
    )
    sent.on('upgrade', ({ rawHeaders }, peer, head) => {
      resolve({ headers: pairsOf(rawHeaders), peer, head })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = sent.reusedSocket && error.code === 'ECONNRESET'
      const mayAskAgain = ASKED_AGAIN.has(method) && body === undefined
      reject(isStale && mayAskAgain ? new ClosedMeanwhile() : error)
    })
    // A request without a connection yet would tell of its end only when it has one.
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    sent.end(body)
  })
  if ('peer' in response) return response
  response.on('error', () => {})
  return passedAnswer(response, () => response.destroy())
}

/** Node sends the body of a DELETE without its length, and nobody can tell it from the next request. */
export function lengthOf(body: Uint8Array | undefined): { readonly 'content-length'?: string } {
  return body === undefined ? {} : { 'content-length': String(body.length) }
}

function pairsOf(rawHeaders: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let at = 0; at < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at]!, rawHeaders[at + 1]!])
  return pairs
}
