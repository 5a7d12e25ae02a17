import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PATCH } from '../bootstrap/fixtures.ts'
import { escapedName } from '@gyropilot/cel/schema-types'
import {
  DEFINITIONS,
  INTEGER,
  NAME,
  STRING,
  THINGS,
  definition,
  object,
  rule,
  served,
  setup,
  thing,
} from './rules.fixtures.ts'

describe('broken rules', () => {
  const rows: readonly (readonly [title: string, schema: object, spec: object, error: string])[] = [
    [
      'of an object show no value',
      object(
        { a: INTEGER, b: INTEGER },
        { 'x-kubernetes-validations': [rule('self.a <= self.b', { message: 'a above b' })] },
      ),
      { a: 2, b: 1 },
      'spec: Invalid value: a above b',
    ],
    [
      'of a scalar show it',
      object({
        s: {
          ...STRING,
          'x-kubernetes-validations': [
            rule(`self.startsWith('x')`, { messageExpression: `'must start, got ' + self` }),
          ],
        },
      }),
      { s: 'y' },
      'spec.s: Invalid value: "y": must start, got y',
    ],
    [
      'without a message show the rule',
      object({ n: { ...INTEGER, 'x-kubernetes-validations': [rule(' self > 1 ')] } }),
      { n: 1 },
      'spec.n: Invalid value: 1: failed rule: self > 1',
    ],
    [
      'have the reason that is given',
      object(
        { a: INTEGER },
        {
          'x-kubernetes-validations': [
            rule('self.a == 1', { message: 'fixed is fixed', reason: 'FieldValueForbidden' }),
          ],
        },
      ),
      { a: 2 },
      'spec: Forbidden: fixed is fixed',
    ],
    [
      'may be required values',
      object(
        { a: INTEGER },
        {
          'x-kubernetes-validations': [
            rule('has(self.a)', {
              message: 'a please',
              reason: 'FieldValueRequired',
              fieldPath: '.a',
            }),
          ],
        },
      ),
      {},
      'spec.a: Required value: a please',
    ],
    [
      'in lists and maps say where',
      object({
        l: { type: 'array', items: { ...INTEGER, 'x-kubernetes-validations': [rule('self > 1')] } },
        m: {
          type: 'object',
          additionalProperties: { ...STRING, 'x-kubernetes-validations': [rule(`self != ''`)] },
        },
      }),
      { l: [2, 1], m: { k: '' } },
      '[spec.l[1]: Invalid value: 1: failed rule: self > 1, spec.m[k]: Invalid value: "": failed rule: self != \'\']',
    ],
    [
      'that fail show the type and the error',
      object({ a: INTEGER }, { 'x-kubernetes-validations': [rule('self.a > 1')] }),
      {},
      'spec: Invalid value: "object": no such key: a evaluating rule: self.a > 1',
    ],
    [
      'that fail show the message instead of the rule',
      object(
        { a: INTEGER },
        { 'x-kubernetes-validations': [rule('self.a > 1', { message: 'm' })] },
      ),
      {},
      'spec: Invalid value: "object": no such key: a evaluating rule: m',
    ],
  ]
  for (const [title, schema, spec, error] of rows)
    test(title, async () => {
      const { create } = await setup(schema)
      assert.deepEqual(await create(spec), [422, error])
    })

  test('of the root see its names and its own fields', async () => {
    const { create } = await setup(object({ n: INTEGER }), {
      'x-kubernetes-validations': [
        rule(`self.metadata.name == 'x' + self.kind.lowerAscii() && self.spec.n == 1`, {
          message: 'name',
        }),
      ],
    })
    assert.deepEqual(await create({ n: 1 }, 'xthing'), [201, undefined])
    assert.deepEqual(await create({ n: 2 }, 'xthing'), [422, '<nil>: Invalid value: name'])
  })

  test('Type error plus failing rule: exactly the type error and the `<nil>` cause.', async () => {
    const { call } = await setup(
      object({ a: INTEGER, b: STRING }, { 'x-kubernetes-validations': [rule('false')] }),
    )
    const { body } = await call('POST', THINGS, thing({ a: 'x' }))
    assert.deepEqual(
      body.details.causes.map(({ field }: { field: string }) => field),
      ['spec.a', '<nil>'],
    )
  })
})

const METADATA = object({ name: STRING, generateName: STRING, namespace: STRING })
const LIST = { type: 'array', items: STRING }

