import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceQuota } from '../generated/core-v1.ts'
import type { KubernetesObject } from '../object.ts'
import { evaluatorNamed } from './fixtures.ts'
import { matchesScopes, scopeRequirementsOf } from './scopes.ts'

function matches(resource: string, spec: object, object: object): boolean {
  const requirements = scopeRequirementsOf({ spec } as ResourceQuota)
  return matchesScopes(evaluatorNamed(resource), object as KubernetesObject, requirements)
}
const selecting = (scopeName: string, operator: string, values?: string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] },
})
const pod = (spec: object = {}) => ({ spec: { containers: [{ name: 'c' }], ...spec } })
const asking = (kind: string, cpu: string) => ({ resources: { [kind]: { cpu } } })
const term = { topologyKey: 'zone' }

test('Given pods, then which of the plain scopes they are in', () => {
  for (const [spec, expected] of [
    [{}, 'NotTerminating BestEffort'],
    [{ activeDeadlineSeconds: 0 }, 'Terminating BestEffort'],
    [{ containers: [{ name: 'c', ...asking('requests', '1') }] }, 'NotTerminating NotBestEffort'],
    [{ containers: [{ name: 'c', ...asking('requests', '0') }] }, 'NotTerminating BestEffort'],
    [{ initContainers: [{ name: 'i', ...asking('limits', '1') }] }, 'NotTerminating NotBestEffort'],
    [asking('requests', '1'), 'NotTerminating NotBestEffort'],
    [
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
      'NotTerminating BestEffort',
    ],
    [
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaces: ['a'] }],
          },
        },
      },
      'NotTerminating BestEffort CrossNamespacePodAffinity',
    ],
    [
      {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { ...term, namespaceSelector: {} } },
            ],
          },
        },
      },
      'NotTerminating BestEffort CrossNamespacePodAffinity',
    ],
  ] as const) {
    const scopes = [
      'Terminating',
      'NotTerminating',
      'BestEffort',
      'NotBestEffort',
      'CrossNamespacePodAffinity',
      'VolumeAttributesClass',
    ]
    const found = scopes.filter((scope) => matches('pods', { scopes: [scope] }, pod(spec)))
    assert.equal(found.join(' '), expected)
  }
})

test('PriorityClass: Exists, In, NotIn, DoesNotExist', () => {
  const [none, high, low] = ['', 'high', 'low'].map((name) =>
    pod(name === '' ? {} : { priorityClassName: name }),
  )
  for (const [operator, values, expected] of [
    ['Exists', undefined, [false, true, true]],
    ['DoesNotExist', undefined, [true, false, false]],
    ['In', ['high'], [false, true, false]],
    ['NotIn', ['high'], [true, false, true]],
  ] as const) {
    const spec = selecting('PriorityClass', operator, values && [...values])
    assert.deepEqual(
      [none, high, low].map((each) => matches('pods', spec, each!)),
      expected,
      operator,
    )
  }
  assert.ok(matches('pods', { scopes: ['PriorityClass'] }, high!))
})

test('VolumeAttributesClass is over the set of spec, current and target class names', () => {
  const claim = (...[wanted, current, target]: (string | undefined)[]) => ({
    spec: { volumeAttributesClassName: wanted },
    status: {
      currentVolumeAttributesClassName: current,
      modifyVolumeStatus: { targetVolumeAttributesClassName: target },
    },
  })
  const claims = [
    claim(),
    claim('gold'),
    claim('iron', 'gold'),
    claim('iron', 'iron', 'gold'),
    claim('iron'),
  ]
  for (const [operator, values, expected] of [
    ['Exists', undefined, [false, true, true, true, true]],
    ['DoesNotExist', undefined, [true, false, false, false, false]],
    ['In', ['gold'], [false, true, true, true, false]],
    ['NotIn', ['gold'], [true, false, true, true, true]],
  ] as const) {
    const spec = selecting('VolumeAttributesClass', operator, values && [...values])
    const found = claims.map((each) => matches('persistentvolumeclaims', spec, each))
    assert.deepEqual(found, expected, operator)
  }
  assert.ok(!matches('persistentvolumeclaims', { scopes: ['BestEffort'] }, claim('gold')))
})

test('every scope must match; all other types match no scope', () => {
  const both = { scopes: ['NotTerminating'], ...selecting('PriorityClass', 'In', ['high']) }
  assert.ok(matches('pods', both, pod({ priorityClassName: 'high' })))
  assert.ok(!matches('pods', both, pod({ priorityClassName: 'high', activeDeadlineSeconds: 1 })))
  assert.ok(!matches('pods', both, pod()))
  for (const resource of ['services', 'configmaps', 'resourceclaims']) {
    assert.ok(!matches(resource, { scopes: ['NotTerminating'] }, {}), resource)
    assert.ok(matches(resource, {}, {}), `${resource} without scopes`)
  }
})

test('a requirement that makes no sense is an error', () => {
  assert.throws(() => matches('pods', selecting('PriorityClass', 'In', []), pod()))
  assert.throws(() => matches('pods', selecting('PriorityClass', 'Near', ['x']), pod()))
})
