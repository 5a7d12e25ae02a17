import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PATCH } from '../bootstrap/fixtures.ts'
import {
  DEFINITIONS,
  INTEGER,
  NAME,
  STRING,
  object,
  refusals,
  rule,
  setup,
} from './rules.fixtures.ts'

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

  test('URLs are compared as texts are, other values of libraries in one step', async () => {
    const estimated = async (make: string): Promise<string> => {
      const compared = `${make}(self.u) == ${make}(self.u)`
      const loops = `self.l.all(x, self.l.all(y, self.l.all(z, ${compared})))`
      const [error] = await refusals(
        object(
          { u: text({ maxLength: 10 }), l: list(text({ maxLength: 5 }), { maxItems: 150 }) },
          { 'x-kubernetes-validations': [rule(loops)] },
        ),
      )
      return /by factor of (\S+)/.exec(error!)![1]!
    }
    assert.equal(await estimated('url'), '6.4x')
    assert.equal(await estimated('quantity'), '5.4x')
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
