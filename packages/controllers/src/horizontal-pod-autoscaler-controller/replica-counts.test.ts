import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodGroups, PodMetrics } from './pod-groups.ts'
import {
  averageRatio,
  isWithin,
  podReplicas,
  shareMilli,
  shareReplicas,
  toleranceOf,
  utilizationRatio,
  valueReplicas,
} from './replica-counts.ts'

const TOLERANCES = { down: 0.1, up: 0.1 }

/** Pods p0, p1, ... with these amounts. */
function used(...amounts: readonly number[]): PodMetrics {
  return new Map(
    amounts.map((milli, index) => [`p${index}`, { milli, timestampMs: 0, windowMs: 0 }]),
  )
}

function groups(given: Partial<PodGroups> = {}): PodGroups {
  return { readyCount: 0, unready: new Set(), missing: new Set(), ignored: new Set(), ...given }
}

interface Scaling {
  readonly current: number
  readonly amounts: readonly number[]
  readonly ready?: number
  readonly unready?: readonly string[]
  readonly missing?: readonly string[]
  readonly targetPercent: number
  readonly tolerances?: { readonly down: number; readonly up: number }
}

/** Every pod requests 1000. */
function utilized(given: Scaling): number {
  const { current, amounts, unready = [], missing = [], targetPercent } = given
  const requests = new Map(
    [...amounts.map((_, index) => `p${index}`), ...unready, ...missing].map((name) => [
      name,
      1_000,
    ]),
  )
  return podReplicas({
    currentReplicas: current,
    metrics: used(...amounts),
    groups: groups({
      readyCount: given.ready ?? amounts.length,
      unready: new Set(unready),
      missing: new Set(missing),
    }),
    tolerances: given.tolerances ?? TOLERANCES,
    ratioOf: (metrics) => utilizationRatio(metrics, requests, targetPercent),
    assumedMilli: () => 1_000 * (Math.max(100, targetPercent) / 100),
  }).replicas
}

test('Given 3 pods using 300, 500, 700 of 1000, target 30%, then 5; first pod unready: 4; two unready: 3.', () => {
  assert.equal(utilized({ current: 3, amounts: [300, 500, 700], targetPercent: 30 }), 5)
  assert.equal(utilized({ current: 3, amounts: [500, 700], unready: ['a'], targetPercent: 30 }), 4)
  assert.equal(utilized({ current: 3, amounts: [700], unready: ['a', 'b'], targetPercent: 30 }), 3)
})

test('Given 5 pods 100, 300, 500, 250, 250, target 50%, then 3', () => {
  assert.equal(utilized({ current: 5, amounts: [100, 300, 500, 250, 250], targetPercent: 50 }), 3)
})

test('Given usage within 10%, then no change; tolerance 0.01: 3→4', () => {
  const close = { current: 3, amounts: [1_010, 1_030, 1_020], targetPercent: 100 }
  assert.equal(utilized(close), 3)
  assert.equal(utilized({ ...close, tolerances: { down: 0.01, up: 0.01 } }), 4)
  assert.equal(utilized({ ...close, tolerances: { down: 0.01, up: 0.02 } }), 3)
  const low = { current: 10, amounts: Array.from({ length: 10 }, () => 910), targetPercent: 100 }
  assert.equal(utilized(low), 10)
  assert.equal(utilized({ ...low, tolerances: { down: 0.05, up: 0.1 } }), 10)
  assert.equal(utilized({ ...low, amounts: low.amounts.map(() => 890) }), 9)
})

test('a tolerance reaches to its very end', () => {
  assert.deepEqual(
    [0.9, 0.8999, 1.1, 1.1001].map((ratio) => isWithin(TOLERANCES, ratio)),
    [true, false, true, false],
  )
})

test('Given spec 4 but only one selected pod at 100% with target 50%, then 2', () => {
  assert.equal(utilized({ current: 4, amounts: [1_000], targetPercent: 50 }), 2)
})

test('pods without a metric argue against a change: they use what is asked on the way down, nothing on the way up', () => {
  const down = { current: 4, amounts: [200, 200], missing: ['a', 'b'], targetPercent: 50 }
  // 400 of 2000 is 20 %; with two at their request it is 60 %, on the other side of the target.
  assert.equal(utilized(down), 4)
  // 500 of 5000 is 10 %; with two at their request 35 %: 4.9 of seven.
  assert.equal(utilized({ ...down, amounts: [100, 100, 100, 100, 100], current: 7 }), 5)
  const up = { current: 3, amounts: [900, 900], missing: ['a'], targetPercent: 50 }
  assert.equal(utilized(up), 4)
  assert.equal(utilized({ ...up, amounts: [600, 600] }), 3)
})

test('a proposal that assumptions take to the other side of the target, or against its direction, is not followed', () => {
  const up = { amounts: [600, 600], missing: ['a'], targetPercent: 50 }
  assert.deepEqual(
    [2, 3, 4].map((current) => utilized({ ...up, current })),
    [2, 3, 4],
  )
  // 1000 of 5000 is 20 %; with one at its request 33 %: four, and there are but two.
  const down = { amounts: [200, 200, 200, 200, 200], missing: ['a'], targetPercent: 50 }
  assert.equal(utilized({ ...down, current: 2 }), 2)
})

