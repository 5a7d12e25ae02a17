import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots } from './slots.ts'

test('a slot is taken once and given back once', () => {
  const slots = new Slots(100)
  assert.deepEqual(
    [slots.take(99), slots.take(99), slots.taken, slots.has(99)],
    [true, false, 1, true],
  )
  assert.deepEqual(
    [slots.free(99), slots.free(99), slots.taken, slots.has(99)],
    [true, false, 0, false],
  )
  assert.deepEqual([slots.has(98), slots.free(0)], [false, false])
})

test('neighbours at the edges of words are not touched', () => {
  const slots = new Slots(96)
  for (const slot of [31, 32, 63]) slots.take(slot)
  const taken = Array.from({ length: 96 }, (_, slot) => slot).filter((slot) => slots.has(slot))
  assert.deepEqual(taken, [31, 32, 63])
  slots.free(32)
  assert.deepEqual([slots.has(31), slots.has(63), slots.taken], [true, true, 2])
})

test('the next free slot is found over full words, and from the beginning after the last', () => {
  const slots = new Slots(70)
  for (let slot = 0; slot < 70; slot++) slots.take(slot)
  for (const [free, start] of [
    [69, 0],
    [0, 1],
    [31, 32],
    [33, 0],
    [64, 5],
    [69, 69],
  ] as const) {
    slots.free(free)
    assert.equal(slots.nextFree(start), free, `${free} from ${start}`)
    slots.take(free)
  }
})

test('whole words are passed over from their beginning only', () => {
  const slots = new Slots(96)
  for (let slot = 0; slot < 32; slot++) slots.take(slot)
  assert.equal(slots.nextFree(5), 32)
})

test('a size that is no multiple of a word has no slots beyond its end', () => {
  const slots = new Slots(2)
  slots.take(0)
  assert.equal(slots.nextFree(0), 1)
  slots.take(1)
  slots.free(0)
  assert.equal(slots.nextFree(1), 0)
})

test('2 ** 32 slots need memory for those in use only', () => {
  const slots = new Slots(2 ** 32)
  assert.equal(slots.nextFree(2 ** 32 - 1), 2 ** 32 - 1)
  slots.take(0)
  assert.equal(slots.nextFree(0), 1)
  slots.take(1_000_000)
  assert.deepEqual([slots.has(999_999), slots.has(1_000_000), slots.taken], [false, true, 2])
})
