import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainScalar } from './plain-scalar.ts'

/** What kubectl 1.32 made of `x: TEXT`. */
const RECORDED: readonly (readonly [text: string, value: unknown])[] = [
  ['yes', true],
  ['Y', true],
  ['n', false],
  ['On', true],
  ['OFF', false],
  ['oN', 'oN'],
  ['tRUE', 'tRUE'],
  ['', null],
  ['~', null],
  ['NULL', null],
  ['nULL', 'nULL'],
  ['010', 8],
  ['-010', -8],
  ['0o10', 8],
  ['0O7', 7],
  ['0b11', 3],
  ['-0b1', -1],
  ['0xg', '0xg'],
  ['0x1F', 31],
  ['+0x1f', 31],
  ['0x1_f', 31],
  ['0x1p3', '0x1p3'],
  ['0o8', '0o8'],
  ['0b2', '0b2'],
  ['0b', '0b'],
  ['1_000', 1000],
  ['1__0', 10],
  ['_1', '_1'],
  ['1_', 1],
  ['08', 8],
  ['09.5', 9.5],
  ['00', 0],
  ['-0', 0],
  ['-0.0', 0],
  ['1e3', 1000],
  ['1e+3', 1000],
  ['1e-3', 0.001],
  ['1.e3', 1000],
  ['.e3', '.e3'],
  ['1e', '1e'],
  ['1.5e', '1.5e'],
  ['1e1000', '1e1000'],
  ['.5', 0.5],
  ['5.', 5],
  ['+5', 5],
  ['+1_000.5', 1000.5],
  ['685.230_15e+03', 685_230.15],
  ['12:30:45', '12:30:45'],
  ['1.0.0', '1.0.0'],
  ['1,000', '1,000'],
  ['2020-01-01', '2020-01-01'],
  ['=', '='],
  ['9223372036854775807', 9_223_372_036_854_775_807n],
  ['-9223372036854775808', -9_223_372_036_854_775_808n],
  ['18446744073709551615', 2 ** 64],
  ['18446744073709551616', 2 ** 64],
  ['123456789012345678901234567890', 1.2345678901234568e29],
]

/** What kube-apiserver 1.36 kept of `x: TEXT` in a custom resource. */
const FRACTIONS: readonly (readonly [text: string, value: unknown])[] = [
  ['1e18', 1_000_000_000_000_000_000n],
  ['-9.2e18', -9_200_000_000_000_000_000n],
  ['9007199254740993.0', 9_007_199_254_740_992n],
  ['1e19', 1e19],
  ['1e21', 1e21],
  ['1e400', '1e400'],
]
for (const [text, value] of FRACTIONS) {
  test(`a whole number ${text} is an integer where int64 holds it`, () =>
    assert.deepEqual(plainScalar(text), value))
}
for (const [text, value] of RECORDED) {
  test(`${JSON.stringify(text)} is ${typeof value} ${value}`, () =>
    assert.deepEqual(plainScalar(text), value))
}

test('infinity and no number are numbers, which JSON has not', () => {
  assert.deepEqual(['.inf', '-.Inf', '.NaN'].map(plainScalar), [Infinity, -Infinity, Number.NaN])
})
