import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicaSet } from '@gyropilot/api'
import { refused } from '../workload-support/fixtures.ts'
import { deployment, outcome, owned, rollout, sizes } from './fixtures.ts'
import { isSaturated, isScalingEvent, proportionalSizes, scale } from './proportional-scaling.ts'

const FIRST_AGE_SECONDS = 3000

interface ScaleCase {
  readonly title: string
  readonly from: number
  readonly to: number
  readonly surge?: number
  /** Sizes of the ReplicaSets, the newest first; the first is the new one. */
  readonly sets: readonly number[]
  readonly expected: readonly number[]
  /** Of each set, where they differ from what `from` gives. */
  readonly recordedMax?: readonly number[]
  /** The new ReplicaSet is not there. */
  readonly onlyOld?: boolean
}

const scaling: readonly ScaleCase[] = [
  {
    title: 'Given 10→12 with one RS of 10, when scaled, then it gets 12',
    from: 10,
    to: 12,
    sets: [10],
    expected: [12],
  },
  {
    title: 'Given 10→5 with one RS of 10, then it gets 5',
    from: 10,
    to: 5,
    sets: [10],
    expected: [5],
  },
  {
    title: 'Given RSs 2 (new) and 3 (old), 5→10, when scaled, then 4 and 6',
    from: 5,
    to: 10,
    sets: [2, 3],
    expected: [4, 6],
  },
  {
    title: 'Given RSs 2 (new) and 3 (old), when scaled: 5→3 gives 1 and 2',
    from: 5,
    to: 3,
    sets: [2, 3],
    expected: [1, 2],
  },
  { title: '9→4 with 8/1 gives 4/0', from: 9, to: 4, sets: [8, 1], expected: [4, 0] },
  { title: '7→10 with 3/3/1 gives 4/4/2', from: 7, to: 10, sets: [2, 3, 2], expected: [3, 4, 3] },
  {
    title: 'Given three RSs of 1, 3→4, then the newest gets 2',
    from: 3,
    to: 4,
    sets: [1, 1, 1],
    expected: [2, 1, 1],
  },
  {
    title: 'Given three RSs of 1, 3→2, then the oldest gets 0',
    from: 3,
    to: 2,
    sets: [1, 1, 1],
    expected: [1, 1, 0],
  },
  { title: 'scaling to 0 takes all away', from: 10, to: 0, sets: [3, 3, 4], expected: [0, 0, 0] },
  {
    title: 'Given surge 3→6 and 10→50 with RSs 5 and 8, then 22 and 34',
    from: 10,
    to: 50,
    surge: 6,
    sets: [5, 8],
    recordedMax: [13, 13],
    expected: [22, 34],
  },
  {
    title: 'without a new ReplicaSet the one active old one gets the size',
    from: 3,
    to: 5,
    sets: [3],
    expected: [5],
    onlyOld: true,
  },
]

for (const { title, from, to, surge = 0, sets, expected, recordedMax, onlyOld } of scaling) {
  test(title, () => {
    const web = deployment({
      replicas: to,
      status: { replicas: sets.reduce((sum, size) => sum + size, 0) },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: surge, maxUnavailable: surge === 0 ? 1 : 0 },
      },
    })
    const all = sets.map((replicas, index) =>
      owned(web, {
        name: `rs${index}`,
        image: `img:${index}`,
        replicas,
        ageSeconds: FIRST_AGE_SECONDS + index,
        annotations: sizes(from, recordedMax?.[index] ?? from),
      }),
    )
    const working = onlyOld
      ? rollout(web, undefined, ...all)
      : rollout(web, all[0], ...all.slice(1))
    outcome(wrapped(working))
    const result = working.replicaSets.toSorted((a, b) =>
      a.metadata!.name! < b.metadata!.name! ? -1 : 1,
    )
    assert.deepEqual(
      result.map(({ spec }) => spec?.replicas),
      expected,
    )
  })
}

function* wrapped(working: Parameters<typeof scale>[0]) {
  return (yield* scale(working)) ?? {}
}

test('Given 100 replicas, surge 20, RSs 100/20, scaled to 120, then 117/23 with annotations 120 and 140', () => {
  const web = deployment({
    replicas: 120,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 20, maxUnavailable: 0 } },
  })
  const old = owned(web, { name: 'old', replicas: 100, annotations: sizes(100, 120) })
  const fresh = owned(web, {
    name: 'new',
    replicas: 20,
    ageSeconds: 10,
    annotations: sizes(100, 120),
  })
  const driven = outcome(wrapped(rollout(web, fresh, old)))
  assert.deepEqual(driven.scaled, { old: 117, new: 23 })
  for (const { metadata } of driven.replicaSetUpdates) {
    assert.equal(metadata?.annotations?.['deployment.kubernetes.io/desired-replicas'], '120')
    assert.equal(metadata?.annotations?.['deployment.kubernetes.io/max-replicas'], '140')
  }
  assert.deepEqual(driven.messages, [
    'Scaled up replica set old from 100 to 117',
    'Scaled up replica set new from 20 to 23',
  ])
})

