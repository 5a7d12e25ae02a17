import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { decodeObject } from '../answers/decode-object.ts'
import type { Decoding } from '../answers/decode-object.ts'

/**
 * Why a watch body cannot be decoded further. `malformed`: bytes that are no watch event. `truncated`: the body ended in
 * the middle of an event (a server or proxy that died); all events before it are good.
 */
export class WatchDecodingError extends Error {
  readonly fault: 'malformed' | 'truncated'

  constructor(fault: 'malformed' | 'truncated', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WatchDecodingError'
    this.fault = fault
  }
}

const NEWLINE = 0x0a
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'ADDED',
  'MODIFIED',
  'DELETED',
  'BOOKMARK',
  'ERROR',
])
const SHORTEST_EVENT = 10
const LONGEST_SHOWN = 80

/**
 * Takes a watch body apart: JSON objects one after the other, usually but not necessarily with a newline between them, in
 * chunks cut anywhere. API servers write one object per line, so a line is tried first; what is no object by itself goes
 * through a scanner that remembers where it was, so that no byte is looked at more than a few times.
 */
export class WatchDecoder {
  /** Bytes of the event that is not complete. */
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  // The scanner's place in #pending: between chunks, inside the event that is not complete.
  #scannedChunks = 0
  #scannedBytes = 0
  #depth = 0
  #inString = false
  #escaped = false
  readonly #emit: (event: WatchEvent<KubernetesObject>) => void
  readonly #decoding: Decoding

  constructor(emit: (event: WatchEvent<KubernetesObject>) => void, decoding: Decoding = 'whole') {
    this.#emit = emit
    this.#decoding = decoding
  }

  /** Emits every event that is complete with these bytes. Throws WatchDecodingError; use the decoder no more then. */
  push(chunk: Uint8Array): void {
    let start = 0
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start)
      const end = newline === -1 ? chunk.length : newline + 1
      this.#keep(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
      if (newline !== -1) this.#takeLine()
      else if (lastByteIs(chunk, CLOSE)) this.#takeScanned()
      start = end
    }
  }

  /** The body has ended. Throws when it ended inside an event. */
  end(): void {
    this.#takeScanned()
    const rest = this.#text()
    if (rest.trim() !== '') {
      throw new WatchDecodingError(
        'truncated',
        `unexpected end of the watch stream after ${shown(rest)}`,
      )
    }
  }

  #keep(bytes: Uint8Array): void {
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
  }

  #takeLine(): void {
    // Once a frame has been scanned in part it is not one line, so trying to parse it again and again would be quadratic.
    if (this.#scannedChunks === 0) {
      const text = this.#text()
      // An empty line is none of JSON's business.
      if (text.length < SHORTEST_EVENT && text.trim() === '') {
        this.#forget()
        return
      }
      const value = parsed(text, this.#decoding)
      if (value !== undefined) {
        this.#forget()
        this.#emit(checked(value, text))
        return
      }
    }
    this.#takeScanned()
  }

  /** Emits the complete objects at the front of what is pending. */
  #takeScanned(): void {
    while (this.#scannedChunks < this.#pending.length) {
      const chunk = this.#pending[this.#scannedChunks]!
      const end = this.#scan(chunk)
      if (end === -1) {
        this.#scannedChunks++
        this.#scannedBytes += chunk.length
        continue
      }
      const frameBytes = this.#scannedBytes + end
      const all = this.#bytes()
      const text = utf8(all.subarray(0, frameBytes))
      const value = parsed(text, this.#decoding)
      if (value === undefined) throw malformed(text)
      this.#forget()
      if (frameBytes < all.length) this.#keep(all.subarray(frameBytes))
      this.#emit(checked(value, text))
    }
    // Nothing but white space is left: the next line can take the fast way again.
    if (this.#depth === 0) this.#forget()
  }

  /** The index after the end of the first object, or -1 when it does not end in this chunk. */
  #scan(chunk: Uint8Array): number {
    let depth = this.#depth
    let inString = this.#inString
    let escaped = this.#escaped
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!
      if (inString) {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === OPEN) {
        depth++
      } else if (byte === CLOSE && depth > 0) {
        if (--depth === 0) return i + 1
      } else if (depth === 0) {
        if (byte > SPACE) throw malformed(utf8(this.#bytes()))
      } else if (byte === QUOTE) {
        inString = true
      }
    }
    this.#depth = depth
    this.#inString = inString
    this.#escaped = escaped
    return -1
  }

  #forget(): void {
    this.#pending = []
    this.#pendingBytes = 0
    this.#scannedChunks = 0
    this.#scannedBytes = 0
    this.#depth = 0
    this.#inString = false
    this.#escaped = false
  }

  #bytes(): Uint8Array {
    return this.#pending.length === 1
      ? this.#pending[0]!
      : Buffer.concat(this.#pending, this.#pendingBytes)
  }

  #text(): string {
    return utf8(this.#bytes())
  }
}

function parsed(text: string, decoding: Decoding): unknown {
  try {
    return decodeObject(text, decoding, 2)
  } catch {
    return undefined
  }
}

function checked(value: unknown, text: string): WatchEvent<KubernetesObject> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(text)
  const { type, object } = value as { type?: unknown; object?: unknown }
  if (!EVENT_TYPES.has(type)) {
    throw new WatchDecodingError(
      'malformed',
      `got invalid watch event type: ${shown(String(type))}`,
    )
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw malformed(text)
  return value as WatchEvent<KubernetesObject>
}

function malformed(text: string): WatchDecodingError {
  return new WatchDecodingError('malformed', `not a watch event: ${shown(text)}`)
}

function shown(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text)
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function lastByteIs(chunk: Uint8Array, byte: number): boolean {
  return chunk[chunk.length - 1] === byte
}
