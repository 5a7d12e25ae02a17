import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from './json.ts'
import { readWritten, stringifyWritten, withWritten } from './written-numbers.ts'

test('numbers that are written otherwise than they are printed are symbols, and numbers again with what was written', () => {
  const { value, ...notes } = parseJson(
    '{"a":[1.0,1.5,{"b":1.0,"__proto__":1e400}],"c":9007199254740993}',
  )
  const written = withWritten(value, notes)
  const { a, c } = written.value as { a: [symbol, number, { b: symbol }]; c: bigint }
  assert.equal(a[0], a[2].b)
  assert.equal(a[0].description, '1.0')
  assert.deepEqual([a[1], c], [1.5, 9_007_199_254_740_993n])
  const text = '{"a":[1.0,1.5,{"b":1.0,"__proto__":1e400}],"c":9007199254740993}'
  assert.equal(stringifyWritten(written.value), text)
  const read = readWritten(written.value, undefined)
  assert.deepEqual(read.value, value)
  const { a: list } = read.value as { a: [number, number, object] }
  assert.deepEqual([...read.spellings.get(list)!], [[0, '1.0']])
  assert.deepEqual(
    [...read.spellings.get(list[2])!],
    [
      ['b', '1.0'],
      ['__proto__', '1e400'],
    ],
  )
})

test('members that are repeated stay known', () => {
  const { value, ...notes } = parseJson('{"a":{"b":1.0,"b":2}}')
  const written = withWritten(value, notes)
  const read = readWritten(written.value, written.occurrences)
  const { a } = read.value as { a: object }
  assert.deepEqual(read.occurrences!.get(a), [
    ['b', 1],
    ['b', 2],
  ])
})

test('a text of plain numbers is left as it is', () => {
  const { value, ...notes } = parseJson('{"a":1}')
  assert.equal(withWritten(value, notes).value, value)
})
