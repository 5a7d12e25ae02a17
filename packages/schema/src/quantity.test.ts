import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  isIntegerQuantity,
  QUANTITY_MESSAGE,
  wholeNumber,
} from './quantity.ts'

test('the canonical form', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['10000', '10k'],
    ['1.5Gi', '1536Mi'],
    ['0.1Gi', '107374182400m'],
    ['512Ki', '512Ki'],
    ['1023', '1023'],
    ['100Ki', '100Ki'],
    ['0.5Ki', '512'],
    ['1e3', '1e3'],
    ['12e2', '1200'],
    ['-1500m', '-1500m'],
    ['0Mi', '0'],
    ['.5', '500m'],
    ['1.', '1'],
    ['0.0000000001', '1n'],
    ['+5', '5'],
  ]
  for (const [text, canonical] of cases) assert.equal(canonicalQuantity(text), canonical, text)
})

test('what is no quantity', () => {
  for (const text of ['', 'abc', '1x', 'Gi', '1 Gi', '--1'])
    assert.throws(() => canonicalQuantity(text), { message: QUANTITY_MESSAGE }, text)
  assert.throws(() => canonicalQuantity('1mm'), { message: "unable to parse quantity's suffix" })
})

test('comparison and sums are exact', () => {
  assert.equal(compareQuantities('1', '1000m'), 0)
  assert.equal(compareQuantities('9007199254740993', '9007199254740992'), 1)
  assert.equal(compareQuantities('1Gi', '1G'), 1)
  assert.equal(addQuantities('500m', '1500m'), '2')
  assert.equal(addQuantities('512Mi', '512Mi'), '1Gi')
  assert.equal(isIntegerQuantity('1500m'), false)
  assert.equal(isIntegerQuantity('2000m'), true)
})

test('whole numbers are rounded away from zero', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['1500m', 2],
    ['-1500m', -2],
    ['1n', 1],
    ['2Ki', 2048],
    ['0', 0],
  ]
  for (const [text, number] of cases) assert.equal(wholeNumber(text), number, text)
})
