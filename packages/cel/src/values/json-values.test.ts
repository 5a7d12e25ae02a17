import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { declaredType } from '../checking/schema-types.ts'
import { equal, isIncomparable } from './equality.ts'
import { valueOf } from './json-values.ts'
import { ArrayList, CelMap, CelTimestamp } from './values.ts'

const typed = (schema: object, json: unknown) =>
  valueOf(json, declaredType(schema, 'selfType', false)!.type)

describe('values that are not of the type that a schema declares, in the words of kube-apiserver', () => {
  const TEXT = { type: 'string' }
  for (const [schema, json, problem] of [
    [{ type: 'integer' }, 'x', 'invalid data, expected int, got string'],
    [{ type: 'integer' }, 1.5, 'invalid data, expected int, got float64'],
    [{ type: 'number' }, true, 'invalid data, expected float, got bool'],
    [{ type: 'boolean' }, [1], 'invalid data, expected bool, got []interface {}'],
    [TEXT, { a: 1 }, 'invalid data, expected string, got map[string]interface {}'],
    [TEXT, 7, 'invalid data, expected string, got int64'],
    [
      { type: 'array', items: TEXT },
      'x',
      'invalid data, expected an array for the provided schema with type=array',
    ],
    [
      { type: 'object', properties: { a: TEXT } },
      [],
      'invalid data, expected a map for the provided schema with type=object',
    ],
    [
      { type: 'object', additionalProperties: TEXT },
      1,
      'invalid data, expected a map for the provided schema with type=object',
    ],
    [
      { 'x-kubernetes-int-or-string': true },
      1.5,
      'invalid data, expected XIntOrString value to be either a string or integer',
    ],
    [
      { ...TEXT, format: 'date-time' },
      'x',
      'Invalid date-time formatted string x: parsing time "x" as "2006-01-02T15:04:05": cannot parse "x" as "2006"',
    ],
    [{ ...TEXT, format: 'duration' }, 'x', 'Invalid duration x: unable to parse x as duration'],
    [
      { ...TEXT, format: 'byte' },
      'YWJjx',
      'Invalid byte formatted string YWJjx: illegal base64 data at input byte 4',
    ],
    [
      { ...TEXT, format: 'byte' },
      'a!==',
      'Invalid byte formatted string a!==: illegal base64 data at input byte 1',
    ],
  ] as const)
    test(problem, () => assert.throws(() => typed(schema, json), { message: problem }))
})

test('an empty text is the beginning of 1970', () => {
  assert.deepEqual(typed({ type: 'string', format: 'date-time' }, ''), new CelTimestamp(0n))
})

describe('objects with fields that their schema does not declare', () => {
  const INTEGER = { type: 'integer' }
  const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true }
  const properties = { k: INTEGER, u: ANYTHING, 'd-e': INTEGER, é: INTEGER }
  const schema = { type: 'object', properties, ...ANYTHING }
  const record = (json: object): CelMap => {
    const value = typed(schema, json)
    assert.ok(value instanceof CelMap)
    return value
  }

  test('are equal as for kube-apiserver: undeclared ones differ when both sides have them', () => {
    for (const [a, b, isEqual] of [
      [{ x: 1 }, { x: 1 }, true],
      [{ x: 1 }, { x: 2 }, false],
      [{ x: 1 }, {}, false],
      [{ x: 1 }, { y: 1 }, true],
      [{ x: 1 }, { k: 1 }, true],
      [{ k: 1 }, { x: 1 }, false],
      [{ u: 1 }, { u: 2 }, false],
      [{ u: [1] }, { u: [1] }, true],
      [{ u: 1 }, { x: 1 }, false],
      [{ é: 1 }, { é: 2 }, false],
      [{ k: null }, { k: null }, true],
      [{ k: null }, { x: 1 }, false],
    ] as const)
      assert.equal(equal(record(a), record(b)), isEqual, JSON.stringify([a, b]))
  })

  test('are counted, and have no key', () => {
    const value = record({ k: 1, 'd-e': 2, é: 3, u: 4, x: 5 })
    assert.equal(value.size, 5)
    assert.deepEqual([...value.keys()], ['k', 'd__dash__e', 'é', 'u', null])
    assert.deepEqual(
      ['d-e', 'd__dash__e', 'é', 'x'].map((key) => value.get(key)),
      [2n, 2n, 3n, undefined],
    )
    assert.throws(() => value.get(1n), { message: 'no such overload' })
  })

  test('are comparable with maps only', () => {
    assert.equal(isIncomparable(record({}), 1n), true)
    assert.equal(isIncomparable(typed({ type: 'array', items: INTEGER }, []), 1n), true)
    assert.equal(isIncomparable(record({}), null), false)
    assert.equal(equal(new ArrayList([record({})]), new ArrayList([1n])), true)
  })
})

test('a field without a schema that every object inherits is one that the other side does not have', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  assert.ok(equal(typed(schema, { constructor: 1 }), typed(schema, { a: 'x' })))
})
