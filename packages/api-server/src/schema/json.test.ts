import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from './json.ts'

test('documents without repeated keys carry no memory of them', () => {
  const text = '{"a":{"b":[1,{"c":":\\":"}]},"d":null}'
  assert.deepEqual(parseJson(text), { value: JSON.parse(text), occurrences: undefined })
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

test('what is no JSON is refused as JSON.parse does', () => {
  assert.throws(() => parseJson('{'), SyntaxError)
})
