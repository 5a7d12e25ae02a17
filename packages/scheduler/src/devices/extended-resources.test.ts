/** The expected requests and mappings are what kube-scheduler 1.36 wrote for these pods. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, DeviceClass, Pod } from '@gyropilot/api'
import { NodeInfo } from '../node-info.ts'
import {
  classesOfResources,
  extendedClaim,
  isCountedBy,
  promiseKey,
  servedResources,
} from './extended-resources.ts'

const GPU = 'example.com/gpu'

const deviceClass = (name: string, extendedResourceName?: string, minute = 0): DeviceClass => ({
  metadata: { name, creationTimestamp: `2026-01-01T00:0${minute}:00Z` },
  spec: { ...(extendedResourceName !== undefined && { extendedResourceName }) },
})

const CLASSES = [
  deviceClass('gpu-class', GPU),
  deviceClass('a-class', 'z.com/x'),
  deviceClass('z-class', 'a.com/y'),
]

const asking = (name: string, requests: Record<string, number> = {}, more = {}): Container => ({
  name,
  image: 'x',
  resources: {
    requests: Object.fromEntries(Object.entries(requests).map(([of, count]) => [of, `${count}`])),
  },
  ...more,
})
const gpus = (name: string, count: number): Container => asking(name, { [GPU]: count })
const sidecar = (name: string, count: number): Container => ({
  ...gpus(name, count),
  restartPolicy: 'Always',
})

const podOf = (containers: readonly Container[], initContainers?: readonly Container[]): Pod => ({
  metadata: { name: 'p', namespace: 'ns', uid: 'p-uid' },
  spec: { containers, ...(initContainers && { initContainers }) },
})

const classOf = classesOfResources(CLASSES)

/** `request:class x count` of each request, and `container>request` of each mapping; without the parts of names that are always there. */
function made(pod: Pod) {
  const { claim, mappings } = extendedClaim(pod, servedResources(pod, classOf), classOf)
  const short = (name: string): string => name.replace(/container-(\d+)-request-(\d+)/, '$1.$2')
  return [
    (claim.spec.devices?.requests ?? [])
      .map(({ name, exactly }) => `${short(name)}:${exactly?.deviceClassName}x${exactly?.count}`)
      .join(' '),
    mappings
      .map(({ containerName, requestName }) => `${containerName}>${short(requestName)}`)
      .join(' '),
  ]
}

test('the claim for a container is of its pod, annotated, and named by the server', () => {
  const pod = podOf([gpus('c', 1)])
  const { claim, mappings } = extendedClaim(pod, servedResources(pod, classOf), classOf)
  assert.deepEqual(claim, {
    metadata: {
      name: '<extended-resources>',
      generateName: 'p-extended-resources-',
      namespace: 'ns',
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p-uid', controller: true },
      ],
    },
    spec: {
      devices: {
        requests: [
          {
            name: 'container-0-request-0',
            exactly: { deviceClassName: 'gpu-class', allocationMode: 'ExactCount', count: 1 },
          },
        ],
      },
    },
  })
  assert.deepEqual(mappings, [
    { containerName: 'c', requestName: 'container-0-request-0', resourceName: GPU },
  ])
  assert.equal(promiseKey(claim), 'p-uid')
  assert.equal(promiseKey({ metadata: { name: 'c', namespace: 'ns' }, spec: {} }), 'ns/c')
})

test('requests are named by the places of container and resource, and are in the order of their names', () => {
  const idle = Array.from({ length: 7 }, (_, at) => asking(`c${at + 3}`))
  const pod = podOf([
    asking('c0', { 'z.com/x': 1, cpu: 1, memory: 1 }),
    asking('c1', { 'a.com/y': 1 }),
    gpus('c2', 1),
    ...idle,
    asking('c10', { 'a.com/y': 2, 'z.com/x': 1 }),
  ])
  assert.deepEqual(made(pod), [
    '0.2:a-classx1 1.0:z-classx1 10.0:z-classx2 10.1:a-classx1 2.0:gpu-classx1',
    'c1>1.0 c10>10.0 c2>2.0 c0>0.2 c10>10.1',
  ])
})

