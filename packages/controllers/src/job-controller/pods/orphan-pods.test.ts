import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Job, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import { addPodLabelIndex } from '../../workload-support/pod-label-index.ts'
import { refused, replicaSet } from '../../workload-support/fixtures.ts'
import { job, jobPod, podWritesOf } from '../fixtures.ts'
import {
  jobOrphanWatch,
  keyOfPod,
  keysOfSelector,
  observeOrphans,
  podOrphanWatch,
  reconcileOrphans,
} from './orphan-pods.ts'

const finished = job({ status: { conditions: [{ type: 'Complete', status: 'True' }] } })
const ownerless = { metadata: { ownerReferences: [] } }
const POD = '{"namespace":"ns","pod":"p"}'
const SELECTOR = '{"namespace":"ns","selector":{"matchLabels":{"job":"work"}}}'

test('the selector of a Job that is finished or gone is looked through', () => {
  assert.deepEqual([...jobOrphanWatch.onUpdate!(job(), job())], [])
  assert.deepEqual([...jobOrphanWatch.onUpdate!(job(), finished)], [SELECTOR])
  assert.deepEqual([...jobOrphanWatch.onDelete!(job())], [SELECTOR])
  assert.deepEqual(
    [...jobOrphanWatch.onDelete!(new DeletedFinalStateUnknown<Job>('ns/work', undefined))],
    [],
  )
  assert.equal(jobOrphanWatch.onAdd, undefined)
})

test('Selector nil selects no Pods', () => {
  const { selector: _, ...spec } = job().spec!
  assert.deepEqual(keysOfSelector({ ...job(), spec }), [])
})

const cases: readonly (readonly [string, readonly Job[], Pod, boolean])[] = [
  ['without an owner', [job()], jobPod('p', ownerless), true],
  [
    'without an owner and without the finalizer',
    [job()],
    jobPod('p', { ...ownerless, tracked: false }),
    false,
  ],
  ['of a Job that runs', [job()], jobPod('p'), false],
  ['of a Job that runs, on its way out', [job()], jobPod('p', { deleting: true }), false],
  ['of a Job that is gone', [], jobPod('p'), false],
  ['of a Job that is gone, on its way out', [], jobPod('p', { deleting: true }), true],
  ['of a finished Job, on its way out', [finished], jobPod('p', { deleting: true }), true],
  ['of a finished Job, that comes after its end', [finished], jobPod('p'), true],
  ['of a finished Job, without the finalizer', [finished], jobPod('p', { tracked: false }), false],
  [
    'of a finished Job, on its way out without the finalizer',
    [finished],
    jobPod('p', { deleting: true, tracked: false }),
    false,
  ],
]
for (const [title, jobs, pod, expected] of cases) {
  test(`a pod ${title} is ${expected ? '' : 'not '}looked at`, () => {
    const watch = podOrphanWatch(fakeInformers(jobs).informer(resources.jobs).lister)
    const keys = expected ? [POD] : []
    assert.deepEqual([...watch.onAdd!(pod)], keys)
    const changed = { ...pod, metadata: { ...pod.metadata, resourceVersion: '21' } }
    assert.deepEqual([...watch.onUpdate!(pod, changed)], keys)
    assert.deepEqual([...watch.onUpdate!(pod, pod)], [], 'not for a resync')
  })
}

function sync(key: string, jobs: readonly Job[], pods: readonly Pod[], failing?: string) {
  const informers = fakeInformers([...jobs, ...pods])
  addPodLabelIndex(informers.informer(resources.pods))
  const listers = {
    jobs: informers.informer(resources.jobs).lister,
    pods: informers.informer(resources.pods).lister,
  }
  return drive(reconcileOrphans(observeOrphans(key, listers)), {
    onWrite: (write) =>
      failing !== undefined && 'name' in write && write.name === 'p'
        ? refused(Number(failing), failing === '404' ? 'NotFound' : 'InternalError')
        : undefined,
  })
}

const replicaSetRef = [newControllerRef(replicaSet(), resources.replicasets)]
const oldRef = [{ ...newControllerRef(job(), resources.jobs), apiVersion: 'batch/v1beta1' }]
const verdicts: readonly (readonly [string, readonly Job[], Pod, boolean])[] = [
  ['without an owner', [job()], jobPod('p', ownerless), true],
  ['of a Job that is gone', [], jobPod('p'), true],
  ['of a namesake of its Job', [job({ metadata: { uid: 'another' } })], jobPod('p'), true],
  ['of a Job that runs', [job()], jobPod('p'), false],
  ['of a finished Job', [finished], jobPod('p'), true],
  [
    'of a finished Job that another manages',
    [{ ...finished, spec: { ...finished.spec!, managedBy: 'example.com/x' } }],
    jobPod('p'),
    false,
  ],
  ['of another kind', [], jobPod('p', { metadata: { ownerReferences: replicaSetRef } }), false],
  [
    'of a Job of another version',
    [],
    jobPod('p', { metadata: { ownerReferences: oldRef } }),
    false,
  ],
  ['that lost the finalizer meanwhile', [], jobPod('p', { tracked: false }), false],
]
for (const [title, jobs, pod, freed] of verdicts) {
  test(`a pod ${title} ${freed ? 'loses' : 'keeps'} the finalizer`, () => {
    const { writes, result } = sync(POD, jobs, [pod])
    assert.equal(result, undefined)
    assert.deepEqual(podWritesOf({ writes }), freed ? ['patch p'] : [])
    const [write] = writes
    if (write?.verb === 'patch')
      assert.deepEqual(write.patch, {
        type: 'strategic',
        value: {
          metadata: { '$deleteFromPrimitiveList/finalizers': ['batch.kubernetes.io/job-tracking'] },
        },
      })
  })
}

test('by its selector a finished Job lets all its pods go that match', () => {
  const stranger = jobPod('stranger', { metadata: { labels: { job: 'x' } } })
  const abroad = jobPod('abroad', { metadata: { namespace: 'other' } })
  const pods = [jobPod('a'), jobPod('b'), jobPod('c', { tracked: false }), stranger, abroad]
  assert.deepEqual(podWritesOf(sync(SELECTOR, [finished], pods)).toSorted(), ['patch a', 'patch b'])
})

test('a pod that is gone meanwhile is no error, any other refusal is retried', () => {
  assert.equal(sync(POD, [], [jobPod('p')], '404').result, undefined)
  assert.ok(sync(POD, [], [jobPod('p')], '500').result?.error)
  assert.deepEqual(podWritesOf(sync(POD, [], [])), [])
})

test('very many pods are let go in portions, and an error ends it', () => {
  const many = Array.from({ length: 1_001 }, (_, number) => jobPod(`p${number}`))
  const { effects } = sync(SELECTOR, [], many)
  const sizes = effects.map((effect) => (effect.effect === 'writes' ? effect.writes.length : 0))
  assert.deepEqual(sizes, [500, 500, 1])
  assert.equal(sync(SELECTOR, [], many.slice(0, 500)).effects.length, 1)
  const broken = sync(SELECTOR, [], [jobPod('p'), ...many], '500')
  assert.ok(broken.writes.length <= 1_001 && broken.result?.error)
})

test('a key names a pod', () => {
  assert.equal(keyOfPod(jobPod('p')), POD)
})