test('exactly at the target nothing is assumed of anybody', () => {
  const exact = { current: 2, amounts: [500], targetPercent: 50 }
  assert.equal(utilized({ ...exact, missing: ['a'] }), 2)
  assert.equal(utilized({ ...exact, unready: ['a'] }), 2)
})

test('pods that are not ready use nothing on the way up, and are left out on the way down', () => {
  const unready = ['a', 'b']
  assert.equal(utilized({ current: 3, amounts: [900], unready, targetPercent: 50 }), 3)
  assert.equal(utilized({ current: 2, amounts: [475], unready: ['a'], targetPercent: 50 }), 2)
})

test('a target above 100% is used for missing pods on scale-down', () => {
  const given = { current: 4, amounts: [1_000, 1_000], missing: ['a', 'b'], targetPercent: 300 }
  // 2000 + 2 x 3000 of 4000 is 200 %: three of four.
  assert.equal(utilized(given), 3)
})

test('what a proposal of assumptions moves against its direction is not done', () => {
  // 40 % of 50 %; with one assumed at 100 %: 2.4 / 2 pods... on the other side.
  assert.equal(utilized({ current: 2, amounts: [200], missing: ['a'], targetPercent: 50 }), 2)
  assert.equal(
    utilized({ current: 8, amounts: [600, 600], missing: ['a'], targetPercent: 30, ready: 2 }),
    8,
  )
})

test('Percent utilization is truncated to an integer before the ratio: 30.9% counts as 30', () => {
  const requests = new Map([['p0', 1_000]])
  assert.deepEqual(utilizationRatio(used(309), requests, 30), {
    ratio: 1,
    utilization: 30,
    averageMilli: 309,
  })
})

test('a utilization is over the pods that have both, and none at all is an error', () => {
  const metrics = used(500, 700, 900)
  const requests = new Map([
    ['p1', 1_000],
    ['p2', 1_000],
  ])
  assert.deepEqual(utilizationRatio(metrics, requests, 80), {
    ratio: 1,
    utilization: 80,
    averageMilli: 800,
  })
  assert.throws(() => utilizationRatio(metrics, new Map(), 80), /no metrics returned matched/)
})

test('averages are truncated, and reported as they were before anything was assumed', () => {
  assert.deepEqual(averageRatio(used(10, 11), 10), { ratio: 1, averageMilli: 10 })
  const { replicas, usage } = podReplicas({
    currentReplicas: 3,
    metrics: used(20, 20),
    groups: groups({ readyCount: 2, missing: new Set(['a']) }),
    tolerances: TOLERANCES,
    ratioOf: (metrics) => averageRatio(metrics, 10),
    assumedMilli: () => 10,
  })
  assert.deepEqual([replicas, usage.averageMilli], [4, 20])
})

test('on the way down a missing pod counts with the target of an average', () => {
  const { replicas } = podReplicas({
    currentReplicas: 4,
    metrics: used(2, 2, 2),
    groups: groups({ readyCount: 3, missing: new Set(['a']) }),
    tolerances: TOLERANCES,
    ratioOf: (metrics) => averageRatio(metrics, 10),
    assumedMilli: () => 10,
  })
  assert.equal(replicas, 2)
})

test('Given external 8600 and 2222 per pod, then 4; object 20000 over 15000, 3 ready: 4.', () => {
  assert.equal(shareReplicas(8_600, 2_222, 3, TOLERANCES), 4)
  assert.equal(
    valueReplicas(20_000, 15_000, 3, TOLERANCES, () => 3),
    4,
  )
})

test('a value within tolerance changes nothing; of no replicas it is taken without tolerance', () => {
  const ready = (): number => assert.fail('nobody needs the pods')
  assert.equal(valueReplicas(105, 100, 3, TOLERANCES, ready), 3)
  assert.equal(valueReplicas(105, 100, 0, TOLERANCES, ready), 2)
  assert.equal(shareReplicas(310, 100, 3, TOLERANCES), 3)
  assert.equal(shareReplicas(290, 100, 3, TOLERANCES), 3)
  assert.equal(shareReplicas(250, 100, 0, TOLERANCES), 3)
})

test('Given value MaxInt64 and target 1, then MaxInt32 replicas', () => {
  assert.equal(
    valueReplicas(2 ** 63, 1, 3, TOLERANCES, () => 3),
    2 ** 31 - 1,
  )
  assert.equal(shareReplicas(2 ** 63, 1, 3, TOLERANCES), 2 ** 31 - 1)
})

test('a share is rounded up, and of nobody it is the whole', () => {
  assert.deepEqual([shareMilli(10, 3), shareMilli(10, 0)], [4, 10])
})

test('a tolerance of seven tenths is as upstream reads it, a little more, and one of a whole number just that', () => {
  assert.equal(isWithin({ down: toleranceOf('700m'), up: 0 }, 0.3), true)
  assert.deepEqual(
    ['0', '2', '0.1', '1500u', '1n', '100e-3'].map(toleranceOf),
    [0, 2, 0.1, 0.0015, 1e-9, 0.1],
  )
})
