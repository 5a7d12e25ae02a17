import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatGoDuration, parseGoDuration } from './go-duration.ts'

const READ: readonly (readonly [text: string, ms: number])[] = [
  ['0', 0],
  ['+0', 0],
  ['-0', 0],
  ['-0s', 0],
  ['5s', 5_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['-1s', -1_000],
  ['+5s', 5_000],
  ['.5s', 500],
  ['1.s', 1_000],
  ['100us', 0.1],
  ['100µs', 0.1],
  ['100μs', 0.1],
  ['100ns', 0.0001],
  ['1m1m', 120_000],
  ['3h2m1s500ms', 10_921_500],
  ['-1m.5s', -60_500],
  // Below a nanosecond there is nothing.
  ['0.9ns', 0],
  ['0.3333333333333333333h', 1_200_000 - 0.000001],
  ['9007199254.740993ms', 9007199254.740993],
  ['8760h', 31_536_000_000],
]
for (const [text, ms] of READ) {
  test(`${text} is ${ms} ms`, () => assert.equal(parseGoDuration(text), ms))
}

const WRONG: readonly (readonly [text: string, message: string])[] = [
  ['', 'time: invalid duration ""'],
  ['-', 'time: invalid duration "-"'],
  ['+-1s', 'time: invalid duration "+-1s"'],
  ['.', 'time: invalid duration "."'],
  ['.s', 'time: invalid duration ".s"'],
  ['soon', 'time: invalid duration "soon"'],
  [' 1s', 'time: invalid duration " 1s"'],
  ['2', 'time: missing unit in duration "2"'],
  ['1s2', 'time: missing unit in duration "1s2"'],
  ['00', 'time: missing unit in duration "00"'],
  ['1.2.3s', 'time: missing unit in duration "1.2.3s"'],
  ['1d', 'time: unknown unit "d" in duration "1d"'],
  ['1S', 'time: unknown unit "S" in duration "1S"'],
  ['1s ', 'time: unknown unit "s " in duration "1s "'],
  ['1h-30m', 'time: unknown unit "h-" in duration "1h-30m"'],
  ['1"\\', 'time: unknown unit "\\"\\\\" in duration "1\\"\\\\"'],
  ['1µ', 'time: unknown unit "\\xc2\\xb5" in duration "1\\xc2\\xb5"'],
  ['1constructor', 'time: unknown unit "constructor" in duration "1constructor"'],
  // More than 64 bits of nanoseconds.
  ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ['2562047h47m16.854775808s', 'time: invalid duration "2562047h47m16.854775808s"'],
  ['-9223372036854775809ns', 'time: invalid duration "-9223372036854775809ns"'],
  ['99999999999999999999h', 'time: invalid duration "99999999999999999999h"'],
]
for (const [text, message] of WRONG) {
  test(`refused: ${JSON.stringify(text)}`, () => assert.equal(parseGoDuration(text), message))
}

test('the longest durations are read', () => {
  assert.equal(parseGoDuration('9223372036854775807ns'), Number('9223372036854.775807'))
  assert.equal(parseGoDuration('-9223372036854775808ns'), Number('-9223372036854.775808'))
})

const PRINTED: readonly (readonly [ms: number, text: string])[] = [
  [0, '0s'],
  [0.000001, '1ns'],
  [0.0011, '1.1µs'],
  [2.2, '2.2ms'],
  [999.999999, '999.999999ms'],
  [1_000, '1s'],
  [3_300, '3.3s'],
  [60_000, '1m0s'],
  [245_000, '4m5s'],
  [3_600_000, '1h0m0s'],
  [18_367_001, '5h6m7.001s'],
  [31_536_000_000, '8760h0m0s'],
  [31_536_000_000.5, '8760h0m0.0005s'],
  [-1_500, '-1.5s'],
  [-0.0005, '-500ns'],
]
for (const [ms, text] of PRINTED) {
  test(`${ms} ms is printed as ${text} and read again`, () => {
    assert.equal(formatGoDuration(ms), text)
    assert.equal(parseGoDuration(text), ms)
  })
}
