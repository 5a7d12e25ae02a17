import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateUsages } from './usages.ts'
import { certificateDurationMs, validityOf } from './validity.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NOW_MS = Date.UTC(2026, 0, 1)

const durations: readonly (readonly [number | undefined, number])[] = [
  [30 * 60, 30],
  [3 * 3600, 60],
  [-60, 10],
  [9 * 60 + 59, 10],
  [10 * 60, 10],
  [3600, 60],
  [undefined, 60],
]
test('Given TTL 1h and requests 30m, 3h, -1m, 9m59s, 10m, 1h, none, then 30m, 1h, 10m, 10m, 10m, 1h, 1h', () => {
  for (const [seconds, minutes] of durations)
    assert.equal(certificateDurationMs(HOUR_MS, seconds), minutes * MINUTE_MS, String(seconds))
})

test('the lower bound is not applied when requested > TTL', () => {
  assert.equal(certificateDurationMs(MINUTE_MS, 300), MINUTE_MS)
  assert.equal(certificateDurationMs(MINUTE_MS, 30), 10 * MINUTE_MS)
})

const totals: readonly (readonly [number, number])[] = [
  [2 * HOUR_MS, 2 * HOUR_MS + 5 * MINUTE_MS],
  [8 * HOUR_MS - 1, 8 * HOUR_MS - 1 + 5 * MINUTE_MS],
  [8 * HOUR_MS, 8 * HOUR_MS],
  [24 * HOUR_MS, 24 * HOUR_MS],
]
test('The notAfter of short certificates is not shortened by the backdate; at exactly 8h it is', () => {
  for (const [durationMs, totalMs] of totals) {
    const { notBeforeMs, notAfterMs } = validityOf(NOW_MS, durationMs, NOW_MS + 1000 * HOUR_MS)
    assert.deepEqual([notBeforeMs, notAfterMs - notBeforeMs], [NOW_MS - 5 * MINUTE_MS, totalMs])
  }
})

test('an authority signs to its last second', () => {
  assert.equal(validityOf(NOW_MS, HOUR_MS, NOW_MS + 1).notAfterMs, NOW_MS + 1)
  assert.throws(() => validityOf(NOW_MS, HOUR_MS, NOW_MS), /refusing to sign/)
  assert.throws(() => validityOf(NOW_MS, HOUR_MS, NOW_MS - 5 * MINUTE_MS + 1), /refusing to sign/)
  assert.throws(() => validityOf(NOW_MS, HOUR_MS, NOW_MS - 5 * MINUTE_MS), /signer has expired/)
})

test('a duration of nothing or less is signed as it is', () => {
  const endsMs = NOW_MS + 1000 * HOUR_MS
  assert.equal(validityOf(NOW_MS, 0, endsMs).notAfterMs, NOW_MS)
  assert.equal(validityOf(NOW_MS, -HOUR_MS, endsMs).notAfterMs, NOW_MS - HOUR_MS)
})

const usages: readonly (readonly [string, readonly number[], readonly string[]])[] = [
  ['signing', [0], []],
  ['digital signature', [0], []],
  ['content commitment', [1], []],
  ['key encipherment', [2], []],
  ['data encipherment', [3], []],
  ['key agreement', [4], []],
  ['cert sign', [5], []],
  ['crl sign', [6], []],
  ['encipher only', [7], []],
  ['decipher only', [8], []],
  ['any', [], ['2.5.29.37.0']],
  ['server auth', [], ['1.3.6.1.5.5.7.3.1']],
  ['client auth', [], ['1.3.6.1.5.5.7.3.2']],
  ['code signing', [], ['1.3.6.1.5.5.7.3.3']],
  ['email protection', [], ['1.3.6.1.5.5.7.3.4']],
  ['s/mime', [], ['1.3.6.1.5.5.7.3.4']],
  ['ipsec end system', [], ['1.3.6.1.5.5.7.3.5']],
  ['ipsec tunnel', [], ['1.3.6.1.5.5.7.3.6']],
  ['ipsec user', [], ['1.3.6.1.5.5.7.3.7']],
  ['timestamping', [], ['1.3.6.1.5.5.7.3.8']],
  ['ocsp signing', [], ['1.3.6.1.5.5.7.3.9']],
  ['microsoft sgc', [], ['1.3.6.1.4.1.311.10.3.3']],
  ['netscape sgc', [], ['2.16.840.1.113730.4.1']],
]
test('every usage has its bit or its identifier', () => {
  for (const [usage, keyUsageBits, extendedKeyUsages] of usages)
    assert.deepEqual(certificateUsages([usage]), { keyUsageBits, extendedKeyUsages }, usage)
  const all = certificateUsages(usages.map(([usage]) => usage).toReversed())
  assert.deepEqual(all, {
    keyUsageBits: [0, 1, 2, 3, 4, 5, 6, 7, 8],
    extendedKeyUsages: [...new Set(usages.flatMap(([, , oids]) => oids))],
  })
})
