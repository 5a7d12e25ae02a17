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
}

interface SpamBucket {
  tokens: number
  filledMs: number
}

/** Keeps floods of events from the server: combines similar ones, counts equal ones, drops what is too much. */
export class EventCorrelator {
  readonly #clock: Clock
  readonly #similar = new LruCache<SimilarEvents, number>(
    CACHE_SIZE,
    ({ lastMs }) => this.#clock.monotonicMs() - lastMs > SIMILAR_WINDOW_MS,
  )
  readonly #observations = new LruCache<Observation, number>(CACHE_SIZE)
  readonly #spamBuckets = new LruCache<SpamBucket, number>(
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

  #aggregate(event: Event, combinedName: string): { event: Event; key: number } {
    const groupKey = groupKeyOf(event)
    const nowMs = this.#clock.monotonicMs()
    const { message = '' } = event
    let similar = this.#similar.get(groupKey)
    if (similar === undefined || nowMs - similar.lastMs > SIMILAR_WINDOW_MS) {
      // Made with its message: a list that grows from nothing takes room for sixteen.
      similar = { messages: [message], lastMs: nowMs }
    } else if (!similar.messages.includes(message)) similar.messages.push(message)
    similar.lastMs = nowMs
    this.#similar.set(groupKey, similar)
    if (similar.messages.length < SIMILAR_MESSAGES) return { event, key: observationKeyOf(event) }

    similar.messages.shift()
    const combined: Event = {
      ...event,
      metadata: { name: combinedName, namespace: event.metadata?.namespace },
      message: `${COMBINED_PREFIX}${message}`,
      reportingComponent: '',
      reportingInstance: '',
    }
    return { event: combined, key: groupKey }
  }

  #observe(event: Event, observationKey: number): CorrelatedEvent {
    const known = this.#observations.get(observationKey)
    if (known === undefined) {
      this.#observations.set(observationKey, observationOf(event))
      return { event }
    }
    const repeated: Event = {
      ...event,
      metadata: { ...event.metadata, name: known.name },
      firstTimestamp: known.firstTimestamp,
      count: known.count + 1,
    }
    this.#observations.set(observationKey, observationOf(repeated))
    const { count, lastTimestamp, message } = repeated
    return { event: repeated, patch: { count, lastTimestamp, message } }
  }

  #isSpam(event: Event): boolean {
    const key = keyOf([...sourceAndObject(event), event.type])
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
  }
}

function groupKeyOf(event: Event): number {
  const { reportingComponent, reportingInstance, type, reason } = event
  return keyOf([...sourceAndObject(event), type, reason, reportingComponent, reportingInstance])
}

function observationKeyOf(event: Event): number {
  return keyOf([
    ...sourceAndObject(event),
    event.involvedObject.fieldPath,
    event.type,
    event.reason,
    event.message,
  ])
}

/**
 * A number in the place of the texts, which are some 300 characters: a large cluster remembers nine of them for each pod. Two of 4,096
 * keys are the same by chance once in a thousand million processes. The mixing is that of cyrb53 (in the public domain). Joined without a separator, as upstream: what collides there
 * collides here.
 */
function keyOf(texts: readonly (string | undefined)[]): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (const text of texts) {
    if (text === undefined) continue
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      high = Math.imul(high ^ code, 0x9e3779b1)
      low = Math.imul(low ^ code, 0x5f356495)
    }
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (high >>> 11) * 2 ** 32 + (low >>> 0)
}

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
