import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InternalErrorBudget } from './watch-errors.ts'

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

test('without a budget none is allowed', () => {
  assert.equal(new InternalErrorBudget(0).allows(0), false)
})
