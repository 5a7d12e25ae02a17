import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelQueryOf, labelQueryOfLabels, labelSelectorProblems } from './label-selector.ts'

test('a nil selector matches nothing, an empty one everything', () => {
  for (const nothing of [undefined, null]) {
    const query = labelQueryOf(nothing)
    assert.equal(query.matches({}), false)
    assert.equal(query.matches({ a: 'b' }), false)
    assert.equal(query.matchesNothing, true)
    assert.equal(query.matchesEverything, false)
  }
  for (const everything of [{}, { matchLabels: {} }, { matchExpressions: [] }]) {
    const query = labelQueryOf(everything)
    assert.equal(query.matches(undefined), true)
    assert.equal(query.matchesEverything, true)
  }
})

test('labels and expressions must all hold', () => {
  const query = labelQueryOf({
    matchLabels: { app: 'a' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['x', 'y'] },
      { key: 'old', operator: 'DoesNotExist' },
      { key: 'env', operator: 'NotIn', values: ['test'] },
      { key: 'zone', operator: 'Exists' },
    ],
  })
  assert.equal(query.toString(), 'app=a,env notin (test),!old,tier in (x,y),zone')
  assert.equal(query.matches({ app: 'a', tier: 'y', zone: '' }), true)
  assert.equal(query.matches({ app: 'a', tier: 'y', zone: '', old: '' }), false)
  assert.equal(query.matches({ app: 'a', tier: 'y', zone: '', env: 'test' }), false)
  assert.equal(query.matches({ app: 'a', tier: 'y' }), false)
})

test('an unknown operator or a missing value is an error', () => {
  const expressions = (operator: string, values?: string[]) => ({
    matchExpressions: [{ key: 'a', operator, values }],
  })
  assert.throws(
    () => labelQueryOf(expressions('Gt', ['1'])),
    /^InvalidSelectorError: "Gt" is not a valid label selector operator$/,
  )
  assert.throws(() => labelQueryOf(expressions('In')), /values set can't be empty/)
  assert.throws(() => labelQueryOf(expressions('Exists', ['x'])), /values set must be empty/)
})

test('a plain map of labels is a selector too', () => {
  assert.equal(labelQueryOfLabels({ b: '2', a: '1' }).toString(), 'a=1,b=2')
  assert.equal(labelQueryOfLabels(undefined).matchesEverything, true)
})

test('the problems of a selector are told by field', () => {
  assert.deepEqual(labelSelectorProblems(undefined, 'spec.selector'), [])
  assert.deepEqual(labelSelectorProblems({ matchLabels: { a: 'b' } }, 'spec.selector'), [])
  const problems = labelSelectorProblems(
    {
      matchLabels: { '-a': '-b' },
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: ['x'] },
        { key: '', operator: 'Like', values: ['!'] },
      ],
    },
    'spec.selector',
  )
  const told = problems.map(({ type, field, value }) => [type, field, value])
  assert.deepEqual(told, [
    ['FieldValueInvalid', 'spec.selector.matchLabels', '-a'],
    ['FieldValueInvalid', 'spec.selector.matchLabels', '-b'],
    ['FieldValueRequired', 'spec.selector.matchExpressions[0].values', undefined],
    ['FieldValueForbidden', 'spec.selector.matchExpressions[1].values', undefined],
    ['FieldValueInvalid', 'spec.selector.matchExpressions[2].operator', 'Like'],
    ['FieldValueInvalid', 'spec.selector.matchExpressions[2].key', ''],
    ['FieldValueInvalid', 'spec.selector.matchExpressions[2].key', ''],
    ['FieldValueInvalid', 'spec.selector.matchExpressions[2].values[0]', '!'],
  ])
})
