import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deque } from './deque.ts'
import { SeededRandom } from './random.ts'

test('behaves as an array at both ends', () => {
  const random = new SeededRandom('deque')
  const deque = new Deque<number>()
  const model: number[] = []
  for (let i = 0; i < 3000; i++) {
    const draw = random.next()
    if (draw < 0.35) {
      deque.pushBack(i)
      model.push(i)
    } else if (draw < 0.6) {
      deque.pushFront(i)
      model.unshift(i)
    } else if (draw < 0.8) {
      assert.equal(deque.popFront(), model.shift())
    } else {
      assert.equal(deque.popBack(), model.pop())
    }
    assert.equal(deque.size, model.length)
    assert.equal(deque.peekFront(), model[0])
  }
  assert.deepEqual([...deque], model)
  assert.equal(deque.at(2), model[2])
  assert.equal(deque.at(model.length), undefined)
  deque.clear()
  assert.equal(deque.size, 0)
  assert.equal(deque.popFront(), undefined)
})
