import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsAgo } from '../workload-support/fixtures.ts'
import {
  indexedJob,
  jobPod,
  lastStatusOf,
  perIndexJob,
  podWritesOf,
  syncOf,
  INDEX_RULES,
} from './fixtures.ts'

const NOW = secondsAgo(0)

// Indexed Jobs, step by step of docs/behaviour/controllers/job-controller.md, Pod management.

test('the lowest indexes are started that are not done and not at work', () => {
  const subject = indexedJob({
    spec: { completions: 8, parallelism: 4 },
    status: { startTime: NOW, completedIndexes: '0,2', succeeded: 2 },
  })
  const present = [jobPod('a', { index: 3 }), jobPod('b', { index: 5, phase: 'Succeeded' })]
  assert.deepEqual(podWritesOf(syncOf(subject, present)), [
    'create 1',
    'create 4',
    'create 6',
    'patch b',
  ])
})

test('a pod says how often its index failed only where the Job counts failures per index', () => {
  const annotationsOf = (subject: ReturnType<typeof indexedJob>) => {
    const created = syncOf(subject, []).writes.find(({ verb }) => verb === 'create')
    assert.ok(created?.verb === 'create')
    return created.object.metadata?.annotations
  }
  const index = { 'batch.kubernetes.io/job-completion-index': '0' }
  assert.deepEqual(annotationsOf(indexedJob()), index)
  const count = { 'batch.kubernetes.io/job-index-failure-count': '0' }
  assert.deepEqual(annotationsOf(perIndexJob()), { ...index, ...count })
})

test('an index on its way out is started again at once, unless only failed pods are replaced', () => {
  const present = [jobPod('a', { index: 0, deleting: true, tracked: false })]
  const spec = { completions: 2, parallelism: 2 }
  assert.deepEqual(podWritesOf(syncOf(indexedJob({ spec }), present)), ['create 0', 'create 1'])
  const only = { ...spec, podReplacementPolicy: 'Failed' as const }
  assert.deepEqual(podWritesOf(syncOf(indexedJob({ spec: only }), present)), ['create 1'])
})

test('a finished pod with an invalid index is let go and not counted', () => {
  const present = [
    jobPod('a', { index: 9, phase: 'Succeeded' }),
    jobPod('b', { index: 'x', phase: 'Failed' }),
  ]
  const synced = syncOf(indexedJob({ spec: { backoffLimit: 0, parallelism: 0 } }), present)
  assert.deepEqual(podWritesOf(synced).toSorted(), ['patch a', 'patch b'])
  const { succeeded, failed, completedIndexes, conditions } = lastStatusOf(synced)
  assert.deepEqual([succeeded, failed, completedIndexes], [undefined, undefined, undefined])
  assert.equal(conditions, undefined, 'nor does it reach the back-off limit')
})

test('a pod on its way out with an invalid index keeps no index from being started', () => {
  const present = [
    jobPod('a', { index: 0, phase: 'Succeeded' }),
    jobPod('b', { index: 'x', deleting: true }),
  ]
  const spec = { completions: 4, parallelism: 3, podReplacementPolicy: 'Failed' as const }
  assert.deepEqual(podWritesOf(syncOf(indexedJob({ spec }), present)), [
    'create 1',
    'create 2',
    'patch a',
  ])
})

test('two pods that succeeded at one index are one success', () => {
  const present = [
    jobPod('a', { index: 1, phase: 'Succeeded' }),
    jobPod('b', { index: 1, phase: 'Succeeded' }),
  ]
  const synced = syncOf(indexedJob(), present)
  assert.deepEqual(
    [lastStatusOf(synced).succeeded, lastStatusOf(synced).completedIndexes],
    [1, '1'],
  )
})

test('Shrinking an elastic Job lowers status.succeeded because indexes >= completions are dropped from completedIndexes', () => {
  const status = { startTime: NOW, succeeded: 3, completedIndexes: '0,2,4' }
  const synced = syncOf(indexedJob({ spec: { completions: 3, parallelism: 3 }, status }), [])
  assert.deepEqual(
    [lastStatusOf(synced).succeeded, lastStatusOf(synced).completedIndexes],
    [2, '0,2'],
  )
  assert.deepEqual(podWritesOf(synced), ['create 1'])
})

