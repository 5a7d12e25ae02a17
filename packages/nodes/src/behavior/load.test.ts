import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountAt, loadOf, unusableSteps } from './load.ts'

test('a load is an amount, or amounts that follow one another', () => {
  const table: readonly [string, readonly (readonly [number, number])[]][] = [
    ['500m', [[0, 0.5]]],
    ['100Mi', [[0, 104_857_600]]],
    [
      '200m,60s=1500m,5m=0',
      [
        [0, 0.2],
        [60_000, 1.5],
        [300_000, 0],
      ],
    ],
    [
      ' 1m = 2 , 1 ',
      [
        [0, 1],
        [60_000, 2],
      ],
    ],
  ]
  for (const [text, steps] of table) {
    const wanted = steps.map(([atMs, amount]) => ({ atMs, amount }))
    assert.deepEqual(loadOf(text, 1), wanted, text)
    assert.deepEqual(unusableSteps(text), [], text)
  }
  assert.deepEqual(loadOf('1,60s=2', 4), [
    { atMs: 0, amount: 1 },
    { atMs: 15_000, amount: 2 },
  ])
})

test('a step counts from its time on; before the first there is nothing', () => {
  const load = loadOf('10s=1,20s=3', 1)
  const at = [0, 9_999, 10_000, 19_999, 20_000, 1e9].map((ms) => amountAt(load, ms))
  assert.deepEqual(at, [0, 0, 1, 1, 3, 3])
})

test('parts that are no amount or have no time are named', () => {
  const table: readonly [string, readonly string[]][] = [
    ['', ['']],
    ['much', ['much']],
    ['-1', ['-1']],
    ['1,soon=2,3s=', ['soon=2', '3s=']],
    ['1,-3s=2', ['-3s=2']],
    ['1,=2', ['=2']],
  ]
  for (const [text, wanted] of table) assert.deepEqual(unusableSteps(text), wanted, text)
})
