import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ClusterRole, PolicyRule } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { clusterRoleAggregationLogic, clusterRoleAggregationController } from './index.ts'

const HAMMER: PolicyRule = { verbs: ['hit'], apiGroups: ['tools'], resources: ['nails'] }
const CHISEL: PolicyRule = { verbs: ['carve'], apiGroups: ['tools'], resources: ['wood'] }
const SAW: PolicyRule = { verbs: ['cut'], apiGroups: ['tools'], resources: ['wood'] }

function role(
  name: string,
  labels: Record<string, string>,
  rules: readonly PolicyRule[],
): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels, uid: `${name}-uid` },
    rules,
  }
}

type Selectors = NonNullable<ClusterRole['aggregationRule']>['clusterRoleSelectors']

function aggregate(selectors: Selectors, rules?: readonly PolicyRule[], labels = {}): ClusterRole {
  return {
    ...role('combined', labels, []),
    aggregationRule: { clusterRoleSelectors: selectors },
    rules,
  }
}

const byLabel = (value: string) => ({ matchLabels: { kind: value } })
const hammer = role('hammer', { kind: 'hand' }, [HAMMER])
const chisel = role('chisel', { kind: 'hand' }, [CHISEL])
const saw = role('saw', { kind: 'machine' }, [SAW])

function sync(objects: readonly ClusterRole[], options: DriveOptions = {}, key = 'combined') {
  const logic = clusterRoleAggregationLogic({ informers: fakeInformers(objects) })
  const observed = logic.observe(key)
  return observed === undefined ? undefined : drive(logic.reconcile(observed), options)
}

function applied(objects: readonly ClusterRole[]): ClusterRole[] {
  return (sync(objects)?.writes ?? []).map((write) => {
    assert.ok(write.verb === 'apply')
    return write.object as ClusterRole
  })
}

const rulesApplied = (...objects: readonly ClusterRole[]) =>
  applied(objects).map(({ rules }) => rules)

test('Given an aggregated role with stale `saw` rules and a matching role `hammer`, then one apply with exactly the `hammer` rules', () => {
  assert.deepEqual(sync([aggregate([byLabel('hand')], [SAW]), hammer, saw])?.writes, [
    {
      verb: 'apply',
      type: resources.clusterroles,
      namespace: undefined,
      name: 'combined',
      object: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'combined', uid: 'combined-uid' },
        rules: [HAMMER],
      },
      fieldManager: 'clusterrole-aggregation-controller',
      force: true,
      subresource: undefined,
    },
  ])
})

test('Given an aggregated role with rules and no matching role, then one apply without rules', () => {
  const [sent, ...more] = applied([aggregate([byLabel('hand')], [SAW]), saw])
  assert.deepEqual(more, [])
  assert.ok(sent !== undefined && !Object.hasOwn(sent, 'rules'))
})

test('Given `hammer` and `chisel` match and `saw` does not, then rules of `chisel`, then of `hammer`', () => {
  assert.deepEqual(rulesApplied(aggregate([byLabel('hand')]), hammer, chisel, saw), [
    [CHISEL, HAMMER],
  ])
})

test('Given selector 1 matches `hammer` and `chisel`, selector 2 matches `saw`, then `chisel`, `hammer`, `saw`', () => {
  const both = aggregate([byLabel('hand'), byLabel('machine')])
  assert.deepEqual(rulesApplied(both, saw, hammer, chisel), [[CHISEL, HAMMER, SAW]])
  const turned = aggregate([byLabel('machine'), byLabel('hand')])
  assert.deepEqual(rulesApplied(turned, saw, hammer, chisel), [[SAW, CHISEL, HAMMER]])
})

test('Given `saw` (selector 1) and `other-saw` (selector 2) with equal rules, then they appear once', () => {
  const other = role('other-saw', { kind: 'other' }, [{ ...SAW, resourceNames: [] }])
  const both = aggregate([byLabel('machine'), byLabel('other')])
  assert.deepEqual(rulesApplied(both, saw, other), [[SAW]])
})

test('Given rules already right, then no request', () => {
  const same = aggregate([byLabel('hand')], [CHISEL, { ...HAMMER, nonResourceURLs: [] }])
  assert.deepEqual(sync([same, hammer, chisel])?.writes, [])
  assert.deepEqual(sync([aggregate([byLabel('hand')])])?.writes, [])
})

