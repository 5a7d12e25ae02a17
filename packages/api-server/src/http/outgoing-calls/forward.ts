/** Requests that another API server answers in this one's place, and answers as they come. */
import { request as httpsRequest } from 'node:https'
import type { Agent } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { OutgoingCall } from './outgoing-calls.ts'
import { passedAnswer } from './passed-answer.ts'
import type { PassedAnswer } from './passed-answer.ts'

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

/** Rejects when nobody answers. */
export async function forward(request: ForwardedRequest, agent: Agent): Promise<PassedAnswer> {
  const { method, path, headers, body, signal, connectTo, serverName } = request
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpsRequest(
      {
        ...connectTo,
        method,
        path,
        agent,
        signal,
        servername: serverName,
        headers: { host: serverName, ...headers } as Record<string, string | string[]>,
      },
      resolve,
    )
    sent.on('error', reject)
    // A request without a connection yet would tell of its end only when it has one.
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    sent.end(body)
  })
  response.on('error', () => {})
  return passedAnswer(response, () => response.destroy())
}
