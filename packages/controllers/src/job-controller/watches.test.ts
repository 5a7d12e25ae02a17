import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { NOW_MS, recordedExpectations, secondsAgo } from '../workload-support/fixtures.ts'
import { job, jobPod } from './fixtures.ts'
import { JobMemory } from './memory.ts'
import { JobMetrics } from './metrics.ts'
import { jobWatch, podWatch } from './watches.ts'

const LATER = [{ key: 'ns/work', afterMs: 1_000 }]
const finished = (type: string, status = 'True'): Job =>
  job({ status: { conditions: [{ type, status }] } })

function watching(...jobs: readonly Job[]) {
  const registry = new PrometheusRegistry()
  const expectations = recordedExpectations()
  const memory = new JobMemory()
  const { lister } = fakeInformers(jobs).informer(resources.jobs)
  const state = { expectations, memory, metrics: new JobMetrics(registry), nowMs: () => NOW_MS }
  const [watch, ofPods] = [jobWatch(state), podWatch(lister, state)]
  const counter = (name: string): readonly string[] =>
    registry
      .expose()
      .split('\n')
      .filter((line) => line.startsWith(`job_controller_${name}{`))
  return {
    expectations,
    memory,
    counter,
    jobAdded: (added: Job) => [...watch.onAdd!(added)],
    jobUpdated: (previous: Job, current: Job) => [...watch.onUpdate!(previous, current)],
    jobDeleted: (gone: Job | DeletedFinalStateUnknown<Job>) => [...watch.onDelete!(gone)],
    added: (pod: Pod) => [...ofPods.onAdd!(pod)],
    updated: (previous: Pod, current: Pod) => [...ofPods.onUpdate!(previous, current)],
    deleted: (pod: Pod | DeletedFinalStateUnknown<Pod>) => [...ofPods.onDelete!(pod)],
  }
}

const newer = (pod: Pod, metadata: object = {}): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, resourceVersion: '21', ...metadata },
})

test('a Job that is new is looked at now; one that another manages is counted', () => {
  const { jobAdded, counter } = watching()
  assert.deepEqual(jobAdded(job()), ['ns/work'])
  assert.deepEqual(counter('jobs_by_external_controller_total'), [])
  assert.deepEqual(jobAdded(job({ spec: { managedBy: 'kubernetes.io/job-controller' } })), [
    'ns/work',
  ])
  assert.deepEqual(counter('jobs_by_external_controller_total'), [])
  assert.deepEqual(jobAdded(job({ spec: { managedBy: 'example.com/x' } })), ['ns/work'])
  assert.deepEqual(counter('jobs_by_external_controller_total'), [
    'job_controller_jobs_by_external_controller_total{controller_name="example.com/x"} 1',
  ])
})

test('a change of the spec is looked at now, any other after a second', () => {
  const { jobUpdated } = watching()
  assert.deepEqual(jobUpdated(job(), job()), LATER)
  assert.deepEqual(jobUpdated(job(), job({ metadata: { generation: 2 } })), ['ns/work'])
})

test('An update of a finished Job never runs the job sync; only the orphan selector pass runs', () => {
  const { jobUpdated, memory } = watching()
  memory.markFinished('ns/work', 'work-uid')
  for (const type of ['Complete', 'Failed'])
    assert.deepEqual(
      jobUpdated(job(), { ...finished(type), metadata: { ...job().metadata, generation: 2 } }),
      [],
    )
  assert.equal(memory.size, 0, 'nothing need be known of it any more')
  for (const type of ['SuccessCriteriaMet', 'FailureTarget', 'Suspended'])
    assert.deepEqual(jobUpdated(job(), finished(type)), LATER)
  assert.deepEqual(jobUpdated(job(), finished('Complete', 'False')), LATER)
})

const withDeadline = (
  activeDeadlineSeconds?: number,
  startTime: string | undefined = secondsAgo(60),
): Job =>
  job({
    spec: activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds },
    metadata: { generation: 2 },
    status: startTime === '' ? {} : { startTime },
  })
