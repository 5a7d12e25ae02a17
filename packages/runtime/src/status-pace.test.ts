import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from '@gyropilot/foundation/testing'
import { createExpectations } from './expectations.ts'
import { LONGEST_REST_MS, StatusPace } from './status-pace.ts'

test('a key that only counted rests, the longer the more objects it has', async () => {
  const clock = virtualClock()
  const pace = new StatusPace(clock)
  assert.equal(pace.restMs('ns/a'), 0)
  pace.synced('ns/a', 1_000, 'status')
  assert.equal(pace.restMs('ns/a'), 50)
  assert.equal(pace.restMs('ns/b'), 0)
  await clock.advance(49)
  assert.equal(pace.restMs('ns/a'), 1)
  await clock.advance(1)
  assert.equal(pace.restMs('ns/a'), 0)
  pace.synced('ns/a', 100_000, 'status')
  assert.equal(pace.restMs('ns/a'), LONGEST_REST_MS)
})

test('nobody rests who is small, who wrote more than the status, or who wrote nothing', () => {
  const pace = new StatusPace(virtualClock())
  pace.synced('ns/a', 399, 'status')
  pace.synced('ns/b', 5_000, 'action')
  pace.synced('ns/c', 5_000, 'nothing')
  assert.deepEqual(
    ['ns/a', 'ns/b', 'ns/c'].map((key) => pace.restMs(key)),
    [0, 0, 0],
  )
})

test('who wrote nothing rests where that is asked for', () => {
  const pace = new StatusPace(virtualClock(), undefined, true)
  pace.synced('ns/a', 5_000, 'nothing')
  pace.synced('ns/b', 5_000, 'action')
  assert.deepEqual([pace.restMs('ns/a'), pace.restMs('ns/b')], [LONGEST_REST_MS, 0])
})

test('a rest ends when what was asked for has come back, and not before', () => {
  const clock = virtualClock()
  const expectations = createExpectations(clock)
  const pace = new StatusPace(clock, expectations)
  expectations.expectCreations('ns/a', 2)
  pace.synced('ns/a', 5_000, 'status')
  expectations.creationObserved('ns/a')
  assert.equal(pace.restMs('ns/a'), LONGEST_REST_MS)
  expectations.creationObserved('ns/a')
  assert.equal(pace.restMs('ns/a'), 0)
})

test('a rest that began with nothing awaited goes on to its end', () => {
  const clock = virtualClock()
  const pace = new StatusPace(clock, createExpectations(clock))
  pace.synced('ns/a', 5_000, 'status')
  assert.equal(pace.restMs('ns/a'), LONGEST_REST_MS)
})

test('what is forgotten does not rest', () => {
  const pace = new StatusPace(virtualClock())
  pace.synced('ns/a', 5_000, 'status')
  pace.forget('ns/a')
  assert.equal(pace.restMs('ns/a'), 0)
})
