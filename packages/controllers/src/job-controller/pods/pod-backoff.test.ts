import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { NOW_MS, secondsAgo } from '../../workload-support/fixtures.ts'
import { jobPod } from '../fixtures.ts'
import {
  NO_BACKOFF,
  finishTimeMs,
  nextBackoff,
  remainingBackoffMs,
  remainingIndexBackoffMs,
} from './pod-backoff.ts'

const failed = (finishedSecondsAgo: number): Pod =>
  jobPod(`f${finishedSecondsAgo}`, { phase: 'Failed', finishedSecondsAgo })
const succeeded = (finishedSecondsAgo: number): Pod =>
  jobPod(`s${finishedSecondsAgo}`, { phase: 'Succeeded', finishedSecondsAgo })
const at = (seconds: number): number => NOW_MS - seconds * 1000

test('failures add up, and the last one counts from its end', () => {
  const first = nextBackoff(NO_BACKOFF, [], [failed(30), failed(50)])
  assert.deepEqual(first, { failures: 2, lastFailureMs: at(30) })
  const second = nextBackoff(first, [], [failed(10)])
  assert.deepEqual(second, { failures: 3, lastFailureMs: at(10) })
  assert.equal(nextBackoff(second, [], []), second)
})

test('a success with no later failure resets it', () => {
  const known = { failures: 4, lastFailureMs: at(60) }
  assert.deepEqual(nextBackoff(known, [succeeded(20)], []), NO_BACKOFF)
  assert.deepEqual(
    nextBackoff(known, [succeeded(40), succeeded(20)], [failed(30), failed(20)]),
    NO_BACKOFF,
  )
})

test('only failures after the last success count', () => {
  const known = { failures: 4, lastFailureMs: at(60) }
  assert.deepEqual(
    nextBackoff(known, [succeeded(40), succeeded(20)], [failed(30), failed(15), failed(10)]),
    {
      failures: 2,
      lastFailureMs: at(10),
    },
  )
})

const waits: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [1, 0, 10_000],
  [1, 4, 6_000],
  [1, 10, 0],
  [1, 11, 0],
  [2, 0, 20_000],
  [6, 0, 320_000],
  [7, 0, 600_000],
  [60, 0, 600_000],
  [60, 600, 0],
]
for (const [failures, secondsSince, remainingMs] of waits) {
  test(`${secondsSince} s after failure ${failures} in a row ${remainingMs} ms are left to wait`, () => {
    const record = { failures, lastFailureMs: at(secondsSince) }
    assert.equal(remainingBackoffMs(record, NOW_MS), remainingMs)
  })
}

test('nothing is waited for without a failure', () => {
  assert.equal(remainingBackoffMs(NO_BACKOFF, NOW_MS), 0)
  assert.equal(remainingBackoffMs({ failures: 1, lastFailureMs: undefined }, NOW_MS), 0)
})

test('an index waits by all its failures, ignored ones and the last one too', () => {
  const pod = jobPod('p', {
    phase: 'Failed',
    failures: 1,
    ignoredFailures: 1,
    finishedSecondsAgo: 15,
  })
  assert.equal(remainingIndexBackoffMs(pod, NOW_MS), 25_000)
  assert.equal(remainingIndexBackoffMs(failed(4), NOW_MS), 6_000)
})

function podWith(change: (pod: Pod) => object): Pod {
  const pod = jobPod('p', { phase: 'Failed', finishedSecondsAgo: 40 })
  return { ...pod, ...change(pod) }
}
const status = (seconds: number | undefined, name = 'c') => ({
  name,
  image: 'i',
  imageID: 'i',
  ready: false,
  restartCount: 0,
  state:
    seconds === undefined
      ? { running: {} }
      : { terminated: { exitCode: 1, finishedAt: secondsAgo(seconds) } },
})
const notReady = { type: 'Ready', status: 'False', lastTransitionTime: secondsAgo(25) }
const deleted = { deletionTimestamp: secondsAgo(-5), deletionGracePeriodSeconds: 30 }
const sidecar = {
  initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }],
  containers: [],
}

const finishTimes: readonly (readonly [string, Pod, number])[] = [
  [
    'the latest end of a container',
    podWith(() => ({
      status: { containerStatuses: [status(40), status(30, 'd'), status(50, 'e')] },
    })),
    30,
  ],
  [
    'the end of a sidecar, when it is later',
    podWith(() => ({
      spec: sidecar,
      status: {
        containerStatuses: [status(40)],
        initContainerStatuses: [status(20, 's'), status(10, 'i')],
      },
    })),
    20,
  ],
  [
    'when it was no longer ready, while a container runs',
    podWith(() => ({
      status: { containerStatuses: [status(40), status(undefined, 'd')], conditions: [notReady] },
    })),
    25,
  ],
  [
    'when it was no longer ready, while a sidecar runs',
    podWith(() => ({
      spec: sidecar,
      status: {
        containerStatuses: [status(40)],
        initContainerStatuses: [status(undefined, 's')],
        conditions: [notReady],
      },
    })),
    25,
  ],
  [
    'when its deletion was asked for, without either',
    podWith((pod) => ({ metadata: { ...pod.metadata, ...deleted }, status: {} })),
    25,
  ],
  [
    'when its deletion was asked for, while it is ready',
    podWith((pod) => ({
      metadata: { ...pod.metadata, ...deleted },
      status: { conditions: [{ ...notReady, status: 'True', lastTransitionTime: secondsAgo(1) }] },
    })),
    25,
  ],
  ['its creation, without any of them', podWith(() => ({ status: {} })), 120],
]
for (const [title, pod, seconds] of finishTimes) {
  test(`a pod has come to its end at ${title}`, () => {
    assert.equal(finishTimeMs(pod), at(seconds))
  })
}

test('a pod whose grace is beyond 2^53', () => {
  const deletionGracePeriodSeconds = 9223372036854775807n as unknown as number
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.ok(finishTimeMs({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } }) < 0)
})

test('a pod of which nothing is known came to its end long ago', () => {
  assert.equal(finishTimeMs({}), 0)
})
