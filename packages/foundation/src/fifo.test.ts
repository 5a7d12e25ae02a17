import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fifo } from './fifo.ts'
import { SeededRandom } from './random.ts'

test('behaves as an array that is pushed to and shifted from, short and long', () => {
  const random = new SeededRandom('fifo')
  const fifo = new Fifo<number>()
  const model: number[] = []
  let longest = 0
  let emptied = 0
  // Fills and drains in waves: of some items at first, of thousands at last.
  for (let i = 0; i < 100_000; i++) {
    const isFilling = Math.floor(Math.sqrt(i) / 12) % 2 === 0
    if (random.next() < (isFilling ? 0.75 : 0.25)) {
      fifo.push(i)
      model.push(i)
    } else {
      assert.equal(fifo.shift(), model.shift())
      if (model.length === 0) emptied++
    }
    assert.equal(fifo.size, model.length)
    assert.equal(fifo.peek(), model[0])
    longest = Math.max(longest, model.length)
  }
  assert.ok(longest > 3_000, `longest ${longest}`)
  assert.ok(emptied > 5, `emptied ${emptied}`)
})

test('is empty when cleared, and can be used again', () => {
  const fifo = new Fifo<number>()
  for (let i = 0; i < 5_000; i++) fifo.push(i)
  for (let i = 0; i < 2_500; i++) fifo.shift()
  fifo.clear()
  assert.equal(fifo.size, 0)
  assert.equal(fifo.peek(), undefined)
  assert.equal(fifo.shift(), undefined)
  for (const item of [1, 2, 3]) fifo.push(item)
  assert.deepEqual([fifo.shift(), fifo.shift(), fifo.shift(), fifo.shift()], [1, 2, 3, undefined])
})
