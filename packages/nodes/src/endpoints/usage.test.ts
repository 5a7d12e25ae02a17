import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { nodeUsage, usageOf } from './usage.ts'

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
