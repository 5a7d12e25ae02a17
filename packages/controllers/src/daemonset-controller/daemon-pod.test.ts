import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Affinity, Pod } from '@gyropilot/api'
import {
  GENERATION_ANNOTATION,
  compareDaemonPods,
  isUpdatedTo,
  podMaker,
  targetNodeOf,
} from './daemon-pod.ts'
import { HASH, OLD_HASH, daemonPod, daemonSet } from './fixtures.ts'
import { podsByNode } from './pods-by-node.ts'

const onlyN = {
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }],
}

test('a pod has the template, its hash and number, an owner, and is pinned to its node without being bound', () => {
  const { metadata, spec } = podMaker(daemonSet(), HASH)('n')
  assert.deepEqual(metadata, {
    generateName: 'ds-',
    namespace: 'ns',
    labels: { app: 'a', 'controller-revision-hash': HASH, 'pod-template-generation': '1' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'ds',
        uid: 'ds-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  })
  assert.equal(spec?.nodeName, undefined)
  assert.equal(spec?.tolerations?.length, 6)
  assert.deepEqual(spec.containers, [{ name: 'c', image: 'img:1' }])
  assert.deepEqual(spec.affinity, {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onlyN },
  })
})

test('a pod has the annotations and finalizers of the template', () => {
  const metadata = { labels: { app: 'a' }, annotations: { note: 'x' }, finalizers: ['f.io/f'] }
  const template = { metadata, spec: { containers: [] } }
  const made = podMaker(daemonSet({ template }), HASH)('n').metadata
  assert.deepEqual([made?.annotations, made?.finalizers], [{ note: 'x' }, ['f.io/f']])
})

test('Affinity terms are ORed: existing required terms must be replaced, not extended.', () => {
  const preferred = [{ weight: 1, preference: {} }]
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] }
  const affinity: Affinity = {
    podAffinity,
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    },
  }
  assert.deepEqual(podMaker(daemonSet({ spec: { affinity } }), HASH)('n').spec?.affinity, {
    podAffinity,
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: onlyN,
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    },
  })
})

const generations: readonly (readonly [string, string | undefined])[] = [
  ['7', '7'],
  ['007', '7'],
  ['+7', '7'],
  ['-7', '-7'],
  ['9223372036854775807', '9223372036854775807'],
  ['9223372036854775808', undefined],
  ['-9223372036854775808', '-9223372036854775808'],
  ['-9223372036854775809', undefined],
  ['7a', undefined],
  ['', undefined],
]
for (const [annotation, label] of generations) {
  test(`the number ${JSON.stringify(annotation)} of a template is the label ${label}`, () => {
    const { metadata } = podMaker(daemonSet({ generation: annotation }), HASH)('n')
    assert.equal(metadata?.labels?.['pod-template-generation'], label)
  })
}

test('without a hash there is no label of it', () => {
  const { metadata } = podMaker(daemonSet({ metadata: { annotations: {} } }), '')('n')
  assert.deepEqual(metadata?.labels, { app: 'a' })
})

const updated: readonly (readonly [string, Pod, boolean])[] = [
  ['of the hash', daemonPod('n'), true],
  ['of another hash', daemonPod('n', { hash: OLD_HASH }), false],
  [
    'of another hash and the same number',
    daemonPod('n', { hash: OLD_HASH, generation: '1' }),
    true,
  ],
  ['of another hash and number', daemonPod('n', { hash: OLD_HASH, generation: '2' }), false],
]
for (const [title, pod, expected] of updated) {
  test(`a pod ${title} ${expected ? 'is' : 'is not'} updated`, () => {
    assert.equal(isUpdatedTo(daemonSet(), HASH)(pod), expected)
  })
}

test('without a hash and without a number no pod is updated', () => {
  const bare = daemonSet({ metadata: { annotations: { [GENERATION_ANNOTATION]: 'x' } } })
  assert.equal(isUpdatedTo(bare, '')(daemonPod('n', { hash: '' })), false)
})

test('Pending daemon pods are attributed to nodes through the affinity term, not spec.nodeName.', () => {
  assert.equal(targetNodeOf(daemonPod('n', { waiting: true })), 'n')
  assert.equal(targetNodeOf({ ...daemonPod('n'), spec: { containers: [], nodeName: 'm' } }), 'm')
})

function asking(...matchFields: readonly object[]): Pod {
  const nodeSelectorTerms = [{}, { matchFields }]
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
  return { spec: { containers: [], affinity: { nodeAffinity: required } } } as Pod
}

test('a pod that nobody made for a node has none', () => {
  assert.equal(targetNodeOf({ spec: { containers: [] } }), undefined)
  assert.equal(targetNodeOf({}), undefined)
  assert.equal(
    targetNodeOf(asking({ key: 'metadata.name', operator: 'NotIn', values: ['n'] })),
    undefined,
  )
  assert.equal(targetNodeOf(asking({ key: 'other', operator: 'In', values: ['n'] })), undefined)
  assert.equal(
    targetNodeOf(asking({ key: 'metadata.name', operator: 'In', values: ['n', 'm'] })),
    undefined,
  )
  assert.equal(targetNodeOf(asking({ key: 'metadata.name', operator: 'In', values: ['n'] })), 'n')
})

test('bound pods come before waiting ones, older before younger, and then names decide', () => {
  const pods = [
    daemonPod('n', { name: 'waiting', waiting: true, ageSeconds: 90 }),
    daemonPod('n', { name: 'b', ageSeconds: 10 }),
    daemonPod('n', { name: 'a', ageSeconds: 10 }),
    daemonPod('n', { name: 'old', ageSeconds: 20 }),
  ]
  for (const given of [pods, pods.toReversed()]) {
    assert.deepEqual(
      given.toSorted(compareDaemonPods).map(({ metadata }) => metadata?.name),
      ['old', 'a', 'b', 'waiting'],
    )
  }
})

test('pods that are over and on their way out are on no node, nor is a pod without one', () => {
  const pods = [
    daemonPod('a', { phase: 'Failed', deleting: true }),
    daemonPod('b', { phase: 'Succeeded', deleting: true }),
    daemonPod('c', { phase: 'Failed' }),
    daemonPod('d', { deleting: true }),
    daemonPod('d', { name: 'second', waiting: true }),
    { spec: { containers: [] } } as Pod,
  ]
  const found = [...podsByNode(pods)].map(([name, each]) => [name, each.length])
  assert.deepEqual(found, [
    ['c', 1],
    ['d', 2],
  ])
})
