import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reconcile } from '@gyropilot/runtime'
import { refused } from '../workload-support/fixtures.ts'
import { deployment, outcome, owned, rollout, sync } from './fixtures.ts'
import {
  cleanUpUnhealthy,
  scaleDownAvailable,
  scaleDownOldReplicaSets,
  scaleNewReplicaSet,
} from './rolling-update.ts'
import type { Rollout } from './rollout.ts'

const rolling = (replicas: number, maxSurge: number, maxUnavailable: number) =>
  deployment({
    replicas,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
  })

function* ignoring<T>(rules: Reconcile<T>): Reconcile {
  yield* rules
}

interface Kept<T> {
  value?: T
}

/** Drives rules and keeps what they come to. */
function* keeping<T>(rules: Reconcile<T>, kept: Kept<T>): Reconcile {
  kept.value = yield* rules
}

const sizeOf = (of: Rollout, name: string): number | undefined =>
  of.replicaSets.find(({ metadata }) => metadata?.name === name)?.spec?.replicas

const upwards: readonly {
  replicas: number
  surge: number
  old: number
  fresh: number
  expected: number | undefined
}[] = [
  // Should not scale up.
  { replicas: 10, surge: 0, old: 10, fresh: 0, expected: undefined },
  { replicas: 10, surge: 2, old: 10, fresh: 0, expected: 2 },
  { replicas: 10, surge: 2, old: 5, fresh: 0, expected: 7 },
  { replicas: 10, surge: 2, old: 10, fresh: 2, expected: undefined },
  // Should scale down.
  { replicas: 10, surge: 2, old: 2, fresh: 11, expected: 10 },
]
for (const { replicas, surge, old, fresh, expected } of upwards) {
  test(`of ${replicas} with surge ${surge}, old ${old} and new ${fresh}: the new one gets ${expected ?? 'nothing'}`, () => {
    const web = rolling(replicas, surge, 0)
    const newSet = owned(web, { name: 'new', replicas: fresh })
    const driven = outcome(
      ignoring(
        scaleNewReplicaSet(
          rollout(web, newSet, owned(web, { name: 'old', replicas: old })),
          newSet,
        ),
      ),
    )
    assert.deepEqual(driven.scaled, expected === undefined ? {} : { new: expected })
  })
}

interface DownCase {
  readonly title: string
  readonly unavailable: number
  readonly old: readonly [size: number, available: number]
  readonly fresh: readonly [size: number, available: number]
  readonly expected: number | undefined
}
const downwards: readonly DownCase[] = [
  {
    title: 'Given R 10, maxUnavailable 0, old 10 ready, then one more than R allows goes: none',
    unavailable: 0,
    old: [10, 10],
    fresh: [0, 0],
    expected: undefined,
  },
  {
    title: 'Given R 10, maxUnavailable 2, old 10 ready, then 2 go',
    unavailable: 2,
    old: [10, 10],
    fresh: [0, 0],
    expected: 8,
  },
  {
    title: 'with two unhealthy old pods and no more room, exactly these go',
    unavailable: 2,
    old: [10, 8],
    fresh: [0, 0],
    expected: 8,
  },
  {
    title: 'with unhealthy and room both kinds go',
    unavailable: 4,
    old: [10, 8],
    fresh: [0, 0],
    expected: 6,
  },
  {
    title:
      'Given R 10, maxUnavailable 2, old 8 ready, new 2 not ready, when reconciled, then no scale down',
    unavailable: 2,
    old: [8, 8],
    fresh: [2, 0],
    expected: undefined,
  },
  {
    title: 'New pods crash-looping: maxScaledDown counts them, old RSs are not drained.',
    unavailable: 0,
    old: [10, 10],
    fresh: [3, 0],
    expected: undefined,
  },
  {
    title: 'new pods that are not available keep unavailable old ones in their place',
    unavailable: 0,
    old: [10, 8],
    fresh: [3, 0],
    expected: undefined,
  },
  {
    title:
      'of the room for unavailable old pods the new ones that are not available take their part',
    unavailable: 0,
    old: [10, 6],
    fresh: [4, 2],
    expected: 8,
  },
  {
    title: 'ready new pods take the place of old ones',
    unavailable: 0,
    old: [8, 8],
    fresh: [4, 4],
    expected: 6,
  },
]
for (const { title, unavailable, old, fresh, expected } of downwards) {
  test(title, () => {
    const web = rolling(10, 4, unavailable)
    const newSet = owned(web, { name: 'new', replicas: fresh[0], available: fresh[1] })
    const working = rollout(
      web,
      newSet,
      owned(web, { name: 'old', replicas: old[0], available: old[1] }),
    )
    const kept: Kept<boolean> = {}
    const driven = outcome(keeping(scaleDownOldReplicaSets(working, newSet), kept))
    assert.equal(sizeOf(working, 'old'), expected ?? old[0])
    assert.equal(driven.replicaSetUpdates.length > 0, expected !== undefined)
    assert.equal(kept.value, expected !== undefined, 'whether anything was scaled')
  })
}

