import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitsInt64, goFloat, goNumber, isInt64, isNearInteger, toInt64 } from './go-number.ts'

test('floats are written with an exponent from a million on and below a ten-thousandth, integers never', () => {
  const floats: readonly [number, string][] = [
    [1.5, '1.5'],
    [100_000, '100000'],
    [1_000_000, '1e+06'],
    [12_345_678.5, '1.23456785e+07'],
    [-0.0001, '-0.0001'],
    [-0.00001, '-1e-05'],
    [1e-7, '1e-07'],
    [1e21, '1e+21'],
    [1e300, '1e+300'],
  ]
  for (const [value, text] of floats) assert.equal(goFloat(value), text)
  assert.equal(goNumber(123_456_789), '123456789')
  assert.equal(goNumber(9_223_372_036_854_775_807n), '9223372036854775807')
  assert.equal(goNumber(1e20), '1e+20')
})

test('numbers that no int64 holds are floats', () => {
  assert.equal(isInt64(2 ** 53 - 1), true)
  assert.equal(isInt64(2n ** 63n - 1n), true)
  for (const value of [1.5, 2 ** 53, 1e20]) assert.equal(isInt64(value), false)
})

test('a float becomes an int64 without its fraction, and the least of them when it is too large', () => {
  assert.equal(toInt64(2.9), 2n)
  assert.equal(toInt64(-2.9), -2n)
  for (const value of [1e19, -1e19, 2 ** 63]) assert.equal(toInt64(value), -(2n ** 63n))
})

test('the digits of a float decide whether it fits an int64', () => {
  for (const value of [1, 5n, 1e18, -1e18]) assert.equal(fitsInt64(value), true)
  for (const value of [1.5, 2 ** 63, -(2 ** 63), 1e21]) assert.equal(fitsInt64(value), false)
})

test('what rounding may have done to an integer is overlooked', () => {
  for (const value of [3, 3.0000000001, -2, 0]) assert.equal(isNearInteger(value), true)
  for (const value of [1.5, 1e-12, 2 ** 53, -3.0000000001])
    assert.equal(isNearInteger(value), false)
})
