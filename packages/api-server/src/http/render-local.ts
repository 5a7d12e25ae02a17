/** Answers for callers within the process: values as they are, nothing encoded unless another form was asked for. Events are never encoded. */
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import type { WatchEventType, WatchSink, WatchTransform } from './watch-sink.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Answer, AnswerBody } from './answer.ts'
import { encodeBody } from './encode.ts'
import { oneChunk, type ServerResponse } from './exchange.ts'

/** Events that wait for the reader of a watch; more cut it off, and it continues from its last version. */
const MOST_WAITING_EVENTS = 10_000
/** The initial state of a watch waits for its reader at this many. */
const COMFORTABLE_EVENTS = 1000

export async function renderLocally(
  answer: Answer,
  signal: AbortSignal | undefined,
): Promise<ServerResponse> {
  const { status, body, headers = {} } = answer
  const mediaType = answer.mediaType ?? 'application/json'
  switch (body.kind) {
    case 'object':
      if (mediaType !== 'application/json') return encoded(answer, body)
      return {
        status,
        headers: { ...headers, 'content-type': answer.contentType ?? mediaType },
        body: { kind: 'value', value: body.value },
      }
    case 'list': {
      if (mediaType !== 'application/json') return encoded(answer, body)
      const value = { ...body.head, items: body.items }
      return {
        status,
        headers: { ...headers, 'content-type': mediaType },
        body: { kind: 'value', value },
      }
    }
    case 'watch': {
      const queue = new EventQueue(body.transform)
      const stop = body.watch.start(queue)
      if (signal?.aborted === true) stop()
      else signal?.addEventListener('abort', stop, { once: true })
      // One signal may outlive many watches.
      queue.onStop = () => {
        signal?.removeEventListener('abort', stop)
        stop()
      }
      return {
        status,
        headers: { ...headers, 'content-type': 'application/json' },
        body: { kind: 'events', events: queue },
      }
    }
    case 'bytes':
      return {
        status,
        headers: { ...headers, 'content-type': body.contentType },
        body: { kind: 'bytes', chunks: oneChunk(body.bytes) },
      }
    case 'stream':
      return {
        status,
        headers: {
          ...headers,
          ...(body.contentType === undefined ? {} : { 'content-type': body.contentType }),
        },
        body: { kind: 'bytes', chunks: body.chunks },
      }
    case 'connection':
    case 'tunnel':
    case 'empty':
      return { status, headers, body: { kind: 'bytes', chunks: oneChunk(new Uint8Array(0)) } }
  }
}

async function encoded(
  answer: Answer,
  body: Extract<AnswerBody, { kind: 'object' | 'list' }>,
): Promise<ServerResponse> {
  const mediaType = answer.mediaType!
  const bytes = Buffer.concat(await encodeBody(body, mediaType, false))
  return {
    status: answer.status,
    headers: { ...answer.headers, 'content-type': answer.contentType ?? mediaType },
    body: { kind: 'bytes', chunks: oneChunk(bytes) },
  }
}

/** The events of one watch, for one reader. */
class EventQueue implements WatchSink, AsyncIterable<WatchEvent<KubernetesObject>> {
  readonly #transform: WatchTransform | undefined
  #events: WatchEvent<KubernetesObject>[] = []
  #next = 0
  #ended = false
  #wake: (() => void) | undefined
  #roomMade: (() => void) | undefined
  onStop: (() => void) | undefined

  constructor(transform: WatchTransform | undefined) {
    this.#transform = transform
  }

  send(type: WatchEventType, object: Stored): boolean {
    if (this.#events.length - this.#next >= MOST_WAITING_EVENTS) return false
    const shown = this.#transform === undefined ? object : this.#transform(object, type)
    if (shown === undefined) return false
    this.#events.push({ type, object: shown } as WatchEvent<KubernetesObject>)
    this.#wakeUp()
    return true
  }

  isFull(): boolean {
    return false
  }

  ready(): Promise<void> | undefined {
    if (this.#events.length - this.#next < COMFORTABLE_EVENTS) return undefined
    return new Promise((resolve) => (this.#roomMade = resolve))
  }

  end(): void {
    this.#ended = true
    this.#wakeUp()
    this.#roomMade?.()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<KubernetesObject>> {
    try {
      for (;;) {
        while (this.#next < this.#events.length) yield this.#events[this.#next++]!
        this.#events = []
        this.#next = 0
        this.#roomMade?.()
        this.#roomMade = undefined
        if (this.#ended) return
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      this.onStop?.()
    }
  }
}
