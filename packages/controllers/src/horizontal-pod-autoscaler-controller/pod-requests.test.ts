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
  const other = pod({ containers, resources: { requests: { memory: '1Gi' } } })
  assert.throws(() => sum(other), { message: 'missing pod-level request for cpu in Pod p' })
})
