import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '@gyropilot/runtime/testing'
import { defaultNodeLifecycleConfiguration as defaults } from './config.ts'
import { condition, node } from './fixtures.ts'
import { ZoneQueue } from './zone-queue.ts'
import { disruptionOf, rateOf, zoneHealth, zoneOf } from './zones.ts'
import type { Vote, ZoneHealth, ZoneState } from './zones.ts'

const votes = (ready: number, notReady: number): Vote[] => [
  ...Array.from({ length: ready }, () => condition('Ready', 'True')),
  ...Array.from({ length: notReady }, () => condition('Ready', 'Unknown')),
]

const states: readonly (readonly [number, number, ZoneState])[] = [
  [0, 0, 'Normal'],
  [1, 0, 'Normal'],
  [0, 1, 'FullDisruption'],
  [0, 5, 'FullDisruption'],
  [1, 2, 'Normal'],
  [2, 3, 'PartialDisruption'],
  [9, 11, 'PartialDisruption'],
  [10, 11, 'Normal'],
]
test('a zone is disrupted by its nodes that are not ready', () => {
  for (const [ready, notReady, state] of states) {
    const size = ready + notReady
    const health = zoneHealth(votes(ready, notReady), 0.55)
    assert.deepEqual(health, { state, size, notReady }, `${ready} and ${notReady}`)
  }
  const mixed = [undefined, condition('Ready', 'False')]
  assert.equal(zoneHealth(mixed, 0.55).state, 'FullDisruption')
})

test('a disrupted zone is tainted slowly when it is large, not at all when it is not', () => {
  const rate = (state: ZoneState, size: number): number => rateOf({ state, size }, defaults)
  assert.equal(rate('PartialDisruption', 50), 0)
  assert.equal(rate('PartialDisruption', 51), 0.01)
  assert.equal(rate('Normal', 5), 0.1)
  assert.equal(rate('FullDisruption', 5), 0.1)
})

test('the zone of a node is its region and zone, the older labels first', () => {
  const of = (labels: Record<string, string>): string => zoneOf(node('n', { labels }))
  assert.equal(of({}), '')
  const stable = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' }
  assert.equal(of(stable), 'r:\0:z')
  assert.equal(of({ ...stable, 'failure-domain.beta.kubernetes.io/zone': 'y' }), 'r:\0:y')
  assert.equal(of({ 'topology.kubernetes.io/zone': 'z' }), ':\0:z')
  assert.equal(of({ 'topology.kubernetes.io/region': 'r' }), 'r:\0:')
})

function disruption(before: Record<string, ZoneState>, after: Record<string, ZoneState>) {
  const health = (state: ZoneState): ZoneHealth => ({ state, size: 1, notReady: 0 })
  return disruptionOf(
    new Map(Object.entries(before)),
    new Map(Object.entries(after).map(([zone, state]) => [zone, health(state)])),
  )
}

const FULL = 'FullDisruption'
test('all zones down is entered and left once; else zones change by themselves', () => {
  assert.deepEqual(disruption({ a: 'Normal', b: FULL }, { a: FULL, b: FULL }), { kind: 'entering' })
  assert.deepEqual(disruption({ a: FULL, b: FULL }, { a: FULL, b: FULL }), {
    kind: 'usual',
    changed: [],
  })
  assert.deepEqual(disruption({ a: FULL, b: FULL }, { a: FULL, b: 'Normal' }), { kind: 'leaving' })
  assert.deepEqual(disruption({ a: 'Normal', b: 'Initial' }, { a: 'Normal', b: FULL }), {
    kind: 'usual',
    changed: ['b'],
  })
  assert.deepEqual(disruption({}, {}), { kind: 'usual', changed: [] })
})

test('a zone gives one node a token, and the next after its rate', async () => {
  const clock = testClock()
  const queue = new ZoneQueue(clock, 0.1)
  for (const name of ['a', 'b', 'c']) queue.add(name)
  const taken = (): string | undefined => {
    const next = queue.take()
    if (next !== undefined) queue.done(next)
    return next?.name
  }
  assert.deepEqual([taken(), taken()], ['a', undefined])
  await clock.advance(9_999)
  assert.equal(taken(), undefined)
  await clock.advance(1)
  assert.equal(taken(), 'b')
  await clock.advance(3_600_000)
  assert.deepEqual([taken(), queue.isEmpty], ['c', true])
})

test('a new rate does not give who waits for a token one at once', async () => {
  const clock = testClock()
  const queue = new ZoneQueue(clock, 0)
  queue.add('a')
  assert.equal(queue.take(), undefined)
  queue.setRate(0.1)
  assert.equal(queue.take(), undefined)
  await clock.advance(10_000)
  queue.setRate(0.01)
  assert.equal(queue.take()?.name, 'a')
})

test('a node that was done is not taken again until it is forgotten; one that waits is there once', () => {
  const clock = testClock()
  const queue = new ZoneQueue(clock, 1_000)
  queue.add('a')
  queue.forget('a')
  queue.add('a')
  queue.done(queue.take()!)
  assert.ok(queue.isEmpty)
  queue.add('a')
  assert.ok(queue.isEmpty)
  queue.forget('a')
  queue.add('a')
  assert.ok(!queue.isEmpty)
  queue.remove('a')
  assert.ok(queue.isEmpty)
  queue.add('a')
  assert.ok(!queue.isEmpty)
})

test('one that is forgotten and added while it waits keeps its place and its pause', async () => {
  const clock = testClock()
  const queue = new ZoneQueue(clock, 1_000)
  queue.add('a')
  queue.retry(queue.take()!, 500)
  queue.forget('a')
  queue.add('a')
  await clock.advance(400)
  assert.equal(queue.take(), undefined)
  await clock.advance(100)
  assert.equal(queue.take()?.name, 'a')
})

test('what is done is the node that was taken, not one of its name that came since', () => {
  const queue = new ZoneQueue(testClock(), 1_000)
  queue.add('a')
  const taken = queue.take()!
  queue.remove('a')
  queue.add('a')
  queue.done(taken)
  assert.ok(!queue.isEmpty)
})

test('a retry waits, costs a token, and lets others go first; a removed node is not put back', async () => {
  const clock = testClock()
  const queue = new ZoneQueue(clock, 10)
  queue.add('a')
  queue.add('b')
  const a = queue.take()!
  queue.retry(a, 250)
  await clock.advance(100)
  const b = queue.take()!
  assert.equal(b.name, 'b')
  queue.remove('b')
  queue.retry(b, 0)
  await clock.advance(100)
  assert.equal(queue.take(), undefined)
  await clock.advance(100)
  assert.equal(queue.take()?.name, 'a')
})