const unhealthy: readonly {
  title: string
  sizes: readonly [size: number, available: number]
  budget: number
  removed: number
}[] = [
  {
    title: 'Given old 10 with 8 available and budget 1, when cleaning, then 1 is removed',
    sizes: [10, 8],
    budget: 1,
    removed: 1,
  },
  {
    title: 'a budget beyond the unhealthy takes these only',
    sizes: [10, 8],
    budget: 3,
    removed: 2,
  },
  { title: 'without budget nothing is cleaned', sizes: [10, 8], budget: 0, removed: 0 },
  { title: 'healthy pods are not cleaned', sizes: [10, 10], budget: 3, removed: 0 },
]
for (const {
  title,
  sizes: [size, available],
  budget,
  removed,
} of unhealthy) {
  test(title, () => {
    const web = rolling(10, 0, 2)
    const working = rollout(web, undefined, owned(web, { name: 'old', replicas: size, available }))
    outcome(ignoring(cleanUpUnhealthy(working, budget)))
    assert.equal(sizeOf(working, 'old'), size - removed)
  })
}

test('Rollover: unavailable pods of the middle RS are removed first.', () => {
  const web = rolling(10, 0, 2)
  const oldest = owned(web, { name: 'oldest', replicas: 8, ageSeconds: 900 })
  const middle = owned(web, { name: 'middle', replicas: 2, available: 0, ageSeconds: 100 })
  const newSet = owned(web, { name: 'new', replicas: 0 })
  const driven = outcome(
    ignoring(scaleDownOldReplicaSets(rollout(web, newSet, oldest, middle), newSet)),
  )
  assert.deepEqual(driven.scaled, { middle: 0 })
})

test('unavailable pods go from the oldest ReplicaSet first', () => {
  const web = rolling(10, 0, 0)
  const working = rollout(
    web,
    undefined,
    owned(web, { name: 'younger', replicas: 5, available: 0, ageSeconds: 5 }),
    owned(web, { name: 'older', replicas: 3, available: 0 }),
  )
  outcome(ignoring(cleanUpUnhealthy(working, 4)))
  assert.deepEqual([sizeOf(working, 'older'), sizeOf(working, 'younger')], [0, 4])
})

test('available pods go from the oldest ReplicaSet first', () => {
  const web = rolling(10, 0, 0)
  const working = rollout(
    web,
    undefined,
    owned(web, { name: 'younger', replicas: 5, ageSeconds: 5 }),
    owned(web, { name: 'older', replicas: 3 }),
  )
  const newSet = owned(web, { name: 'new', replicas: 7 })
  outcome(ignoring(scaleDownAvailable(working, newSet, 11)))
  assert.deepEqual([sizeOf(working, 'older'), sizeOf(working, 'younger')], [0, 4])
})

test('An error in a or b is swallowed: treated as "did not scale", the sync continues.', () => {
  const web = rolling(10, 0, 4)
  const newSet = owned(web, { name: 'new', replicas: 0 })
  const cases: readonly [string, refusedWrite: number, scaled: readonly string[]][] = [
    ['of the unavailable', 0, []],
    ['of the available', 1, ['old']],
    ['of the second unavailable', 1, ['old', 'broken']],
  ]
  for (const [title, refusedWrite, writes] of cases) {
    const replicas = writes.includes('broken') ? 8 : 10
    const old = owned(web, { name: 'old', replicas, available: replicas - 2 })
    const broken = owned(web, { name: 'broken', replicas: 2, available: 0, ageSeconds: 5 })
    const olds = writes.includes('broken') ? [old, broken] : [old]
    const kept: Kept<boolean> = {}
    let count = 0
    const driven = outcome(
      keeping(scaleDownOldReplicaSets(rollout(web, newSet, ...olds), newSet), kept),
      { onWrite: () => (count++ === refusedWrite ? refused(409, 'Conflict') : undefined) },
    )
    assert.equal(kept.value, false, title)
    assert.equal(driven.writes.length, refusedWrite + 1, `${title}: nothing after the error`)
  }
})

