import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateSchema } from './schema-validation.ts'
import type { Schema } from './structural-schema.ts'

function texts(schema: Schema, statusEnabled = false): readonly string[] {
  const errors = new FieldErrors()
  validateSchema(schema, 's', statusEnabled, errors)
  return errors.list.map(({ field, message }) => `${field}: ${message}`)
}

const withSpec = (spec: Schema): Schema => ({ type: 'object', properties: { spec } })
const AT = 's.properties[spec]'

test('a structural schema passes', () => {
  const spec: Schema = {
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', default: 1 },
      port: {
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
      },
      tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      free: { 'x-kubernetes-preserve-unknown-fields': true },
      map: { type: 'object', additionalProperties: { type: 'string' } },
    },
    anyOf: [{ required: ['size'] }, { properties: { port: { enum: [80] } } }],
  }
  assert.deepEqual(texts(withSpec(spec), true), [])
})

const EMBEDDED: Schema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
}
const CHANGELESS = { rule: 'self == oldSelf' }

test('each rule of structural schemas has its message', () => {
  const cases: readonly [Schema, readonly string[]][] = [
    [{}, [`${AT}.type: Required value: must not be empty for specified object fields`]],
    [
      { type: 'array', items: {} },
      [`${AT}.items.type: Required value: must not be empty for specified array items`],
    ],
    [{ type: 'array' }, [`${AT}.items: Required value: must be specified`]],
    [
      { type: 'null' },
      [
        `${AT}.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"`,
        `${AT}.type: Forbidden: type cannot be set to null, use nullable as an alternative`,
      ],
    ],
    [
      { type: 'foo' },
      [
        `${AT}.type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      ],
    ],
    [
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        additionalProperties: { type: 'string' },
      },
      [
        `${AT}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
      ],
    ],
    [
      { type: 'string', allOf: [{ type: 'string' }] },
      [`${AT}.allOf[0].type: Forbidden: must be empty to be structural`],
    ],
    [
      { type: 'array', uniqueItems: true, items: { type: 'string' } },
      [
        `${AT}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
    ],
    [
      { type: 'string', 'x-kubernetes-list-type': 'atomic' },
      [`${AT}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`],
    ],
    [
      {
        type: 'array',
        items: { type: 'object', properties: { k: { type: 'string' } } },
        'x-kubernetes-list-type': 'map',
      },
      [
        `${AT}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
      ],
    ],
    [
      {
        type: 'array',
        items: { type: 'object', properties: { k: { type: 'string' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      [
        `${AT}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    ],
    [
      { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      [
        `${AT}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
      ],
    ],
    [
      { type: 'object', 'x-kubernetes-embedded-resource': true },
      [
        `${AT}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
      ],
    ],
    [
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { kind: { type: 'string', properties: { a: EMBEDDED } }, metadata: EMBEDDED },
      },
      ['kind].properties[a', 'metadata'].map(
        (name) =>
          `${AT}.properties[${name}].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta`,
      ),
    ],
    [
      {
        type: 'object',
        'x-kubernetes-map-type': 'future',
        properties: { a: { type: 'integer', 'x-kubernetes-validations': [CHANGELESS] } },
      },
      [
        `${AT}.x-kubernetes-map-type: Unsupported value: "future": supported values: "atomic", "granular"`,
        `${AT}.properties[a].x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${AT}`,
      ],
    ],
    [
      { type: 'object', definitions: { d: { uniqueItems: true } } },
      [
        `${AT}.definitions: Forbidden: definitions is not supported`,
        `${AT}.definitions[d].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
    ],
    [
      { type: 'integer', default: 'x' },
      [`${AT}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['x'], default: {} },
      [`${AT}.default.x: Required value`],
    ],
    [
      { type: 'object', properties: { a: { type: 'string' } }, default: { z: 1 } },
      [`${AT}.default: Invalid value: {"z":1}: must not have unknown fields`],
    ],
    [
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { kind: { type: 'string' } },
        default: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', other: 1 }, z: 1 },
      },
      [
        `${AT}.default: Invalid value: {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"z":1}: must not have unknown fields`,
      ],
    ],
    [
      { type: 'string', pattern: '(' },
      [
        `${AT}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
      ],
    ],
  ]
  for (const [spec, expected] of cases)
    assert.deepEqual(texts(withSpec(spec)), expected, JSON.stringify(spec))
})

test('the root is an object, and with a status subresource says so first', () => {
  assert.deepEqual(texts({ type: 'string' }, true), [
    's.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    's.type: Invalid value: "string": must be object at the root',
  ])
  assert.deepEqual(texts({ type: 'null' }), [
    's.type: Invalid value: "null": must be object at the root',
    's.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    's.type: Forbidden: type cannot be set to null, use nullable as an alternative',
  ])
  assert.deepEqual(
    texts({
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    }),
    [
      's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  )
})

test('patterns that Go refuses are refused, those that it takes are taken', () => {
  for (const pattern of [
    '(?=a)',
    '(?<!a)',
    '(a)\\1',
    'a**',
    'a{1001}',
    '(a{11}){100}',
    '\\C',
    '\\p{Emoji}',
  ])
    assert.equal(texts(withSpec({ type: 'string', pattern })).length, 1, pattern)
  for (const pattern of [
    '(?i)a',
    '(?P<year>\\d{4})',
    '(?<n>a)',
    '\\pL',
    '[[:alpha:]]',
    '\\Aa\\z',
    '^[+--]$',
  ])
    assert.deepEqual(texts(withSpec({ type: 'string', pattern })), [], pattern)
})

const rules = (...of: readonly string[]): Schema =>
  ({ 'x-kubernetes-validations': of.map((rule) => ({ rule })) }) as Schema

const optional = (rule: string): object => ({
  'x-kubernetes-validations': [{ rule, optionalOldSelf: true }],
})

test('a default keeps the rules of its place and of all places below, as if it had been so before', () => {
  const inside: Schema = { type: 'boolean', ...rules('self') }
  const cases: readonly (readonly [Schema, readonly string[]])[] = [
    [{ type: 'integer', default: 1, ...rules('self == oldSelf') }, []],
    [
      { type: 'integer', default: 1, ...rules('self != oldSelf') },
      [`${AT}.default: Invalid value: 1: failed rule: self != oldSelf`],
    ],
    // An old value that may be missing is the default once, and missing once.
    [
      { type: 'integer', default: 1, ...optional('oldSelf.orValue(2) == 1') },
      [`${AT}.default: Invalid value: 1: failed rule: oldSelf.orValue(2) == 1`],
    ],
    [
      { type: 'integer', default: 1, ...optional('!oldSelf.hasValue()') },
      [`${AT}.default: Invalid value: 1: failed rule: !oldSelf.hasValue()`],
    ],
    [{ type: 'integer', default: 1, ...optional('oldSelf.orValue(1) == 1') }, []],
    [
      { type: 'object', properties: { b: inside }, default: { b: false } },
      [`${AT}.default.b: Invalid value: false: failed rule: self`],
    ],
    [
      { type: 'array', items: inside, default: [false] },
      [`${AT}.default[0]: Invalid value: false: failed rule: self`],
    ],
    [
      { type: 'integer', default: 1, ...rules('1', 'self < 0') },
      [
        `${AT}.default: Invalid value: "integer": rule compile error: cel expression must evaluate to a bool`,
        `${AT}.default: Invalid value: 1: failed rule: self < 0`,
      ],
    ],
    // Nobody looks at defaults below additionalProperties.
    [{ type: 'object', additionalProperties: { ...inside, default: false } }, []],
  ]
  for (const [spec, expected] of cases)
    assert.deepEqual(texts(withSpec(spec)), expected, JSON.stringify(spec))
})

test('resources in a default are judged as resources', () => {
  const embedded: Schema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { kind: { type: 'string', default: 'a b' } },
  }
  const [refused = ''] = texts(withSpec(embedded))
  const why = 'must result in valid metadata: kind: Invalid value: "a b": may have mixed case'
  assert.ok(refused.startsWith(`${AT}.properties[kind].default: Invalid value: "a b": ${why}`))
  const plain: Schema = { ...embedded, properties: { spec: { type: 'string' } } }
  const holder: Schema = { type: 'object', properties: { e: plain }, default: { e: {} } }
  assert.deepEqual(texts(withSpec(holder)), [
    `${AT}.default.e.apiVersion: Required value`,
    `${AT}.default.e.kind: Required value`,
  ])
  assert.deepEqual(
    texts({ type: 'object', properties: { kind: { type: 'string', default: 'X' } } }),
    ['s.properties[kind].default: Forbidden: must not be set in top-level kind'],
  )
})

test('texts of rules are told with their place, branches included, what compiling finds after all places', () => {
  const broken: Schema = { type: 'integer', ...rules('self.x') }
  const branch = rules('')
  assert.deepEqual(texts(withSpec({ type: 'string', anyOf: [branch] })), [
    `${AT}.anyOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural`,
    `${AT}.anyOf[0].x-kubernetes-validations[0].rule: Required value: rule is not specified`,
  ])
  const found = texts({
    type: 'object',
    properties: { a: broken, b: { type: 'string', 'x-kubernetes-map-type': 'atomic' } },
  })
  assert.equal(found.length, 2)
  assert.match(found[0]!, /^s\.properties\[b\]\.type: /)
  assert.match(found[1]!, /^s\.properties\[a\]\.x-kubernetes-validations\[0\]\.rule: /)
})
