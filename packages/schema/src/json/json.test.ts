import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oversizedNumber, parseJson } from './json.ts'

test('documents without repeated keys carry no memory of them', () => {
  const text = '{"a":{"b":[1,{"c":":\\":"}]},"d":null}'
  assert.deepEqual(parseJson(text), { value: JSON.parse(text), occurrences: undefined })
})

test('numbers that are no plain integers are remembered as they were written, where they stand', () => {
  const text = '{"a":[1,-2.50,{"e":1E+2}],"1.5":"2.5","t":true,"f":false,"__proto__":{"b":0.0}}'
  const { value, occurrences, spellings } = parseJson(text)
  assert.deepEqual(value, JSON.parse(text))
  assert.equal(occurrences, undefined)
  const { a, ...rest } = value as { a: [number, number, object] }
  assert.deepEqual([...spellings!.get(a)!], [[1, '-2.50']])
  assert.deepEqual([...spellings!.get(a[2])!], [['e', '1E+2']])
  assert.equal(spellings!.get(value as object), undefined)
  const hidden = Object.getOwnPropertyDescriptor(rest, '__proto__')!.value
  assert.deepEqual([...spellings!.get(hidden)!], [['b', '0.0']])
  assert.equal(parseJson('{"a":"1.5","b":[true,null,2]}').spellings, undefined)
})

test('repeated keys are kept in document order, the last one wins', () => {
  const { value, occurrences } = parseJson(
    ' { "a" : 1 , "b":{"x":"\\u0041","x":[true,-1.5e3]}, "a":2 } ',
  )
  assert.deepEqual(value, { a: 2, b: { x: [true, -1500] } })
  assert.deepEqual(
    occurrences!.get(value as object)!.map(([key]) => key),
    ['a', 'b', 'a'],
  )
  assert.deepEqual(occurrences!.get((value as { b: object }).b), [
    ['x', 'A'],
    ['x', [true, -1500]],
  ])
})

test('a number that is larger than all others is found as it was written', () => {
  for (const [text, expected] of [
    ['{"a":[{"b":1e400},-1e400]}', '1e400'],
    ['{"a":[1.5,-1.0e400]}', '-1.0e400'],
    ['{"a":[1.5e300]}', undefined],
    ['{"a":1}', undefined],
    ['{"a":1e400,"a":1}', '1e400'],
  ] as const) {
    const { value, ...notes } = parseJson(text)
    assert.equal(oversizedNumber(value, notes), expected)
  }
})

test('what is no JSON is refused as JSON.parse does', () => {
  assert.throws(() => parseJson('{'), SyntaxError)
})

test('half of a pair of surrogates becomes U+FFFD, whole pairs and escaped backslashes stay', () => {
  const cases = [
    ['"\\ud800"', '\ufffd'],
    ['"\\udc00\\ud800A"', '\ufffd\ufffdA'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\\\ud800"', '\\ud800'],
    ['"\\n\\uD800\\u0041"', '\n\ufffdA'],
  ] as const
  for (const [text, value] of cases) assert.equal(parseJson(text).value, value, text)
})

test('integers beyond int64 are remembered as they were written', () => {
  const { value, spellings } = parseJson(
    '{"a":123456789012345678901234567890,"b":[9223372036854775807]}',
  )
  const { b } = value as { b: object }
  assert.deepEqual([...spellings!.get(value as object)!], [['a', '123456789012345678901234567890']])
  assert.equal(spellings!.get(b), undefined)
})
