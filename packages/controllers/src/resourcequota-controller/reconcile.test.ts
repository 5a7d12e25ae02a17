import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { standardEvaluators } from '@gyropilot/api'
import type { KubernetesObject, ResourceQuota, UsageEvaluator } from '@gyropilot/api'
import { drive, statusError } from '@gyropilot/runtime/testing'
import { namespaceUsage } from './namespace-usage.ts'
import { reconcile } from './reconcile.ts'
import type { Countable } from './reconcile.ts'

type Amounts = Readonly<Record<string, string>>

const evaluatorOf = (resource: string): UsageEvaluator =>
  standardEvaluators().find((each) => each.resource.resource === resource)!
const quotaOf = (hard: Amounts, status?: ResourceQuota['status'], spec: object = {}) =>
  ({
    metadata: { name: 'q', namespace: 'a', resourceVersion: '7' },
    spec: { hard, ...spec },
    ...(status && { status }),
  }) as ResourceQuota
const pod = (spec: object = {}, requests: Amounts = {}): KubernetesObject =>
  ({ spec: { containers: [{ name: 'c', resources: { requests } }], ...spec } }) as KubernetesObject
const of = (resource: string, objects: Countable['objects']): Countable => ({
  evaluator: evaluatorOf(resource),
  objects,
})
const zero = (hard: Amounts) => ({
  hard,
  used: Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])),
})

function synced(quota: ResourceQuota, ...countables: readonly Countable[]) {
  const { writes, result } = drive(reconcile({ quota, countables, facts: {} }))
  const written = writes.map((write) => {
    assert.equal(write.verb === 'update' && write.subresource, 'status')
    return ('object' in write ? write.object : {}) as ResourceQuota
  })
  return { used: written[0]?.status?.used, hard: written[0]?.status?.hard, written, result }
}

describe('Given quotas with BestEffort, PriorityClass Exists/In/NotIn/DoesNotExist, plain pods, changed hard, unchanged, calculation errors, then used and writes match', () => {
  const pods = [
    pod(),
    pod({ priorityClassName: 'high' }),
    pod({ priorityClassName: 'low' }, { cpu: '1' }),
    pod({}, { cpu: '1500m' }),
  ]
  const select = (operator: string, values?: readonly string[]) => ({
    scopeSelector: {
      matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }],
    },
  })
  for (const [title, spec, used] of [
    ['plain', {}, { pods: '4', cpu: '2500m' }],
    ['BestEffort', { scopes: ['BestEffort'] }, { pods: '2', cpu: '0' }],
    ['NotBestEffort', { scopes: ['NotBestEffort'] }, { pods: '2', cpu: '2500m' }],
    ['PriorityClass Exists', select('Exists'), { pods: '2', cpu: '1' }],
    ['PriorityClass In', select('In', ['high']), { pods: '1', cpu: '0' }],
    ['PriorityClass NotIn', select('NotIn', ['high']), { pods: '3', cpu: '2500m' }],
    ['PriorityClass DoesNotExist', select('DoesNotExist'), { pods: '2', cpu: '1500m' }],
  ] as const) {
    test(title, () => {
      const hard = { pods: '9', cpu: '9' }
      const { written, result } = synced(quotaOf(hard, undefined, spec), of('pods', pods))
      assert.deepEqual(written, [quotaOf(hard, { hard, used }, spec)])
      assert.equal(result, undefined)
    })
  }

  test('changed hard: a key that is gone goes from status, a new one comes', () => {
    const hard = { pods: '3' }
    const { used, written } = synced(quotaOf(hard, zero({ pods: '2', cpu: '1' })), of('pods', pods))
    assert.deepEqual(used, { pods: '4' })
    assert.deepEqual(written[0]?.status?.hard, hard)
  })

  test('unchanged by value: no write', () => {
    const status = { hard: { cpu: '2000m' }, used: { cpu: '2.5' } }
    assert.deepEqual(synced(quotaOf({ cpu: '2' }, status), of('pods', pods)).written, [])
  })

  test('Resources no evaluator handles keep their old used value', () => {
    const hard = { pods: '9', 'count/unknowns.example.com': '3' }
    const before = { pods: '1', 'count/unknowns.example.com': '2' }
    const { used } = synced(quotaOf(hard, { hard, used: before }), of('pods', pods))
    assert.deepEqual(used, { pods: '4', 'count/unknowns.example.com': '2' })
  })

  test('without any entry to count the status is written once', () => {
    const fresh = quotaOf({ 'count/unknowns.example.com': '3' })
    const { written } = synced(fresh)
    const status = { hard: fresh.spec!.hard!, used: {} }
    assert.deepEqual(written[0]?.status, status)
    assert.deepEqual(synced({ ...fresh, status }).written, [])
    assert.equal(synced(quotaOf({}, { hard: {} })).written.length, 1, 'used is not there')
    assert.equal(synced(quotaOf({}, { used: {} })).written.length, 1, 'hard is not there')
  })

  test('One failing evaluator must not block the others; the status is still written, and the sync still retries', () => {
    const hard = { pods: '9', services: '9' }
    const quota = quotaOf(hard, { hard, used: { pods: '1', services: '2' } })
    const error = new Error('the cache of services is not synced')
    const { used, result } = synced(quota, of('services', error), of('pods', pods))
    assert.deepEqual(used, { pods: '4', services: '2' })
    assert.equal(result?.error, error)
  })

  test('A quota with an unsynced resource cache returns an error and retries; it must not write 0', () => {
    const error = new Error('not synced')
    const { used, result } = synced(quotaOf({ services: '9' }), of('services', error))
    assert.deepEqual(used, {})
    assert.equal(result?.error, error)
  })

  test('Remembered and write errors are returned together', () => {
    const conflict = statusError(409, 'Conflict')
    const rules = reconcile({
      quota: quotaOf({ pods: '1', services: '1' }),
      countables: [of('services', new Error('one')), of('pods', pods)],
      facts: {},
    })
    const { result } = drive(rules, {
      onWrite: () => ({ ok: false, error: conflict, attempted: true }),
    })
    const { errors } = (result as { error: AggregateError }).error
    assert.deepEqual(errors, [new Error('one'), conflict])
  })
})

