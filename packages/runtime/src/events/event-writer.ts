/** Contract: docs/behaviour/runtime/rest-client.md, Events, core/v1 recorder. */
import type { Event } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { StatusError, hasCause, isAlreadyExists, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { sleep } from '@gyropilot/foundation'
import type { CorrelatedEvent } from './event-correlator.ts'

const TRIES = 12
const BETWEEN_TRIES_MS = 10_000
/** Servers keep of an event what was sent. */
const UNREAD = { unread: true }

interface EventWriterOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** After it aborted an event has one try. */
  readonly signal: AbortSignal
}

/** Writes one event, with its retries, or gives it up. */
export async function writeEvent(
  correlated: CorrelatedEvent,
  options: EventWriterOptions,
): Promise<void> {
  const { clock, random, logger, signal } = options
  for (let tries = 1; ; tries++) {
    try {
      await send(correlated, options.client)
      return
    } catch (error) {
      if (error instanceof StatusError) {
        logRefusal(error, correlated.event, logger)
        return
      }
      if (tries >= TRIES || signal.aborted) {
        logger.error(error, 'Unable to write event, giving up', {
          event: describe(correlated.event),
        })
        return
      }
      logger.error(error, 'Unable to write event, will retry', {
        event: describe(correlated.event),
      })
    }
    // The first wait is a random part: many processes lose one server at the same moment.
    const waitMs = tries === 1 ? BETWEEN_TRIES_MS * random.next() : BETWEEN_TRIES_MS
    await sleep(clock, waitMs, signal).catch(() => {})
  }
}

async function send({ event, patch }: CorrelatedEvent, client: Client): Promise<void> {
  const { namespace, name } = event.metadata ?? {}
  const events = client.resource(resources.events, namespace)
  if (patch !== undefined) {
    try {
      await events.patch(name ?? '', { type: 'strategic', value: patch }, UNREAD)
      return
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  await events.create(event, UNREAD)
}

/** Events of namespaces that end, and repetitions, are refused every day. */
function logRefusal(error: StatusError, event: Event, logger: Logger): void {
  const fields = { event: describe(event) }
  if (isAlreadyExists(error) || hasCause(error, 'NamespaceTerminating')) {
    logger
      .verbosity(5)
      .info('Server rejected event (will not retry)', { ...fields, error: error.message })
  } else {
    logger.error(error, 'Server rejected event (will not retry)', fields)
  }
}

function describe(event: Event): string {
  return `${event.metadata?.namespace}/${event.metadata?.name} ${event.reason}: ${event.message}`
}
