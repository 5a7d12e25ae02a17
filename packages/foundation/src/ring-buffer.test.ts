import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RingBuffer } from './ring-buffer.ts'

test('keeps the last items, oldest first, and hands out what it drops', () => {
  const ring = new RingBuffer<number>(3)
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((item) => ring.push(item)),
    [undefined, undefined, undefined, 1, 2],
  )
  assert.deepEqual(ring.toArray(), [3, 4, 5])
  assert.equal(ring.size, 3)
  ring.clear()
  assert.deepEqual(ring.toArray(), [])
})

test('refuses a capacity that holds nothing', () => {
  assert.throws(() => new RingBuffer(0), RangeError)
})
