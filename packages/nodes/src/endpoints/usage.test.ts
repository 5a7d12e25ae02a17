import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { DEFAULT_BEHAVIOR, behaviorOf } from '../behavior/behavior.ts'
import { nodeUsage, podUsage, usageOf } from './usage.ts'
import type { LoadTimes, Usage } from './usage.ts'

test('usage is a part of the requests, the same for the same pod', () => {
  const container = {
    name: 'c',
    image: 'i',
    resources: { requests: { cpu: '1', memory: '100Mi' } },
  }
  for (const name of ['a', 'b', 'c', 'd']) {
    const given = pod({ name, spec: { containers: [container] } })
    const usage = usageOf(given, container)
    assert.deepEqual(usageOf(given, container), usage)
    assert.ok(usage.cpuNanoCores >= 400_000_000 && usage.cpuNanoCores <= 800_000_000)
    assert.ok(usage.memoryBytes >= 40 * 2 ** 20 && usage.memoryBytes <= 80 * 2 ** 20)
  }
})

test('without requests it is little, and a node uses something by itself', () => {
  const container = { name: 'c', image: 'i' }
  const usage = usageOf(pod({ spec: { containers: [container] } }), container)
  assert.ok(usage.cpuNanoCores > 0 && usage.cpuNanoCores <= 5_000_000)
  assert.equal(nodeUsage([usage]).cpuNanoCores - nodeUsage([]).cpuNanoCores, usage.cpuNanoCores)
  assert.ok(nodeUsage([]).memoryBytes > 0)
})

const SECOND_MS = 1_000
const times = { nowMs: 60 * SECOND_MS, sinceMs: 30 * SECOND_MS, sharing: undefined }

function usages(
  annotations: Readonly<Record<string, string>>,
  given: Partial<LoadTimes> & { readonly limits?: Readonly<Record<string, string>> } = {},
) {
  const container = {
    image: 'i',
    resources: { requests: { cpu: '1' }, limits: given.limits ?? {} },
  }
  const containers = [
    { name: 'a', ...container },
    { name: 'b', ...container },
  ]
  const own = pod({ annotations, spec: { containers } })
  const { usage } = behaviorOf(own, DEFAULT_BEHAVIOR, assert.fail)
  return podUsage(own, containers, usage, { ...times, ...given })
}

const milliCores = (given: readonly Usage[]) => given.map(({ cpuNanoCores }) => cpuNanoCores / 1e6)
const bytes = (given: readonly Usage[]) => given.map(({ memoryBytes }) => memoryBytes)

test('what is scripted is what the containers of the pod use together', () => {
  assert.deepEqual(milliCores(usages({ 'sim.kubelet/cpu': '300m' })), [150, 150])
  assert.deepEqual(bytes(usages({ 'sim.kubelet/memory': '3k' })), [1_500, 1_500])
  const [plain] = usages({ 'sim.kubelet/memory': '3k' })
  assert.ok(plain!.cpuNanoCores >= 400e6 && plain!.cpuNanoCores <= 800e6)
})

test('steps of a pod count from its start, steps of a shared load from that of its first pod', () => {
  const steps = '2,30s=4,40s=8'
  assert.deepEqual(milliCores(usages({ 'sim.kubelet/cpu': steps })), [2_000, 2_000])
  const sharing = { pods: 4, sinceMs: 20 * SECOND_MS }
  const shared = usages({ 'sim.kubelet/shared-cpu': steps }, { sharing })
  assert.deepEqual(milliCores(shared), [1_000, 1_000])
})

test('a part of a shared load comes on top of what is the pod’s own; who shares nothing has that alone', () => {
  const both = { 'sim.kubelet/cpu': '100m', 'sim.kubelet/shared-cpu': '1' }
  const sharing = { pods: 5, sinceMs: 0 }
  assert.deepEqual(milliCores(usages(both, { sharing })), [150, 150])
  assert.deepEqual(milliCores(usages(both)), [50, 50])
  assert.deepEqual(milliCores(usages({ 'sim.kubelet/shared-cpu': '1' })), [0, 0])
})

test('no container uses more than its limits', () => {
  const limits = { cpu: '200m', memory: '1Ki' }
  const given = { 'sim.kubelet/cpu': '10', 'sim.kubelet/memory': '1Gi' }
  assert.deepEqual(milliCores(usages(given, { limits })), [200, 200])
  assert.deepEqual(bytes(usages(given, { limits })), [1_024, 1_024])
})
