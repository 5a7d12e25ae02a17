import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeAmounts } from './node-amounts.ts'

const USUAL = new Map([
  ['cpu', 1500],
  ['memory', 2 ** 33],
  ['pods', 1],
])
const RARE = new Map([
  ['example.com/gpu', 2],
  ['constructor', 3],
])

const all = (amounts: NodeAmounts): readonly number[] =>
  [...USUAL.keys(), ...RARE.keys(), 'never'].map((resource) => amounts.get(resource))

test('what was added is there by its name, and taken away it is gone; of others there is nothing', () => {
  const amounts = new NodeAmounts()
  amounts.add(USUAL, 1)
  amounts.add(USUAL, 1)
  amounts.add(RARE, 1)
  assert.deepEqual(all(amounts), [3000, 2 ** 34, 2, 2, 3, 0])
  assert.deepEqual([amounts.cpu, amounts.memory, amounts.pods], [3000, 2 ** 34, 2])
  amounts.add(USUAL, -1)
  amounts.add(RARE, -1)
  assert.deepEqual(all(amounts), [1500, 2 ** 33, 1, 0, 0, 0])
})

test('what is set takes the place of all that was there', () => {
  const amounts = new NodeAmounts()
  amounts.set(USUAL)
  amounts.set(RARE)
  assert.deepEqual(all(amounts), [0, 0, 0, 2, 3, 0])
  amounts.set(new Map())
  assert.deepEqual(all(amounts), [0, 0, 0, 0, 0, 0])
})
