/** Contract: docs/behaviour/runtime/rest-client.md, Events, core/v1 recorder. */
import type { Event } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { Fifo, formatTime } from '@gyropilot/foundation'
import type { EventRecord } from '../effects.ts'
import { EventCorrelator } from './event-correlator.ts'
import type { EventRecorder } from './event-recorder.ts'
import { EventNames } from './event-names.ts'
import { writeEvent } from './event-writer.ts'
import { lastWrites } from './last-writes.ts'

const QUEUE_LIMIT = 1000

/** Of core/v1 events. */
export interface EventBroadcasterOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** `source.host` and `reportingInstance`. The manager has none. */
  readonly host?: string
}

/**
 * Takes events from any number of recorders and writes them in the background, one after the other. Recording never
 * blocks and never throws: what is too much, refused, or about something without a kind is logged and dropped.
 */
export class EventBroadcaster {
  readonly #options: EventBroadcasterOptions
  readonly #correlator: EventCorrelator
  readonly #queue = new Fifo<Event>()
  readonly #stopping = new AbortController()
  #writing: Promise<void> | undefined
  #isDropping = false
  readonly #names: EventNames

  constructor(options: EventBroadcasterOptions) {
    this.#options = options
    this.#correlator = new EventCorrelator(options.clock)
    this.#names = new EventNames(options.clock, options.random)
  }

  recorder(component: string): EventRecorder {
    return { record: (event) => this.#record(component, event) }
  }

  /** Writes what is queued with one try each, within half a second. What is recorded afterwards is dropped. */
  async shutdown(): Promise<void> {
    const { clock, logger } = this.#options
    this.#stopping.abort()
    if (await lastWrites(this.#writing, clock)) return
    logger.verbosity(2).info('Events are not written any more', { queued: this.#queue.size })
    this.#queue.clear()
  }

  #record(component: string, record: EventRecord): void {
    const { logger } = this.#options
    if (this.#stopping.signal.aborted) return
    if (record.type !== 'Normal' && record.type !== 'Warning') {
      logger.error(new Error('unsupported event type'), 'Unsupported event type', {
        eventType: record.type,
      })
      return
    }
    const event = this.#eventOf(component, record)
    if (event === undefined) {
      logger.error(
        new Error('the object has no kind'),
        'Could not construct reference, will not report event',
        {
          object: record.regarding.metadata?.name,
          reason: record.reason,
          eventMessage: record.message,
        },
      )
      return
    }
    if (this.#queue.size >= QUEUE_LIMIT) {
      this.#tellOfDrop(record)
      return
    }
    this.#queue.push(event)
    this.#writing ??= this.#writeAll()
  }

  /** Once until the queue is empty again: a burst that is too much for the server drops thousands. */
  #tellOfDrop({ reason, message }: EventRecord): void {
    if (this.#isDropping) return
    this.#isDropping = true
    this.#options.logger.error(
      new Error('queue full'),
      'Unable to record event: too many queued events, dropped event and those that follow until the queue is empty',
      { reason, eventMessage: message },
    )
  }

  async #writeAll(): Promise<void> {
    // In a turn of its own: the recording controller is not held up, and a full queue is filled before it is emptied.
    await Promise.resolve()
    const { client, clock, random, logger } = this.#options
    const signal = this.#stopping.signal
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      const correlated = this.#correlator.correlate(
        event,
        this.#names.next(event.involvedObject.name ?? ''),
      )
      if (correlated === undefined) continue
      await writeEvent(correlated, { client, clock, random, logger, signal })
    }
    this.#writing = undefined
    this.#isDropping = false
  }

  #eventOf(
    component: string,
    { regarding, type, reason, message, fieldPath }: EventRecord,
  ): Event | undefined {
    const { kind, apiVersion, metadata = {} } = regarding
    if (!kind || !apiVersion) return undefined
    const { host, clock } = this.#options
    const time = formatTime(clock.nowMs())
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: this.#names.next(metadata.name ?? ''),
        namespace: metadata.namespace || 'default',
      },
      involvedObject: {
        kind,
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        apiVersion,
        resourceVersion: metadata.resourceVersion,
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      reason,
      message,
      type,
      source: host === undefined ? { component } : { component, host },
      reportingComponent: component,
      reportingInstance: host ?? '',
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
    }
  }
}
