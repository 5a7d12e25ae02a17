import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObjectMeta, Pod } from '@gyropilot/api'
import { TEMPLATE } from '../workload-support/fixtures.ts'
import { CLAIMS, setPod, statefulSet } from './fixtures.ts'
import {
  POD_NAME_LABEL,
  claimFromTemplate,
  identityMatches,
  isInRange,
  isNamedBy,
  nameParts,
  newPod,
  ordinalOf,
  storageMatches,
  withIdentity,
  withStorage,
} from './pod-identity.ts'

const set = statefulSet({ spec: CLAIMS })
const named = (name: string): Pod => ({ metadata: { name, namespace: 'ns' } })

for (const [name, ordinal, isOurs] of [
  ['db-0', 0, true],
  ['db-12', 12, true],
  ['db-01', 1, true],
  ['db-2147483647', 2147483647, true],
  ['db-2147483648', -1, true],
  ['db-', -1, false],
  ['db', -1, false],
  ['db-x', -1, false],
  ['db-1x', -1, false],
  ['db-x1', -1, false],
  ['db--1', 1, false],
  ['db-1-2', 2, false],
  ['other-1', 1, false],
  ['5', -1, false],
] as const) {
  test(`${name} has ordinal ${ordinal} and is ${isOurs ? '' : 'not '}named by the set`, () => {
    assert.equal(ordinalOf(named(name)), ordinal)
    assert.equal(isNamedBy(set, named(name)), isOurs)
  })
}

test('names of sets may be one letter, or digits, or end in what looks like an ordinal', () => {
  const isNamed = (name: string, podName: string): boolean =>
    isNamedBy(statefulSet({ name }), named(podName))
  assert.deepEqual(
    [isNamed('d', 'd-0'), isNamed('1', '1-0'), isNamed('1', '12'), isNamed('db-1', 'db-1-2')],
    [true, true, false, true],
  )
  assert.deepEqual(nameParts('db-1-2'), { setName: 'db-1', ordinal: 2 })
})

test('the range begins at the start ordinal', () => {
  const shifted = statefulSet({ replicas: 2, spec: { ordinals: { start: 4 } } })
  assert.deepEqual(
    [3, 4, 5, 6].filter((ordinal) => isInRange(shifted, ordinal)),
    [4, 5],
  )
  assert.deepEqual(
    [-1, 0, 1, 2].filter((ordinal) => isInRange(set, ordinal)),
    [0, 1],
  )
  const { replicas: _, ...spec } = statefulSet().spec!
  const silent = { ...statefulSet(), spec }
  assert.deepEqual(
    [0, 1].map((ordinal) => isInRange(silent, ordinal)),
    [true, false],
  )
})

test('a new pod has its name, labels, hostname, subdomain, owner and volumes', () => {
  const template = {
    ...TEMPLATE,
    spec: {
      ...TEMPLATE.spec!,
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  }
  const pod = newPod(set, 3, template, 'db-abc')
  assert.deepEqual([pod.apiVersion, pod.kind], ['v1', 'Pod'])
  assert.deepEqual(pod.metadata, {
    name: 'db-3',
    generateName: 'db-',
    namespace: 'ns',
    labels: {
      app: 'a',
      'controller-revision-hash': 'db-abc',
      'statefulset.kubernetes.io/pod-name': 'db-3',
      'apps.kubernetes.io/pod-index': '3',
    },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        name: 'db',
        uid: 'db-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  })
  assert.equal(pod.spec?.hostname, 'db-3')
  assert.equal(pod.spec?.subdomain, 'svc')
  assert.deepEqual(pod.spec?.volumes, [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-db-3' } },
    { name: 'tmp', emptyDir: {} },
  ])
  assert.ok(identityMatches(set, pod))
  assert.ok(storageMatches(set, pod))
})

test('a set without a service name leaves the subdomain out, and one without claims the volumes', () => {
  const { spec } = newPod(statefulSet({ spec: { serviceName: '' } }), 0, TEMPLATE, 'r')
  assert.ok(!('subdomain' in spec!))
  assert.ok(!('volumes' in spec!))
  const named = { ...TEMPLATE, spec: { ...TEMPLATE.spec!, hostname: 'h', subdomain: 'sub' } }
  const other = newPod(statefulSet({ spec: { serviceName: '' } }), 0, named, 'r').spec
  assert.deepEqual([other?.hostname, 'subdomain' in other!], ['db-0', false])
  assert.equal(newPod(set, 0, named, 'r').spec?.subdomain, 'svc')
})

test('a claim has the labels of its template overlaid with those of the selector, and its annotations', () => {
  const [template] = set.spec!.volumeClaimTemplates!
  assert.deepEqual(claimFromTemplate(template!, set, 1), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data-db-1',
      namespace: 'ns',
      labels: { app: 'a', more: 'x' },
      annotations: { note: 'y' },
    },
    spec: { accessModes: ['ReadWriteOnce'] },
  })
})

test('what the template of a claim does not say is not in the claim, its finalizers are', () => {
  const template = { metadata: { name: 'data', finalizers: ['a/b'] } }
  assert.deepEqual(claimFromTemplate(template, set, 1), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-db-1', namespace: 'ns', labels: { app: 'a' }, finalizers: ['a/b'] },
  })
})

test('identity is name, namespace and the label of the name', () => {
  const pod = setPod(set, 1)
  assert.ok(identityMatches(set, pod))
  const { 'apps.kubernetes.io/pod-index': _, ...older } = pod.metadata!.labels!
  assert.ok(identityMatches(set, { ...pod, metadata: { ...pod.metadata, labels: older } }))
  const cases: readonly (readonly [string, ObjectMeta])[] = [
    ['another namespace', { namespace: 'other' }],
    ['no label', { labels: { app: 'a' } }],
    ['the label of another', { labels: { 'statefulset.kubernetes.io/pod-name': 'db-0' } }],
  ]
  for (const [title, metadata] of cases) {
    const wrong: Pod = { ...pod, metadata: { ...pod.metadata, ...metadata } }
    assert.ok(!identityMatches(set, wrong), title)
    assert.ok(identityMatches(set, withIdentity(set, wrong)), title)
    assert.equal(withIdentity(set, wrong).metadata?.labels?.['apps.kubernetes.io/pod-index'], '1')
  }
})

test('Name `web-01` has ordinal 1 but is not identity-matching; it is renamed only in memory', () => {
  const labels = { [POD_NAME_LABEL]: 'db-01' }
  const odd = { ...setPod(set, 1), metadata: { ...setPod(set, 1).metadata, name: 'db-01', labels } }
  assert.ok(!identityMatches(set, odd))
  assert.equal(withIdentity(set, odd).metadata?.name, 'db-1')
})

test('storage is a volume for each claim template', () => {
  const pod = setPod(set, 1)
  assert.ok(storageMatches(set, pod))
  assert.ok(storageMatches(statefulSet(), { ...pod, spec: { containers: [] } }))
  for (const volumes of [
    undefined,
    [],
    [{ name: 'data', emptyDir: {} }],
    [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }],
    [{ name: 'other', persistentVolumeClaim: { claimName: 'data-db-1' } }],
  ]) {
    const wrong = {
      ...pod,
      spec: { containers: [], ...(volumes === undefined ? {} : { volumes }) },
    }
    assert.ok(!storageMatches(set, wrong))
    assert.ok(storageMatches(set, withStorage(set, wrong)))
  }
})
