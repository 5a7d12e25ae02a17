import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../generated/core-v1.ts'
import { podResources } from './pod-resources.ts'

const container = (name: string, cpu: string, more: object = {}) => ({
  name,
  resources: { requests: { cpu }, limits: { cpu } },
  ...more,
})
const given = (name: string, cpu: string | undefined, allocated?: string) => ({
  name,
  ...(cpu !== undefined && { resources: { requests: { cpu }, limits: { cpu } } }),
  ...(allocated !== undefined && { allocatedResources: { cpu: allocated } }),
})
const sidecar = { restartPolicy: 'Always' }

/** As the API server charged them. */
for (const [title, spec, status, requested, limited] of [
  [
    'containers are summed',
    { containers: [container('a', '1'), container('b', '2')] },
    {},
    '3',
    '3',
  ],
  [
    'of init containers the largest counts, where it is more than all containers together',
    {
      containers: [container('m', '100m')],
      initContainers: [container('i', '1'), container('j', '2')],
    },
    {},
    '2',
    '2',
  ],
  [
    'sidecars run beside everything that starts after them',
    {
      containers: [container('m', '100m')],
      initContainers: [
        container('i', '1'),
        container('s', '200m', sidecar),
        container('j', '900m'),
      ],
    },
    {},
    '1100m',
    '1100m',
  ],
  [
    'what a container was given, or is about to be, counts where it is more',
    { containers: [container('m', '100m')] },
    { containerStatuses: [given('m', '500m', '3')] },
    '3',
    '500m',
  ],
  [
    'a status without resources says nothing',
    { containers: [container('m', '100m')] },
    { containerStatuses: [given('m', undefined, '2')] },
    '100m',
    '100m',
  ],
  [
    'of init containers only sidecars are resized',
    {
      containers: [container('m', '100m')],
      initContainers: [container('s', '100m', sidecar), container('i', '50m')],
    },
    {
      containerStatuses: [given('m', '500m', '3')],
      initContainerStatuses: [given('s', '1'), given('i', '9')],
    },
    '4',
    '1500m',
  ],
  [
    'a resize that cannot be had counts as not asked for',
    {
      containers: [container('m', '100m')],
      initContainers: [container('s', '100m', sidecar), container('i', '50m')],
    },
    {
      containerStatuses: [given('m', '10m', '10m')],
      initContainerStatuses: [given('s', '10m'), given('i', '10m')],
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
    },
    '60m',
    '60m',
  ],
  [
    'what the pod says as a whole replaces the sum',
    {
      containers: [container('m', '100m')],
      resources: { requests: { cpu: '2' }, limits: { cpu: '3' } },
    },
    {},
    '2',
    '3',
  ],
] as const) {
  test(title, () => {
    const pod = { spec, status } as unknown as Pod
    assert.equal(podResources(pod, 'requests', { withStatus: true })['cpu'], requested)
    assert.equal(podResources(pod, 'limits', { withStatus: true })['cpu'], limited)
  })
}

test('the status counts only where it is asked for', () => {
  const pod = {
    spec: { containers: [container('m', '100m')] },
    status: { containerStatuses: [given('m', '500m')] },
  } as unknown as Pod
  assert.deepEqual(podResources(pod, 'requests'), { cpu: '100m' })
})

test('Overhead is added to requests, and to limits that are present and non-zero', () => {
  const overhead = { cpu: '10m', memory: '1Mi', 'example.com/x': '1' }
  const limits = { cpu: '0', memory: '1Mi' }
  const pod = { spec: { containers: [{ name: 'm', resources: { limits } }], overhead } } as Pod
  assert.deepEqual(podResources(pod, 'requests'), overhead)
  assert.deepEqual(podResources(pod, 'limits'), { cpu: '0', memory: '2Mi' })
  assert.deepEqual(podResources(pod, 'limits', { withOverhead: false }), limits)
})
