import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime } from '@gyropilot/foundation'
import { NOW_MS } from '../workload-support/fixtures.ts'
import { job } from './fixtures.ts'
import {
  isStatusCurrent,
  suspendedCondition,
  wireStatus,
  withCondition,
  withTrueCondition,
} from './status.ts'

const now = formatTime(NOW_MS)
const resumed = suspendedCondition(false)
const suspended = suspendedCondition(true)
const other = { type: 'Other', status: 'True' }

test('a new condition stands at the end, with its times', () => {
  assert.deepEqual(withCondition([other], suspended, NOW_MS), [
    other,
    {
      type: 'Suspended',
      status: 'True',
      reason: 'JobSuspended',
      message: 'Job suspended',
      lastProbeTime: now,
      lastTransitionTime: now,
    },
  ])
  assert.equal(withCondition(undefined, suspended, NOW_MS)?.length, 1)
})

test('one that would say that something never seen is not so is not made', () => {
  assert.equal(withCondition(undefined, resumed, NOW_MS), undefined)
  const conditions = [other]
  assert.equal(withCondition(conditions, resumed, NOW_MS), conditions)
})

test('a condition changes in its place, and only when it says something else, whoever wrote it', () => {
  const before = [{ ...suspended, lastTransitionTime: 'old' }, other]
  assert.equal(withCondition(before, suspended, NOW_MS), before)
  for (const foreign of [{ reason: 'Mine' }, { message: 'mine' }, { reason: undefined }])
    assert.deepEqual(withCondition([{ ...suspended, ...foreign }], suspended, NOW_MS), [
      { ...suspended, lastProbeTime: now, lastTransitionTime: now },
    ])
  assert.deepEqual(withCondition(before, resumed, NOW_MS), [
    {
      type: 'Suspended',
      status: 'False',
      reason: 'JobResumed',
      message: 'Job resumed',
      lastProbeTime: now,
      lastTransitionTime: now,
    },
    other,
  ])
})

test('a condition that announces or ends is added once, beside one of a user that is not true', () => {
  const end = { type: 'FailureTarget', reason: 'R', message: 'M' }
  const entry = { ...end, status: 'True', lastProbeTime: now, lastTransitionTime: now }
  assert.deepEqual(withTrueCondition(undefined, end, NOW_MS), [entry])
  const denied = { type: 'FailureTarget', status: 'False' }
  const both = withTrueCondition([denied], end, NOW_MS)
  assert.deepEqual(both, [denied, entry])
  assert.equal(withTrueCondition(both, end, NOW_MS + 5_000), both)
})

test('on the wire counters of zero and empty lists are absent, and what is a pointer stays', () => {
  const status = {
    active: 0,
    succeeded: 0,
    failed: 0,
    ready: 0,
    terminating: 0,
    completedIndexes: '',
    failedIndexes: '',
    conditions: [],
    startTime: undefined,
    uncountedTerminatedPods: { succeeded: [], failed: ['x'] },
  } as object
  assert.deepEqual(wireStatus(status), {
    ready: 0,
    terminating: 0,
    failedIndexes: '',
    uncountedTerminatedPods: { failed: ['x'] },
  })
  assert.deepEqual(wireStatus({ active: 1, completedIndexes: '0' }), {
    active: 1,
    completedIndexes: '0',
  })
  assert.deepEqual(wireStatus({}), {})
})

test('a status that differs only in what the wire leaves out is current', () => {
  const subject = job({ status: { ready: 0, uncountedTerminatedPods: {} } })
  assert.ok(
    isStatusCurrent(subject, { ready: 0, active: 0, uncountedTerminatedPods: { failed: [] } }),
  )
  assert.ok(!isStatusCurrent(subject, { ready: 0, active: 1, uncountedTerminatedPods: {} }))
  assert.ok(!isStatusCurrent(subject, { active: 0, uncountedTerminatedPods: {} }))
  const { status: _, ...without } = subject
  assert.ok(isStatusCurrent(without, {}))
})
