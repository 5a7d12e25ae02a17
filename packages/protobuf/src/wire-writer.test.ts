import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WireReader } from './wire.ts'
import { WireWriter } from './wire-writer.ts'

const hex = (write: (writer: WireWriter) => void): string => {
  const writer = new WireWriter()
  write(writer)
  return Buffer.from(writer.finish()).toString('hex')
}

test('integers of any size come back, negative ones in ten bytes', () => {
  const values = [
    0,
    1,
    127,
    128,
    300,
    2 ** 31,
    2 ** 53 - 1,
    -1,
    -(2 ** 53) + 1,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]
  for (const value of values) {
    const writer = new WireWriter()
    writer.varintField(1, value)
    const reader = new WireReader(writer.finish())
    reader.readTag('Test')
    assert.equal(reader.int64(), value)
    assert.ok(reader.atEnd)
  }
  assert.equal(
    hex((writer) => writer.varint(300)),
    'ac02',
  )
  assert.equal(
    hex((writer) => writer.varint(-1)),
    'ffffffffffffffffff01',
  )
})

test('the length of a message stands in front of it, also when the room has to grow', () => {
  const text = 'é'.repeat(2_000)
  const writer = new WireWriter()
  writer.messageField(2, () => {
    writer.stringField(2, text)
    writer.doubleField(1, 1.5)
  })
  const reader = new WireReader(writer.finish())
  reader.readTag('Outer')
  assert.equal(reader.fieldNumber, 2)
  const inner = reader.message()
  assert.ok(reader.atEnd)
  inner.readTag('Inner')
  assert.equal(inner.double(), 1.5)
  inner.readTag('Inner')
  assert.equal(inner.string(), text)
  assert.ok(inner.atEnd)
})
