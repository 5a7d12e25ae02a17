import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, secondsAgo } from '../workload-support/fixtures.ts'
import {
  indexedJob,
  job,
  jobPod,
  jobPods,
  lastStatusOf,
  podWritesOf,
  reasonsOf,
  statusesOf,
  syncOf,
  INDEX_RULES,
} from './fixtures.ts'
import { JobMemory } from './memory.ts'

const NOW = secondsAgo(0)

test('Given 510 finished Pods, when synced, then exactly 500 are tracked and the Job is not finished yet', () => {
  const subject = job({ spec: { completions: 510, parallelism: 510 } })
  const synced = syncOf(subject, jobPods(510, { phase: 'Succeeded' }))
  const [first, second] = statusesOf(synced)
  assert.equal(first!.uncountedTerminatedPods?.succeeded?.length, 500)
  assert.equal(second!.succeeded, 500)
  assert.equal(podWritesOf(synced).length, 500)
  assert.deepEqual(
    second!.conditions?.map(({ type }) => type),
    ['SuccessCriteriaMet'],
  )
  const indexed = indexedJob({ spec: { completions: 510, parallelism: 510 } })
  const present = Array.from({ length: 510 }, (_, index) =>
    jobPod(`p${509 - index}`, { index, phase: 'Succeeded' }),
  )
  const byIndex = syncOf(indexed, present)
  assert.deepEqual(
    [lastStatusOf(byIndex).succeeded, lastStatusOf(byIndex).completedIndexes],
    [510, '0-509'],
  )
  assert.equal(podWritesOf(byIndex).length, 500)
  assert.equal(lastStatusOf(byIndex).conditions?.length, 1)
})

test('what waits in the uncounted lists counts towards the 500', () => {
  const uids = Array.from({ length: 300 }, (_, number) => `u${number}`)
  const held = uids.map((uid) => jobPod(uid, { phase: 'Failed', metadata: { uid } }))
  const subject = job({
    spec: { backoffLimit: 1000, parallelism: 0 },
    status: { startTime: NOW, uncountedTerminatedPods: { failed: uids } },
  })
  const synced = syncOf(subject, [...held, ...jobPods(300, { phase: 'Failed' })])
  assert.equal(statusesOf(synced)[0]!.uncountedTerminatedPods?.failed?.length, 500)
})

test('Given a finalizer PATCH fails for one Pod, then the others are counted, the failing UID stays uncounted and the sync is retried', () => {
  const memory = new JobMemory()
  const subject = job({ spec: { completions: 3, parallelism: 3 } })
  const onWrite = (write: { verb: string; name?: string }) =>
    write.verb === 'patch' && write.name === 'p001' ? refused(500, 'InternalError') : undefined
  const synced = syncOf(subject, jobPods(3, { phase: 'Succeeded' }), {
    memory,
    onWrite: onWrite as never,
  })
  assert.ok(synced.result?.error)
  assert.equal(lastStatusOf(synced).succeeded, 2)
  assert.deepEqual(lastStatusOf(synced).uncountedTerminatedPods, { succeeded: ['p001-uid'] })
  assert.deepEqual([...memory.awaitedRemovals('ns/work', 'work-uid')], ['p000-uid', 'p002-uid'])
  assert.deepEqual(reasonsOf(synced), [])
})

test('a pod that is gone when its finalizer is taken away is counted', () => {
  const onWrite = (write: { verb: string }) =>
    write.verb === 'patch' ? refused(404, 'NotFound') : undefined
  const synced = syncOf(job({ spec: { completions: 1 } }), jobPods(1, { phase: 'Succeeded' }), {
    onWrite,
  })
  assert.deepEqual([synced.result?.error, lastStatusOf(synced).succeeded], [undefined, 1])
})

test('a status that is refused ends the sync: no finalizer is taken away that nobody has counted', () => {
  const onWrite = () => refused(409, 'Conflict')
  const synced = syncOf(job({ spec: { completions: 1 } }), jobPods(1, { phase: 'Succeeded' }), {
    onWrite,
  })
  assert.ok(synced.result?.error)
  assert.deepEqual(
    synced.writes.map(({ verb }) => verb),
    ['update'],
  )
})

const uncounted = {
  startTime: NOW,
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: { succeeded: ['a-uid'], failed: ['b-uid'] },
}

test('uids whose pods are free or gone move into the counters, those of held pods are let go first', () => {
  const subject = job({
    spec: { completions: 9, parallelism: 0 },
    status: { ...uncounted, succeeded: 1 },
  })
  const gone = syncOf(subject, [jobPod('b', { phase: 'Failed', tracked: false })])
  assert.deepEqual(
    [
      lastStatusOf(gone).succeeded,
      lastStatusOf(gone).failed,
      lastStatusOf(gone).uncountedTerminatedPods,
    ],
    [2, 1, {}],
  )
  assert.equal(statusesOf(gone).length, 1)
  const held = syncOf(subject, [jobPod('a', { phase: 'Succeeded' })])
  assert.deepEqual(
    statusesOf(held).map(({ succeeded, failed }) => [succeeded, failed]),
    [
      [1, 1],
      [2, 1],
    ],
  )
  assert.deepEqual(podWritesOf(held), ['patch a'])
})