test('Two evaluators may feed one name (pods and resourceclaims for extended resources): sum them', () => {
  const claim = {
    spec: { devices: { requests: [{ exactly: { deviceClassName: 'x', count: 2 } }] } },
  } as KubernetesObject
  const rules = reconcile({
    quota: quotaOf({ 'requests.example.com/gpu': '9' }),
    countables: [of('pods', [pod({}, { 'example.com/gpu': '1' })]), of('resourceclaims', [claim])],
    facts: { extendedResourceOf: () => 'example.com/gpu' },
  })
  const [write] = drive(rules).writes
  const { status } = (write as { object: ResourceQuota }).object
  assert.deepEqual(status?.used, { 'requests.example.com/gpu': '3' })
})

test('An evaluator error removes its resources from this result, also what another counts under the same name', () => {
  const hard = { 'requests.example.com/gpu': '9' }
  const error = new Error('the cache of resourceclaims is not synced')
  const countables = [
    of('pods', [pod({}, { 'example.com/gpu': '1' })]),
    of('resourceclaims', error),
  ]
  for (const each of [countables, countables.toReversed()]) {
    const known = synced(
      quotaOf(hard, { hard, used: { 'requests.example.com/gpu': '3' } }),
      ...each,
    )
    assert.deepEqual([known.written, known.result?.error], [[], error])
    assert.deepEqual(synced(quotaOf(hard), ...each).used, {})
  }
})

test('`status.used` may exceed `status.hard` (limit lowered later); that is not an error', () => {
  const { used, result } = synced(quotaOf({ pods: '1' }), of('pods', [pod(), pod()]))
  assert.deepEqual([used, result], [{ pods: '2' }, undefined])
})

test('A Pod stuck terminating past its grace period is not charged', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
  const countables = [of('pods', [{ ...pod(), metadata } as KubernetesObject])]
  const usedAt = (nowMs: number) => {
    const rules = reconcile({ quota: quotaOf({ pods: '1' }), countables, facts: {} })
    const [write] = drive(rules, { nowMs }).writes
    return (write as { object: ResourceQuota }).object.status?.used
  }
  assert.deepEqual(usedAt(Date.UTC(2026, 0, 1, 0, 0, 30)), { pods: '1' })
  assert.deepEqual(usedAt(Date.UTC(2026, 0, 1, 0, 0, 31)), { pods: '0' })
})

test('A scope-match error ends the loop with the partial result and no error', () => {
  const requirements = [{ scopeName: 'PriorityClass', operator: 'In', values: [] }]
  const question = { names: ['pods'], requirements, facts: { nowMs: 0 } }
  const { result } = drive(namespaceUsage(evaluatorOf('pods'), [pod()], question))
  assert.deepEqual(result, { pods: '0' })
})

test('other work of the process gets its turn while thousands of pods are counted', () => {
  const question = { names: ['pods'], requirements: [], facts: { nowMs: 0 } }
  const rules = namespaceUsage(evaluatorOf('pods'), Array(640).fill(pod()), question)
  let turns = 0
  let step = rules.next()
  for (; !step.done; step = rules.next()) if (step.value.effect === 'turn') turns++
  assert.deepEqual([turns, step.value], [10, { pods: '640' }])
})
