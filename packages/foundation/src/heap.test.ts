import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Heap } from './heap.ts'
import { SeededRandom, integerBetween } from './random.ts'

test('gives out in order whatever was pushed and popped before', () => {
  const random = new SeededRandom('heap')
  const heap = new Heap<number>((a, b) => a - b)
  const model: number[] = []
  for (let i = 0; i < 2000; i++) {
    if (random.next() < 0.6) {
      const value = integerBetween(random, 0, 100)
      heap.push(value)
      model.push(value)
      model.sort((a, b) => a - b)
    } else {
      assert.equal(heap.pop(), model.shift())
    }
    assert.equal(heap.size, model.length)
    assert.equal(heap.peek(), model[0])
  }
})

test('an empty heap gives nothing', () => {
  const heap = new Heap<number>((a, b) => a - b)
  assert.equal(heap.pop(), undefined)
  assert.equal(heap.peek(), undefined)
})

test('what is not retained is gone, and the rest still comes in order', () => {
  const random = new SeededRandom('retained')
  for (let size = 0; size < 40; size++) {
    const values = Array.from({ length: size }, () => integerBetween(random, 0, 100))
    const heap = new Heap<number>((a, b) => a - b)
    for (const value of values) heap.push(value)
    heap.retain((value) => value % 3 !== 0)
    const expected = values.filter((value) => value % 3 !== 0).sort((a, b) => a - b)
    assert.deepEqual(
      Array.from({ length: heap.size }, () => heap.pop()),
      expected,
    )
  }
})