describe('types of schemas', () => {
  const rows: readonly (readonly [string, object, unknown, string])[] = [
    [
      'date-time',
      { ...STRING, format: 'date-time' },
      '2026-01-02T03:04:05Z',
      'self.v.getFullYear() == 2026',
    ],
    [
      'date',
      { ...STRING, format: 'date' },
      '2026-01-02',
      `self.v < timestamp('2026-01-03T00:00:00Z')`,
    ],
    ['duration', { ...STRING, format: 'duration' }, '90m', `self.v == duration('1h30m')`],
    ['byte', { ...STRING, format: 'byte' }, 'YWJj', `self.v == b'abc'`],
    ['number', { type: 'number' }, 2, 'self.v == 2.0'],
    [
      'int-or-string',
      { 'x-kubernetes-int-or-string': true },
      '5',
      `type(self.v) == string && self.v == '5'`,
    ],
    ['a nullable object', object({}, { nullable: true }), null, '!has(self.v)'],
    [
      'a set list, in any order',
      { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
      ['a', 'b'],
      `self.v == ['b', 'a'] && (self.v + ['b', 'c']).size() == 3`,
    ],
    [
      'a map list, by its keys',
      {
        type: 'array',
        items: object({ k: STRING, v: INTEGER }, { required: ['k'] }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
      '(self.v + self.v).size() == 2',
    ],
    [
      'an embedded resource',
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } },
      `self.v.kind == 'Pod' && self.v.metadata.name == 'x'`,
    ],
    [
      'an embedded resource whose metadata is declared',
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { apiVersion: STRING, kind: STRING, metadata: METADATA },
      },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', namespace: 'y' } },
      `self.v.metadata.namespace == 'y'`,
    ],
    [
      'maps and lists that are empty, but there',
      object({ m: { type: 'object', additionalProperties: STRING }, l: LIST, o: object({}) }),
      { m: {}, l: [], o: {} },
      ['self.v.m', 'self.v.o', 'self.v.l', 'self.v.l + self.v.l']
        .map((value) => `optional.ofNonZeroValue(${value}).hasValue()`)
        .join(' && '),
    ],
  ]
  for (const [title, schema, value, text] of rows)
    test(title, async () => {
      const { create } = await setup(
        object({ v: schema }, { 'x-kubernetes-validations': [rule(text)] }),
      )
      assert.deepEqual(await create({ v: value }), [201, undefined])
    })

  const broken: readonly (readonly [string, object, unknown, string, string])[] = [
    [
      'a field that is null is none',
      object({}, { nullable: true }),
      null,
      'self.v == null',
      'no such key: v evaluating rule: self.v == null',
    ],
    [
      'bytes are read in the alphabet of URLs',
      { ...STRING, format: 'byte' },
      'aG/k',
      'size(self.v) > 0',
      'Invalid byte formatted string aG/k: illegal base64 data at input byte 2 evaluating rule: size(self.v) > 0',
    ],
    ...[
      [`self.v[0].contains('x')`, ''],
      [`size(self.v[0]) > 0`, ': size'],
      [`self.v[0] + 'a' == 'b'`, ': _+_'],
      [`self.v[0] < 'b'`, ': _<_'],
      [`self.v[0].lowerAscii() == 'b'`, ': lowerAscii(null_type)'],
    ].map(
      ([text = '', shown = '']) =>
        [
          `an item that is null has no operations: ${text}`,
          { type: 'array', items: { ...STRING, nullable: true } },
          [null],
          text,
          `'no such overload${shown}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`,
        ] as const,
    ),
  ]
  for (const [title, schema, value, text, message] of broken)
    test(title, async () => {
      const { create } = await setup(
        object({ v: schema }, { 'x-kubernetes-validations': [rule(text)] }),
      )
      assert.deepEqual(await create({ v: value }), [
        422,
        `spec: Invalid value: "object": ${message}`,
      ])
    })

  test('names that are no identifiers are escaped', async () => {
    const escaped = ['a-b', 'a.b', 'a/b', 'a__b', 'in', 'namespace', 'a b', '1a'].map(escapedName)
    assert.deepEqual(escaped, [
      'a__dash__b',
      'a__dot__b',
      'a__slash__b',
      'a__underscores__b',
      '__in__',
      '__namespace__',
      undefined,
      undefined,
    ])
    const { create } = await setup(
      object({ 'a-b': INTEGER }, { 'x-kubernetes-validations': [rule('self.a__dash__b > 1')] }),
    )
    assert.deepEqual(await create({ 'a-b': 2 }), [201, undefined])
  })
})

