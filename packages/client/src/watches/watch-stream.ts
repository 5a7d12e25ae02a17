import type { KubernetesObject, Status, WatchEvent } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import type { Decoding } from '../answers/decode-object.ts'
import { markDecoded } from '../answers/decoded-values.ts'
import { TransportError } from '../transport.ts'
import type { TransportResponse } from '../transport.ts'
import { DecodedEvents } from './decoded-events.ts'
import { WatchDecodingError } from './watch-decoder.ts'

type Events = AsyncIterable<WatchEvent<KubernetesObject>>

/**
 * The events of an answered watch. It closes when the body ends, cleanly or not, since every consumer goes on from its
 * last resourceVersion in both cases; how it ended is logged. Bytes that are no event become one ERROR event (code 500,
 * cause ClientWatchDecoding) and end it: to skip them would leave a cache wrong for good.
 */
export function watchStream(
  response: TransportResponse,
  signal: AbortSignal | undefined,
  logger: Logger,
  decoding: Decoding = 'whole',
): Events {
  const { body } = response
  if (body.kind === 'events')
    return signal === undefined ? body.events : untilAborted(body.events, signal)
  if (body.kind === 'value') {
    return failing(new WatchDecodingError('malformed', 'the answer to a watch is a single value'))
  }
  return markDecoded(decoded(body.chunks, signal, logger, decoding))
}

/** A watch that closes at once: what is left when its start was tried to no avail. */
export async function* emptyWatch(): AsyncGenerator<never> {}

function decoded(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  logger: Logger,
  decoding: Decoding,
): Events {
  return new DecodedEvents(chunks, decoding, (error) => {
    if (signal?.aborted) return undefined
    if (error instanceof WatchDecodingError && error.fault === 'truncated') {
      logger
        .verbosity(1)
        .info('Unexpected EOF during watch stream event decoding', { err: error.message })
    } else if (error instanceof TransportError && error.code !== 'HTTP2_STREAM_ERROR') {
      logger
        .verbosity(5)
        .info('Unable to decode an event from the watch stream', { err: error.message })
    } else {
      return { type: 'ERROR', object: decodingStatus(error) }
    }
    return undefined
  })
}

async function* failing(error: Error): AsyncGenerator<WatchEvent<KubernetesObject>> {
  yield { type: 'ERROR', object: decodingStatus(error) }
}

function decodingStatus(error: unknown): Status {
  const message = `unable to decode an event from the watch stream: ${errorText(error)}`
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `an error on the server (${JSON.stringify(message)}) has prevented the request from succeeding`,
    reason: 'InternalError',
    details: {
      causes: [
        { reason: 'UnexpectedServerResponse', message },
        { reason: 'ClientWatchDecoding', message: '' },
      ],
    },
    code: 500,
  }
}

/** Values within one process pass through as they are; an abort ends them even when their maker does not notice it. */
function untilAborted(events: Events, signal: AbortSignal): Events {
  return {
    [Symbol.asyncIterator]() {
      const inner = events[Symbol.asyncIterator]()
      let finish: ((result: IteratorResult<WatchEvent<KubernetesObject>>) => void) | undefined
      const done = { done: true, value: undefined } as const
      const onAbort = (): void => {
        finish?.(done)
        void inner.return?.()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      return {
        async next() {
          if (signal.aborted) return done
          const result = await new Promise<IteratorResult<WatchEvent<KubernetesObject>>>(
            (resolve, reject) => {
              finish = resolve
              inner.next().then(resolve, reject)
            },
          )
          if (result.done) signal.removeEventListener('abort', onAbort)
          return result
        },
        async return() {
          signal.removeEventListener('abort', onAbort)
          await inner.return?.()
          return done
        },
      }
    },
  }
}
