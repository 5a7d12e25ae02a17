import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors } from '../fixtures.ts'

const QUOTA = { group: '', version: 'v1', kind: 'ResourceQuota' }
const AT = 'spec.scopeSelector.matchExpressions'
const selector = (...matchExpressions: readonly Draft[]): Draft => ({
  scopeSelector: { matchExpressions },
})

test('scopes of a quota', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ hard: { pods: '1', 'requests.cpu': '1' }, scopes: ['NotBestEffort'] }, []],
    [{ hard: { 'count/jobs.batch': '1' }, scopes: ['Terminating'] }, []],
    [
      { hard: { pods: '1' }, scopes: ['Foo'] },
      ['spec.scopes: Invalid value: ["Foo"]: unsupported scope'],
    ],
    [
      { hard: { 'requests.storage': '1' }, scopes: ['Terminating'] },
      ['spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource'],
    ],
    [
      { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ],
    [{ hard: { pods: '1' }, ...selector({ scopeName: 'PriorityClass', operator: 'Exists' }) }, []],
    [
      { hard: { secrets: '1' }, ...selector({ scopeName: 'PriorityClass', operator: 'Exists' }) },
      [
        `${AT}: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource`,
      ],
    ],
    [
      selector({ scopeName: 'BestEffort', operator: 'In' }),
      [
        `${AT}.operator: Invalid value: "In": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity`,
        `${AT}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
      ],
    ],
    [
      selector(
        { scopeName: 'Foo', operator: 'Exists', values: ['a'] },
        { scopeName: 'PriorityClass', operator: 'Is' },
      ),
      [
        `${AT}.scopeName: Invalid value: "Foo": unsupported scope`,
        `${AT}.values: Invalid value: ["a"]: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
        `${AT}.operator: Invalid value: "Is": not a valid selector operator`,
      ],
    ],
    [
      selector(
        { scopeName: 'Terminating', operator: 'Exists' },
        { scopeName: 'NotTerminating', operator: 'Exists' },
      ),
      [`${AT}: Invalid value: null: conflicting scopes`],
    ],
  ]
  for (const [spec, errors] of cases)
    assert.deepEqual(createErrors(QUOTA, { spec }), errors, JSON.stringify(spec))
})
