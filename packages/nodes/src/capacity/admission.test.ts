import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostPortsOf, podRequests } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { refusalOf } from './admission.ts'

const active = (on: Pod) => ({ requests: podRequests(on), hostPorts: hostPortsOf(on) })

const asking = (cpu: string) =>
  pod({ spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }] } })

test('Two pods bound by hand that exceed cpu: second Failed OutOfcpu with the message form above', () => {
  const small = node({ allocatable: { cpu: '1', pods: '110' } })
  assert.equal(refusalOf(asking('500m'), small, []), undefined)
  assert.deepEqual(refusalOf(asking('2'), small, [active(asking('500m'))]), {
    reason: 'OutOfcpu',
    message: "Node didn't have enough resource: cpu, requested: 2000, used: 500, capacity: 1000",
  })
})

test('pods count too', () => {
  const full = node({ allocatable: { cpu: '8', pods: '1' } })
  assert.equal(refusalOf(pod(), full, [active(pod())])?.reason, 'OutOfpods')
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

test('required node affinity, fields of the node too', () => {
  const isFirst = { key: 'metadata.name', operator: 'In', values: ['n-1'] } as const
  const term = { matchFields: [isFirst] }
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: [term] }
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution }
  const bound = pod({ spec: { affinity: { nodeAffinity } } })
  assert.equal(refusalOf(bound, node({ name: 'n-1' }), []), undefined)
  assert.equal(refusalOf(bound, node({ name: 'n-2' }), [])?.reason, 'NodeAffinity')
})

test('a port of the node that another pod has', () => {
  const at = (hostPort: number) =>
    pod({ spec: { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort }] }] } })
  assert.equal(refusalOf(at(81), node(), [active(at(80))]), undefined)
  assert.deepEqual(refusalOf(at(80), node(), [active(at(80))]), {
    reason: 'NodePorts',
    message:
      "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  })
})

test('a taint with effect NoExecute that is not tolerated; NoSchedule does not concern a kubelet', () => {
  const tainted = (effect: 'NoSchedule' | 'NoExecute') => ({
    ...node(),
    spec: { taints: [{ key: 'k', effect }] },
  })
  assert.equal(refusalOf(pod(), tainted('NoSchedule'), []), undefined)
  assert.deepEqual(refusalOf(pod(), tainted('NoExecute'), []), {
    reason: 'TaintToleration',
    message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  })
  const tolerant = pod({ spec: { tolerations: [{ operator: 'Exists' }] } })
  assert.equal(refusalOf(tolerant, tainted('NoExecute'), []), undefined)
})

test('a sysctl that could harm others', () => {
  const tuned = (...names: string[]) =>
    pod({ spec: { securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } } })
  assert.equal(refusalOf(tuned('kernel.shm_rmid_forced'), node(), []), undefined)
  assert.equal(refusalOf(tuned('net/ipv4/tcp_syncookies'), node(), []), undefined)
  assert.deepEqual(refusalOf(tuned('kernel.shm_rmid_forced', 'kernel.msgmax'), node(), []), {
    reason: 'SysctlForbidden',
    message: 'forbidden sysctl: "kernel.msgmax" not allowlisted',
  })
})
