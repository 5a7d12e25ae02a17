import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { PATCH, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { turn } from '../testing/test-server.ts'
import { escapedName } from '@gyropilot/cel/schema-types'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAME = 'things.spec-x.example.com'
const THINGS = '/apis/spec-x.example.com/v1/namespaces/default/things'
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const rule = (text: string, rest: object = {}): object => ({ rule: text, ...rest })
const object = (properties: object, rest: object = {}): object => ({
  type: 'object',
  properties,
  ...rest,
})

function definition(spec: object, root: object = {}): object {
  return {
    metadata: { name: NAME },
    spec: {
      group: 'spec-x.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: object({ spec }, root) },
        },
      ],
    },
  }
}

/** Definitions are given their names and served in later turns. */
async function served(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

interface Setup extends TestServer {
  create(spec: object, name?: string): Promise<[number, string]>
}

async function setup(spec: object, root: object = {}): Promise<Setup> {
  const server = await startServer()
  stops.push(() => server.server.stop())
  const { status, body } = await server.call('POST', DEFINITIONS, definition(spec, root))
  assert.equal(status, 201, body.message)
  await served()
  return {
    ...server,
    async create(given, name = 'a') {
      const answer = await server.call('POST', THINGS, thing(given, name))
      return [
        answer.status,
        answer.body.message?.replace(`Thing.spec-x.example.com "${name}" is invalid: `, ''),
      ]
    },
  }
}

function thing(spec: object, name = 'a', metadata: object = {}): object {
  return {
    apiVersion: 'spec-x.example.com/v1',
    kind: 'Thing',
    metadata: { name, ...metadata },
    spec,
  }
}

/** The causes with which a definition is refused, as `path: message`. */
async function refusals(spec: object): Promise<string[]> {
  const server = await startServer()
  stops.push(() => server.server.stop())
  const { body } = await server.call('POST', DEFINITIONS, definition(spec))
  const causes: readonly { field: string; message: string }[] = body.details?.causes ?? []
  return causes.map(
    ({ field, message }) =>
      `${field.replace('spec.validation.openAPIV3Schema.properties[spec]', '')}: ${message}`,
  )
}

const INTEGER = { type: 'integer' }
const STRING = { type: 'string' }

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

describe('definitions that are refused', () => {
  const at = (text: string, rest: object = {}, properties: object = { n: INTEGER }): object =>
    object(properties, { 'x-kubernetes-validations': [rule(text, rest)] })
  const shown = (text: string, rest: object = {}): string =>
    JSON.stringify({
      Rule: text,
      Message: '',
      MessageExpression: '',
      Reason: null,
      FieldPath: '',
      OptionalOldSelf: null,
      ...rest,
    }).replaceAll('>', '\\u003e')
  const path = '.x-kubernetes-validations[0]'
  const rows: readonly (readonly [string, object, readonly string[]])[] = [
    ['no rule', at(''), [`${path}.rule: Required value: rule is not specified`]],
    [
      'an unknown field',
      at('self.nope > 1'),
      [
        `${path}.rule: Invalid value: ${shown('self.nope > 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^`,
      ],
    ],
    [
      'a rule that is no bool',
      at('self.n'),
      [`${path}.rule: Invalid value: ${shown('self.n')}: cel expression must evaluate to a bool`],
    ],
    [
      'a rule that may be anything',
      at('dyn(true)'),
      [
        `${path}.rule: Invalid value: ${shown('dyn(true)')}: cel expression must evaluate to a bool`,
      ],
    ],
    [
      'a constant part of a message that fails',
      at('false', { messageExpression: `string(int('x'))` }),
      [
        `${path}.messageExpression: Invalid value: ${shown('false', { MessageExpression: `string(int('x'))` })}: messageExpression instantiation failed: type conversion error from 'string' to 'int'`,
      ],
    ],
    [
      'a message of two lines',
      at('true', { message: 'a\nb' }),
      [`${path}.message: Invalid value: "a\\nb": must not contain line breaks`],
    ],
    [
      'a blank message',
      at('true', { message: ' ' }),
      [`${path}.message: Invalid value: " ": must be non-empty if specified`],
    ],
    ['a rule of two lines without message', at('true\n'), []],
    [
      'a rule of two lines inside without message',
      at('true ||\nfalse'),
      [`${path}.message: Required value: message must be specified if rule contains line breaks`],
    ],
    [
      'a messageExpression that is no string',
      at('true', { messageExpression: '1' }),
      [
        `${path}.messageExpression: Invalid value: ${shown('true', { MessageExpression: '1' })}: messageExpression must evaluate to a string`,
      ],
    ],
    [
      'an unknown reason',
      at('true', { reason: 'Nope' }),
      [
        `${path}.reason: Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    ],
    [
      'a path to nothing',
      at('true', { fieldPath: '.nope' }),
      [`${path}.fieldPath: Invalid value: ".nope": must be a valid path`],
    ],
    [
      'the authorizer',
      at(`authorizer.path('/').check('get').allowed()`),
      [
        `${path}.rule: Invalid value: ${shown(`authorizer.path('/').check('get').allowed()`)}: compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/').check('get').allowed()\n | ^`,
      ],
    ],
    [
      'a default that breaks its rule',
      object({ n: { ...INTEGER, default: 1, 'x-kubernetes-validations': [rule('self > 1')] } }),
      ['.properties[n].default: Invalid value: 1: failed rule: self > 1'],
    ],
    [
      'oldSelf where nothing corresponds',
      object({
        l: {
          type: 'array',
          maxItems: 2,
          items: { ...INTEGER, 'x-kubernetes-validations': [rule('self == oldSelf')] },
        },
      }),
      [
        `.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec].properties[l]`,
      ],
    ],
  ]
  for (const [title, schema, expected] of rows)
    test(title, async () => assert.deepEqual(await refusals(schema), expected))
})

describe('cost', () => {
  const text = (max: object = {}): object => ({ ...STRING, ...max })
  const list = (items: object, max: object = {}): object => ({ type: 'array', items, ...max })
  const hint =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

  test('a loop in a loop over unbounded lists is refused', async () => {
    const rules = { 'x-kubernetes-validations': [rule('self.l.all(x, self.l.all(y, x == y))')] }
    const [first, ...rest] = await refusals(object({ l: list(text()) }, rules))
    assert.equal(
      first,
      `.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${hint}`,
    )
    assert.deepEqual(rest, [
      '.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      `spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${hint}`,
    ])
    assert.deepEqual(
      await refusals(object({ l: list(text({ maxLength: 10 }), { maxItems: 100 }) }, rules)),
      [],
    )
  })

  test('a rule below lists costs as often as there may be values', async () => {
    const rules = { 'x-kubernetes-validations': [rule(`self.contains('0123456789')`)] }
    const bounded = list(list(text({ maxLength: 100, ...rules }), { maxItems: 1000 }), {
      maxItems: 100,
    })
    assert.deepEqual(await refusals(object({ l: bounded })), [])
    const [error] = await refusals(
      object({
        l: list(list(text({ maxLength: 100, ...rules }), { maxItems: 1000 }), { maxItems: 1000 }),
      }),
    )
    assert.match(error!, /estimated rule cost exceeds budget by factor of 4\.1x/)
  })

  test('numbers put into a text by `+` are texts without bound, by format() they are not', async () => {
    const message = (messageExpression: string): object =>
      object(
        { n: INTEGER },
        { 'x-kubernetes-validations': [rule('self.n > 1', { messageExpression })] },
      )
    const [error] = await refusals(message(`'not ' + string(self.n)`))
    assert.equal(
      error,
      `.x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x ${hint}`,
    )
    assert.deepEqual(await refusals(message(`'not %d'.format([self.n])`)), [])
    // Nor is one character known to be one.
    assert.match((await refusals(message(`'abc'.charAt(0).trim()`)))[0]!, /more than 100x/)
    assert.deepEqual(await refusals(message(`'abc'.substring(0, 1).trim()`)), [])
  })

  test('what was accepted once may stay', async () => {
    const { call } = await setup(object({ n: INTEGER }))
    assert.equal(
      (await call('PATCH', `${DEFINITIONS}/${NAME}`, { metadata: { labels: { a: 'b' } } }, PATCH))
        .status,
      200,
    )
  })

  test('a rule that runs away is stopped, and no other is run', async () => {
    const rules = [rule('self.l.all(x, self.l.all(y, x + y >= 0))'), rule('false')]
    const { create } = await setup(
      object({ l: list(INTEGER, { maxItems: 1000 }) }, { 'x-kubernetes-validations': rules }),
    )
    const [status, message] = await create({ l: Array.from({ length: 1000 }, (_, n) => n) })
    assert.deepEqual(
      [status, message],
      [
        422,
        `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, x + y >= 0))`,
      ],
    )
  })
})
