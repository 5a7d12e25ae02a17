import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareTimes, elapsedSince, parseTime } from './time.ts'

test('RFC 3339 is read to the millisecond', () => {
  assert.equal(parseTime('1970-01-01T00:00:01Z'), 1000)
  assert.equal(parseTime('1970-01-01T00:00:00.123456Z'), 123)
  assert.equal(parseTime('1970-01-01T01:00:00+01:00'), 0)
  assert.equal(parseTime('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29))
})

test('what is no timestamp is undefined', () => {
  for (const text of [
    undefined,
    null,
    '',
    'yesterday',
    '2026-01-01',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T00:00:00',
  ]) {
    assert.equal(parseTime(text), undefined)
  }
})

test('absent times come first', () => {
  assert.equal(compareTimes(undefined, '1970-01-01T00:00:00Z'), -1)
  assert.equal(compareTimes('1970-01-01T01:00:00+01:00', '1970-01-01T00:00:00Z'), 0)
  assert.equal(compareTimes('1970-01-01T00:00:01Z', '1970-01-01T00:00:00Z'), 1)
  assert.equal(elapsedSince('1970-01-01T00:00:01Z', 3000), 2000)
  assert.equal(elapsedSince(undefined, 3000), undefined)
})
