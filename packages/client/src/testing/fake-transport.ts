import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { TransportError } from '../transport.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'

/** An answer, an error to reject with, or a function of the request. */
export type Answer =
  | TransportResponse
  | Error
  | ((request: TransportRequest) => TransportResponse | Error | Promise<TransportResponse | Error>)

export interface FakeTransport extends Transport {
  /** What was sent, in order. */
  readonly requests: readonly TransportRequest[]
  /** Puts more answers at the end of the script. */
  answer(...answers: readonly Answer[]): void
}

/** Gives scripted answers in order, one per request; the last one for ever when `repeatLast` is set. */
export function fakeTransport(
  answers: readonly Answer[],
  options: { readonly repeatLast?: boolean } = {},
): FakeTransport {
  const script = [...answers]
  const requests: TransportRequest[] = []
  return {
    requests,
    answer: (...more) => void script.push(...more),
    async send(request) {
      if (request.signal?.aborted) throw new TransportError('ABORTED', 'given up by its caller')
      requests.push(request)
      const next = options.repeatLast && script.length === 1 ? script[0] : script.shift()
      if (next === undefined)
        throw new Error(`no answer is left for ${request.method} ${request.path}`)
      const answer = typeof next === 'function' ? await next(request) : next
      if (answer instanceof Error) throw answer
      return answer
    },
    close: async () => {},
  }
}

export function jsonAnswer(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(value))
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      ...headers,
    },
    body: { kind: 'bytes', chunks: chunksOf([bytes]) },
  }
}

export function textAnswer(
  text: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: { kind: 'bytes', chunks: chunksOf([Buffer.from(text)]) },
  }
}

/** A refusal with a Status. */
export function statusAnswer(
  code: number,
  reason: string,
  message = reason,
  headers: Readonly<Record<string, string>> = {},
): TransportResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
  }
  return jsonAnswer(status, code, headers)
}

/** A watch over bytes: texts and byte chunks as they arrive; an Error breaks the body off. */
export function watchBytes(...pieces: readonly (string | Uint8Array | Error)[]): TransportResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: { kind: 'bytes', chunks: chunksOf(pieces) },
  }
}

/** A watch within one process: push events, then end it. */
export function eventStream(): {
  readonly response: TransportResponse
  push(event: WatchEvent<KubernetesObject>): void
  end(): void
} {
  const queue: WatchEvent<KubernetesObject>[] = []
  let ended = false
  let wake: (() => void) | undefined
  async function* events(): AsyncGenerator<WatchEvent<KubernetesObject>> {
    for (;;) {
      while (queue.length > 0) yield queue.shift()!
      if (ended) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return {
    response: { status: 200, headers: {}, body: { kind: 'events', events: events() } },
    push(event) {
      queue.push(event)
      wake?.()
    },
    end() {
      ended = true
      wake?.()
    },
  }
}

/** From the start for everyone who reads: one answer may be given several times. */
function chunksOf(pieces: readonly (string | Uint8Array | Error)[]): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece
        yield typeof piece === 'string' ? Buffer.from(piece) : piece
      }
    },
  }
}
