import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@gyropilot/api'
import { podRequests } from './pod-requests.ts'

const container = (name: string, cpu?: string): Container => ({
  name,
  ...(cpu && { resources: { requests: { cpu } } }),
})

function pod(spec: Partial<NonNullable<Pod['spec']>>, name = 'p'): Pod {
  return { metadata: { name }, spec: { containers: [], ...spec } }
}

const sum = (object: Pod, named?: string, readsPodLevel = true) =>
  podRequests([object], 'cpu', named, readsPodLevel).get('p')

test('a pod requests what its containers and sidecars do; init containers are over', () => {
  const object = pod({
    containers: [container('a', '500m'), container('b', '1')],
    initContainers: [
      { ...container('sidecar', '250m'), restartPolicy: 'Always' },
      container('init', '5'),
    ],
  })
  assert.equal(sum(object), 1_750)
  assert.equal(sum(object, 'b'), 1_000)
  assert.equal(sum(object, 'sidecar'), 250)
})

test('a request that is missing in any container is an error', () => {
  const object = pod({ containers: [container('a', '1'), container('b')] })
  assert.throws(() => sum(object), { message: 'missing request for cpu in container b of Pod p' })
  assert.equal(sum(object, 'a'), 1_000)
})

test('a container that a pod does not have is an error, also where it is one that is over', () => {
  const object = pod({ containers: [container('a', '1')], initContainers: [container('b', '5')] })
  assert.throws(() => sum(object, 'b'), { message: 'container b not found in Pod p' })
  const none = pod({ initContainers: [container('b', '5')] })
  assert.equal(sum(none), 0)
})

test('what the pod as a whole requests comes first, if there is any', () => {
  const containers = [container('a', '1')]
  const whole = pod({ containers, resources: { requests: { cpu: '3' } } })
  assert.equal(sum(whole), 3_000)
  assert.equal(sum(whole, 'a'), 1_000)
  assert.equal(sum(whole, undefined, false), 1_000)
  assert.equal(sum({ ...whole, spec: { ...whole.spec!, overhead: { cpu: '250m' } } }), 3_250)
})

test('what the pod as a whole does not request counts as the scheduler counts it', () => {
  const resources = { requests: { memory: '1Gi' } }
  const of = (containers: Container[], initContainers: Container[] = [], overhead = {}) =>
    sum(pod({ containers, initContainers, resources, overhead }))
  const half = container('a', '500m')
  const sidecar: Container = { ...container('s', '300m'), restartPolicy: 'Always' }
  assert.equal(of([half, container('b')]), 500)
  assert.equal(of([half], [container('i', '2')]), 2_000)
  assert.equal(of([half], [sidecar]), 800)
  assert.equal(of([half], [sidecar, container('i', '1')]), 1_300)
  assert.equal(of([container('b')], [sidecar]), 300)
  assert.equal(of([half], [], { cpu: '250m' }), 750)
  assert.throws(() => of([container('b')]), {
    message: 'missing pod-level request for cpu in Pod p',
  })
})
