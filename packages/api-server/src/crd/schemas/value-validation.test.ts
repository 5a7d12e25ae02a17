import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Schema } from './structural-schema.ts'
import { validateListTypes } from './list-duplicates.ts'
import { validateValue } from './value-validation.ts'

function texts(schema: Schema, value: unknown, old?: unknown): readonly string[] {
  const errors = new FieldErrors()
  validateValue(
    { v: value },
    old === undefined ? undefined : { v: old },
    { properties: { v: schema } },
    '',
    errors,
  )
  validateListTypes(
    { v: value },
    old === undefined ? undefined : { v: old },
    { properties: { v: schema } },
    errors,
  )
  return errors.list.map(({ field, message }) => `${field}: ${message}`)
}

test('each keyword has its message', () => {
  const cases: readonly [Schema, unknown, readonly string[]][] = [
    [
      { type: 'integer' },
      'x',
      ['v: Invalid value: "string": v in body must be of type integer: "string"'],
    ],
    [
      { type: 'integer' },
      1.5,
      [
        'v: Invalid value: "number": v in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in v',
      ],
    ],
    [{ type: 'number' }, 1, []],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      ['v: Invalid value: "boolean": v in body must be of type integer,string: "boolean"'],
    ],
    [{ 'x-kubernetes-int-or-string': true }, 'http', []],
    [{ type: 'string', nullable: true }, null, []],
    [
      { type: 'string' },
      null,
      ['v: Invalid value: "null": v in body must be of type string: "null"'],
    ],
    [{ type: 'object', required: ['name'] }, {}, ['v.name: Required value']],
    [{ type: 'object', required: ['constructor'] }, {}, ['v.constructor: Required value']],
    [{ type: 'object', additionalProperties: false }, {}, []],
    [
      { type: 'object', additionalProperties: false },
      { b: 1, a: {} },
      [
        'v: Invalid value: "a": v.a in body is a forbidden property',
        'v: Invalid value: "b": v.b in body is a forbidden property',
      ],
    ],
    [
      { type: 'string', enum: ['red', 'blue'] },
      'green',
      ['v: Unsupported value: "green": supported values: "red", "blue"'],
    ],
    [{ type: 'string', maxLength: 2 }, 'aaa', ['v: Too long: may not be more than 2 bytes']],
    [
      { type: 'string', minLength: 2 },
      'a',
      ['v: Invalid value: "a": v in body should be at least 2 chars long'],
    ],
    [
      { type: 'integer', minimum: 1 },
      0,
      ['v: Invalid value: 0: v in body should be greater than or equal to 1'],
    ],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      ['v: Invalid value: 1: v in body should be greater than 1'],
    ],
    [
      { type: 'integer', maximum: 100 },
      101,
      ['v: Invalid value: 101: v in body should be less than or equal to 100'],
    ],
    [
      { type: 'integer', maximum: 100, exclusiveMaximum: true },
      100,
      ['v: Invalid value: 100: v in body should be less than 100'],
    ],
    [
      { type: 'integer', multipleOf: 5 },
      7,
      ['v: Invalid value: 7: v in body should be a multiple of 5'],
    ],
    [
      { type: 'array', maxItems: 1, items: { type: 'integer' } },
      [1, 2],
      ['v: Too many: 2: must have at most 1 item'],
    ],
    [
      { type: 'array', minItems: 2, items: { type: 'integer' } },
      [1],
      ['v: Invalid value: 1: v in body should have at least 2 items'],
    ],
    [
      { type: 'object', maxProperties: 1 },
      { a: 1, b: 1 },
      ['v: Too many: 2: must have at most 1 item'],
    ],
    [
      { type: 'object', minProperties: 1 },
      {},
      ['v: Invalid value: 0: v in body should have at least 1 properties'],
    ],
    [
      { type: 'string', pattern: '^a+$' },
      'b',
      ['v: Invalid value: "b": v in body should match \'^a+$\''],
    ],
    [
      { type: 'string', format: 'date-time' },
      'foo',
      ['v: Invalid value: "foo": v in body must be of type date-time: "foo"'],
    ],
    [{ type: 'string', format: 'made-up' }, 'foo', []],
    [
      { type: 'string', oneOf: [{ minLength: 1 }, { maxLength: 9 }] },
      'a',
      [
        '<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      { type: 'integer', anyOf: [{ minimum: 5 }, { maximum: -5 }] },
      0,
      [
        '<nil>: Invalid value: "": "v" must validate at least one schema (anyOf)',
        'v: Invalid value: 0: v in body should be greater than or equal to 5',
      ],
    ],
    [
      { type: 'string', not: { maxLength: 3 } },
      'a',
      ['<nil>: Invalid value: "": "v" must not validate the schema (not)'],
    ],
    [
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ['a', 'a'],
      ['v[1]: Duplicate value: "a"'],
    ],
    [
      {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      [{ name: 'q', x: 1 }, { name: 'q' }],
      ['v[1]: Duplicate value: {"name":"q"}'],
    ],
  ]
  for (const [schema, value, expected] of cases)
    assert.deepEqual(texts(schema, value), expected, JSON.stringify(schema))
})

const ITEM: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 5 } },
}

test('parts that did not change are tolerated: by name, by list key, and other lists only as a whole', () => {
  const mapList: Schema = {
    type: 'array',
    items: ITEM,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }
  const atomicList: Schema = { type: 'array', items: ITEM }
  const bad = { name: 'a', size: 9 }
  const cases: readonly [string, Schema, unknown, unknown, number][] = [
    ['another property changes', ITEM, { name: 'b', size: 9 }, bad, 0],
    ['the bad property changes', ITEM, { name: 'a', size: 8 }, bad, 1],
    ['an item is added to a map list', mapList, [{ name: 'c', size: 1 }, bad], [bad], 0],
    ['an item is added to an atomic list', atomicList, [bad, { name: 'c', size: 1 }], [bad], 1],
    ['the lists are equal', atomicList, [bad], [bad], 0],
    [
      'a required property was missing and something changes',
      { ...ITEM, required: ['x'] },
      { name: 'b' },
      { name: 'a' },
      1,
    ],
  ]
  for (const [name, schema, value, old, count] of cases)
    assert.equal(texts(schema, value, old).length, count, name)
})

test('no pattern and no text keep the server busy: what matches too slowly is refused', () => {
  assert.deepEqual(
    texts({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}b`).length,
    1,
  )
  const slow = { type: 'string', pattern: '^(a|b)*a(a|b){900}$' }
  const [text = ''] = texts(slow, 'ab'.repeat(500_000))
  assert.match(text, / v in body takes too long to match '\^\(a\|b\)\*a\(a\|b\)\{900\}\$'$/)
})
