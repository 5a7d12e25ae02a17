import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { localPod } from './local-pod.ts'
import { actualPod, grantedPod, needsRestart, resizeMessage, resizesOf } from './pod-resize.ts'
import type { ContainerResources } from './local-pod.ts'

const amounts = (cpu: string, memory: string): ContainerResources => ({ requests: { cpu, memory } })
const container = (name: string, resources: ContainerResources = {}) => ({
  name,
  image: 'x',
  resources,
})

test('containers of every role whose amounts differ are resized; other words for the same are no resize', () => {
  const before = pod({
    spec: {
      initContainers: [
        container('init', amounts('1', '1Gi')),
        { ...container('side', amounts('1', '1Gi')), restartPolicy: 'Always' },
      ],
      containers: [container('a', amounts('100m', '1Gi')), container('b')],
    },
  })
  const local = localPod(before, 0)
  const asked = (init: string, side: string, a: string, b: ContainerResources) =>
    resizesOf(
      pod({
        spec: {
          initContainers: [
            container('init', amounts(init, '1Gi')),
            container('side', amounts(side, '1Gi')),
          ],
          containers: [container('a', amounts(a, '1024Mi')), container('b', b)],
        },
      }),
      local,
    )
  const names = (resizes: ReturnType<typeof asked>) =>
    [...resizes.keys()].map(({ spec }) => spec.name)
  assert.deepEqual(names(asked('1000m', '1.0', '0.1', {})), [])
  assert.deepEqual(names(asked('2', '2', '200m', amounts('1', '1'))), ['init', 'side', 'a', 'b'])
})

test('a container starts again only for a resource whose policy says so', () => {
  const policy = [
    { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    { resourceName: 'memory', restartPolicy: 'RestartContainer' },
  ]
  const limited = { ...amounts('1', '1Gi'), limits: { memory: '2Gi' } }
  const table: readonly [ContainerResources, boolean][] = [
    [amounts('2', '1Gi'), false],
    [amounts('1', '1024Mi'), false],
    [amounts('1', '2Gi'), true],
    [limited, true],
    [{}, true],
  ]
  for (const [after, restarts] of table) {
    const spec = { ...container('a'), resizePolicy: policy }
    assert.equal(needsRestart(spec, amounts('1', '1Gi'), after), restarts, JSON.stringify(after))
    assert.equal(needsRestart(container('a'), amounts('1', '1Gi'), after), false)
  }
})

test('the pod as it was granted has the granted amounts in the place of those that are asked for', () => {
  const local = localPod(pod({ spec: { containers: [container('a', amounts('1', '1Gi'))] } }), 0)
  const asked = pod({ spec: { containers: [container('a', amounts('9', '9Gi'))] } })
  assert.deepEqual(grantedPod(asked, local).spec?.containers[0]?.resources, amounts('1', '1Gi'))
})

test('the pod as it runs has what containers run with, and of init containers what they were granted', () => {
  const spec = {
    initContainers: [container('init', amounts('1', '1Gi'))],
    containers: [container('a', amounts('1', '1Gi')), container('b', amounts('1', '1Gi'))],
  }
  const local = localPod(pod({ spec }), 0)
  for (const one of local.containers.filter(({ spec: { name } }) => name !== 'b'))
    one.resources = amounts('2', '2Gi')
  const { initContainers, containers } = actualPod(pod({ spec }), local).spec!
  assert.deepEqual(initContainers?.[0]?.resources, amounts('1', '1Gi'))
  assert.deepEqual(containers[0]?.resources, amounts('2', '2Gi'))
  assert.deepEqual(containers[1]?.resources, amounts('1', '1Gi'))
})

test('events tell the resources of all containers, the generation and what is wrong', () => {
  const spec = {
    containers: [container('a', { requests: { cpu: '1' }, limits: { cpu: '2' } }), container('b')],
  }
  assert.equal(
    resizeMessage('started', pod({ spec }), 3),
    'Pod resize started: {"containers":[{"name":"a","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}},{"name":"b","resources":{}}],"generation":3}',
  )
  const initContainers = [container('s', amounts('1', '1Gi'))]
  assert.equal(
    resizeMessage('Deferred', pod({ spec: { ...spec, initContainers } }), 4, 'no room'),
    'Pod resize Deferred: {"initContainers":[{"name":"s","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],"containers":[{"name":"a","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}},{"name":"b","resources":{}}],"generation":4,"error":"no room"}',
  )
})
