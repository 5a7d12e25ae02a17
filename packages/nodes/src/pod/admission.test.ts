import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podRequests } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { refusalOf } from './admission.ts'

const asking = (cpu: string) =>
  pod({ spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }] } })

test('Two pods bound by hand that exceed cpu: second Failed OutOfcpu with the message form above', () => {
  const small = node({ allocatable: { cpu: '1', pods: '110' } })
  assert.equal(refusalOf(asking('500m'), small, []), undefined)
  assert.deepEqual(refusalOf(asking('2'), small, [podRequests(asking('500m'))]), {
    reason: 'OutOfcpu',
    message: "Node didn't have enough resource: cpu, requested: 2000, used: 500, capacity: 1000",
  })
})

test('pods count too', () => {
  const full = node({ allocatable: { cpu: '8', pods: '1' } })
  assert.equal(refusalOf(pod(), full, [podRequests(pod())])?.reason, 'OutOfpods')
})

test('resources that the node does not know are ignored', () => {
  const gpu = pod({
    spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { 'a.io/gpu': '1' } } }] },
  })
  assert.equal(refusalOf(gpu, node(), []), undefined)
})

test('resources that devices serve the pod are not counted', () => {
  const requests = { 'a.io/gpu': '1' }
  const gpu = pod({ spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })
  const none = node({ allocatable: { 'a.io/gpu': '0' } })
  assert.equal(refusalOf(gpu, none, [])?.reason, 'OutOfa.io/gpu')
  const requestMappings = [{ containerName: 'c', requestName: 'r', resourceName: 'a.io/gpu' }]
  const extendedResourceClaimStatus = { resourceClaimName: 'claim', requestMappings }
  const served = { ...gpu, status: { ...gpu.status, extendedResourceClaimStatus } }
  assert.equal(refusalOf(served, none, []), undefined)
})

test('a node selector that does not match is refused', () => {
  const picky = pod({ spec: { nodeSelector: { disk: 'ssd' } } })
  assert.equal(refusalOf(picky, node(), [])?.reason, 'NodeAffinity')
  assert.equal(refusalOf(picky, node({ labels: { disk: 'ssd' } }), []), undefined)
})
