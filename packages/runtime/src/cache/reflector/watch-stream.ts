import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { StatusError, TransportError, takeDecoded } from '@gyropilot/client'
import type { Clock, Logger } from '@gyropilot/foundation'
import { every } from '@gyropilot/foundation'
import { yieldIfLong } from '../../turn.ts'
import type { ObjectShape } from '../transform.ts'
import { VeryShortWatch } from './watch-errors.ts'

export type Stream<T extends KubernetesObject> = AsyncIterator<WatchEvent<T>>

/** `closed`: by the server or the network, nothing is wrong. `asked`: the target asked to stop reading. */
export type StreamEnd =
  | { readonly ended: 'closed' }
  | { readonly ended: 'asked' }
  | { readonly ended: 'error'; readonly error: unknown }

/** What the events of a stream are applied to. `changed` and `bookmarked` may throw: the event is then lost. */
export interface StreamTarget<T extends KubernetesObject> {
  changed(type: 'Added' | 'Updated' | 'Deleted', object: T): void
  bookmarked(resourceVersion: string, isEndOfInitialEvents: boolean): void
  /** After each event; true to stop reading here and keep the stream. */
  applied(resourceVersion: string): boolean
  readonly warnWhenSilent: boolean
}

export interface StreamReader {
  readonly clock: Clock
  readonly logger: Logger
  readonly shape: ObjectShape
  readonly signal: AbortSignal
}

const VERY_SHORT_WATCH_MS = 1_000
const SILENCE_WARNING_MS = 10_000
/**
 * How often the time is looked at. Thousands of events can be ready at once, of as many streams as there are kinds, and each of these
 * works so much in a turn that is over already.
 */
const EVENTS_PER_LOOK = 8
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** Reads events into the target until the stream ends, fails, or the target asks to stop. A stream that was asked to stop goes on later. */
export async function followStream<T extends KubernetesObject>(
  stream: Stream<T>,
  reader: StreamReader,
  target: StreamTarget<T>,
): Promise<StreamEnd> {
  const { clock, logger, signal } = reader
  const startedMs = clock.monotonicMs()
  let events = 0
  let silent = true
  const warning = target.warnWhenSilent
    ? every(clock, SILENCE_WARNING_MS, () => {
        if (silent) logger.info('No event of the streaming list for 10 s', { events })
        silent = true
      })
    : undefined
  try {
    for (;;) {
      const next = takeDecoded(stream) ?? (await nextEvent(stream))
      if (signal.aborted || next === undefined) break
      silent = false
      if (next.type === 'ERROR') return { ended: 'error', error: new StatusError(next.object) }
      if (!apply(next, target, reader)) continue
      events++
      if (target.applied(next.object.metadata?.resourceVersion ?? '')) return { ended: 'asked' }
      if (events % EVENTS_PER_LOOK === 0) await yieldIfLong(clock)
    }
  } catch (error) {
    return { ended: 'error', error }
  } finally {
    warning?.cancel()
  }
  if (events === 0 && clock.monotonicMs() - startedMs < VERY_SHORT_WATCH_MS) {
    return { ended: 'error', error: new VeryShortWatch() }
  }
  return { ended: 'closed' }
}

/** False: the event is not one of ours and was skipped. */
function apply<T extends KubernetesObject>(
  event: Exclude<WatchEvent<T>, { type: 'ERROR' }>,
  target: StreamTarget<T>,
  { logger, shape }: StreamReader,
): boolean {
  const { object } = event
  if (!isExpected(object, shape)) {
    logger.error(new Error('unexpected object in a watch'), 'Skipping a watch event', {
      event: event.type,
      kind: object?.kind,
      apiVersion: object?.apiVersion,
    })
    return false
  }
  try {
    switch (event.type) {
      case 'ADDED':
        target.changed('Added', object)
        return true
      case 'MODIFIED':
        target.changed('Updated', object)
        return true
      case 'DELETED':
        target.changed('Deleted', object)
        return true
      case 'BOOKMARK':
        target.bookmarked(
          object.metadata?.resourceVersion ?? '',
          object.metadata?.annotations?.[INITIAL_EVENTS_END] === 'true',
        )
        return true
      default:
        logger.error(new Error('unknown type of watch event'), 'Skipping a watch event', { event })
        return false
    }
  } catch (error) {
    logger.error(error, 'An object of a watch event could not be taken in and is lost', {
      name: object.metadata?.name,
      namespace: object.metadata?.namespace,
    })
    return true
  }
}

function isExpected(object: KubernetesObject, { kind, apiVersion }: ObjectShape): boolean {
  if ((object as KubernetesObject | null)?.metadata === undefined) return false
  return (object.kind ?? kind) === kind && (object.apiVersion ?? apiVersion) === apiVersion
}

/** A connection that breaks is a stream that ends: what was missed is fetched by watching on from the last version. */
async function nextEvent<T extends KubernetesObject>(
  stream: Stream<T>,
): Promise<WatchEvent<T> | undefined> {
  try {
    const next = await stream.next()
    return next.done ? undefined : next.value
  } catch (error) {
    if (error instanceof TransportError) return undefined
    throw error
  }
}

/** Not awaited: a stream that hangs must not hold up the next one. */
export function closeStream(stream: Stream<KubernetesObject>): void {
  stream.return?.().catch(() => {})
}
