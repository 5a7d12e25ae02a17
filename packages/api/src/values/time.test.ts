import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareTimes, elapsedSince, parseTime } from './time.ts'

test('RFC 3339 is read to the millisecond', () => {
  assert.equal(parseTime('1970-01-01T00:00:01Z'), 1000)
  assert.equal(parseTime('1970-01-01T00:00:00.123456Z'), 123)
  assert.equal(parseTime('1970-01-01T01:00:00+01:00'), 0)
  assert.equal(parseTime('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29))
})

test('what Go reads beyond RFC 3339 is read too', () => {
  const utc = Date.UTC(2090, 0, 1, 5)
  for (const [text, timeMs] of [
    ['2090-01-01T5:00:00Z', utc],
    ['2090-01-01T05:00:00,5Z', utc + 500],
    ['2090-01-01T05:00:00.5019999999999999Z', utc + 501],
    ['2090-01-01T07:00:00.5+02:00', utc + 500],
    ['2090-01-02T05:00:00+24:00', utc],
    ['2090-01-02T06:00:00+24:60', utc],
    ['2089-12-31T05:00:00-24:00', utc],
    ['2090-01-01T05:00:00-00:00', utc],
    ['0000-02-29T00:00:00Z', -62_162_121_600_000],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000],
    ['9999-12-31T23:59:59-23:59', 253_402_387_139_000],
  ] as const) {
    assert.equal(parseTime(text), timeMs, text)
  }
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
    '2026-01-01t00:00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01 00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T0:0:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+25:00',
    '2026-01-01T00:00:00+24:61',
    '2026-01-01T00:00:00+0100',
    '2026-1-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '0001-02-29T00:00:00Z',
    '10000-01-01T00:00:00Z',
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
