/** Bytes of files that are written piece by piece: adding one costs no copy of what is there already. */

/** A log that grows is copied to where there is room for half as much again. */
const ROOM = 1.5

/** How much of it the newest bytes in it have taken: only behind those may others follow. */
const takenOf = new WeakMap<ArrayBufferLike, number>()

/** `bytes` from there on, over what stood there; zeros where nothing did. What was handed out before does not change. */
export function writtenAt(before: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  if (before.length === 0 && at === 0) return new Uint8Array(bytes)
  if (at === before.length) return grown(before, bytes)
  const written = new Uint8Array(Math.max(before.length, at + bytes.length))
  written.set(before)
  written.set(bytes, at)
  return written
}

function grown(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const length = before.length + bytes.length
  const hasRoom =
    before.byteOffset === 0 &&
    takenOf.get(before.buffer) === before.length &&
    length <= before.buffer.byteLength
  const buffer = hasRoom ? before.buffer : new ArrayBuffer(Math.ceil(length * ROOM))
  const all = new Uint8Array(buffer, 0, length)
  if (!hasRoom) all.set(before)
  all.set(bytes, before.length)
  takenOf.set(buffer, length)
  return all
}
