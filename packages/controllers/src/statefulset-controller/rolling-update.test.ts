import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { drive } from '@gyropilot/runtime/testing'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { UPDATE, rollingUpdate, setPod, setPods, statefulSet } from './fixtures.ts'
import { mostUnavailable, rollOut } from './rolling-update.ts'

const set = statefulSet({ replicas: 4 })
const counting = { minReadySeconds: 0, nowMs: NOW_MS, update: UPDATE }
const old = (ordinal: number, options = {}) => setPod(set, ordinal, options)
const updated = (ordinal: number, options = {}) =>
  setPod(set, ordinal, { revision: UPDATE, ...options })
const NOT_READY = { readySeconds: null }

function rolled(
  pods: readonly Pod[],
  given: { set?: typeof set; gate?: boolean; gone?: Pod; refuse?: number } = {},
) {
  const seen: number[][] = []
  const { writes, result } = drive(
    rollOut(given.set ?? set, pods, counting, {
      maxUnavailable: given.gate ?? false,
      onUnavailable: (_, most, now) => seen.push([most, now]),
      isDeleted: (pod) => pod === given.gone,
    }),
    { onWrite: (_, index) => (index === given.refuse ? refused(500, 'Oops') : undefined) },
  )
  return { result, seen, names: writes.map((write) => 'name' in write && write.name) }
}

for (const [title, pods, expected] of [
  ['the highest old pod goes', [old(0), old(1), old(2), old(3)], ['db-3']],
  ['the next goes when those above are available', [old(0), old(1), old(2), updated(3)], ['db-2']],
  ['an unavailable pod above is waited for', [old(0), old(1), old(2), updated(3, NOT_READY)], []],
  ['so is a terminating one', [old(0), old(1), old(2), old(3, { deleting: true })], []],
  [
    'an old pod goes though it is unavailable itself',
    [old(0), old(1), old(2), old(3, NOT_READY)],
    ['db-3'],
  ],
  [
    'an unavailable pod below is not looked at',
    [old(0), old(1, NOT_READY), old(2), old(3)],
    ['db-3'],
  ],
  ['nothing is left to do', [updated(0), updated(1), updated(2), updated(3)], []],
] as const) {
  test(`rolling update: ${title}`, () => {
    const { names, result } = rolled(pods)
    assert.deepEqual(names, expected)
    assert.equal(result.deleted, expected.length)
  })
}

test('Partition counts replicas from S, not absolute ordinals', () => {
  const shifted = statefulSet({
    replicas: 2,
    spec: { ...rollingUpdate({ partition: 1 }), ordinals: { start: 5 } },
  })
  const above = setPod(shifted, 6, { revision: UPDATE })
  assert.deepEqual(rolled([setPod(shifted, 5), setPod(shifted, 6)], { set: shifted }).names, [
    'db-6',
  ])
  assert.deepEqual(rolled([setPod(shifted, 5), above], { set: shifted }).names, [])
})

test('partition >= R: no pod is updated', () => {
  const held = statefulSet({ replicas: 2, spec: rollingUpdate({ partition: 2 }) })
  assert.deepEqual(rolled(setPods(held, 2), { set: held }).names, [])
  const far = statefulSet({ replicas: 2, spec: rollingUpdate({ partition: 9 }) })
  assert.deepEqual(rolled(setPods(far, 2), { set: far }).names, [])
})

test('a pod that this sync has deleted already is waited for', () => {
  const gone = old(3)
  assert.deepEqual(rolled([old(0), old(1), old(2), gone], { gone }).names, [])
  const spec = rollingUpdate({ maxUnavailable: 2 })
  const two = statefulSet({ replicas: 4, spec })
  assert.deepEqual(rolled([old(0), old(1), old(2), gone], { gone, set: two, gate: true }).names, [
    'db-2',
  ])
})

test('Given maxUnavailable "10%" of 25, "50%" of 5, "1%" of 0, then 2, 2, 1', () => {
  const of = (maxUnavailable: string | number, replicas: number) =>
    mostUnavailable(statefulSet({ spec: rollingUpdate({ maxUnavailable }) }), replicas)
  assert.deepEqual([of('10%', 25), of('50%', 5), of('1%', 0)], [2, 2, 1])
  assert.deepEqual([of(3, 10), mostUnavailable(set, 10)], [3, 1])
})

// As kube-controller-manager 1.36 did with the gate on.
for (const [title, pods, maxUnavailable, partition, expected] of [
  ['two at once from the highest', [old(0), old(1), old(2), old(3)], 2, 0, ['db-3', 'db-2']],
  [
    'an unavailable pod in range takes one',
    [old(0, NOT_READY), old(1), old(2), old(3)],
    2,
    0,
    ['db-3'],
  ],
  [
    'no more while two are out',
    [old(0, NOT_READY), old(1), old(2), updated(3, NOT_READY)],
    2,
    0,
    [],
  ],
  [
    'a new one that is ready makes room',
    [old(0, NOT_READY), old(1), old(2), updated(3)],
    2,
    0,
    ['db-2'],
  ],
  [
    'broken pods are not replaced',
    [old(0), old(1), old(2, NOT_READY), old(3, NOT_READY)],
    2,
    0,
    [],
  ],
  [
    'a terminating pod is skipped and counts',
    [old(0), old(1), old(2), old(3, { deleting: true })],
    2,
    0,
    ['db-2'],
  ],
  ['not below the partition', [old(0), old(1), old(2), old(3)], 3, 2, ['db-3', 'db-2']],
  ['without waiting between them', [old(0), old(1), updated(2), old(3)], 2, 0, ['db-3', 'db-1']],
] as const) {
  test(`with maxUnavailable: ${title}`, () => {
    const several = statefulSet({ replicas: 4, spec: rollingUpdate({ maxUnavailable, partition }) })
    const { names, result } = rolled(pods, { set: several, gate: true })
    assert.deepEqual(names, expected)
    assert.equal(result.deleted, expected.length)
  })
}

test('with the gate off maxUnavailable means nothing and is not measured', () => {
  const several = statefulSet({ replicas: 4, spec: rollingUpdate({ maxUnavailable: 3 }) })
  const { names, seen } = rolled(setPods(several, 4), { set: several })
  assert.deepEqual([names, seen], [['db-3'], []])
  assert.deepEqual(rolled(setPods(several, 4), { set: several, gate: true }).seen, [[3, 0]])
})

test('a refused deletion ends the rollout of this sync, and those before it count', () => {
  const several = statefulSet({ replicas: 4, spec: rollingUpdate({ maxUnavailable: 3 }) })
  const { result, names } = rolled(setPods(several, 4), { set: several, gate: true, refuse: 1 })
  assert.equal(names.length, 2)
  assert.equal(result.deleted, 1)
  assert.match(String(result.error), /Oops/)
})