test('an init container that ends uses devices of those that start after it, and what it lacks is asked for once', () => {
  const cases: readonly [readonly Container[], readonly Container[], string, string][] = [
    [[gpus('i', 1)], [gpus('c', 2)], '1.0:gpu-classx2', 'c>1.0 i>1.0'],
    [
      [gpus('i', 3), gpus('j', 2)],
      [gpus('c', 1)],
      '0.0:gpu-classx2 2.0:gpu-classx1',
      'c>2.0 i>2.0 i>0.0 j>2.0 j>0.0',
    ],
    [
      [gpus('i', 1), gpus('j', 3), gpus('k', 5)],
      [gpus('c', 2)],
      '2.0:gpu-classx3 3.0:gpu-classx2',
      'c>3.0 i>3.0 j>3.0 j>2.0 k>3.0 k>2.0',
    ],
    [
      [gpus('i', 2), gpus('j', 4), gpus('k', 1)],
      [asking('c')],
      '1.0:gpu-classx4',
      'i>1.0 j>1.0 k>1.0',
    ],
    [
      [gpus('i', 2)],
      [gpus('c', 2), gpus('d', 2)],
      '1.0:gpu-classx2 2.0:gpu-classx2',
      'c>1.0 d>2.0 i>1.0',
    ],
    [
      [gpus('i', 5), sidecar('s', 3), gpus('j', 4)],
      [gpus('c', 1)],
      '1.0:gpu-classx3 2.0:gpu-classx3 3.0:gpu-classx1',
      's>1.0 c>3.0 i>1.0 i>3.0 i>2.0 j>3.0 j>2.0',
    ],
    [
      [gpus('i', 5), sidecar('s', 1), gpus('j', 4)],
      [gpus('c', 1)],
      '0.0:gpu-classx3 1.0:gpu-classx1 3.0:gpu-classx1',
      's>1.0 c>3.0 i>1.0 i>3.0 i>0.0 j>3.0 j>0.0',
    ],
    [
      [gpus('i', 3), sidecar('s', 1), gpus('j', 4), sidecar('t', 1)],
      [gpus('c', 1)],
      '1.0:gpu-classx1 2.0:gpu-classx2 3.0:gpu-classx1 4.0:gpu-classx1',
      's>1.0 t>3.0 c>4.0 i>1.0 i>3.0 i>4.0 j>3.0 j>4.0 j>2.0',
    ],
  ]
  for (const [init, containers, requests, mappings] of cases)
    assert.deepEqual(made(podOf(containers, init)), [requests, mappings])
})

test('a class is asked for by its name too; of two for one resource the newer counts, then the first by name', () => {
  const of = classesOfResources([
    deviceClass('old', 'same.com/x', 0),
    deviceClass('new-b', 'same.com/x', 1),
    deviceClass('new-a', 'same.com/x', 1),
    deviceClass('unnamed'),
  ])
  assert.equal(of('same.com/x')?.metadata?.name, 'new-a')
  assert.equal(of('deviceclass.resource.kubernetes.io/unnamed')?.metadata?.name, 'unnamed')
  assert.equal(of('deviceclass.resource.kubernetes.io/nosuch'), undefined)
  assert.equal(of(''), undefined)
})

test('what has no class or is none is not served, and a node that has the resource counts it itself', () => {
  const pod = podOf([asking('c', { cpu: 1, 'none.com/x': 1, 'z.com/x': 0, [GPU]: 1 })])
  assert.deepEqual(servedResources(pod, classOf), [GPU])
  assert.deepEqual(servedResources(podOf([asking('c', { cpu: 1 })]), classOf), [])
  const info = new NodeInfo('n')
  info.setNode({ metadata: { name: 'n' }, status: { allocatable: { [GPU]: '2', 'a.com/y': '0' } } })
  assert.deepEqual(
    [GPU, 'a.com/y', 'z.com/x'].map((resource) => isCountedBy(info, resource)),
    [true, false, false],
  )
})