test('Every active RS is written with force: annotations refresh even without size change, and emit nothing', () => {
  const web = deployment({
    replicas: 10,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
  })
  const all = [
    owned(web, { name: 'a', replicas: 6, annotations: sizes(9, 12) }),
    owned(web, { name: 'b', replicas: 6, annotations: sizes(10, 12) }),
  ]
  const driven = outcome(wrapped(rollout(web, all[0], all[1]!)))
  assert.deepEqual(driven.scaled, { a: 6 })
  assert.deepEqual(driven.events, [])
})

test('a saturated new ReplicaSet: the old ones go to 0', () => {
  const web = deployment({ replicas: 3 })
  const fresh = owned(web, { name: 'new', replicas: 3, annotations: sizes(3, 4) })
  const driven = outcome(
    wrapped(
      rollout(web, fresh, owned(web, { name: 'old', replicas: 2 }), owned(web, { name: 'idle' })),
    ),
  )
  assert.deepEqual(driven.scaled, { old: 0 })
})

test('saturated means the size, by its annotation too, and all of it available', () => {
  const web = deployment({ replicas: 3 })
  const saturated = { replicas: 3, annotations: sizes(3, 4) }
  assert.ok(isSaturated(web, owned(web, saturated)))
  assert.ok(!isSaturated(web, owned(web, { ...saturated, available: 2 })))
  assert.ok(!isSaturated(web, owned(web, { ...saturated, annotations: sizes(2, 4) })))
  assert.ok(!isSaturated(web, owned(web, { ...saturated, replicas: 2, available: 3 })))
  assert.ok(!isSaturated(web, undefined))
})

test('Recreate with several active RSs and no saturation: no size changes.', () => {
  const web = deployment({ replicas: 5, strategy: { type: 'Recreate' } })
  const driven = outcome(
    wrapped(
      rollout(web, owned(web, { name: 'a', replicas: 1 }), owned(web, { name: 'b', replicas: 1 })),
    ),
  )
  assert.deepEqual(driven.scaled, { a: 1, b: 1 })
})

test('a scaling sync that changes no size ends its scaling event', () => {
  const web = deployment({ replicas: 3, strategy: { type: 'Recreate' } })
  const stale = { replicas: 3, annotations: sizes(9, 9) }
  const driven = outcome(wrapped(rollout(web, undefined, owned(web, { name: 'a', ...stale }))))
  assert.deepEqual(driven.scaled, { a: 3 })
  const [write] = driven.writes
  assert.ok(write?.verb === 'update')
  const annotations = write.object.metadata?.annotations
  assert.equal(annotations?.['deployment.kubernetes.io/desired-replicas'], '3')
})

test('a paused Deployment writes no ReplicaSet that has its size', () => {
  const paused = { replicas: 2, spec: { paused: true } }
  const rolling = deployment({
    ...paused,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  })
  const annotations = sizes(1, 3)
  const one = owned(rolling, { name: 'a', replicas: 2, annotations })
  assert.deepEqual(outcome(wrapped(rollout(rolling, one))).scaled, {})
  const idle = owned(rolling, { name: 'a', replicas: 0, annotations })
  assert.deepEqual(outcome(wrapped(rollout(rolling, undefined, idle))).scaled, { a: 2 })
  const recreated = deployment({ ...paused, strategy: { type: 'Recreate' } })
  const all = ['a', 'b'].map((name) => owned(recreated, { name, replicas: 1, annotations }))
  assert.deepEqual(outcome(wrapped(rollout(recreated, all[0], all[1]!))).scaled, {})
})

test('with none active the new one is scaled, else the newest old one', () => {
  const web = deployment({ replicas: 2 })
  const [older, newer] = [
    owned(web, { name: 'older', ageSeconds: 20 }),
    owned(web, { name: 'newer', ageSeconds: 10 }),
  ]
  assert.deepEqual(outcome(wrapped(rollout(web, undefined, newer, older))).scaled, { newer: 2 })
  assert.deepEqual(outcome(wrapped(rollout(web, older, newer))).scaled, { older: 2 })
})

