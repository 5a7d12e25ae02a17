/** A watch over WebSocket: a message for each event. Contract: docs/behaviour/api-server/storage-and-watch.md, "Watch". */
import type { WebSocket } from 'ws'
import type { AnswerBody } from '../http/answer.ts'
import type { EventEncoder } from '../http/encode.ts'
import { COMFORTABLE_BYTES, MOST_UNREAD_BYTES } from '../http/watch-sink.ts'
import type { WatchEventType, WatchSink, WatchTransform } from '../http/watch-sink.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { sendBytes } from './channel-form.ts'

type WatchBody = Extract<AnswerBody, { kind: 'watch' }>

const NORMAL_CLOSURE = 1000

/** How events are written, and what is done after the last. */
interface EventForm {
  readonly encode: EventEncoder
  /** Messages of bytes, not of text. */
  readonly binary: boolean
  /** Ends the connection behind what was written. */
  hangUp(): void
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
    if (this.isFull()) return false
    const shown = this.#transform === undefined ? object : this.#transform(object, type)
    if (shown === undefined) return false
    const { encode, binary } = this.#form
    const encoded = encode(type, object, shown)
    this.#flushed = sendBytes(this.#socket, binary ? encoded : Buffer.from(encoded).toString())
    return true
  }

  isFull(): boolean {
    return this.#socket.bufferedAmount > MOST_UNREAD_BYTES
  }

  ready(): Promise<void> | undefined {
    if (this.#socket.bufferedAmount < COMFORTABLE_BYTES) return undefined
    return this.#flushed
  }

  end(): void {
    if (this.isFull()) {
      this.#socket.terminate()
      return
    }
    this.#socket.close(NORMAL_CLOSURE)
    // Nobody waits for the goodbye of a reader that may never say it.
    this.#form.hangUp()
  }
}
