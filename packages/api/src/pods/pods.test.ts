import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodStatus } from '../generated/core-v1.ts'
import {
  isPodActive,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  nextAvailabilityCheckMs,
  nextAvailabilityCheckOfMs,
  podReadySinceMs,
} from './pods.ts'
import { parseTime } from '../values/time.ts'

const START = '2026-01-01T00:00:00Z'
const startMs = parseTime(START)!

function pod(phase: PodStatus['phase'], deleted = false): Pod {
  return { metadata: deleted ? { deletionTimestamp: START } : {}, status: { phase } }
}

function readyPod(lastTransitionTime: string | undefined, status = 'True'): Pod {
  return { status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } }
}

test('active and terminating exclude finished pods', () => {
  const cases: [Pod, boolean, boolean, boolean][] = [
    [pod('Running'), true, false, false],
    [pod('Pending'), true, false, false],
    [{}, true, false, false],
    [pod('Running', true), false, true, false],
    [pod('Succeeded'), false, false, true],
    [pod('Failed', true), false, false, true],
  ]
  for (const [subject, active, terminating, finished] of cases) {
    assert.equal(isPodActive(subject), active)
    assert.equal(isPodTerminating(subject), terminating)
    assert.equal(isPodFinished(subject), finished)
  }
})

test('availability needs readiness, and time when minReadySeconds asks for it', () => {
  assert.equal(isPodReady(readyPod(START)), true)
  assert.equal(isPodReady(readyPod(START, 'False')), false)
  assert.equal(isPodAvailable(readyPod(START, 'False'), 0, startMs), false)
  assert.equal(isPodAvailable(readyPod(undefined), 0, startMs), true)
  assert.equal(isPodAvailable(readyPod(undefined), 1, startMs + 60_000), false)
  assert.equal(isPodAvailable(readyPod(START), 10, startMs + 9_999), false)
  assert.equal(isPodAvailable(readyPod(START), 10, startMs + 10_000), true)
  assert.equal(podReadySinceMs(readyPod(START)), startMs)
  assert.equal(podReadySinceMs(readyPod(START, 'False')), undefined)
})

test('the next check is due when a ready pod becomes available', () => {
  assert.equal(nextAvailabilityCheckMs(readyPod(START), 10, startMs + 4_000), 6_000)
  assert.equal(nextAvailabilityCheckMs(readyPod(START), 10, startMs + 10_000), undefined)
  assert.equal(nextAvailabilityCheckMs(readyPod(START), 0, startMs), undefined)
  assert.equal(nextAvailabilityCheckMs(readyPod(undefined), 10, startMs), undefined)
  assert.equal(nextAvailabilityCheckMs(readyPod(START, 'False'), 10, startMs), undefined)
})

test('the soonest pod is chosen by the time of the status, its delay taken from the clock and never negative', () => {
  const early = readyPod(START)
  const late = readyPod('2026-01-01T00:00:05Z')
  assert.equal(
    nextAvailabilityCheckOfMs([late, early], 10, startMs + 6_000, startMs + 7_000),
    3_000,
  )
  assert.equal(nextAvailabilityCheckOfMs([late, early], 10, startMs + 6_000, startMs + 12_000), 0)
  assert.equal(
    nextAvailabilityCheckOfMs([late, early], 10, startMs + 60_000, startMs + 60_000),
    undefined,
  )
})
