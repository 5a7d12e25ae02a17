import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import { FrameReader } from './frame-reader.ts'
import type { FrameHandler } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { FLAG, FRAME } from './protocol.ts'

/** Tells what it is given, the pieces of one DATA frame as one. */
class Notes implements FrameHandler {
  readonly lines: string[] = []
  #pieces: Buffer[] = []

  onFrame(
    type: number,
    flags: number,
    id: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    this.lines.push(`${type} ${flags} ${id} ${bytes.toString('hex', start, end)}`)
  }

  onDataFrame(id: number, length: number): void {
    this.lines.push(`data of ${id}, ${length}`)
    this.#pieces = []
  }

  onDataPiece(piece: Buffer): void {
    assert.ok(piece.length > 0)
    this.#pieces.push(piece)
  }

  onDataEnd(endsStream: boolean): void {
    this.lines.push(`${Buffer.concat(this.#pieces).toString('hex')} ${endsStream}`)
  }
}

function frame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(id, 5)
  return Buffer.concat([header, payload])
}

function notesOf(pieces: readonly Buffer[]): string[] {
  const notes = new Notes()
  const reader = new FrameReader(notes)
  for (const piece of pieces) reader.push(piece)
  return notes.lines
}

for (const seed of [1, 2, 3, 4]) {
  test(`frames are the same wherever their bytes are cut; seed ${seed}`, () => {
    const random = new SeededRandom(seed)
    const pick = (count: number): number => Math.floor(random.next() * count)
    const bytes = Buffer.concat(
      Array.from({ length: 60 }, () => {
        const payload = Buffer.alloc(pick(3) === 0 ? pick(16_385) : pick(40), pick(256))
        const isPadded = pick(3) === 0 && payload.length > 0
        if (isPadded) payload[0] = pick(Math.min(payload.length, 256))
        const type = pick(2) === 0 ? FRAME.data : 1 + pick(12)
        return frame(type, (isPadded ? FLAG.padded : 0) | pick(2), pick(2 ** 31), payload)
      }),
    )
    const whole = notesOf([bytes])
    assert.ok(whole.length >= 60)
    for (const longest of [1, 3, 12, 500, 20_000]) {
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length;) {
        const end = at + 1 + pick(longest)
        pieces.push(bytes.subarray(at, end))
        at = end
      }
      assert.deepEqual(notesOf(pieces), whole)
    }
  })
}

test('DATA is handed on as it comes, and is not copied', () => {
  const bytes = frame(FRAME.data, FLAG.endStream, 1, Buffer.from('abcdef'))
  const pieces: Buffer[] = []
  const reader = new FrameReader({
    onFrame: () => {},
    onDataFrame: () => {},
    onDataPiece: (piece) => pieces.push(piece),
    onDataEnd: () => {},
  })
  reader.push(bytes.subarray(0, 12))
  assert.deepEqual(pieces.map(String), ['abc'])
  assert.equal(pieces[0]!.buffer, bytes.buffer)
})

test('padding is no content, and there cannot be more of it than DATA', () => {
  const padded = frame(FRAME.data, FLAG.padded | FLAG.endStream, 3, Buffer.from([2, 65, 66, 0, 0]))
  assert.deepEqual(notesOf([padded]), ['data of 3, 5', '4142 true'])
  const all = frame(FRAME.data, FLAG.padded, 3, Buffer.from([3, 0, 0, 0]))
  assert.deepEqual(notesOf([all]), ['data of 3, 4', ' false'])
  const tooMuch = frame(FRAME.data, FLAG.padded, 3, Buffer.from([4, 0, 0, 0]))
  assert.throws(() => notesOf([tooMuch]), { code: 'PROTOCOL_ERROR' })
  const none = frame(FRAME.data, FLAG.padded, 3, Buffer.alloc(0))
  assert.throws(() => notesOf([none]), { code: 'PROTOCOL_ERROR' })
})

test('a frame of more than 16,384 bytes is refused by its header', () => {
  const header = frame(FRAME.headers, 0, 1, Buffer.alloc(16_385)).subarray(0, 9)
  assert.throws(() => notesOf([header]), { code: 'FRAME_SIZE_ERROR' })
  assert.throws(() => notesOf([header.subarray(0, 4), header.subarray(4)]), {
    code: 'FRAME_SIZE_ERROR',
  })
})

/** Takes writes, and looks at their bytes only when it is told to end them, as a socket may. */
class Sink {
  readonly writes: Buffer[] = []
  #ends: (() => void)[] = []
  #sent: Buffer[] = []
  write(bytes: Buffer, written?: () => void): void {
    this.writes.push(bytes)
    if (written !== undefined) this.#ends.push(written)
  }
  cork(): void {}
  uncork(): void {}
  endWrites(): void {
    for (; this.#ends.length > 0;) {
      this.#sent.push(Buffer.concat(this.writes.splice(0)))
      for (const end of this.#ends.splice(0)) end()
    }
  }
  get sent(): Buffer {
    return Buffer.concat(this.#sent)
  }
}

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

test('what one turn sends is one write, and what comes during a write goes out together after it', async () => {
  const lengths: number[] = []
  let endWrite = (): void => {}
  const write = (bytes: Buffer, written?: () => void): void => {
    lengths.push(bytes.length)
    endWrite = written!
  }
  const writer = new FrameWriter({ write, cork() {}, uncork() {} }, () => {})
  writer.settingsAck()
  writer.windowUpdate(1, 10)
  await nextTick()
  assert.deepEqual(lengths, [9 + 13])
  writer.rstStream(1, 8)
  await nextTick()
  writer.rstStream(3, 8)
  await nextTick()
  assert.deepEqual(lengths, [22])
  endWrite()
  assert.deepEqual(lengths, [22, 26])
})

test('bytes that the socket still has are not written over', async () => {
  const sink = new Sink()
  const writer = new FrameWriter(sink, () => {})
  const expected: Buffer[] = []
  for (let i = 0; i < 300; i++) {
    const body = Buffer.alloc(i * 37, i)
    writer.data(1, body, 0, body.length, false)
    expected.push(frame(FRAME.data, 0, 1, body))
    if (i % 3 === 0) writer.flush()
    if (i % 50 === 0) sink.endWrites()
  }
  writer.flush()
  sink.endWrites()
  await nextTick()
  assert.ok(sink.sent.equals(Buffer.concat(expected)))
})

test('a header block that is longer than a frame goes on in CONTINUATION, and may be written over at once', () => {
  const sink = new Sink()
  const writer = new FrameWriter(sink, () => {})
  const block = Buffer.alloc(40_000, 7)
  writer.headers(5, block, true, 16_384)
  block.fill(8)
  writer.flush()
  const seven = (length: number): string => Buffer.alloc(length, 7).toString('hex')
  assert.deepEqual(notesOf(sink.writes), [
    `1 1 5 ${seven(16_384)}`,
    `9 0 5 ${seven(16_384)}`,
    `9 4 5 ${seven(40_000 - 32_768)}`,
  ])
})
