import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatGoTime, MICRO_TIME_LAYOUT, parseGoTime, TIME_LAYOUT } from './go-time.ts'

/** What kube-apiserver 1.36.2 answered. */
const AS = '" as "2006-01-02T15:04:05Z07:00": cannot parse '
const MICRO_AS = '" as "2006-01-02T15:04:05.000000Z07:00": cannot parse '

test('times are read as Go reads them', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00'],
    ['2024-01-01T00:00:00,5Z', '2024-01-01T00:00:00'],
    ['2024-01-01T00:00:00.123456789123Z', '2024-01-01T00:00:00'],
    ['2024-01-01T1:00:00Z', '2024-01-01T01:00:00'],
    ['2024-01-01T00:00:00+23:60', '2023-12-31T00:00:00'],
    ['2024-01-01T00:00:00+24:00', '2023-12-31T00:00:00'],
    ['2024-01-01T00:00:00-00:00', '2024-01-01T00:00:00'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00'],
    ['0001-01-01T00:00:00+01:00', '0000-12-31T23:00:00'],
    ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59'],
  ]
  for (const [text, wanted] of cases) {
    const time = parseGoTime(text, TIME_LAYOUT)
    assert.equal('error' in time ? time.error : formatGoTime(time.ms), wanted, text)
  }
})

test('what is no time is refused where Go stops reading it', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2024-01-01t00:00:00Z', `${AS}"t00:00:00Z" as "T"`],
    ['2024-01-01T00:00:00z', `${AS}"z" as "Z07:00"`],
    ['2024-1-1T00:00:00Z', `${AS}"1-1T00:00:00Z" as "01"`],
    ['2024-01-01T00:00:00+0100', `${AS}"+0100" as "Z07:00"`],
    ['ü', `${AS}"\\xc3\\xbc" as "2006"`],
    ['2024-00-01T00:00:00Z', '": month out of range'],
    ['2024-01-00T00:00:00Z', '": day out of range'],
    ['2024-02-30T00:00:00Z', '": day out of range'],
    ['2023-02-29T00:00:00Z', '": day out of range'],
    ['2024-01-01T24:00:00Z', '": hour out of range'],
    ['2024-01-01T00:00:60Z', '": second out of range'],
    ['2024-01-01T00:00:00+25:00', '": time zone offset hour out of range'],
    ['2024-01-01T00:00:00Z ', '": extra text: " "'],
  ]
  for (const [text, rest] of cases) {
    const shown = text === 'ü' ? '\\xc3\\xbc' : text
    assert.deepEqual(parseGoTime(text, TIME_LAYOUT), { error: `parsing time "${shown}${rest}` })
  }
})

test('micro times want six digits; ranges are judged as they are read', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['2024-01-01T00:00:00.1234567Z', `${MICRO_AS}"7Z" as "Z07:00"`],
    ['2024-01-01T00:00:00.12345Z', `${MICRO_AS}".12345Z" as ".000000"`],
    ['2024-01-01T24:00:00Z', '": hour out of range'],
    ['2024-02-30T00:00:00.123456Z', '": day out of range'],
  ]
  for (const [text, rest] of cases)
    assert.deepEqual(parseGoTime(text, MICRO_TIME_LAYOUT), {
      error: `parsing time "${text}${rest}`,
    })
  const time = parseGoTime('2024-01-01T00:00:00,123456+02:00', MICRO_TIME_LAYOUT)
  assert.ok(!('error' in time))
  assert.deepEqual([formatGoTime(time.ms), time.fraction], ['2023-12-31T22:00:00', '123456'])
})
