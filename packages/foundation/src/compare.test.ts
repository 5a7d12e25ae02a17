import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byString, compareStrings } from './compare.ts'

test('orders by code point, as UTF-8 bytes do, also beyond the basic plane', () => {
  const strings = [
    '',
    'a',
    'B',
    'aa',
    '\u{10ffff}',
    '\u{1f600}',
    '\uffff',
    '\ue000',
    '\ud7ff',
    'é',
    'z',
    '日本',
  ]
  const byBytes = [...strings].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  assert.deepEqual([...strings].sort(compareStrings), byBytes)
  assert.equal(compareStrings('a', 'a'), 0)
})

test('sorts by a key', () => {
  assert.deepEqual([{ n: 'b' }, { n: 'a' }].sort(byString((item) => item.n)), [
    { n: 'a' },
    { n: 'b' },
  ])
})
