/** An answer that is passed back as it comes. */
import type { IncomingMessage } from 'node:http'

export interface PassedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Ends the connection, or its request there, when it is left. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** `leave`: whoever read it has gone. */
export function passedAnswer(response: IncomingMessage, leave: () => void): PassedAnswer {
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = value
  return { status: response.statusCode ?? 502, headers, chunks: chunksOf(response, leave) }
}

/** For an answer whose head says all that is wanted. */
export function leaveUnread({ chunks }: PassedAnswer): void {
  void chunks[Symbol.asyncIterator]().return?.()
}

/** Not a generator: a reader who leaves must end the connection even while nothing comes. */
function chunksOf(response: IncomingMessage, leave: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
      return {
        next: () => chunks.next(),
        async return() {
          leave()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
