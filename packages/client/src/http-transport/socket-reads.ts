import type { OnReadOpts, Socket } from 'node:net'
import { TURN_MS } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

const SLAB_BYTES = 65_536
/** OpenSSL hands out a record at a time, of at most so much. */
const LARGEST_READ_BYTES = 16_384

/** From now on hands on what comes, also what came before. For one reader, once. */
export type Receive = (onBytes: (bytes: Buffer) => void) => void

/**
 * What a socket receives, handed to its reader without the stream in between, whose chunk, tick and event for each read cost a
 * controller more than the frames in it. Until somebody takes it over, the bytes go into the stream as ever, so that who speaks
 * HTTP/1.1 has a socket like any other.
 *
 * In a turn of the event loop that is long already a socket is read once and then left alone until the next: the loop would take up
 * to 2 MiB from each, which prolongs the turn and lies about until it is decoded, while the kernel and the peer can hold it as well.
 *
 * Node has that for sockets that connect by themselves only (`onread`): the socket is told by `of` once it is there.
 */
export class SocketReads {
  readonly #clock: Clock
  #socket: Socket | undefined
  #onBytes: ((bytes: Buffer) => void) | undefined
  #slab = Buffer.alloc(0)
  #at = 0
  #isPaused = false

  readonly onread: OnReadOpts = {
    buffer: () => this.#room(),
    callback: (length, room) => this.#take((room as Buffer).subarray(0, length)),
  }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(socket: Socket): void {
    this.#socket = socket
  }

  readonly receive: Receive = (onBytes) => {
    this.#onBytes = onBytes
    const before = this.#socket?.read() as Buffer | null | undefined
    if (before != null) onBytes(before)
    // Ends and errors are events still, and the end comes to those only who read.
    this.#socket?.resume()
  }

  /** What was handed on keeps its bytes: the same place is not given twice. */
  #room(): Buffer {
    if (this.#slab.length - this.#at < LARGEST_READ_BYTES) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#at = 0
    }
    return this.#slab.subarray(this.#at)
  }

  /** False: the stream wants a pause. */
  #take(bytes: Buffer): boolean {
    this.#at += bytes.length
    if (this.#onBytes === undefined) return this.#socket?.push(bytes) ?? true
    this.#onBytes(bytes)
    if (this.#clock.turnMs() < TURN_MS) return true
    this.#pauseUntilNextTurn()
    return false
  }

  /** What OpenSSL has taken in already comes all the same. */
  #pauseUntilNextTurn(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#clock.after(0, () => {
      this.#isPaused = false
      this.#socket?.resume()
    })
  }
}

/** Of a socket that is a stream and nothing else: one in the tunnel of a proxy. */
export function receiveFrom(socket: Socket): Receive {
  return (onBytes) => void socket.on('data', onBytes)
}
