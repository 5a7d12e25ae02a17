import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import {
  ageBucket,
  compareForDeletion,
  deletionCostOf,
  sortForDeletion,
} from './deletion-ranking.ts'
import type { DeletionRanking } from './deletion-ranking.ts'
import { NOW_MS, pod } from './fixtures.ts'
import type { PodOptions } from './fixtures.ts'

const HOUR_SECONDS = 3600
const byName = (ranks: Readonly<Record<string, number>> = {}): DeletionRanking => ({
  nowMs: NOW_MS,
  rankOf: ({ metadata }: Pod) => ranks[metadata?.name ?? ''] ?? 0,
})
const cost = (value: string): PodOptions => ({
  annotations: { 'controller.kubernetes.io/pod-deletion-cost': value },
})

/** `first` goes before `second`, in either order of the input. */
const cases: readonly {
  title: string
  first: PodOptions
  second: PodOptions
  ranks?: Record<string, number>
}[] = [
  {
    title: 'rule 1: without a node before with one',
    first: { node: '', phase: 'Running' },
    second: { node: 'n', phase: 'Pending' },
  },
  {
    title: 'rule 2: Pending before Unknown',
    first: { phase: 'Pending' },
    second: { phase: 'Unknown' },
  },
  {
    title: 'rule 2: Unknown before Running',
    first: { phase: 'Unknown' },
    second: { phase: 'Running' },
  },
  {
    title: 'rule 2: any other phase counts as Pending',
    first: { phase: 'Other' },
    second: { phase: 'Unknown' },
  },
  {
    title:
      'Two pods with empty nodeName but different phase are ordered by phase, not by assignment.',
    first: { node: '', phase: 'Pending' },
    second: { node: '', phase: 'Running' },
  },
  {
    title: 'rule 3: not ready before ready',
    first: { restarts: 0 },
    second: { readySeconds: 1, restarts: 9 },
  },
  {
    title:
      'Given deletion cost 10 and 100, when sorting, then cost 10 goes first even with lower rank on the other',
    first: { readySeconds: 1, ...cost('10') },
    second: { readySeconds: 1, ...cost('100') },
    ranks: { first: 1, second: 2 },
  },
  { title: 'rule 4: a negative cost goes before none', first: cost('-1'), second: {} },
  {
    title: 'rule 5: more neighbours first',
    first: { readySeconds: 100 },
    second: { readySeconds: 1 },
    ranks: { first: 2, second: 1 },
  },
  {
    title: '2h sorts before 5h',
    first: { readySeconds: 2 * HOUR_SECONDS, uid: 'z' },
    second: { readySeconds: 5 * HOUR_SECONDS, uid: 'a' },
  },
  {
    title: 'rule 6: equal bucket ends the comparison by uid; restarts are then not compared',
    first: { readySeconds: 5 * HOUR_SECONDS, uid: 'a', restarts: 0 },
    second: { readySeconds: 8 * HOUR_SECONDS, uid: 'b', restarts: 9 },
  },
  {
    title: 'rule 7: more restarts first',
    first: { readySeconds: 1, restarts: 2 },
    second: { readySeconds: 1, restarts: 1, sidecarRestarts: 9 },
  },
  {
    title:
      'Given equal regular restarts, when one pod has more sidecar restarts, then it goes first',
    first: { readySeconds: 1, restarts: 1, sidecarRestarts: 2 },
    second: { readySeconds: 1, restarts: 1, sidecarRestarts: 1 },
  },
  {
    title: 'rule 8: the younger age bucket first',
    first: { ageSeconds: 10 },
    second: { ageSeconds: 1000 },
  },
  {
    title: 'rule 8: equal age bucket, smaller uid first',
    first: { ageSeconds: 5 * HOUR_SECONDS, uid: 'a' },
    second: { ageSeconds: 8 * HOUR_SECONDS, uid: 'b' },
  },
]

for (const { title, first, second, ranks } of cases) {
  test(title, () => {
    const one = pod({ ...first, name: 'first' })
    const two = pod({ ...second, name: 'second' })
    const order = sortForDeletion([two, one], byName(ranks)).map(({ metadata }) => metadata?.name)
    assert.deepEqual(order, ['first', 'second'])
    assert.deepEqual(sortForDeletion([one, two], byName(ranks)), [one, two])
  })
}

test('Given ready pods of age 5h and 8h, when sorting, then they are equivalent; 2h sorts before 5h', () => {
  assert.equal(ageBucket(5 * HOUR_SECONDS * 1000), ageBucket(8 * HOUR_SECONDS * 1000))
  assert.ok(ageBucket(2 * HOUR_SECONDS * 1000) < ageBucket(5 * HOUR_SECONDS * 1000))
})

test('an empty ready time goes first', () => {
  const ready = pod({ name: 'ready', readySeconds: 1 })
  const timeless: Pod = {
    ...ready,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }
  assert.ok(compareForDeletion(timeless, ready, byName()) < 0)
  assert.ok(compareForDeletion(ready, timeless, byName()) > 0)
})

test('pods that differ in nothing are equal', () => {
  assert.equal(compareForDeletion(pod({ uid: 'a' }), pod({ uid: 'b' }), byName()), 0)
})

test('pods of one uid whose ages are of one order of magnitude are equal', () => {
  const [older, younger] = [8, 5].map((hours) => pod({ ageSeconds: hours * HOUR_SECONDS }))
  assert.equal(compareForDeletion(older!, younger!, byName()), 0)
  assert.equal(compareForDeletion(younger!, older!, byName()), 0)
})

test('two pods on different nodes are equal by rule 1', () => {
  assert.equal(compareForDeletion(pod({ node: 'a' }), pod({ node: 'b' }), byName()), 0)
})

test('with the gate PodDeletionCost off the annotation says nothing', () => {
  const cheap = pod(cost('-5'))
  assert.equal(compareForDeletion(cheap, pod(), { ...byName(), deletionCost: false }), 0)
})

test('without a moment to reckon from times are compared as they are: the later first, whatever the uids', () => {
  const plain = { rankOf: () => 0 }
  const olderByASecond = pod({ ageSeconds: 1001, uid: 'a' })
  const younger = pod({ ageSeconds: 1000, uid: 'b' })
  assert.ok(compareForDeletion(younger, olderByASecond, plain) < 0)
  assert.ok(compareForDeletion(olderByASecond, younger, plain) > 0)
  const longReady = pod({ readySeconds: 11, uid: 'a' })
  const ready = pod({ readySeconds: 10, uid: 'b' })
  assert.ok(compareForDeletion(ready, longReady, plain) < 0)
  assert.ok(compareForDeletion(pod({ uid: 'a' }), pod({ uid: 'b' }), plain) === 0)
})

test('no age or one of the future is the bucket -1', () => {
  assert.equal(ageBucket(0), -1)
  assert.equal(ageBucket(-5), -1)
})

test('a bucket is a power of two of nanoseconds', () => {
  assert.deepEqual([1, 1.1, 2.1, 4.2].map(ageBucket), [19, 20, 21, 22])
})

test('Deletion cost `+10` or `007` is ignored (0), it is not an error', () => {
  const costs = {
    '+10': 0,
    '007': 0,
    '': 0,
    '1.5': 0,
    x: 0,
    '2147483648': 0,
    '2147483647': 2_147_483_647,
    '-2147483648': -2_147_483_648,
    '0': 0,
    '-3': -3,
  }
  for (const [text, expected] of Object.entries(costs))
    assert.equal(deletionCostOf(pod(cost(text))), expected, text)
})
