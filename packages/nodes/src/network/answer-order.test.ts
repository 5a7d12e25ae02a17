import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { inAnyOrder } from './answer-order.ts'

test('each address comes first once in a while, and families stay together', () => {
  const random = new SeededRandom('a')
  const [four, six] = [
    ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
    ['fd00::1', 'fd00::2'],
  ]
  const firsts = new Set<string>()
  for (let i = 0; i < 50; i++) {
    const order = inAnyOrder([...four!, ...six!], random)
    assert.deepEqual(order.slice(0, 3).toSorted(), four)
    assert.deepEqual(order.slice(3).toSorted(), six)
    firsts.add(order[0]!)
  }
  assert.equal(firsts.size, 3)
})

test('nothing is drawn for a single one', () => {
  const random: RandomSource = { next: () => assert.fail('drawn'), fork: () => random }
  assert.deepEqual(inAnyOrder(['10.0.0.1', 'fd00::1'], random), ['10.0.0.1', 'fd00::1'])
})
