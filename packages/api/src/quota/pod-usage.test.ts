import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../generated/core-v1.ts'
import { evaluatorNamed, NOW_MS, usageOf } from './fixtures.ts'

const pods = evaluatorNamed('pods')
const container = (requests: object, limits: object = {}) => ({
  name: 'c',
  resources: { requests, limits },
})
const podOf = (spec: object, status: object = {}, metadata: object = {}): Pod =>
  ({ metadata, spec: { containers: [{ name: 'c' }], ...spec }, status }) as Pod

test('Given pods in all shapes, then usage tables', () => {
  const plain = { 'count/pods': '1', pods: '1' }
  for (const [spec, expected] of [
    [{}, plain],
    [
      {
        containers: [
          container({ cpu: '100m', memory: '1Gi' }, { cpu: '1', 'ephemeral-storage': '2Mi' }),
        ],
      },
      {
        ...plain,
        cpu: '100m',
        'requests.cpu': '100m',
        memory: '1Gi',
        'requests.memory': '1Gi',
        'limits.cpu': '1',
        'limits.ephemeral-storage': '2Mi',
      },
    ],
    [
      { containers: [container({ 'hugepages-2Mi': '4Mi' }, { 'hugepages-2Mi': '4Mi' })] },
      { ...plain, 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi' },
    ],
    // Extended resources have no `limits.` or bare form.
    [
      { containers: [container({ 'example.com/gpu': '2' }, { 'example.com/gpu': '2' })] },
      { ...plain, 'requests.example.com/gpu': '2' },
    ],
    [
      { containers: [container({ 'deviceclass.resource.kubernetes.io/x': '2' })] },
      { ...plain, 'requests.deviceclass.resource.kubernetes.io/x': '2' },
    ],
    [{ containers: [container({ 'kubernetes.io/batch': '2' })] }, plain],
    [{ overhead: { cpu: '10m' } }, { ...plain, cpu: '10m', 'requests.cpu': '10m' }],
  ] as const)
    assert.deepEqual(usageOf('pods', podOf(spec)), expected)
})

test('A Pod leaves `pods`, cpu and memory usage when it finishes, but stays in `count/pods` until deleted', () => {
  const spec = { containers: [container({ cpu: '1' })] }
  for (const phase of ['Succeeded', 'Failed'])
    assert.deepEqual(usageOf('pods', podOf(spec, { phase })), { 'count/pods': '1' })
  for (const phase of ['Pending', 'Running', 'Unknown'])
    assert.equal(usageOf('pods', podOf(spec, { phase }))['pods'], '1')
})

test('A Pod stuck terminating past its grace period is not charged', () => {
  const deletedAgo = (seconds: number, grace?: number) =>
    podOf(
      {},
      {},
      {
        deletionTimestamp: new Date(NOW_MS - seconds * 1000).toISOString(),
        ...(grace !== undefined && { deletionGracePeriodSeconds: grace }),
      },
    )
  assert.equal(usageOf('pods', deletedAgo(30, 30))['pods'], '1')
  assert.equal(usageOf('pods', deletedAgo(31, 30))['pods'], undefined)
  assert.equal(usageOf('pods', deletedAgo(1, 0))['pods'], undefined)
  assert.equal(usageOf('pods', deletedAgo(3600))['pods'], '1', 'no grace: it is not known when')
})

test('Given pods with a resize, then usage is the largest of what is wished, given and allocated', () => {
  const status = {
    containerStatuses: [
      { name: 'c', resources: { requests: { cpu: '500m' } }, allocatedResources: { cpu: '3' } },
    ],
  }
  const usage = usageOf('pods', podOf({ containers: [container({ cpu: '1' })] }, status))
  assert.equal(usage['requests.cpu'], '3')
})

test('names that pods are counted under', () => {
  for (const name of [
    'count/pods',
    'pods',
    'cpu',
    'memory',
    'ephemeral-storage',
    'requests.cpu',
    'requests.memory',
    'requests.ephemeral-storage',
    'limits.cpu',
    'limits.memory',
    'limits.ephemeral-storage',
    'hugepages-2Mi',
    'requests.hugepages-2Mi',
    'requests.example.com/gpu',
    'requests.deviceclass.resource.kubernetes.io/x',
  ])
    assert.ok(pods.counts(name), name)
  for (const name of [
    'count/pods.apps',
    'services',
    'storage',
    'requests.storage',
    'limits.hugepages-2Mi',
    'example.com/gpu',
    'limits.example.com/gpu',
    'requests.kubernetes.io/z',
    'requests.pods',
    'gold.storageclass.storage.k8s.io/requests.storage',
    'x.deviceclass.resource.k8s.io/devices',
  ])
    assert.ok(!pods.counts(name), name)
})

test('Given pods that leave something unsaid, then every container and init container is named once', () => {
  const spec = {
    containers: [
      { name: 'b', resources: { requests: { cpu: '1m' }, limits: {} } },
      { name: 'a', resources: { requests: { memory: '1Mi' } } },
    ],
    initContainers: [{ name: 'z' }],
  }
  const names = [
    'pods',
    'memory',
    'limits.cpu',
    'cpu',
    'requests.ephemeral-storage',
    'requests.example.com/x',
  ]
  const unstated = ['cpu for: a,z', 'limits.cpu for: a,b,z', 'memory for: b,z']
  assert.deepEqual(pods.unstated?.(podOf(spec), names), unstated)
  assert.deepEqual(pods.unstated?.(podOf(spec), ['requests.memory']), ['requests.memory for: b,z'])
  const ofWholePod = (resources: object): readonly string[] | undefined =>
    pods.unstated?.(podOf({ ...spec, resources }), names)
  assert.deepEqual(ofWholePod({ requests: { cpu: '0' } }), [])
  assert.deepEqual(ofWholePod({ limits: { memory: '1Gi' } }), [])
  assert.deepEqual(ofWholePod({ requests: {}, limits: {} }), unstated)
})

test('Pods: create, update that changes the Terminating scope, update of `resize`', () => {
  const [plain, ending] = [podOf({}), podOf({ activeDeadlineSeconds: 0 })]
  const admits = (
    operation: 'CREATE' | 'UPDATE',
    subresource: string,
    object: Pod,
    oldObject?: Pod,
  ) => pods.admits({ operation, subresource, object, ...(oldObject && { oldObject }) })
  assert.ok(admits('CREATE', '', plain))
  assert.ok(!admits('CREATE', 'eviction', plain))
  assert.ok(admits('UPDATE', 'resize', plain, plain))
  assert.ok(admits('UPDATE', '', ending, plain) && admits('UPDATE', '', plain, ending))
  assert.ok(!admits('UPDATE', '', plain, plain) && !admits('UPDATE', '', ending, ending))
  assert.ok(!admits('UPDATE', 'status', ending, plain))
})

test('updates of Pods that change usage: resources given, Terminating scope, charged no longer', () => {
  const given = (cpu?: string, name = 'c', field = 'containerStatuses') =>
    podOf({}, { [field]: [{ name, ...(cpu && { resources: { requests: { cpu } } }) }] })
  const changes = (previous: Pod, current: Pod) => pods.changesUsage?.(previous, current, NOW_MS)
  assert.ok(changes(given('1'), given('2')))
  assert.ok(changes(given(), given('2')))
  assert.ok(
    changes(given('1', 'i', 'initContainerStatuses'), given('2', 'i', 'initContainerStatuses')),
  )
  assert.ok(!changes(given('1'), given('1')))
  assert.ok(!changes(podOf({}), given('1')), 'a status that is new says nothing')
  assert.ok(!changes(given('1', 'other'), given('1')))
  assert.ok(changes(podOf({}), podOf({ activeDeadlineSeconds: 5 })))
  assert.ok(changes(podOf({}), podOf({}, { phase: 'Failed' })))
  assert.ok(!changes(podOf({}, { phase: 'Failed' }), podOf({}, { phase: 'Succeeded' })))
  assert.ok(!changes(podOf({}, { phase: 'Pending' }), podOf({}, { phase: 'Running' })))
})