test('an old ReplicaSet with more available pods than it asks for ends the scale down, and is not made larger', () => {
  const web = rolling(10, 4, 4)
  const working = rollout(
    web,
    undefined,
    owned(web, { name: 'shrinking', replicas: 3, available: 5 }),
    owned(web, { name: 'younger', replicas: 7, available: 0, ageSeconds: 5 }),
  )
  const newSet = owned(web, { name: 'new', replicas: 0 })
  const kept: Kept<boolean> = {}
  const driven = outcome(keeping(scaleDownOldReplicaSets(working, newSet), kept))
  assert.deepEqual([kept.value, driven.scaled], [false, {}])
})

test('no old pod goes for one that its ReplicaSet is about to take away itself', () => {
  const web = rolling(6, 1, 0)
  const fresh = owned(web, { name: 'new', replicas: 2 })
  const shrinking = owned(web, { name: 'old', replicas: 4, available: 5 })
  const driven = outcome(ignoring(scaleDownOldReplicaSets(rollout(web, fresh, shrinking), fresh)))
  assert.deepEqual(driven.scaled, {})
})

test('where the budget is spent no further ReplicaSet is looked at', () => {
  const web = rolling(6, 1, 0)
  const kept: Kept<number | undefined> = {}
  const [first, shrinking] = [
    owned(web, { name: 'a', replicas: 2, available: 1, ageSeconds: 20 }),
    owned(web, { name: 'b', replicas: 2, available: 3, ageSeconds: 10 }),
  ]
  const driven = outcome(
    keeping(cleanUpUnhealthy(rollout(web, undefined, first, shrinking), 1), kept),
  )
  assert.deepEqual([kept.value, driven.scaled], [1, { a: 1 }])
})

test('one without unavailable pods does not keep those of the next', () => {
  const web = rolling(6, 1, 0)
  const kept: Kept<number | undefined> = {}
  const [whole, broken] = [
    owned(web, { name: 'a', replicas: 2, ageSeconds: 20 }),
    owned(web, { name: 'b', replicas: 2, available: 0, ageSeconds: 10 }),
  ]
  const driven = outcome(keeping(cleanUpUnhealthy(rollout(web, undefined, whole, broken), 2), kept))
  assert.deepEqual([kept.value, driven.scaled], [2, { b: 0 }])
})

test('what is spent on one ReplicaSet is not spent on the next: unavailable and available pods', () => {
  const web = rolling(10, 0, 2)
  const three = (available: number) =>
    ['a', 'b', 'c'].map((name, index) =>
      owned(web, { name, replicas: 2, available, ageSeconds: 100 - index }),
    )
  const unavailable: Kept<number | undefined> = {}
  const cleaning = outcome(
    keeping(cleanUpUnhealthy(rollout(web, undefined, ...three(0)), 3), unavailable),
  )
  assert.deepEqual([cleaning.scaled, unavailable.value], [{ a: 0, b: 1 }, 3])
  const exact = outcome(ignoring(cleanUpUnhealthy(rollout(web, undefined, ...three(0)), 2)))
  assert.deepEqual(exact.scaled, { a: 0 })
  const newSet = owned(web, { name: 'new', replicas: 7 })
  const available: Kept<number | undefined> = {}
  const draining = outcome(
    keeping(scaleDownAvailable(rollout(web, undefined, ...three(2)), newSet, 10), available),
  )
  assert.deepEqual([draining.scaled, available.value], [{ a: 0, b: 1 }, 3])
})

test('a new ReplicaSet that cannot be scaled is the error of the sync', () => {
  const web = rolling(3, 1, 0)
  const old = owned(web, { name: 'old', replicas: 3 })
  const { verdict } = sync(
    web,
    [old, owned(web, { name: 'web-new', image: 'web:1', replicas: 0 })],
    {
      onWrite: (write) =>
        write.verb === 'update' && write.subresource === undefined
          ? refused(500, 'InternalError')
          : undefined,
    },
  )
  assert.ok(verdict.error)
})
