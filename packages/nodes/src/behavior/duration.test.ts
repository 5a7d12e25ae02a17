import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationMs } from './duration.ts'

test('a duration is written as Go writes it, or as a number of seconds', () => {
  assert.deepEqual(
    ['1m30s', '1.5h', '200ms', '0', 2, 0.5].map((value) => durationMs(value, -1)),
    [90_000, 5_400_000, 200, 0, 2_000, 500],
  )
})

test('what is no span of time is the value that stands for it', () => {
  for (const value of ['soon', '5', '', '-1s', true, undefined, null, {}])
    assert.equal(durationMs(value, 7), 7, String(value))
})
