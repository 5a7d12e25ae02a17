/** Contract: docs/behaviour/runtime/rest-client.md, Events, events.k8s.io/v1 recorder. */
import type { KubernetesObject, ObjectReference } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { StatusError, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, RandomSource, Timer } from '@gyropilot/foundation'
import { Fifo, every, formatMicroTime, jitter, sleep } from '@gyropilot/foundation'
import { EventNames } from './event-names.ts'
import { lastWrites } from './last-writes.ts'

type Event = NonNullable<(typeof resources.eventsV1)['shape']>

/** An event in the terms of events.k8s.io: what was done to `regarding`, perhaps because of or together with `related`. */
export interface SeriesEventRecord {
  readonly regarding: KubernetesObject
  readonly related?: KubernetesObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
}

/** Never blocks, never throws; what cannot be written is logged and dropped. */
export interface SeriesEventRecorder {
  record(event: SeriesEventRecord): void
}

/** Of events.k8s.io/v1 events; controller and hostname name the reporter. */
export interface SeriesBroadcasterOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** `example.com/my-controller`. */
  readonly controller: string
  readonly hostname: string
}

interface Known {
  readonly event: Event
  /** By the monotonic clock: a wall clock that jumps neither ends series nor keeps them. */
  readonly lastSeenMs: number
}

const QUEUE_LIMIT = 1000
const REFRESH_EVERY_MS = 30 * 60_000
const IDLE_MS = 6 * 60_000
const TRIES = 12
const BETWEEN_TRIES_MS = 10_000
const TRIES_JITTER = 0.25

/**
 * Records events.k8s.io/v1 events. Equal ones become a series: its start is written at once, its length when it has run
 * for long or has ended. Writes are made in the background, one after the other.
 */
export class SeriesBroadcaster implements SeriesEventRecorder {
  readonly #options: SeriesBroadcasterOptions
  readonly #names: EventNames
  readonly #known = new Map<string, Known>()
  readonly #queue = new Fifo<Event>()
  readonly #stopping = new AbortController()
  readonly #timers: readonly Timer[]
  #writing: Promise<void> | undefined
  #isDropping = false

  constructor(options: SeriesBroadcasterOptions) {
    this.#options = options
    this.#names = new EventNames(options.clock, options.random)
    this.#timers = [
      every(options.clock, REFRESH_EVERY_MS, () => this.#refresh()),
      every(options.clock, IDLE_MS, () => this.#finishIdle()),
    ]
  }

  record(record: SeriesEventRecord): void {
    if (this.#stopping.signal.aborted) return
    const event = this.#eventOf(record)
    if (event === undefined) {
      this.#options.logger.error(
        new Error('the object has no kind'),
        'Could not construct reference, will not report event',
        {
          reason: record.reason,
        },
      )
      return
    }
    const key = keyOfEvent(event)
    const known = this.#known.get(key)?.event
    const { clock } = this.#options
    const lastObservedTime = formatMicroTime(clock.nowMs())
    const count = (known?.series?.count ?? 1) + 1
    const current = known === undefined ? event : { ...known, series: { count, lastObservedTime } }
    this.#known.set(key, { event: current, lastSeenMs: clock.monotonicMs() })
    if (known?.series === undefined) this.#enqueue(current)
  }

  /** Writes what is queued with one try each, within half a second. What is recorded afterwards is dropped. */
  async shutdown(): Promise<void> {
    this.#stopping.abort()
    for (const timer of this.#timers) timer.cancel()
    if (!(await lastWrites(this.#writing, this.#options.clock))) this.#queue.clear()
  }

  #refresh(): void {
    for (const { event } of this.#known.values())
      if (event.series !== undefined) this.#enqueue(event)
  }

  #finishIdle(): void {
    const beforeMs = this.#options.clock.monotonicMs() - IDLE_MS
    for (const [key, { event, lastSeenMs }] of this.#known) {
      if (lastSeenMs >= beforeMs) continue
      if (event.series !== undefined) this.#enqueue(event)
      this.#known.delete(key)
    }
  }

  /** What is written is the state at the time of queueing: the creation is no series even when one starts meanwhile. */
  #enqueue(event: Event): void {
    if (this.#queue.size >= QUEUE_LIMIT) {
      this.#tellOfDrop(event)
      return
    }
    this.#queue.push(event)
    this.#writing ??= this.#writeAll()
  }

  /** Once until the queue is empty again: while nobody answers, each event would be told of. */
  #tellOfDrop({ reason, note }: Event): void {
    if (this.#isDropping) return
    this.#isDropping = true
    this.#options.logger.error(
      new Error('queue full'),
      'Unable to record event: too many queued events, dropped event and those that follow until the queue is empty',
      { reason, eventMessage: note },
    )
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve()
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift())
      await this.#write(event)
    this.#writing = undefined
    this.#isDropping = false
  }

  async #write(event: Event): Promise<void> {
    const { clock, random, logger } = this.#options
    const signal = this.#stopping.signal
    for (let tries = 1; ; tries++) {
      try {
        await this.#send(event)
        return
      } catch (error) {
        if (error instanceof StatusError || tries >= TRIES || signal.aborted) {
          logger.error(error, 'Unable to write event', {
            reason: event.reason,
            regarding: event.regarding?.name,
          })
          return
        }
      }
      await sleep(clock, jitter(random, BETWEEN_TRIES_MS, TRIES_JITTER), signal).catch(() => {})
    }
  }

  async #send(event: Event): Promise<void> {
    const { namespace, name } = event.metadata ?? {}
    const events = this.#options.client.resource(resources.eventsV1, namespace)
    if (event.series !== undefined) {
      try {
        await events.patch(name ?? '', { type: 'strategic', value: { series: event.series } })
        return
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
    await events.create(event)
  }

  #eventOf({
    regarding,
    related,
    type,
    reason,
    action,
    note,
  }: SeriesEventRecord): Event | undefined {
    const { controller, hostname, clock } = this.#options
    const reference = referenceTo(regarding)
    if (reference === undefined) return undefined
    const relatedReference = related && referenceTo(related)
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: {
        name: this.#names.next(reference.name ?? ''),
        namespace: reference.namespace || 'default',
      },
      eventTime: formatMicroTime(clock.nowMs()),
      reportingController: controller,
      reportingInstance: `${controller}-${hostname}`,
      action,
      reason,
      note,
      type,
      regarding: reference,
      ...(relatedReference ? { related: relatedReference } : {}),
    }
  }
}

function referenceTo(object: KubernetesObject): ObjectReference | undefined {
  const { apiVersion, kind, metadata = {} } = object
  if (!apiVersion || !kind) return undefined
  const { namespace, name, uid, resourceVersion } = metadata
  return { apiVersion, kind, namespace, name, uid, resourceVersion }
}

function keyOfEvent({
  type,
  action,
  reason,
  reportingController,
  reportingInstance,
  regarding,
  related,
}: Event): string {
  return JSON.stringify([
    type,
    action,
    reason,
    reportingController,
    reportingInstance,
    regarding,
    related,
  ])
}
