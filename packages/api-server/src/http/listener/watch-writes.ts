/** A watch on its way to a peer over the network. */
import type { ServerResponse as Http1Response } from 'node:http'
import { COMFORTABLE_BYTES, MOST_UNREAD_BYTES } from '../watch-sink.ts'
import type { WatchEventType, WatchSink, WatchTransform } from '../watch-sink.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { encodeEvent } from '../encode.ts'
import type { EventEncoder } from '../encode.ts'
import { cutOff, answerDrained } from './outgoing.ts'
import { isGone } from './peer.ts'
import type { Outgoing } from './peer.ts'

/** A watch as lines of JSON, or frames of protobuf. */
export class WatchStream implements WatchSink {
  readonly #outgoing: Outgoing
  readonly #transform: WatchTransform | undefined
  readonly #encode: EventEncoder
  /** Written so far. */
  bytes = 0
  readonly #done = Promise.withResolvers<void>()

  constructor(
    outgoing: Outgoing,
    transform: WatchTransform | undefined,
    encode: EventEncoder = encodeEvent,
  ) {
    this.#outgoing = outgoing
    this.#transform = transform
    this.#encode = encode
  }

  get ended(): Promise<void> {
    return this.#done.promise
  }

  send(type: WatchEventType, object: Stored): boolean {
    if (isGone(this.#outgoing) || this.isFull()) return false
    const shown = this.#transform === undefined ? object : this.#transform(object, type)
    if (shown === undefined) return false
    const encoded = this.#encode(type, object, shown)
    this.bytes += encoded.length
    ;(this.#outgoing as Http1Response).write(encoded)
    return true
  }

  isFull(): boolean {
    return this.#unread() > MOST_UNREAD_BYTES
  }

  ready(): Promise<void> | undefined {
    if (this.#unread() < COMFORTABLE_BYTES) return undefined
    return answerDrained(this.#outgoing)
  }

  end(): void {
    if (this.isFull()) cutOff(this.#outgoing)
    else this.#outgoing.end()
    this.#done.resolve()
  }

  #unread(): number {
    return 'stream' in this.#outgoing
      ? (this.#outgoing.stream?.writableLength ?? 0)
      : this.#outgoing.writableLength
  }
}
