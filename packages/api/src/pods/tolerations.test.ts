import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Taint, Toleration } from '../generated/core-v1.ts'
import { isTaintTolerated, tolerates } from './tolerations.ts'

const taint: Taint = { key: 'disk', value: 'full', effect: 'NoSchedule' }

const cases: readonly (readonly [string, Toleration, Taint, boolean])[] = [
  [
    'key, value and effect equal',
    { key: 'disk', value: 'full', effect: 'NoSchedule' },
    taint,
    true,
  ],
  ['no effect: every effect', { key: 'disk', value: 'full' }, taint, true],
  ['another effect', { key: 'disk', value: 'full', effect: 'NoExecute' }, taint, false],
  ['another value', { key: 'disk', value: 'slow' }, taint, false],
  ['another key', { key: 'net', operator: 'Exists' }, taint, false],
  ['Exists asks for no value', { key: 'disk', operator: 'Exists' }, taint, true],
  ['Equal without values', { key: 'a' }, { key: 'a', effect: 'NoExecute' }, true],
  ['no key and Exists: everything', { operator: 'Exists' }, taint, true],
  ['no key and Exists, another effect', { operator: 'Exists', effect: 'NoExecute' }, taint, false],
  ['no key and Equal: nothing', { value: 'full' }, taint, false],
  ['an unknown operator', { key: 'disk', operator: 'Near' as 'Equal' }, taint, false],
]
for (const [title, toleration, against, expected] of cases)
  test(title, () => assert.equal(tolerates(toleration, against), expected))

const compared: readonly (readonly ['Lt' | 'Gt', string, string, boolean])[] = [
  ['Lt', '5', '6', true],
  ['Lt', '6', '6', false],
  ['Lt', '-7', '6', true],
  ['Gt', '7', '6', true],
  ['Gt', '6', '6', false],
  ['Gt', '10', '9', true],
  ['Gt', 'x', '9', false],
  ['Gt', '10', '', false],
]
for (const [operator, actual, bound, expected] of compared) {
  test(`${operator}: a taint of ${actual} ${expected ? 'is' : 'is not'} tolerated by ${bound || 'nothing'}`, () => {
    const toleration = { key: 'k', operator, value: bound } as Toleration
    const numbered = { key: 'k', value: actual, effect: 'NoSchedule' } as const
    assert.equal(tolerates(toleration, numbered, { comparisonOperators: true }), expected)
    assert.equal(tolerates(toleration, numbered), false)
  })
}

test('one toleration of several is enough, none tolerates nothing', () => {
  assert.ok(isTaintTolerated([{ key: 'x' }, { operator: 'Exists' }], taint))
  assert.ok(!isTaintTolerated([{ key: 'x' }], taint))
  assert.ok(!isTaintTolerated(undefined, taint))
})
