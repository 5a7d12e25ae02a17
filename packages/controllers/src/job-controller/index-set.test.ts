import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, integerBetween } from '@gyropilot/foundation'
import { IndexSet } from './index-set.ts'

const texts: readonly (readonly [readonly number[], string])[] = [
  [[], ''],
  [[0], '0'],
  [[1, 2], '1,2'],
  [[0, 1, 2], '0-2'],
  [[1, 3, 4, 5, 7, 8], '1,3-5,7,8'],
  [[8, 3, 7, 1, 5, 4, 4], '1,3-5,7,8'],
]
for (const [indexes, text] of texts) {
  test(`indexes ${indexes.join(' ')} are written ${JSON.stringify(text)}, and read back`, () => {
    const set = IndexSet.of(indexes)
    assert.equal(set.toString(), text)
    assert.equal(set.size, new Set(indexes).size)
    assert.equal(IndexSet.parse(text, 10).toString(), text)
  })
}

const readings: readonly (readonly [string | undefined, number, string])[] = [
  [undefined, 5, ''],
  ['1,x,3', 5, '1,3'],
  ['1,3-x,4', 5, '1,4'],
  ['1,2-3-4,4', 5, '1,4'],
  ['-1,2', 5, '2'],
  ['3-1,4', 5, '4'],
  ['1, 2', 5, '1'],
  ['0,1,5', 5, '0,1'],
  ['0,5,1', 5, '0'],
  ['0-7', 5, '0-4'],
  ['0-4', 5, '0-4'],
  ['0,1,2', 5, '0-2'],
  ['3,0', 5, '0,3'],
  ['0-2,1-3', 5, '0-3'],
  ['9,11-13', 20, '9,11-13'],
]
for (const [text, limit, read] of readings) {
  test(`completedIndexes text parsing: ${JSON.stringify(text)} below ${limit} is ${JSON.stringify(read)}: unparsable parts are skipped, parts starting at or above completions end the parse`, () => {
    assert.equal(IndexSet.parse(text, limit).toString(), read)
  })
}

test('whatever sets are put together, they are as plain sets are', () => {
  const random = new SeededRandom('index sets')
  const some = (): Set<number> =>
    new Set(
      Array.from({ length: integerBetween(random, 0, 12) }, () => integerBetween(random, 0, 16)),
    )
  for (let round = 0; round < 300; round++) {
    const [a, b] = [some(), some()]
    const [left, right] = [IndexSet.of(a), IndexSet.of(b)]
    const both = left.union(right)
    assert.equal(both.toString(), IndexSet.of([...a, ...b]).toString())
    assert.equal(both.size, new Set([...a, ...b]).size)
    assert.equal(left.overlap(right), [...a].filter((index) => b.has(index)).length)
    const all = Array.from({ length: 16 }, (_, index) => index)
    assert.deepEqual(
      all.filter((index) => left.has(index)),
      all.filter((index) => a.has(index)),
    )
    const count = integerBetween(random, 0, 5)
    const limit = integerBetween(random, 0, 17)
    assert.deepEqual(
      left.missing(count, limit),
      all.filter((index) => index < limit && !a.has(index)).slice(0, count),
    )
  }
})

test('what is missing of a hundred thousand costs nothing where all is done but the end', () => {
  const set = IndexSet.parse('0-99997', 100_000)
  assert.equal(set.size, 99_998)
  assert.deepEqual(set.missing(5, 100_000), [99_998, 99_999])
  assert.equal(set.union(IndexSet.of([99_999])).toString(), '0-99997,99999')
})
