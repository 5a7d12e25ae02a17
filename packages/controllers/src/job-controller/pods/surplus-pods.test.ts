import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { secondsAgo } from '../../workload-support/fixtures.ts'
import { indexedJob, job, jobPod } from '../fixtures.ts'
import { surplusPods } from './surplus-pods.ts'

const namesOf = (pods: readonly Pod[]): readonly string[] =>
  pods.map(({ metadata }) => metadata?.name ?? '')

const unscheduled = (name: string): Pod => ({
  ...jobPod(name, { phase: 'Pending' }),
  spec: { containers: [] },
})
const created = (name: string, seconds: number): Pod =>
  jobPod(name, { metadata: { creationTimestamp: secondsAgo(seconds) } })
const readySince = (name: string, seconds: number): Pod => {
  const pod = jobPod(name)
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: secondsAgo(seconds) }]
  return { ...pod, status: { ...pod.status, conditions } }
}

const pairs: readonly (readonly [string, Pod, Pod])[] = [
  ['unscheduled pods', unscheduled('z'), jobPod('a', { phase: 'Pending' })],
  ['Pending before Unknown', jobPod('z', { phase: 'Pending' }), jobPod('a', { phase: 'Unknown' })],
  ['Unknown before Running', jobPod('z', { phase: 'Unknown' }), jobPod('a')],
  ['pods that are not ready', jobPod('z'), jobPod('a', { ready: true })],
  ['the most recently ready, by the second', readySince('z', 20), readySince('a', 21)],
  ['more restarts', jobPod('z', { restarts: 2 }), jobPod('a', { restarts: 1 })],
  ['the newest, by the second', created('z', 20), created('a', 21)],
  ['equal pods by name', jobPod('a'), jobPod('z')],
]
for (const [title, first, second] of pairs) {
  test(`deleted first: ${title}`, () => {
    assert.deepEqual(namesOf(surplusPods(job(), [second, first], 1, 500)), namesOf([first]))
    assert.deepEqual(namesOf(surplusPods(job(), [first, second], 1, 500)), namesOf([first]))
  })
}

test('what a pod says of the cost of its deletion counts in ReplicaSets, not here', () => {
  const cheap = { 'controller.kubernetes.io/pod-deletion-cost': '-5' }
  const pods = [jobPod('a'), jobPod('b', { metadata: { annotations: cheap } })]
  assert.deepEqual(namesOf(surplusPods(job(), pods, 1, 500)), ['a'])
})

test('nothing is surplus while there are not too many', () => {
  assert.deepEqual(surplusPods(job(), [jobPod('a')], 0, 500), [])
  assert.deepEqual(surplusPods(job(), [jobPod('a')], -3, 500), [])
  assert.deepEqual(surplusPods(indexedJob(), [jobPod('a', { index: 0 })], 0, 500), [])
})

test('pods without an index of the Job go, and all but the best of each index', () => {
  const pods = [
    jobPod('none'),
    jobPod('invalid', { index: 'x' }),
    jobPod('beyond', { index: 3 }),
    jobPod('twin', { index: 1 }),
    jobPod('best', { index: 1, ready: true }),
    jobPod('third', { index: 1, restarts: 1 }),
    jobPod('only', { index: 2 }),
  ]
  assert.deepEqual(namesOf(surplusPods(indexedJob(), pods, 0, 500)).toSorted(), [
    'beyond',
    'invalid',
    'none',
    'third',
    'twin',
  ])
})

test('they count among those that are too many, and the lowest of the others fill up', () => {
  const pods = [jobPod('none'), jobPod('a', { index: 0, ready: true }), jobPod('b', { index: 1 })]
  assert.deepEqual(namesOf(surplusPods(indexedJob(), pods, 1, 500)), ['none'])
  assert.deepEqual(namesOf(surplusPods(indexedJob(), pods, 2, 500)), ['none', 'b'])
  assert.deepEqual(namesOf(surplusPods(indexedJob(), pods, 3, 500)), ['none', 'b', 'a'])
})

test('an index says nothing in a Job without indexes', () => {
  const pods = [jobPod('a', { index: 1 }), jobPod('b', { index: 1 })]
  assert.deepEqual(surplusPods(job(), pods, 0, 500), [])
})

test('no more than the limit', () => {
  const pods = [jobPod('a'), jobPod('b'), jobPod('c')]
  assert.deepEqual(namesOf(surplusPods(job(), pods, 3, 2)), ['a', 'b'])
  assert.deepEqual(namesOf(surplusPods(indexedJob(), pods, 0, 2)), ['a', 'b'])
})