const deadlines: readonly (readonly [string, Job, Job, readonly unknown[]])[] = [
  ['a new deadline', withDeadline(), withDeadline(100), [{ key: 'ns/work', afterMs: 40_000 }]],
  ['another deadline', withDeadline(200), withDeadline(100), [{ key: 'ns/work', afterMs: 40_000 }]],
  ['a deadline that is over', withDeadline(), withDeadline(50), [{ key: 'ns/work', afterMs: 0 }]],
  ['the same deadline', withDeadline(100), withDeadline(100), []],
  ['a deadline that is taken away', withDeadline(100), withDeadline(), []],
  [
    'a deadline of a Job that has not started',
    withDeadline(undefined, ''),
    withDeadline(100, ''),
    [],
  ],
]
for (const [title, previous, current, more] of deadlines) {
  test(`${title}: ${more.length === 0 ? 'no further look' : 'looked at when it is over'}`, () => {
    assert.deepEqual(watching().jobUpdated(previous, current), [...LATER, ...more])
  })
}

test('a Job that is deleted is looked at now, by the key of a tombstone too', () => {
  const { jobDeleted } = watching()
  assert.deepEqual(jobDeleted(job()), ['ns/work'])
  assert.deepEqual(jobDeleted(new DeletedFinalStateUnknown<Job>('ns/work', undefined)), ['ns/work'])
})

test('what was expected of a Job that is deleted holds up no namesake', () => {
  const { jobDeleted, expectations } = watching()
  jobDeleted(job())
  assert.deepEqual(expectations.deleted, ['ns/work'])
})

test('a namesake with another uid is not held up by what was expected of the one before', () => {
  const { jobUpdated, expectations } = watching()
  jobUpdated(job(), job())
  assert.deepEqual(expectations.deleted, [])
  jobUpdated(job(), job({ metadata: { uid: 'another' } }))
  assert.deepEqual(expectations.deleted, ['ns/work'])
})

test('a pod of a Job that appears is an observed creation', () => {
  const { added, expectations } = watching(job())
  assert.deepEqual(added(jobPod('p')), LATER)
  assert.deepEqual(expectations.creations, ['ns/work'])
})

test('controllerRef is resolved by kind `Job`, name and UID', () => {
  const { added, updated, deleted, expectations } = watching(job({ metadata: { uid: 'another' } }))
  const pod = jobPod('p')
  assert.deepEqual(added(pod), [])
  assert.deepEqual(updated(pod, newer(pod)), [])
  assert.deepEqual(deleted(pod), [])
  assert.deepEqual([...expectations.creations, ...expectations.deletions], [])
})

test('a pod that appears on its way out is a deletion, and no creation', () => {
  const { added, expectations } = watching(job())
  assert.deepEqual(added(jobPod('p', { deleting: true })), LATER)
  assert.deepEqual(expectations.creations, [])
  assert.deepEqual(expectations.deletions, ['ns/work ns/p'])
})

test('an orphan that appears concerns every Job whose selector matches, and is no creation', () => {
  const twin = job({ metadata: { name: 'twin', uid: 'twin' } })
  const stranger = job({
    metadata: { name: 'stranger' },
    spec: { selector: { matchLabels: { job: 'x' } } },
  })
  const unselective = job({ metadata: { name: 'none' } })
  const { selector: _, ...spec } = unselective.spec!
  const { added, expectations } = watching(job(), twin, stranger, { ...unselective, spec })
  const keys = added(jobPod('p', { metadata: { ownerReferences: [] } }))
  assert.deepEqual(keys, [...LATER, { key: 'ns/twin', afterMs: 1_000 }])
  assert.deepEqual(expectations.creations, [])
  assert.deepEqual(added(jobPod('p', { deleting: true, metadata: { ownerReferences: [] } })), [])
})

test('a resync of a pod is ignored', () => {
  const { updated } = watching(job())
  assert.deepEqual(updated(jobPod('p'), jobPod('p')), [])
})

test('an update of a pod concerns its Job, and may show that it lost the finalizer', () => {
  const { updated, memory } = watching(job())
  memory.expectRemovals('ns/work', 'work-uid', ['p-uid', 'q-uid'])
  assert.deepEqual(updated(jobPod('p'), newer(jobPod('p'))), LATER)
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 2)
  assert.deepEqual(updated(jobPod('p'), newer(jobPod('p', { tracked: false }))), LATER)
  assert.deepEqual([...memory.awaitedRemovals('ns/work', 'work-uid')], ['q-uid'])
})

