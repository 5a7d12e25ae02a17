import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusError } from '../../testing/index.ts'
import { InternalErrorBudget, isVersionUnavailable, isWorthWaiting } from './watch-errors.ts'

test('internal errors are allowed for the budget after the first of them', () => {
  const budget = new InternalErrorBudget(10_000)
  assert.deepEqual(
    [0, 5_000, 10_000, 10_001].map((ms) => budget.allows(ms)),
    [true, true, true, false],
  )
})

test('a budget that was exceeded is forgotten: the next error starts it anew', () => {
  const budget = new InternalErrorBudget(1_000)
  assert.deepEqual(
    [0, 2_000, 2_500, 3_400].map((ms) => budget.allows(ms)),
    [true, false, true, true],
  )
})

test('after a minute without errors the next one starts the budget anew', () => {
  const budget = new InternalErrorBudget(50_000)
  assert.deepEqual(
    [0, 40_000, 100_001, 150_001].map((ms) => budget.allows(ms)),
    [true, true, true, true],
  )
  const busy = new InternalErrorBudget(50_000)
  assert.deepEqual(
    [0, 40_000, 100_000].map((ms) => busy.allows(ms)),
    [true, true, false],
  )
})

test('too many requests are told by the code, whatever the reason', () => {
  assert.equal(isWorthWaiting(statusError(429, 'SlowDown')), true)
  assert.equal(isWorthWaiting(statusError(500, 'InternalError')), false)
})

test('a version is too large where a time-out says so, and nowhere else', () => {
  const text = 'Too large resource version: 10, current: 5'
  assert.equal(isVersionUnavailable(statusError(504, 'Timeout', text)), true)
  assert.equal(isVersionUnavailable(statusError(504, 'Timeout', 'Timed out')), false)
  assert.equal(isVersionUnavailable(statusError(400, 'BadRequest', text)), false)
})

test('without a budget none is allowed', () => {
  assert.equal(new InternalErrorBudget(0).allows(0), false)
})
