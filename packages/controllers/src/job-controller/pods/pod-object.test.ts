import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podForIndex, podForJob } from './pod-object.ts'
import { indexedJob, job } from '../fixtures.ts'

const template = {
  metadata: {
    labels: { a: 'b' },
    annotations: { note: 'x' },
    finalizers: ['example.com/own'],
  },
  spec: {
    initContainers: [{ name: 'i' }],
    containers: [
      { name: 'c', env: [{ name: 'A', value: '1' }] },
      {
        name: 'd',
        env: [
          { name: 'B', value: '2' },
          { name: 'JOB_COMPLETION_INDEX', value: 'mine' },
        ],
      },
    ],
  },
}

test('a pod is the template with the tracking finalizer and the Job as its controller', () => {
  const { metadata, spec } = podForJob(job({ spec: { template } }))
  assert.deepEqual(metadata, {
    generateName: 'work-',
    namespace: 'ns',
    labels: { a: 'b' },
    annotations: { note: 'x' },
    finalizers: ['example.com/own', 'batch.kubernetes.io/job-tracking'],
    ownerReferences: [
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        name: 'work',
        uid: 'work-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  })
  assert.equal(spec, template.spec)
})

test('a pod of a gang names it, any other pod none', () => {
  const owner = job({ spec: { template } })
  assert.deepEqual(podForJob(owner, 'gang').spec, {
    ...template.spec,
    schedulingGroup: { podGroupName: 'gang' },
  })
  assert.deepEqual(podForJob(owner).spec, template.spec)
})

test('a template without finalizers leaves the pod the one', () => {
  const { metadata } = podForJob(job({ spec: { template: { spec: template.spec } } }))
  assert.deepEqual(metadata?.finalizers, ['batch.kubernetes.io/job-tracking'])
})

test('the finalizer is there once, also when the template has it', () => {
  const finalizers = ['batch.kubernetes.io/job-tracking']
  const { metadata } = podForJob(
    job({ spec: { template: { ...template, metadata: { finalizers } } } }),
  )
  assert.deepEqual(metadata?.finalizers, finalizers)
})

const variable = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: {
    fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" },
  },
}

test('a pod of an index knows it by annotation, label, host name and a variable of each container that has none', () => {
  const owner = indexedJob({ spec: { template } })
  const { metadata, spec } = podForIndex(podForJob(owner), owner, 7)
  assert.equal(metadata?.generateName, 'work-7-')
  assert.deepEqual(metadata.annotations, {
    note: 'x',
    'batch.kubernetes.io/job-completion-index': '7',
  })
  assert.deepEqual(metadata.labels, { a: 'b', 'batch.kubernetes.io/job-completion-index': '7' })
  assert.equal(spec?.hostname, 'work-7')
  assert.deepEqual(spec.initContainers, [{ name: 'i', env: [variable] }])
  assert.deepEqual(spec.containers, [
    { name: 'c', env: [{ name: 'A', value: '1' }, variable] },
    template.spec.containers[1],
  ])
})

const counts: readonly (readonly [number, number, Record<string, string>])[] = [
  [0, 0, { 'batch.kubernetes.io/job-index-failure-count': '0' }],
  [2, 0, { 'batch.kubernetes.io/job-index-failure-count': '2' }],
  [
    0,
    1,
    {
      'batch.kubernetes.io/job-index-failure-count': '0',
      'batch.kubernetes.io/job-index-ignored-failure-count': '1',
    },
  ],
]
for (const [counted, ignored, annotations] of counts) {
  test(`after ${counted} failures and ${ignored} ignored ones the annotations are ${JSON.stringify(annotations)}`, () => {
    const owner = indexedJob()
    const { metadata } = podForIndex(podForJob(owner), owner, 0, { counted, ignored })
    assert.deepEqual(metadata?.annotations, {
      'batch.kubernetes.io/job-completion-index': '0',
      ...annotations,
    })
  })
}

test('a long name of the Job is cut so that the prefix has at most 58 characters', () => {
  const name = 'n'.repeat(60)
  const owner = indexedJob({ metadata: { name } })
  const { metadata } = podForIndex(podForJob(owner), owner, 12)
  assert.equal(metadata?.generateName, `${'n'.repeat(54)}-12-`)
})

test('a pod of an index has all that a pod without one has', () => {
  const owner = indexedJob({ spec: { template } })
  const base = podForJob(owner, 'gang')
  const made = podForIndex(base, owner, 2)
  assert.deepEqual([made.apiVersion, made.kind], ['v1', 'Pod'])
  assert.deepEqual(made.metadata, {
    ...base.metadata,
    generateName: 'work-2-',
    labels: { a: 'b', 'batch.kubernetes.io/job-completion-index': '2' },
    annotations: { note: 'x', 'batch.kubernetes.io/job-completion-index': '2' },
  })
  assert.deepEqual(made.spec, {
    ...base.spec,
    hostname: 'work-2',
    initContainers: made.spec?.initContainers,
    containers: made.spec?.containers,
  })
})
