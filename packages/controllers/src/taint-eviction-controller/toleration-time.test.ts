import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Taint, Toleration } from '@gyropilot/api'
import { noExecuteTaints, shortestSeconds, stayingTimeSeconds } from './toleration-time.ts'

const taint = (key: string, value?: string): Taint => ({ key, value, effect: 'NoExecute' })
const exists = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  tolerationSeconds: tolerationSeconds,
})

test('Given no matched tolerations the minimum is 0; given one with null seconds it is infinite; given 1 s mixed with null or larger values (any order) it is 1 s', () => {
  const of = (...seconds: readonly (number | undefined)[]): number =>
    shortestSeconds(seconds.map((each) => exists('a', each)))
  assert.equal(of(), 0)
  assert.equal(of(undefined), Infinity)
  for (const mixed of [
    [1, undefined],
    [undefined, 1],
    [1, 100],
    [100, 1],
    [undefined, 100, 1],
    [1],
  ])
    assert.equal(of(...mixed), 1, String(mixed))
  assert.equal(of(5, 0), 0)
  // 292 years of nanoseconds fill 64 bits.
  assert.deepEqual(
    [of(9_223_372_036), of(9_223_372_037), of(2 ** 63)],
    [9_223_372_036, Infinity, Infinity],
  )
  assert.equal(of(5, -3), 0)
})

const times: readonly [string, Taint[], Toleration[], number | undefined][] = [
  ['no toleration', [taint('a')], [], undefined],
  ['one of two tolerated', [taint('a'), taint('b')], [exists('a')], undefined],
  ['two times', [taint('a'), taint('b')], [exists('a', 1), exists('b', 100)], 1],
  ['another value', [taint('a', 'x')], [{ key: 'a', operator: 'Equal', value: 'y' }], undefined],
  ['the same value', [taint('a', 'x')], [{ key: 'a', value: 'x' }], Infinity],
  ['an empty key', [taint('a'), taint('b')], [{ operator: 'Exists' }], Infinity],
  ['another effect', [taint('a')], [{ ...exists('a'), effect: 'NoSchedule' }], undefined],
  ['a toleration of no taint', [taint('a')], [exists('b', 1), exists('a', 9)], 9],
]
test('every taint needs a toleration, and the shortest of those used counts', () => {
  for (const [what, taints, tolerations, seconds] of times)
    assert.equal(stayingTimeSeconds(taints, tolerations), seconds, what)
})

test('the first matching toleration in list order decides for a taint, not the longest one', () => {
  assert.equal(stayingTimeSeconds([taint('a')], [exists('a', 7), exists('a')]), 7)
  assert.equal(stayingTimeSeconds([taint('a')], [exists('a'), exists('a', 7)]), Infinity)
})

test('numbers are compared where the gate is on', () => {
  const more: Toleration = { key: 'a', operator: 'Gt', value: '5' }
  assert.equal(stayingTimeSeconds([taint('a', '6')], [more]), undefined)
  assert.equal(
    stayingTimeSeconds([taint('a', '6')], [more], { comparisonOperators: true }),
    Infinity,
  )
})

test('only NoExecute taints matter', () => {
  const spec = {
    taints: [
      taint('a'),
      { key: 'b', effect: 'NoSchedule' },
      { key: 'c', effect: 'PreferNoSchedule' },
    ],
  } as const
  assert.deepEqual(noExecuteTaints({ spec }), [taint('a')])
  assert.deepEqual(noExecuteTaints({}), [])
  assert.deepEqual(noExecuteTaints(undefined), [])
})
