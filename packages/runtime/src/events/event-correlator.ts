/** Contract: docs/behaviour/runtime/rest-client.md, Events, core/v1 recorder. */
import type { Event, EventSource, ObjectReference } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import { LruCache } from './lru-cache.ts'

const CACHE_SIZE = 4096
/** From so many distinct messages of one kind on, they are combined. */
const SIMILAR_MESSAGES = 10
const SIMILAR_WINDOW_MS = 600_000
const SPAM_BURST = 25
const SPAM_REFILL_MS = 300_000
const COMBINED_PREFIX = '(combined from similar events): '

/** What to send: a new event, or an update of the one that was sent before for the same occurrence. */
export interface CorrelatedEvent {
  readonly event: Event
  /** Strategic merge patch of the known event, when there is one. */
  readonly patch?: Pick<Event, 'count' | 'lastTimestamp' | 'message'>
  /** To be handed to `written`. */
  readonly observationKey: string
}

interface SimilarEvents {
  /** Distinct, the oldest first. */
  readonly messages: string[]
  lastMs: number
}

interface Observation {
  readonly count: number
  readonly firstTimestamp: string | undefined
  readonly name: string | undefined
  readonly resourceVersion: string | undefined
}

interface SpamBucket {
  tokens: number
  filledMs: number
}

/** Keeps floods of events from the server: combines similar ones, counts equal ones, drops what is too much. */
export class EventCorrelator {
  readonly #clock: Clock
  readonly #similar = new LruCache<SimilarEvents>(
    CACHE_SIZE,
    ({ lastMs }) => this.#clock.monotonicMs() - lastMs > SIMILAR_WINDOW_MS,
  )
  readonly #observations = new LruCache<Observation>(CACHE_SIZE)
  readonly #spamBuckets = new LruCache<SpamBucket>(
    CACHE_SIZE,
    (bucket) => tokensOf(bucket, this.#clock.monotonicMs()) >= SPAM_BURST,
  )

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined: too many events of this source about this object. `combinedName` names an event that combines others. */
  correlate(event: Event, combinedName: string): CorrelatedEvent | undefined {
    const { event: sent, key } = this.#aggregate(event, combinedName)
    const correlated = this.#observe(sent, key)
    return this.#isSpam(sent) ? undefined : correlated
  }

  /** The server has taken the event: later equal ones update it. */
  written(observationKey: string, event: Event): void {
    this.#observations.set(observationKey, observationOf(event))
  }

  #aggregate(event: Event, combinedName: string): { event: Event; key: string } {
    const groupKey = groupKeyOf(event)
    const nowMs = this.#clock.monotonicMs()
    let similar = this.#similar.get(groupKey)
    if (similar === undefined || nowMs - similar.lastMs > SIMILAR_WINDOW_MS) {
      similar = { messages: [], lastMs: nowMs }
    }
    const { message = '' } = event
    if (!similar.messages.includes(message)) similar.messages.push(message)
    similar.lastMs = nowMs
    this.#similar.set(groupKey, similar)
    if (similar.messages.length < SIMILAR_MESSAGES) return { event, key: observationKeyOf(event) }

    similar.messages.shift()
    const combined: Event = {
      ...event,
      metadata: { name: combinedName, namespace: event.metadata?.namespace },
      message: `${COMBINED_PREFIX}${message}`,
      count: 1,
      reportingComponent: '',
      reportingInstance: '',
    }
    return { event: combined, key: groupKey }
  }

  #observe(event: Event, observationKey: string): CorrelatedEvent {
    const known = this.#observations.get(observationKey)
    if (known === undefined || known.count === 0) {
      this.#observations.set(observationKey, observationOf(event))
      return { event, observationKey }
    }
    const { resourceVersion: _, ...metadata } = event.metadata ?? {}
    const repeated: Event = {
      ...event,
      metadata: {
        ...metadata,
        name: known.name,
        ...(known.resourceVersion ? { resourceVersion: known.resourceVersion } : {}),
      },
      firstTimestamp: known.firstTimestamp,
      count: known.count + 1,
    }
    this.#observations.set(observationKey, observationOf(repeated))
    const { count, lastTimestamp, message } = repeated
    return { event: repeated, patch: { count, lastTimestamp, message }, observationKey }
  }

  #isSpam(event: Event): boolean {
    const key = [...sourceAndObject(event), event.type].join('')
    const nowMs = this.#clock.monotonicMs()
    const bucket = this.#spamBuckets.get(key) ?? { tokens: SPAM_BURST, filledMs: nowMs }
    bucket.tokens = tokensOf(bucket, nowMs)
    bucket.filledMs = nowMs
    const isSpam = bucket.tokens < 1
    if (!isSpam) bucket.tokens--
    this.#spamBuckets.set(key, bucket)
    return isSpam
  }
}

function tokensOf({ tokens, filledMs }: SpamBucket, nowMs: number): number {
  return Math.min(SPAM_BURST, tokens + (nowMs - filledMs) / SPAM_REFILL_MS)
}

function observationOf(event: Event): Observation {
  return {
    count: event.count ?? 0,
    firstTimestamp: event.firstTimestamp,
    name: event.metadata?.name,
    resourceVersion: event.metadata?.resourceVersion,
  }
}

function groupKeyOf(event: Event): string {
  const { reportingComponent, reportingInstance, type, reason } = event
  return [...sourceAndObject(event), type, reason, reportingComponent, reportingInstance].join('')
}

function observationKeyOf(event: Event): string {
  return [
    ...sourceAndObject(event),
    event.involvedObject.fieldPath,
    event.type,
    event.reason,
    event.message,
  ].join('')
}

/** Joined without a separator, as upstream: what collides there collides here. */
function sourceAndObject(event: Event): readonly (string | undefined)[] {
  const source: EventSource = event.source ?? {}
  const object: ObjectReference = event.involvedObject
  return [
    source.component,
    source.host,
    object.kind,
    object.namespace,
    object.name,
    object.uid,
    object.apiVersion,
  ]
}
