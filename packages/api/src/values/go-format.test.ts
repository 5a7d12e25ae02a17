import assert from 'node:assert/strict'
import { test } from 'node:test'
import { goFormat, goTypeName } from './go-format.ts'

test('values print as Go prints decoded JSON: maps by key, lists without commas', () => {
  assert.equal(goFormat({ spec: { replicas: 'three' } }), 'map[spec:map[replicas:three]]')
  assert.equal(goFormat({ b: [1, 'x', null], a: true, c: undefined }), 'map[a:true b:[1 x <nil>]]')
})

test('types have their Go names', () => {
  const cases: [unknown, string][] = [
    [null, '<nil>'],
    [{}, 'map[string]interface {}'],
    [[], '[]interface {}'],
    ['', 'string'],
    [true, 'bool'],
    [1, 'int64'],
    [1.5, 'float64'],
  ]
  for (const [value, name] of cases) assert.equal(goTypeName(value), name)
})