test('a pod that changes its Job concerns both, one that loses it those that match', () => {
  const { updated, memory } = watching(job())
  memory.expectRemovals('ns/work', 'work-uid', ['p-uid'])
  const moved = newer(jobPod('p', { tracked: false }), {
    ownerReferences: [{ kind: 'Job', name: 'x', uid: 'x', controller: true }],
  })
  assert.deepEqual(updated(jobPod('p'), moved), LATER)
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 0)
  const other = job({ metadata: { name: 'other', uid: 'other-uid' } })
  const adopted = newer(jobPod('p'), {
    ownerReferences: [newControllerRef(other, resources.jobs)],
  })
  assert.deepEqual(watching(job(), other).updated(jobPod('p'), adopted), [
    ...LATER,
    { key: 'ns/other', afterMs: 1_000 },
  ])
  const freed = newer(jobPod('p'), { ownerReferences: [] })
  assert.deepEqual(updated(jobPod('p'), freed), [...LATER, ...LATER])
  assert.deepEqual(updated(freed, newer(freed, { resourceVersion: '22' })), [])
  const relabelled = newer(freed, { resourceVersion: '22', labels: { job: 'work', x: 'y' } })
  assert.deepEqual(updated(freed, relabelled), LATER)
})

test('a pod on its way out is one deletion, though it is seen twice, and the end of its finalizer when it is gone', () => {
  const { updated, deleted, expectations, memory } = watching(job())
  memory.expectRemovals('ns/work', 'work-uid', ['p-uid'])
  const leaving = newer(jobPod('p', { deleting: true }))
  assert.deepEqual(updated(jobPod('p'), leaving), LATER)
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 1)
  assert.deepEqual(deleted(leaving), LATER)
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 0)
  assert.deepEqual(expectations.deletions, ['ns/work ns/p', 'ns/work ns/p'])
  assert.deepEqual(deleted(new DeletedFinalStateUnknown<Pod>('ns/p', undefined)), [])
})

test('a pod on its way out, or gone to another Job, that shows its finalizer is waited for still', () => {
  const { added, updated, memory } = watching(job())
  memory.expectRemovals('ns/work', 'work-uid', ['p-uid'])
  added(jobPod('p', { deleting: true }))
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 1)
  const ownerReferences = [
    { apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid: 'x', controller: true },
  ]
  updated(jobPod('p'), newer(jobPod('p'), { ownerReferences }))
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 1)
})

test('a pod on its way out that has lost its finalizer is seen to have', () => {
  const { updated, memory } = watching(job())
  memory.expectRemovals('ns/work', 'work-uid', ['p-uid'])
  updated(jobPod('p'), newer(jobPod('p', { deleting: true, tracked: false })))
  assert.equal(memory.awaitedRemovals('ns/work', 'work-uid').size, 0)
})

test('pods of a finished Job that go concern it no more', () => {
  const { deleted, updated, expectations } = watching(finished('Complete'))
  assert.deepEqual(deleted(jobPod('p')), [])
  assert.deepEqual(updated(jobPod('p'), newer(jobPod('p', { deleting: true }))), [])
  assert.deepEqual(expectations.deletions, [])
})

test('finished pods that gain and lose the finalizer are counted', () => {
  const { added, updated, deleted, counter } = watching(job())
  const ended = jobPod('p', { phase: 'Failed' })
  const events = (): readonly string[] =>
    counter('terminated_pods_tracking_finalizer_total').map((line) => line.slice(line.indexOf('{')))
  added(jobPod('p'))
  added(jobPod('p', { phase: 'Failed', tracked: false }))
  assert.deepEqual(events(), [])
  added(ended)
  assert.deepEqual(events(), ['{event="add"} 1'])
  updated(jobPod('p'), newer(ended))
  updated(ended, newer(ended))
  assert.deepEqual(events(), ['{event="add"} 2'])
  updated(ended, newer(jobPod('p', { phase: 'Failed', tracked: false })))
  deleted(ended)
  deleted(jobPod('p'))
  assert.deepEqual(events(), ['{event="add"} 2', '{event="delete"} 2'])
})