describe('old values', () => {
  test('Transition rule `self == oldSelf` on a field: create ok, change 422, removal ok.', async () => {
    const { create, call } = await setup(
      object({
        f: {
          ...STRING,
          'x-kubernetes-validations': [rule('self == oldSelf', { message: 'immutable' })],
        },
        g: INTEGER,
      }),
    )
    assert.deepEqual(await create({ f: 'x' }), [201, undefined])
    const { body } = await call('PATCH', `${THINGS}/a`, { spec: { f: 'y' } }, PATCH)
    assert.match(body.message, /spec\.f: Invalid value: "y": immutable$/)
    assert.equal((await call('PATCH', `${THINGS}/a`, { spec: { f: null } }, PATCH)).status, 200)
  })

  test('a key that every object inherits is new when it is put into a map', async () => {
    const values = { ...INTEGER, 'x-kubernetes-validations': [rule('self == oldSelf')] }
    const m = { type: 'object', maxProperties: 9, additionalProperties: values }
    const { create, call } = await setup(object({ m }))
    assert.deepEqual(await create({ m: { a: 1 } }), [201, undefined])
    const change = { spec: { m: { constructor: 2 } } }
    const { body } = await call('PATCH', `${THINGS}/a`, change, PATCH)
    assert.deepEqual(body.spec?.m, { a: 1, constructor: 2 }, body.message)
  })

  test('with optionalOldSelf a rule runs on create, too', async () => {
    const { create, call } = await setup(
      object({
        n: {
          ...INTEGER,
          'x-kubernetes-validations': [
            rule('oldSelf.hasValue() ? self >= oldSelf.value() : self == 1', {
              optionalOldSelf: true,
              message: 'grow from 1',
            }),
          ],
        },
      }),
    )
    assert.deepEqual(await create({ n: 2 }), [422, 'spec.n: Invalid value: 2: grow from 1'])
    assert.deepEqual(await create({ n: 1 }), [201, undefined])
    assert.equal((await call('PATCH', `${THINGS}/a`, { spec: { n: 1 } }, PATCH)).status, 200)
    assert.equal((await call('PATCH', `${THINGS}/a`, { spec: { n: 0 } }, PATCH)).status, 422)
  })

  test('items of map lists are compared by their keys', async () => {
    const items = object(
      { k: STRING, v: { ...INTEGER, 'x-kubernetes-validations': [rule('self >= oldSelf')] } },
      { required: ['k'] },
    )
    const { create, call } = await setup(
      object({
        l: {
          type: 'array',
          items,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
      }),
    )
    await create({
      l: [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
    })
    const change = async (l: object): Promise<number> =>
      (await call('PATCH', `${THINGS}/a`, { spec: { l } }, PATCH)).status
    assert.equal(
      await change([
        { k: 'b', v: 2 },
        { k: 'a', v: 1 },
      ]),
      200,
    )
    assert.equal(
      await change([
        { k: 'b', v: 1 },
        { k: 'a', v: 1 },
      ]),
      422,
    )
  })

  test('Tightened schema: label patch on an invalid object 200 (+ warning when a CEL rule fails), spec patch of the same object node 422.', async () => {
    const loose = object({ a: INTEGER, b: INTEGER })
    const { create, call } = await setup(loose)
    await create({ a: 5 })
    const tight = object(
      { a: INTEGER, b: INTEGER },
      { 'x-kubernetes-validations': [rule('self.a < 3', { message: 'no bad' })] },
    )
    const { spec } = definition(tight) as { spec: { versions: object[] } }
    const changed = await call(
      'PATCH',
      `${DEFINITIONS}/${NAME}`,
      { spec: { versions: spec.versions } },
      PATCH,
    )
    assert.equal(changed.status, 200, changed.body.message)
    await served()
    const labelled = await call('PATCH', `${THINGS}/a`, { metadata: { labels: { x: 'y' } } }, PATCH)
    assert.equal(labelled.status, 200)
    assert.deepEqual([labelled.headers['warning'] ?? labelled.headers['Warning']].flat(), [
      '299 - "spec: Invalid value: no bad"',
    ])
    const touched = await call('PATCH', `${THINGS}/a`, { spec: { b: 1 } }, PATCH)
    assert.equal(touched.status, 422)
  })
})

test('the path of an error names fields behind a dot, whatever they are called, and keys of maps in brackets', async () => {
  const said = (fieldPath: string): object => rule('false', { fieldPath, message: 'no' })
  const named = object({ 'a.b': STRING, m: { type: 'object', additionalProperties: STRING } })
  const { create } = await setup({
    ...named,
    'x-kubernetes-validations': [said("['a.b']"), said('.m.k'), said("['m']['k.l']")],
  })
  assert.deepEqual(await create({}), [
    422,
    '[spec.a.b: Invalid value: no, spec.m[k]: Invalid value: no, spec.m[k.l]: Invalid value: no]',
  ])
})