test('a pod that is in a list is not counted again, whatever it says now', () => {
  const subject = job({ spec: { completions: 9, parallelism: 0 }, status: uncounted })
  const held = [jobPod('a', { phase: 'Succeeded' }), jobPod('b', { phase: 'Succeeded' })]
  const synced = syncOf(subject, held)
  assert.deepEqual([lastStatusOf(synced).succeeded, lastStatusOf(synced).failed], [1, 1])
})

test('an ignored failure is let go and not counted', () => {
  const synced = syncOf(job({ spec: INDEX_RULES }), [
    jobPod('a', { phase: 'Failed', exitCode: 3, finishedSecondsAgo: 1 }),
  ])
  assert.deepEqual([podWritesOf(synced), lastStatusOf(synced).failed], [['patch a'], undefined])
  assert.deepEqual(synced.result, { requeueAfterMs: 9_000 }, 'it is waited for like any other')
})

test('Deleting a running Pod by hand counts as failed immediately with TerminatingOrFailed, but only after it reaches a terminal phase with Failed', () => {
  const leaving = jobPod('a', { deleting: true })
  assert.equal(lastStatusOf(syncOf(job(), [leaving])).failed, 1)
  const spec = { podReplacementPolicy: 'Failed' as const }
  assert.equal(lastStatusOf(syncOf(job({ spec }), [leaving])).failed, undefined)
  assert.equal(
    lastStatusOf(syncOf(job({ spec }), [jobPod('a', { deleting: true, phase: 'Failed' })])).failed,
    1,
  )
})

test('a hundred thousand completions: a sync writes the runs of indexes, and starts what is missing', () => {
  const spec = { completions: 100_000, parallelism: 500 }
  const status = { startTime: NOW, completedIndexes: '0-99499', succeeded: 99_500 }
  const subject = indexedJob({ spec, status })
  const ended = Array.from({ length: 400 }, (_, number) =>
    jobPod(`p${number}`, { index: 99_500 + number, phase: 'Succeeded' }),
  )
  const synced = syncOf(subject, ended)
  assert.deepEqual(
    [lastStatusOf(synced).completedIndexes, lastStatusOf(synced).succeeded],
    ['0-99899', 99_900],
  )
  const created = podWritesOf(synced).filter((write) => write.startsWith('create'))
  assert.deepEqual(
    [created.length, created[0], created.at(-1)],
    [100, 'create 99900', 'create 99999'],
  )
})

test('what is tracked first hangs on names and indexes, not on the order of a cache', () => {
  const spec = { completions: 510, parallelism: 510 }
  const backwards = jobPods(510, { phase: 'Succeeded' }).toReversed()
  const tracked = statusesOf(syncOf(job({ spec }), backwards))[0]!
  assert.deepEqual(
    tracked.uncountedTerminatedPods?.succeeded,
    jobPods(500).map(({ metadata }) => metadata?.uid),
  )
  const present = Array.from({ length: 510 }, (_, index) =>
    jobPod(`p${index}`, { index: 509 - index, phase: 'Succeeded' }),
  )
  const released = podWritesOf(syncOf(indexedJob({ spec }), present))
  assert.deepEqual(
    released.toSorted(),
    Array.from({ length: 500 }, (_, index) => `patch p${509 - index}`).toSorted(),
  )
})

test('a pod that was counted as a success does not become a failure', () => {
  const status = { startTime: NOW, uncountedTerminatedPods: { succeeded: ['a-uid'] } }
  const subject = job({ spec: { completions: 9, parallelism: 0 }, status })
  const synced = syncOf(subject, [jobPod('a', { phase: 'Failed' })])
  const { succeeded, failed } = lastStatusOf(synced)
  assert.deepEqual([succeeded, failed], [1, undefined])
})

test('successes that wait in the list count towards the completions', () => {
  const status = { startTime: NOW, uncountedTerminatedPods: { succeeded: ['a-uid', 'b-uid'] } }
  const held = [jobPod('a', { phase: 'Succeeded' }), jobPod('b', { phase: 'Succeeded' })]
  const synced = syncOf(job({ spec: { completions: 2, parallelism: 2 }, status }), held)
  assert.deepEqual(podWritesOf(synced), ['patch a', 'patch b'])
  assert.equal(lastStatusOf(synced).conditions?.at(-1)?.type, 'Complete')
})

test('an ignored failure does not exceed the back-off limit', () => {
  const subject = job({ spec: { ...INDEX_RULES, backoffLimit: 0 } })
  const synced = syncOf(subject, [jobPod('a', { phase: 'Failed', exitCode: 3 })])
  assert.equal(lastStatusOf(synced).conditions, undefined)
  const counted = syncOf(subject, [jobPod('a', { phase: 'Failed', exitCode: 4 })])
  assert.equal(lastStatusOf(counted).conditions?.[0]?.reason, 'BackoffLimitExceeded')
})

test('counters that could not be written are written by the next sync', () => {
  let updates = 0
  const onWrite = (write: { verb: string }) =>
    write.verb === 'update' && ++updates === 2 ? refused(409, 'Conflict') : undefined
  const subject = job({ spec: { completions: 9, parallelism: 0 } })
  const synced = syncOf(subject, [jobPod('a', { phase: 'Succeeded' })], { onWrite })
  assert.ok(synced.result?.error)
})
