/** A watch over WebSocket: a message for each event. Contract: docs/behaviour/api-server/storage-and-watch.md, "Watch". */
import type { WebSocket } from 'ws'
import type { AnswerBody } from '../http/answer.ts'
import type { EventEncoder } from '../http/encode.ts'
import type { WatchEventType, WatchSink, WatchTransform } from '../http/watch-sink.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { sendBytes } from './channel-form.ts'

type WatchBody = Extract<AnswerBody, { kind: 'watch' }>

/** A watch whose reader leaves this much unread is cut off; it continues from its last version. */
const MOST_UNREAD_BYTES = 8_388_608
/** The initial state of a watch waits for its reader at this much. */
const COMFORTABLE_BYTES = 1_048_576
const NORMAL_CLOSURE = 1000

/** How events are written. */
interface EventForm {
  readonly encode: EventEncoder
  /** Messages of bytes, not of text. */
  readonly binary: boolean
}

export function watchOverWebSocket(
  socket: WebSocket,
  { watch, transform }: WatchBody,
  form: EventForm,
): void {
  socket.on('error', () => socket.terminate())
  const stop = watch.start(new MessageSink(socket, transform, form))
  socket.on('close', stop)
  if (socket.readyState !== socket.OPEN) stop()
}

class MessageSink implements WatchSink {
  readonly #socket: WebSocket
  readonly #transform: WatchTransform | undefined
  readonly #form: EventForm
  /** When the last message has gone out, or nobody reads any more. */
  #flushed: Promise<void> = Promise.resolve()

  constructor(socket: WebSocket, transform: WatchTransform | undefined, form: EventForm) {
    this.#socket = socket
    this.#transform = transform
    this.#form = form
  }

  send(type: WatchEventType, object: Stored): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false
    if (this.#socket.bufferedAmount > MOST_UNREAD_BYTES) return false
    const shown = this.#transform === undefined ? object : this.#transform(object, type)
    if (shown === undefined) return false
    const { encode, binary } = this.#form
    const encoded = encode(type, object, shown)
    this.#flushed = sendBytes(this.#socket, binary ? encoded : Buffer.from(encoded).toString())
    return true
  }

  ready(): Promise<void> | undefined {
    if (this.#socket.bufferedAmount < COMFORTABLE_BYTES) return undefined
    return this.#flushed
  }

  end(): void {
    if (this.#socket.bufferedAmount > MOST_UNREAD_BYTES) this.#socket.terminate()
    else this.#socket.close(NORMAL_CLOSURE)
  }
}
