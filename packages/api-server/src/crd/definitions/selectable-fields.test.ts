import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateDefinition } from './definition-validation.ts'

const text = { type: 'string' }

function problemsOf(specs: readonly object[], jsonPath: string): readonly string[] {
  const versions = specs.map((spec, index) => ({
    name: `v${index + 1}`,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    selectableFields: [{ jsonPath }],
  }))
  return problemsOfVersions(versions)
}

function problemsOfVersions(versions: readonly object[]): readonly string[] {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const object = {
    metadata: { name: 'other.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions,
      conversion: { strategy: 'None' },
    },
    status: { storedVersions: ['v1'] },
  }
  const errors = new FieldErrors()
  validateDefinition(object, errors, object)
  return errors.list.map(({ field, message }) => `${field}: ${message}`)
}

test('a key of a map can be selected by; values of any type cannot', () => {
  const map = { type: 'object', additionalProperties: text }
  assert.deepEqual(problemsOf([map], '.spec.key'), [])
  // A map that may have no keys is one, too.
  for (const additionalProperties of [true, false])
    assert.deepEqual(problemsOf([{ type: 'object', additionalProperties }], '.spec.key'), [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.key": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    ])
  const closed = { type: 'object', properties: { a: text }, additionalProperties: false }
  assert.ok(
    problemsOf([closed], '.spec.key').some((problem) =>
      problem.endsWith('is an invalid path: does not refer to a valid field'),
    ),
  )
})

test('a path is followed until the first thing on it that is wrong', () => {
  const fields = { type: 'object', properties: { a: text } }
  const map = { type: 'object', additionalProperties: text }
  const cases: readonly (readonly [object, string, string])[] = [
    [fields, '.nope.a[0]', 'does not refer to a valid field'],
    [fields, '.spec.a[*]', 'array notation is not allowed'],
    [fields, "['spec']", 'array notation is not allowed'],
    [fields, '.spec.a.', 'unexpected end of JSON path'],
    [fields, '.spec..a', 'does not refer to a valid field'],
    [map, '.spec..a', 'expected [ or . but got: a'],
  ]
  for (const [spec, path, why] of cases)
    assert.deepEqual(problemsOf([spec], path), [
      `spec.selectableFields[0].jsonPath: Invalid value: "${path}": is an invalid path: ${why}`,
    ])
})

test('fields of one version need a schema of that version, which an empty one is not', () => {
  const versions = [
    { name: 'v1', served: true, storage: true, schema: {}, selectableFields: [{ jsonPath: '.a' }] },
    { name: 'v2', served: true, storage: false },
  ]
  assert.deepEqual(
    problemsOfVersions(versions).filter((problem) => problem.includes('selectableFields')),
    [
      'spec.versions[0].selectableFields: Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included',
    ],
  )
  const two = versions.map((version) => ({ ...version, storage: true }))
  assert.match(
    problemsOfVersions(two).find((problem) => problem.includes('exactly one')) ?? '',
    /"Schema":{"OpenAPIV3Schema":null}.*"Name":"v2".*"Schema":null/,
  )
})

test('fields that all versions share need a schema that they share', () => {
  const one = { type: 'object', properties: { a: text } }
  const other = { type: 'object', properties: { a: text, b: text } }
  assert.deepEqual(problemsOf([one, one], '.spec.a'), [])
  assert.deepEqual(problemsOf([one, other], '.spec.a'), [
    'spec.selectableFields: Invalid value: "": may only be set when validations.schema is included',
  ])
})
