import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, integerBetween } from '@gyropilot/foundation'
import { createMergePatch } from './create-merge-patch.ts'
import { MergePatchError, applyMergePatch } from './merge-patch.ts'

test('null deletes, objects merge, everything else replaces', () => {
  const cases: [object, object, object][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: 'b' }, { x: null }, { a: 'b' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ a: 'b' }, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{}, { a: { bb: { ccc: null, d: 1 } } }, { a: { bb: { d: 1 } } }],
    [{ a: 1 }, { a: [{ b: null, c: 1 }, null, 2] }, { a: [{ c: 1 }, null, 2] }],
    [{ a: {} }, { a: [{ b: null, c: 1 }] }, { a: [{ b: null, c: 1 }] }],
    [{ a: [{}] }, { a: [{ b: null, c: [{ d: null }] }] }, { a: [{ c: [{}] }] }],
    [{ a: 1 }, {}, { a: 1 }],
  ]
  for (const [target, patch, expected] of cases) {
    assert.deepEqual(applyMergePatch(target, patch), expected, JSON.stringify([target, patch]))
  }
})

test('a body that is no object is refused', () => {
  const into = 'into Go value of type map[string]interface {}'
  const cases: [unknown, string][] = [
    [null, 'Invalid JSON Patch'],
    [[], `error decoding patch: json: cannot unmarshal array ${into}`],
    ['x', `error decoding patch: json: cannot unmarshal string ${into}`],
    [5, `error decoding patch: json: cannot unmarshal number ${into}`],
    [true, `error decoding patch: json: cannot unmarshal bool ${into}`],
  ]
  for (const [patch, message] of cases) {
    assert.throws(() => applyMergePatch({}, patch), new MergePatchError(message))
  }
})

test('the target is not edited, and untouched parts are shared', () => {
  const target = Object.freeze({ a: Object.freeze({ b: 1 }), c: Object.freeze({ d: 2 }) })
  const result = applyMergePatch(target, { a: { b: 2 } })
  assert.deepEqual(result, { a: { b: 2 }, c: { d: 2 } })
  assert.equal(result.c, target.c)
})

test('a key named __proto__ is a key like any other', () => {
  const patch = JSON.parse('{"data":{"__proto__":"x"}}')
  const result = applyMergePatch({ data: { a: 'b' } }, patch)
  assert.equal(JSON.stringify(result), '{"data":{"a":"b","__proto__":"x"}}')
  assert.equal(({} as { x?: string }).x, undefined)
})

test('a created patch says only what differs', () => {
  const cases: [object, object, object | undefined][] = [
    [{ a: 1 }, { a: 1 }, undefined],
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }, { b: null }],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
    [{ a: { b: 1 } }, { a: {} }, { a: { b: null } }],
    [{ a: { b: 1 } }, {}, { a: null }],
    [{}, { a: {} }, { a: {} }],
    [{ a: [1, 2] }, { a: [1] }, { a: [1] }],
    [{ a: null }, {}, undefined],
    [{ a: 1, b: undefined }, { a: 1, c: undefined }, undefined],
    [{ a: 1 }, { a: null }, { a: null }],
    [{ a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
  ]
  for (const [original, modified, expected] of cases) {
    assert.deepEqual(createMergePatch(original, modified), expected)
  }
})

test('applying a created patch to the original gives the modified object', () => {
  const random = new SeededRandom('merge-patch')
  const randomValue = (depth: number): unknown => {
    switch (integerBetween(random, 0, depth > 0 ? 4 : 2)) {
      case 0:
        return integerBetween(random, 0, 3)
      case 1:
        return ['x', 'y'][integerBetween(random, 0, 2)]
      case 2:
        return [randomValue(depth - 1)]
      default:
        return randomObject(depth - 1)
    }
  }
  const randomObject = (depth: number): object => {
    const keys = ['a', 'b', 'c'].filter(() => random.next() < 0.6)
    return Object.fromEntries(keys.map((key) => [key, randomValue(depth)]))
  }
  for (let i = 0; i < 2000; i++) {
    const original = randomObject(3)
    const modified = randomObject(3)
    assert.deepEqual(
      applyMergePatch(original, createMergePatch(original, modified) ?? {}),
      modified,
    )
  }
})
