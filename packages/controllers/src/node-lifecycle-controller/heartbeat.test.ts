import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { defaultNodeLifecycleConfiguration as grace } from './config.ts'
import { START_MS, condition, lease, node } from './fixtures.ts'
import { evaluateHealth, lapsedConditions, observedRecord } from './heartbeat.ts'

const at = (ms: number) => ({ wallMs: ms, elapsedMs: ms })
const silent = node('n', { ready: 'True', heartbeatMs: START_MS })
const first = observedRecord(silent, undefined, undefined, at(START_MS))

test('the first look is a sign of life; of a node that never posted the creation is', () => {
  assert.equal(first.probeMs, START_MS)
  const posting = node('n', { ready: 'True', createdMs: START_MS - 9_000 })
  assert.equal(observedRecord(posting, undefined, undefined, at(START_MS)).probeMs, START_MS)
  const old = node('n', { createdMs: START_MS - 9_000 })
  assert.equal(observedRecord(old, undefined, undefined, at(START_MS)).probeMs, START_MS - 9_000)
})

test('a node that never posted has been silent since its creation, also where elapsed time began later', () => {
  const old = node('n', { createdMs: START_MS - 50_000 })
  const record = observedRecord(old, undefined, undefined, { wallMs: START_MS, elapsedMs: 7 })
  const isLapsed = (afterMs: number): boolean =>
    lapsedConditions(old, record, grace, { wallMs: 0, elapsedMs: 7 + afterMs }) !== undefined
  assert.deepEqual([isLapsed(10_000), isLapsed(10_001)], [false, true])
})

test('only a move is a sign of life, and any move is one, also back in time', () => {
  const laterMs = START_MS + 30_000
  assert.equal(observedRecord(silent, undefined, first, at(laterMs)), first)
  for (const heartbeatMs of [START_MS - 1_000, START_MS + 1_000]) {
    const moved = node('n', { ready: 'True', heartbeatMs })
    assert.equal(observedRecord(moved, undefined, first, at(laterMs)).probeMs, laterMs)
  }
  const lost = observedRecord(node('n'), undefined, first, at(laterMs))
  assert.deepEqual([lost.probeMs, lost.ready], [laterMs, undefined])
  assert.equal(observedRecord(silent, undefined, lost, at(laterMs + 1)).probeMs, laterMs + 1)
})

test('a lease counts when it is first seen and when it was renewed, and not when it went back', () => {
  const laterMs = START_MS + 30_000
  const seen = observedRecord(silent, lease('n', START_MS), first, at(laterMs))
  assert.equal(seen.probeMs, laterMs)
  assert.equal(observedRecord(silent, lease('n', START_MS), seen, at(laterMs + 9)).probeMs, laterMs)
  assert.equal(
    observedRecord(silent, lease('n', START_MS - 1), seen, at(laterMs + 9)).probeMs,
    laterMs,
  )
  assert.equal(
    observedRecord(silent, lease('n', START_MS + 1), seen, at(laterMs + 9)).probeMs,
    laterMs + 9,
  )
})

test('the grace period must be exceeded, that of the start where the node never posted', () => {
  const isLapsed = (target: typeof silent, afterMs: number): boolean =>
    lapsedConditions(target, first, grace, at(START_MS + afterMs)) !== undefined
  assert.deepEqual([isLapsed(silent, 50_000), isLapsed(silent, 50_001)], [false, true])
  assert.deepEqual([isLapsed(node('n'), 60_000), isLapsed(node('n'), 60_001)], [false, true])
})

test('NetworkUnavailable and what is Unknown already stay as they are', () => {
  const unknown = condition('MemoryPressure', 'Unknown')
  const network = condition('NetworkUnavailable', 'False')
  const target = node('n', { ready: 'False', conditions: [unknown, network] })
  const conditions = lapsedConditions(target, first, grace, at(START_MS + 60_000))!
  assert.deepEqual(conditions.slice(0, 2), [unknown, network])
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).slice(2),
    [
      'Ready Unknown NodeStatusUnknown',
      'DiskPressure Unknown NodeStatusNeverUpdated',
      'PIDPressure Unknown NodeStatusNeverUpdated',
    ],
  )
  assert.equal(conditions[2]!.lastHeartbeatTime, '2026-01-01T00:00:00Z')
  assert.equal(conditions[2]!.lastTransitionTime, '2026-01-01T00:01:00Z')
})

test('a steady dead node produces no writes', () => {
  const nowMs = START_MS + 60_000
  const { result } = drive(
    evaluateHealth(silent, undefined, first, grace, () => nowMs),
    { nowMs },
  )
  assert.ok('node' in result)
  const again = drive(
    evaluateHealth(result.node, undefined, result.record, grace, () => nowMs + 5_000),
    {
      nowMs: nowMs + 5_000,
    },
  )
  assert.deepEqual(again.writes, [])
})

test('a refused status is written anew over the live node, five times, then left for the next pass', () => {
  const nowMs = START_MS + 60_000
  const rules = () => evaluateHealth(silent, undefined, first, grace, () => nowMs)
  const onRead = () => ({ ok: true, object: silent }) as const
  const pauses: number[] = []
  const never = drive(rules(), {
    nowMs,
    onRead,
    onWrite: () => refused(409, 'Conflict'),
    onWait: (waitMs) => void pauses.push(waitMs),
  })
  assert.equal(never.writes.length, 5)
  assert.deepEqual(pauses, [20, 20, 20, 20])
  assert.ok('error' in never.result)
  const once = drive(rules(), {
    nowMs,
    onRead,
    onWrite: (_, index) => (index === 0 ? refused(409, 'Conflict') : undefined),
  })
  assert.equal(once.writes.length, 2)
  assert.ok('node' in once.result && once.result.current?.status === 'Unknown')
  const alive = node('n', { ready: 'True', heartbeatMs: START_MS + 59_000 })
  const back = drive(rules(), {
    nowMs,
    onRead: () => ({ ok: true, object: alive }),
    onWrite: () => refused(409, 'Conflict'),
  })
  assert.equal(back.writes.length, 1)
  assert.ok('node' in back.result && back.result.current?.status === 'True')
})

test('a live node that cannot be read is an error, and the node is left for the next pass', () => {
  const { result, writes } = drive(
    evaluateHealth(silent, undefined, first, grace, () => START_MS + 60_000),
    {
      nowMs: START_MS + 60_000,
      onRead: () => refused(404, 'NotFound', 'gone'),
      onWrite: () => refused(409, 'Conflict'),
    },
  )
  assert.equal(writes.length, 1)
  assert.ok('error' in result && (result.error as Error).message === 'gone')
  assert.equal(result.record.probeMs, START_MS)
})

test('a node that never posted, in its time, is written nothing; what was written is remembered', () => {
  const fresh = evaluateHealth(node('n'), undefined, undefined, grace, () => START_MS)
  assert.deepEqual(drive(fresh, { nowMs: START_MS }).writes, [])
  const nowMs = START_MS + 60_000
  const { record } = drive(
    evaluateHealth(silent, undefined, first, grace, () => nowMs),
    { nowMs },
  ).result
  assert.equal(record.ready?.status, 'Unknown')
  assert.equal(record.probeMs, START_MS)
})
