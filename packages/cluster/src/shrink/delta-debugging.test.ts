import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minimized } from './delta-debugging.ts'

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

const CASES: readonly (readonly [string, number, readonly number[]])[] = [
  ['one culprit', 100, [37]],
  ['the first one', 64, [0]],
  ['the last one', 63, [62]],
  ['two far apart', 100, [3, 96]],
  ['four', 50, [1, 2, 30, 49]],
  ['all of them', 5, [0, 1, 2, 3, 4]],
  ['none at all', 20, []],
]

for (const [title, count, culprits] of CASES) {
  test(`${title}: what is left is what it takes`, async () => {
    const fails = async (items: readonly number[]) => culprits.every((n) => items.includes(n))
    const found = await minimized(numbers(count), fails, 1_000)
    assert.deepEqual(found.items, culprits)
    assert.equal(found.isMinimal, true)
    assert.ok(found.tries < 150, `${found.tries} tries`)
  })
}

test('either of two causes is enough: one of them is left', async () => {
  const fails = async (items: readonly number[]) => items.includes(3) || items.includes(17)
  const { items } = await minimized(numbers(20), fails, 1_000)
  assert.deepEqual(items, [3])
})

test('when the tries are used up, the smallest found so far is answered', async () => {
  let asked = 0
  const fails = async (items: readonly number[]) => (asked++, items.includes(70))
  const found = await minimized(numbers(100), fails, 3)
  assert.equal(asked, 3)
  assert.equal(found.tries, 3)
  assert.equal(found.isMinimal, false)
  assert.ok(found.items.includes(70) && found.items.length < 100)
})