test('per index: a failed pod is kept while its index waits, and counted before its replacement is', () => {
  const failed = jobPod('a', { index: 0, failures: 0, phase: 'Failed', finishedSecondsAgo: 4 })
  const waiting = syncOf(perIndexJob(), [failed, jobPod('b', { index: 1, failures: 0 })])
  assert.deepEqual(podWritesOf(waiting), [])
  assert.deepEqual(
    [lastStatusOf(waiting).failed, lastStatusOf(waiting).failedIndexes],
    [undefined, ''],
  )
  assert.deepEqual(waiting.result, { requeueAfterMs: 6_000 })
})

test('per index: the replacement carries one failure more, and then the failed pod is let go', () => {
  const failed = jobPod('a', { index: 0, failures: 0, phase: 'Failed', finishedSecondsAgo: 11 })
  const other = jobPod('b', { index: 1, failures: 0 })
  const replacing = syncOf(perIndexJob(), [failed, other])
  assert.deepEqual(podWritesOf(replacing), ['create 0'])
  const [create] = replacing.writes
  assert.ok(create?.verb === 'create')
  assert.equal(
    create.object.metadata?.annotations?.['batch.kubernetes.io/job-index-failure-count'],
    '1',
  )
  const replaced = syncOf(perIndexJob(), [failed, other, jobPod('c', { index: 0, failures: 1 })])
  assert.deepEqual(podWritesOf(replaced), ['patch a'])
  assert.equal(lastStatusOf(replaced).failed, 1)
})

test('per index: at its limit an index has failed for good, and is not started again', () => {
  const failed = jobPod('a', { index: 0, failures: 1, phase: 'Failed' })
  const synced = syncOf(perIndexJob({ completions: 3 }), [
    failed,
    jobPod('b', { index: 1, failures: 0 }),
  ])
  assert.deepEqual(podWritesOf(synced), ['create 2', 'patch a'])
  assert.deepEqual([lastStatusOf(synced).failed, lastStatusOf(synced).failedIndexes], [1, '0'])
})

test('per index: a FailIndex rule fails the index at the first failure', () => {
  const failed = jobPod('a', { index: 0, failures: 0, phase: 'Failed', exitCode: 2 })
  const synced = syncOf(perIndexJob({ ...INDEX_RULES, completions: 3 }), [
    failed,
    jobPod('b', { index: 1 }),
  ])
  assert.equal(lastStatusOf(synced).failedIndexes, '0')
})

test('per index: an ignored failure is not counted, and counts for the wait and in the annotation of its own', () => {
  const failed = jobPod('a', {
    index: 0,
    failures: 1,
    phase: 'Failed',
    exitCode: 3,
    finishedSecondsAgo: 15,
  })
  const other = jobPod('b', { index: 1, failures: 0 })
  const waiting = syncOf(perIndexJob(INDEX_RULES), [failed, other])
  assert.deepEqual([podWritesOf(waiting), waiting.result], [[], { requeueAfterMs: 5_000 }])
  const later = jobPod('a', {
    index: 0,
    failures: 1,
    phase: 'Failed',
    exitCode: 3,
    finishedSecondsAgo: 21,
  })
  const replacing = syncOf(perIndexJob(INDEX_RULES), [later, other])
  const [create] = replacing.writes
  assert.ok(create?.verb === 'create')
  assert.deepEqual(create.object.metadata?.annotations, {
    'batch.kubernetes.io/job-completion-index': '0',
    'batch.kubernetes.io/job-index-failure-count': '1',
    'batch.kubernetes.io/job-index-ignored-failure-count': '1',
  })
  const replaced = syncOf(perIndexJob(INDEX_RULES), [
    later,
    other,
    jobPod('c', { index: 0, failures: 1, ignoredFailures: 1 }),
  ])
  assert.deepEqual(
    [podWritesOf(replaced), lastStatusOf(replaced).failed, lastStatusOf(replaced).failedIndexes],
    [['patch a'], undefined, ''],
  )
})

