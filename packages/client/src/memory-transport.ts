import type { Clock, RandomSource } from '@gyropilot/foundation'
import { TransportError } from './transport.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

/** Without options requests arrive at once and in order. */
export interface MemoryTransportOptions {
  /** Every request reaches the handler after a delay drawn from [minimumMs, maximumMs), by the clock. */
  readonly delay?: {
    readonly clock: Clock
    readonly random: RandomSource
    readonly minimumMs: number
    readonly maximumMs: number
  }
}

/**
 * A transport within one process: the handler is the server. Bodies go both ways as values and are shared, so nobody may
 * edit them. A request given up while it waits never reaches the handler; one given up later rejects at once, whether or
 * not the handler heard of it.
 */
export function memoryTransport(
  handler: (request: TransportRequest) => Promise<TransportResponse>,
  options: MemoryTransportOptions = {},
): Transport {
  let closed = false
  const { delay } = options

  async function send(request: TransportRequest): Promise<TransportResponse> {
    if (closed)
      throw new TransportError(
        'CLOSED',
        `${request.method} ${request.path}: the transport is closed`,
      )
    const { signal } = request
    if (signal?.aborted) throw aborted(request)
    if (delay !== undefined) await travel(request, delay)
    if (closed)
      throw new TransportError(
        'ECONNREFUSED',
        `${request.method} ${request.path}: the transport is closed`,
      )
    if (signal === undefined) return handler(request)
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(aborted(request))
      signal.addEventListener('abort', onAbort, { once: true })
      handler(request)
        .finally(() => signal.removeEventListener('abort', onAbort))
        .then(resolve, reject)
    })
  }

  return {
    send,
    async close(): Promise<void> {
      closed = true
    },
  }
}

function travel(
  request: TransportRequest,
  delay: NonNullable<MemoryTransportOptions['delay']>,
): Promise<void> {
  const delayMs = delay.minimumMs + delay.random.next() * (delay.maximumMs - delay.minimumMs)
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      timer.cancel()
      reject(aborted(request))
    }
    const timer = delay.clock.after(delayMs, () => {
      request.signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    request.signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function aborted(request: TransportRequest): TransportError {
  return new TransportError(
    'ABORTED',
    `${request.method} ${request.path}: given up by its caller`,
    {
      cause: request.signal?.reason,
    },
  )
}
