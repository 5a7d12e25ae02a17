import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { declaredType } from '../checking/schema-types.ts'
import { valueOf } from './json-values.ts'
import { CelTimestamp } from './values.ts'

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