test('per index: a failure that counts keeps the ignored ones in their annotation', () => {
  const failed = jobPod('a', {
    index: 0,
    failures: 1,
    ignoredFailures: 2,
    phase: 'Failed',
    finishedSecondsAgo: 9_999,
  })
  const subject = perIndexJob({ ...INDEX_RULES, backoffLimitPerIndex: 4 })
  const [create] = syncOf(subject, [failed, jobPod('b', { index: 1, failures: 0 })]).writes
  assert.ok(create?.verb === 'create')
  assert.deepEqual(create.object.metadata?.annotations, {
    'batch.kubernetes.io/job-completion-index': '0',
    'batch.kubernetes.io/job-index-failure-count': '2',
    'batch.kubernetes.io/job-index-ignored-failure-count': '2',
  })
})

test('per index: of several failed pods of an index the one that knows most failures is kept', () => {
  const first = jobPod('z', { index: 0, failures: 0, phase: 'Failed', finishedSecondsAgo: 1 })
  const second = jobPod('a', { index: 0, failures: 1, phase: 'Failed', finishedSecondsAgo: 2 })
  const synced = syncOf(perIndexJob({ backoffLimitPerIndex: 5, completions: 1 }), [first, second])
  assert.deepEqual(podWritesOf(synced), ['patch z'])
  assert.deepEqual(synced.result, { requeueAfterMs: 18_000 })
})

test('per index: indexes that need not wait are started, and the others when the first wait is over', () => {
  const present = [3, 8].map((seconds, index) =>
    jobPod(`p${index}`, { index, failures: 0, phase: 'Failed', finishedSecondsAgo: seconds }),
  )
  const synced = syncOf(perIndexJob({ completions: 4, parallelism: 3 }), present)
  assert.deepEqual([podWritesOf(synced), synced.result], [['create 2'], { requeueAfterMs: 2_000 }])
})

test('per index: an end lets go of the pods that were kept', () => {
  const present = [
    jobPod('a', { index: 0, failures: 1, phase: 'Failed' }),
    jobPod('b', { index: 1, failures: 0, phase: 'Failed', finishedSecondsAgo: 1 }),
  ]
  const synced = syncOf(perIndexJob({ maxFailedIndexes: 0 }), present)
  assert.deepEqual(podWritesOf(synced), ['patch a', 'patch b'])
  assert.deepEqual([lastStatusOf(synced).failed, lastStatusOf(synced).failedIndexes], [2, '0'])
  assert.equal(lastStatusOf(synced).conditions?.at(-1)?.reason, 'MaxFailedIndexesExceeded')
})

test('an index is never both done and failed', () => {
  const late = jobPod('a', { index: 0, failures: 1, phase: 'Succeeded' })
  const lost = syncOf(perIndexJob({}, { failedIndexes: '0', failed: 2 }), [
    late,
    jobPod('b', { index: 1 }),
  ])
  assert.deepEqual(
    [lastStatusOf(lost).completedIndexes, lastStatusOf(lost).failedIndexes],
    [undefined, '0'],
  )
  assert.deepEqual(podWritesOf(lost), ['patch a'])
  const failed = jobPod('c', { index: 0, failures: 1, phase: 'Failed' })
  const won = syncOf(perIndexJob({}, { completedIndexes: '0', succeeded: 1 }), [
    failed,
    jobPod('b', { index: 1 }),
  ])
  assert.deepEqual(
    [lastStatusOf(won).completedIndexes, lastStatusOf(won).failedIndexes, lastStatusOf(won).failed],
    ['0', '', 1],
  )
})

const lost = (name: string, options: Parameters<typeof jobPod>[1]) =>
  jobPod(name, { index: 0, phase: 'Failed', failures: 0, ...options })
const kept: readonly (readonly [
  string,
  Parameters<typeof jobPod>[1],
  Parameters<typeof jobPod>[1],
])[] = [
  ['more ignored failures', { failures: 1, ignoredFailures: 2 }, { failures: 2 }],
  ['the later end, of equal failures', { finishedSecondsAgo: 1 }, { finishedSecondsAgo: 2 }],
  ['the higher name, of equal ends', {}, {}],
]
for (const [title, of, than] of kept) {
  test(`per index: of two failed pods of an index that one is kept which has ${title}`, () => {
    const subject = perIndexJob({ backoffLimitPerIndex: 9, completions: 1, parallelism: 0 })
    const pods = [lost('z', of), lost('a', than)]
    for (const order of [pods, pods.toReversed()])
      assert.deepEqual(podWritesOf(syncOf(subject, order)), ['patch a'])
  })
}