test('desired-replicas differing on an RS with 0 replicas is not a scaling event.', () => {
  const web = deployment({ replicas: 3 })
  assert.ok(
    !isScalingEvent(rollout(web, undefined, owned(web, { replicas: 0, annotations: sizes(9, 9) }))),
  )
  assert.ok(
    isScalingEvent(rollout(web, undefined, owned(web, { replicas: 1, annotations: sizes(9, 9) }))),
  )
  assert.ok(
    !isScalingEvent(rollout(web, undefined, owned(web, { replicas: 1, annotations: sizes(3, 9) }))),
  )
  assert.ok(!isScalingEvent(rollout(web, undefined, owned(web, { replicas: 1 }))))
})

const strict = { maxSurge: 0, maxUnavailable: 1 }
const shares = (of: ReturnType<typeof deployment>, ...active: readonly ReplicaSet[]) =>
  Object.fromEntries(
    proportionalSizes(of, active).map(({ replicaSet, size }) => [replicaSet.metadata?.name, size]),
  )

test('of what is all given out, none is taken back', () => {
  const web = deployment({
    replicas: 10,
    strategy: { type: 'RollingUpdate', rollingUpdate: strict },
  })
  const large = owned(web, { name: 'large', replicas: 5, annotations: sizes(5, 5) })
  const small = owned(web, { name: 'small', replicas: 2, annotations: sizes(20, 20) })
  assert.deepEqual(shares(web, large, small), { large: 8, small: 2 })
})

test('one whose former size nobody knows takes no share', () => {
  const web = deployment({
    replicas: 10,
    strategy: { type: 'RollingUpdate', rollingUpdate: strict },
  })
  const known = owned(web, { name: 'known', replicas: 5, annotations: sizes(10, 10) })
  const unknown = owned(web, { name: 'unknown', replicas: 2 })
  assert.deepEqual(shares(web, known, unknown), { known: 8, unknown: 2 })
})

test('a Deployment of none leaves no pod, whatever its surge', () => {
  const web = deployment({
    replicas: 0,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 0 } },
  })
  const annotations = sizes(10, 13)
  const active = [6, 4].map((replicas) =>
    owned(web, { name: `of${replicas}`, replicas, annotations }),
  )
  assert.deepEqual(shares(web, ...active), { of6: 0, of4: 0 })
})

test('only active ReplicaSets are written', () => {
  for (const strategy of [
    { type: 'Recreate' },
    { type: 'RollingUpdate', rollingUpdate: strict },
  ] as const) {
    const web = deployment({ replicas: 5, strategy })
    const set = (name: string, replicas: number) =>
      owned(web, { name, replicas, annotations: sizes(9, 9) })
    const driven = outcome(wrapped(rollout(web, set('a', 2), set('b', 3), set('idle', 0))))
    assert.deepEqual(Object.keys(driven.scaled).toSorted(), ['a', 'b'])
  }
})

test('all old ones of a saturated new ReplicaSet go to 0', () => {
  const web = deployment({ replicas: 3 })
  const fresh = owned(web, { name: 'new', replicas: 3, annotations: sizes(3, 4) })
  const old = ['a', 'b'].map((name) => owned(web, { name, replicas: 1 }))
  assert.deepEqual(outcome(wrapped(rollout(web, fresh, ...old))).scaled, { a: 0, b: 0 })
})

test('a write that fails ends the scaling with its error', () => {
  const annotations = sizes(9, 9)
  for (const [title, of, saturated] of [
    ['old ones of a saturated new one', deployment({ replicas: 3 }), true],
    ['Recreate', deployment({ replicas: 3, strategy: { type: 'Recreate' } }), false],
    ['in proportion', deployment({ replicas: 3 }), false],
  ] as const) {
    const fresh = saturated
      ? owned(of, { name: 'new', replicas: 3, annotations: sizes(3, 4) })
      : owned(of, { name: 'new', replicas: 1, annotations })
    const old = ['a', 'b'].map((name) => owned(of, { name, replicas: 1, annotations }))
    const driven = outcome(wrapped(rollout(of, fresh, ...old)), {
      onWrite: () => refused(409, 'Conflict', 'newer'),
    })
    assert.equal((driven.verdict.error as Error | undefined)?.message, 'newer', title)
    assert.equal(driven.writes.length, 1, title)
  }
})

test("without a valid max-replicas annotation the Deployment's size counts; without that the share is 0", () => {
  const web = deployment({
    replicas: 10,
    status: { replicas: 5 },
    strategy: { type: 'RollingUpdate', rollingUpdate: strict },
  })
  const sized = (of: typeof web) =>
    shares(
      of,
      owned(of, { name: 'a', replicas: 2, ageSeconds: 5 }),
      owned(of, { name: 'b', replicas: 3 }),
    )
  assert.deepEqual(sized(web), { a: 4, b: 6 })
  assert.deepEqual(sized({ ...web, status: {} }), { a: 2, b: 8 })
})