test('a role without rules comes as `rules: null`: it has none to give and none to lose', () => {
  const none = null as unknown as undefined
  const empty = { ...role('empty', { kind: 'hand' }, []), rules: none }
  assert.deepEqual(sync([{ ...aggregate([byLabel('hand')]), rules: none }, empty])?.writes, [])
  assert.deepEqual(rulesApplied({ ...aggregate([{}]), rules: none }, empty, hammer), [[HAMMER]])
})

test('the order of rules and of what they list matters', () => {
  const turned = aggregate([byLabel('hand')], [HAMMER, CHISEL])
  assert.deepEqual(rulesApplied(turned, hammer, chisel), [[CHISEL, HAMMER]])
  const two = role('two', { kind: 'hand' }, [{ verbs: ['a', 'b'] }])
  assert.deepEqual(rulesApplied(aggregate([byLabel('hand')], [{ verbs: ['b', 'a'] }]), two), [
    [{ verbs: ['a', 'b'] }],
  ])
})

const parts: readonly PolicyRule[] = [
  { verbs: ['get'] },
  { verbs: ['get'], apiGroups: ['x'] },
  { verbs: ['get'], resources: ['x'] },
  { verbs: ['get'], resourceNames: ['x'] },
  { verbs: ['get'], nonResourceURLs: ['x'] },
]
test('Only equal rules are dropped: a difference in any list keeps both; nothing is sorted or normalised', () => {
  const many = role('many', { kind: 'hand' }, [...parts, { verbs: ['list', 'get'] }, parts[0]!])
  assert.deepEqual(rulesApplied(aggregate([byLabel('hand')]), many), [
    [...parts, { verbs: ['list', 'get'] }],
  ])
})

test('A selector `{}` matches every ClusterRole but the role itself; no selectors match none and empty the rules', () => {
  assert.deepEqual(rulesApplied(aggregate([{}], [SAW]), hammer), [[HAMMER]])
  assert.deepEqual(rulesApplied(aggregate([], [SAW]), hammer), [undefined])
  assert.deepEqual(rulesApplied(aggregate(undefined, [SAW]), hammer), [undefined])
})

test('several selectors are a union: a role matched twice adds its rules once', () => {
  assert.deepEqual(rulesApplied(aggregate([byLabel('hand'), {}]), hammer), [[HAMMER]])
})

test('a role without aggregationRule, or that is gone, is left alone', () => {
  assert.deepEqual(sync([hammer, saw], {}, 'hammer')?.effects, [])
  assert.equal(sync([hammer], {}, 'combined'), undefined)
})

test('an invalid selector is an error and writes nothing', () => {
  const invalid = aggregate([
    byLabel('hand'),
    { matchExpressions: [{ key: 'kind', operator: 'Odd' as 'In', values: ['x'] }] },
  ])
  const driven = sync([invalid, hammer])
  assert.deepEqual(driven?.effects, [])
  assert.ok((driven?.result as { error?: unknown } | undefined)?.error instanceof Error)
})

test('a refused apply is returned for a retry', () => {
  const conflict = refused(409, 'Conflict')
  assert.ok(!conflict.ok)
  const driven = sync([aggregate([byLabel('hand')]), hammer], { onWrite: () => conflict })
  assert.deepEqual(driven?.result, { error: conflict.error })
})

test('any event of any ClusterRole queues every role that has an aggregationRule', () => {
  const second = { ...aggregate([]), metadata: { name: 'second' } }
  const objects = [aggregate([]), second, hammer]
  const [watch] = clusterRoleAggregationLogic({ informers: fakeInformers(objects) }).watches
  const both = ['combined', 'second']
  assert.deepEqual([...watch!.onAdd!(hammer)].sort(), both)
  assert.deepEqual([...watch!.onUpdate!(hammer, hammer)].sort(), both)
  assert.deepEqual([...watch!.onDelete!(hammer)].sort(), both)
  const tombstone = new DeletedFinalStateUnknown<ClusterRole>('hammer', undefined)
  assert.deepEqual([...watch!.onDelete!(tombstone)].sort(), both)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = clusterRoleAggregationController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'clusterrole-aggregation-controller',
      ['clusterrole-aggregation'],
      'clusterrole-aggregation-controller',
      true,
    ],
  )
})
