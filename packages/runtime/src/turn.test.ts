import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from './testing/index.ts'
import { Turn } from './turn.ts'

test('a turn is given up after 10 ms, and a new one starts then', async () => {
  const clock = testClock()
  const turn = new Turn(clock)
  await clock.advance(9)
  assert.equal(turn.yieldIfLong(), undefined)
  await clock.advance(1)
  const yielding = turn.yieldIfLong()
  assert.ok(yielding)
  await clock.advance(0)
  await yielding
  assert.equal(turn.yieldIfLong(), undefined)
})
