import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SuccessPolicyRule } from '@gyropilot/api'
import { indexedJob } from './fixtures.ts'
import { IndexSet } from './index-set.ts'
import { matchSuccessPolicy } from './success-policy.ts'

const cases: readonly (readonly [readonly SuccessPolicyRule[], string, number | undefined])[] = [
  [[{ succeededCount: 2 }], '0', undefined],
  [[{ succeededCount: 2 }], '0,3', 0],
  [[{ succeededCount: 2 }], '0-3', 0],
  [[{ succeededIndexes: '0,2' }], '0,1', undefined],
  [[{ succeededIndexes: '0,2' }], '0-2', 0],
  [[{ succeededIndexes: '0-3', succeededCount: 2 }], '3,4', undefined],
  [[{ succeededIndexes: '0-3', succeededCount: 2 }], '2-4', 0],
  [[{ succeededIndexes: '1' }, { succeededCount: 1 }], '0', 1],
  [[{ succeededIndexes: '0' }, { succeededCount: 1 }], '0', 0],
  [[{ succeededIndexes: '' }], '0', undefined],
  [[{ succeededIndexes: 'x' }, { succeededIndexes: '0' }], '0', 1],
  [[{ succeededIndexes: 'x', succeededCount: 0 }], '0', undefined],
  [[{ succeededCount: 0 }], '', undefined],
  [[{}], '0', undefined],
]
for (const [rules, succeeded, met] of cases) {
  test(`with ${JSON.stringify(succeeded)} done, of ${JSON.stringify(rules)} rule ${met} is met`, () => {
    const job = indexedJob({ spec: { completions: 5, successPolicy: { rules } } })
    const message = met === undefined ? undefined : `Matched rules at index ${met}`
    assert.equal(matchSuccessPolicy(job, IndexSet.parse(succeeded, 5)), message)
  })
}

test('a Job without the policy does not succeed by it', () => {
  assert.equal(matchSuccessPolicy(indexedJob(), IndexSet.of([0, 1, 2])), undefined)
})
