import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '@gyropilot/foundation'
import { isWithin, momentOf } from './moment.ts'

function clockAt(monotonicMs: number, wallMs: number): Clock {
  return {
    monotonicMs: () => monotonicMs,
    turnMs: () => 0,
    nowMs: () => wallMs,
    after: () => ({ cancel() {} }),
  }
}

const cases: readonly [string, monotonicMs: number, wallMs: number, isWithin: boolean][] = [
  ['at once', 0, 0, true],
  ['shortly before the end', 14_999, 14_999, true],
  ['at the end', 15_000, 15_000, false],
  ['a machine that was asleep until shortly before the end', 2_000, 14_999, true],
  ['a machine that was asleep until the end', 2_000, 15_000, false],
  ['a wall clock that was set forward by less', 2_000, 7_000, true],
  ['a wall clock that was set back', 5_000, 3_999, false],
  ['a wall clock that was set back before the start', 5_000, -60_000, false],
  ['a wall clock that reads a little less', 5_000, 4_000, true],
  ['a wall clock that reads a little less does not make it longer', 15_000, 14_001, false],
]

for (const [title, monotonicMs, wallMs, expected] of cases) {
  test(`15 s by both clocks: ${title}`, () => {
    const since = momentOf(clockAt(1_000_000, 50_000_000))
    const now = clockAt(1_000_000 + monotonicMs, 50_000_000 + wallMs)
    assert.equal(isWithin(since, 15_000, now), expected)
  })
}
