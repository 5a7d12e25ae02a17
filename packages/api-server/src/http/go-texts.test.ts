import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAge, formatShortDuration } from '../printing/ages.ts'
import { Warnings } from './warnings.ts'

test('ages are short', () => {
  const seconds: readonly (readonly [number, string])[] = [
    [-3, '<invalid>'],
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [303, '5m3s'],
    [600, '10m'],
    [10_799, '179m'],
    [10_800, '3h'],
    [11_100, '3h5m'],
    [28_800, '8h'],
    [172_800, '2d'],
    [176_400, '2d1h'],
    [691_200, '8d'],
    [86_400 * 800, '2y70d'],
    [86_400 * 365 * 9, '9y'],
  ]
  for (const [value, text] of seconds) assert.equal(formatShortDuration(value * 1000), text)
  assert.equal(formatAge(undefined, 0), '<unknown>')
})

test('warnings are said once, quoted, and cut when they are too many', () => {
  const warnings = new Warnings()
  warnings.add('say "a\\b"')
  warnings.add('say "a\\b"')
  // As the real server does with an error of a policy that has a line break in it.
  warnings.add('no such key: x\ny')
  assert.deepEqual(warnings.headers(), ['299 - "say \\"a\\\\b\\""'])
  for (let i = 0; i < 30; i++) warnings.add(`${i}${'x'.repeat(300)}`)
  const headers = warnings.headers()
  assert.ok(headers.every((header) => header.length <= 256 + '299 - ""'.length + 4))
  assert.equal(headers.length, 16)
  const last = new Warnings()
  for (let i = 0; i < 20; i++) last.add(`${i}`.padEnd(256, 'x'))
  assert.equal(last.headers().length, 17, 'the one that is too much is said')
  for (let i = 0; i < 5; i++) last.add(`short ${i}`)
  assert.equal(last.headers().length, 17)
})
