import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepEqual, semanticEqual } from './deep-equal.ts'

test('undefined is absent, null and empty are values', () => {
  const equal: [unknown, unknown][] = [
    [{ a: 1, b: undefined }, { a: 1 }],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [null, null],
  ]
  for (const [a, b] of equal) assert.equal(deepEqual(a, b), true, JSON.stringify([a, b]))
  const different: [unknown, unknown][] = [
    [{ a: null }, {}],
    [{ a: [] }, {}],
    [{ a: 1 }, { a: '1' }],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [{}, null],
    [
      { a: undefined, b: 1 },
      { a: 1, b: undefined },
    ],
    [{}, { constructor: Object }],
  ]
  for (const [a, b] of different) {
    assert.equal(deepEqual(a, b), false, JSON.stringify([a, b]))
    assert.equal(deepEqual(b, a), false, JSON.stringify([b, a]))
  }
})

test('semantic equality takes null and empty for absent, at every depth', () => {
  assert.equal(semanticEqual({ a: null, b: [], c: { d: {} } }, {}), true)
  assert.equal(semanticEqual({ a: { x: [] } }, { a: undefined }), true)
  assert.equal(semanticEqual({ a: 0 }, {}), false)
  assert.equal(semanticEqual({ a: '' }, {}), false)
  assert.equal(semanticEqual([{}], []), false)
  assert.equal(semanticEqual({ a: [1] }, { a: [1] }), true)
})
