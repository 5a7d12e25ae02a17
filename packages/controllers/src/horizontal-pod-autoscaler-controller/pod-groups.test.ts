import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { countingMetrics, groupPods } from './pod-groups.ts'
import type { PodMetric } from './pod-groups.ts'

const NOW_MS = Date.UTC(2026, 0, 1, 12)
const RULES = { cpuInitializationMs: 300_000, initialReadinessDelayMs: 30_000 }
const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1_000).toISOString()

interface PodOptions {
  readonly phase?: NonNullable<Pod['status']>['phase']
  readonly deleting?: boolean
  readonly startedSecondsAgo?: number
  /** Ready or not, since so many seconds. */
  readonly ready?: readonly ['True' | 'False', number]
}

function pod(given: PodOptions = {}): Pod {
  const { phase = 'Running', deleting, startedSecondsAgo, ready } = given
  return {
    metadata: { name: 'p', ...(deleting && { deletionTimestamp: ago(1) }) },
    status: {
      phase,
      ...(startedSecondsAgo !== undefined && { startTime: ago(startedSecondsAgo) }),
      ...(ready && {
        conditions: [{ type: 'Ready', status: ready[0], lastTransitionTime: ago(ready[1]) }],
      }),
    },
  }
}

const SAMPLE: PodMetric = { milli: 1, timestampMs: NOW_MS - 10_000, windowMs: 30_000 }

function groupOf(object: Pod, isCpu: boolean, metric: PodMetric | undefined = SAMPLE): string {
  const metrics = new Map(metric === undefined ? [] : [['p', metric]])
  const { readyCount, unready, missing, ignored } = groupPods(
    [object],
    metrics,
    isCpu,
    NOW_MS,
    RULES,
  )
  const found = Object.entries({ unready, missing, ignored }).filter(([, names]) => names.has('p'))
  assert.equal(found.length + readyCount, 1)
  return found[0]?.[0] ?? 'ready'
}

const SETTLED: PodOptions = { startedSecondsAgo: 3_600, ready: ['True', 3_000] }

const cases: readonly (readonly [string, PodOptions, string, string])[] = [
  ['runs for long', SETTLED, 'ready', 'ready'],
  ['is being deleted', { ...SETTLED, deleting: true }, 'ignored', 'ignored'],
  ['has failed', { ...SETTLED, phase: 'Failed' }, 'ignored', 'ignored'],
  ['is pending', { phase: 'Pending' }, 'unready', 'unready'],
  ['has no condition', { startedSecondsAgo: 3_600 }, 'unready', 'ready'],
  ['has no start', { ready: ['True', 60] }, 'unready', 'ready'],
  ['starts, not ready', { startedSecondsAgo: 299, ready: ['False', 200] }, 'unready', 'ready'],
  [
    'starts, ready before its sample began',
    { startedSecondsAgo: 299, ready: ['True', 40] },
    'ready',
    'ready',
  ],
  [
    'starts, ready since its sample began',
    { startedSecondsAgo: 299, ready: ['True', 39] },
    'unready',
    'ready',
  ],
  ['started, ready just now', { startedSecondsAgo: 300, ready: ['True', 1] }, 'ready', 'ready'],
  [
    'started, never ready',
    { startedSecondsAgo: 3_600, ready: ['False', 3_571] },
    'unready',
    'ready',
  ],
  ['started, was ready', { startedSecondsAgo: 3_600, ready: ['False', 3_570] }, 'ready', 'ready'],
]
for (const [what, given, ofCpu, ofOthers] of cases) {
  test(`a pod that ${what} is ${ofCpu} for cpu and ${ofOthers} for the rest`, () => {
    assert.deepEqual([groupOf(pod(given), true), groupOf(pod(given), false)], [ofCpu, ofOthers])
  })
}

test('a pod without a metric is missing, whatever it does; Succeeded pods too', () => {
  const none = new Map<string, PodMetric>()
  for (const phase of ['Running', 'Succeeded'] as const) {
    const { missing } = groupPods([pod({ ...SETTLED, phase })], none, true, NOW_MS, RULES)
    assert.deepEqual([...missing], ['p'])
  }
})

test('metrics of ignored and unready pods do not count', () => {
  const metrics = new Map(['a', 'b', 'c'].map((name) => [name, SAMPLE]))
  const groups = {
    readyCount: 1,
    unready: new Set(['a']),
    ignored: new Set(['b']),
    missing: new Set<string>(),
  }
  assert.deepEqual([...countingMetrics(metrics, groups).keys()], ['c'])
})
