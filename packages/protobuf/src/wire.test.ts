import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, numberField, tag, varint } from './testing/messages.ts'
import { FIXED64, LENGTH_DELIMITED, VARINT, WireReader } from './wire.ts'

const reader = (...parts: Uint8Array[]) => new WireReader(Buffer.concat(parts))

test('varints of every length, negative ones included', () => {
  for (const value of [0, 1, 127, 128, 300, 2 ** 31 - 1, -1, -(2 ** 31)])
    assert.equal(reader(varint(value)).int32(), value)
  for (const value of [0, 2 ** 28, 2 ** 32, 2 ** 35 + 5, 2 ** 53 - 1, -1, -(2 ** 40)])
    assert.equal(reader(varint(BigInt(value))).int64(), value)
  for (const value of [2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 53n) - 3n])
    assert.equal(reader(varint(value)).int64(), value)
})

test('an int32 takes the lower half of a longer varint', () => {
  assert.equal(reader(varint(2n ** 32n + 7n)).int32(), 7)
})

test('a boolean is any number but zero', () => {
  assert.equal(reader(varint(0)).bool(), false)
  assert.equal(reader(varint(2n ** 40n)).bool(), true)
})

test('numbers of eight bytes', () => {
  const bytes = Buffer.alloc(9)
  bytes.writeDoubleLE(-2.5, 1)
  assert.equal(new WireReader(bytes, 1).double(), -2.5)
})

test('tags give field number and wire type', () => {
  const tags = reader(tag(1, VARINT), tag(2 ** 29 - 1, LENGTH_DELIMITED))
  tags.readTag('Pod')
  assert.deepEqual([tags.fieldNumber, tags.wireType], [1, VARINT])
  tags.readTag('Pod')
  assert.deepEqual([tags.fieldNumber, tags.wireType], [2 ** 29 - 1, LENGTH_DELIMITED])
  assert.ok(tags.atEnd)
})

test('a nested reader ends where its message ends', () => {
  const outer = reader(field(1, numberField(1, 5)), varint(9))
  outer.readTag('Pod')
  const inner = outer.message()
  inner.readTag('Inner')
  assert.equal(inner.int32(), 5)
  assert.ok(inner.atEnd)
  assert.throws(() => inner.int32(), { message: 'unexpected EOF' })
  assert.equal(outer.int32(), 9)
})

test('skip passes a value of any wire type, whole groups too', () => {
  const GROUP = [3, 4] as const
  const values: Buffer[] = [
    numberField(9, -1),
    Buffer.concat([tag(9, FIXED64), Buffer.alloc(8)]),
    field(9, 'text'),
    Buffer.concat([tag(9, 5), Buffer.alloc(4)]),
    Buffer.concat([
      tag(9, GROUP[0]),
      numberField(1, 1),
      tag(2, GROUP[0]),
      field(3, 'x'),
      tag(2, GROUP[1]),
      tag(9, GROUP[1]),
    ]),
  ]
  for (const value of values) {
    const all = reader(value, numberField(1, 7))
    all.readTag('Pod')
    all.skip()
    all.readTag('Pod')
    assert.deepEqual([all.fieldNumber, all.int32()], [1, 7])
  }
})

const BROKEN: readonly (readonly [string, Buffer, string])[] = [
  ['nothing after the tag', tag(1, VARINT), 'unexpected EOF'],
  ['half a varint', Buffer.from([0x08, 0x80]), 'unexpected EOF'],
  [
    'a varint of eleven bytes',
    Buffer.from([0x08, ...Array(10).fill(0x80), 1]),
    'proto: integer overflow',
  ],
  ['a length beyond the end', Buffer.from([0x0a, 5, 1]), 'unexpected EOF'],
  ['a length of two gigabytes', Buffer.concat([tag(1, 2), varint(2 ** 31)]), 'unexpected EOF'],
  ['a length of 2^62', Buffer.concat([tag(1, 2), varint(2n ** 62n)]), 'unexpected EOF'],
  [
    'a negative length',
    Buffer.concat([tag(1, 2), varint(-1)]),
    'proto: negative length found during unmarshaling',
  ],
  ['half a fixed number', Buffer.concat([tag(1, 1), Buffer.alloc(7)]), 'unexpected EOF'],
  ['wire type 6', tag(1, 6), 'proto: illegal wireType 6'],
  ['wire type 7', tag(1, 7), 'proto: illegal wireType 7'],
  ['a group without an end', tag(1, 3), 'unexpected EOF'],
  ['field number 0', tag(0, 0), 'proto: Pod: illegal tag 0 (wire type 0)'],
  ['an end of no group', tag(1, 4), 'proto: Pod: wiretype end group for non-group'],
]

for (const [title, bytes, message] of BROKEN) {
  test(`refused: ${title}`, () => {
    const broken = reader(bytes)
    assert.throws(
      () => {
        broken.readTag('Pod')
        broken.skip()
      },
      { name: 'ProtobufError', message },
    )
  })
}

test('many open groups need no stack', () => {
  const depth = 1_000_000
  const groups = reader(Buffer.alloc(depth, tag(1, 3)), Buffer.alloc(depth, tag(1, 4)))
  groups.readTag('Pod')
  groups.skip()
  assert.ok(groups.atEnd)
})

test('an illegal tag is told with all that its number holds', () => {
  assert.throws(() => reader(varint(2n ** 38n)).readTag('Pod'), {
    message: 'proto: Pod: illegal tag 0 (wire type 274877906944)',
  })
})

test('a length that leads beyond 63 bits is a negative one', () => {
  const negative = { message: 'proto: negative length found during unmarshaling' }
  assert.throws(() => reader(varint(2n ** 63n - 1n)).bytes(), negative)
  assert.throws(() => reader(varint(2n ** 62n)).bytes(), { message: 'unexpected EOF' })
})
