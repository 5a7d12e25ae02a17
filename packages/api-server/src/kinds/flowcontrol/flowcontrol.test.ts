import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createErrors } from '../fixtures.ts'
import type { KindName } from '../fixtures.ts'

const kind = (name: string, namespaced = false): KindName => ({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: name,
  namespaced,
})
const FLOW_SCHEMA = kind('FlowSchema')
const PRIORITY_LEVEL_CONFIGURATION = kind('PriorityLevelConfiguration')

test('what a create is refused for', () => {
  const cases: readonly (readonly [KindName, Draft, readonly string[]])[] = [
    [
      FLOW_SCHEMA,
      {
        spec: {
          priorityLevelConfiguration: { name: 'x' },
          distinguisherMethod: { type: 'X' },
          rules: [
            {
              subjects: [{ kind: 'User' }],
              resourceRules: [{ verbs: ['*', 'get'], apiGroups: [], resources: ['*', 'pods'] }],
            },
          ],
        },
      },
      [
        'spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: "ByNamespace", "ByUser"',
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        'spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other verbs',
        'spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'spec.rules[0].resourceRules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources',
        'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
      ],
    ],
    [
      FLOW_SCHEMA,
      {
        spec: {
          priorityLevelConfiguration: { name: 'x' },
          rules: [
            {
              subjects: [{ kind: 'X', user: { name: 'u' } }],
              nonResourceRules: [{ verbs: ['fly'], nonResourceURLs: ['a', '/b/*/c'] }],
            },
          ],
        },
      },
      [
        'spec.rules[0].subjects[0].kind: Unsupported value: "X": supported values: "Group", "ServiceAccount", "User"',
        'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/b/*/c": wildcard can only do suffix matching',
      ],
    ],
    [
      FLOW_SCHEMA,
      {
        spec: {
          priorityLevelConfiguration: { name: 'x' },
          matchingPrecedence: 5,
          rules: [
            {
              subjects: [{ kind: 'constructor', user: { name: 'a' } }],
              nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
            },
          ],
        },
      },
      [
        'spec.rules[0].subjects[0].kind: Unsupported value: "constructor": supported values: "Group", "ServiceAccount", "User"',
      ],
    ],
    [
      PRIORITY_LEVEL_CONFIGURATION,
      { spec: { type: 'Exempt' } },
      ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
    ],
    [
      PRIORITY_LEVEL_CONFIGURATION,
      { spec: { type: 'Limited' } },
      ['spec.limited: Required value: must not be empty when type is Limited'],
    ],
    [
      PRIORITY_LEVEL_CONFIGURATION,
      {
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: -1,
            borrowingLimitPercent: -1,
            lendablePercent: 101,
            limitResponse: {
              type: 'Queue',
              queuing: { queues: 4, handSize: 8, queueLengthLimit: 0 },
            },
          },
        },
      },
      [
        'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
        'spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)',
        'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
        'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
      ],
    ],
  ]
  for (const [type, object, errors] of cases)
    assert.deepEqual(createErrors(type, object), errors, JSON.stringify(object))
})
