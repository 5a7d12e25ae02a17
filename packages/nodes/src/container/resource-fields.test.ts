import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod } from '@gyropilot/api'
import { resourceValue } from './resource-fields.ts'

const container: Container = {
  name: 'c',
  resources: { limits: { cpu: '1250m' }, requests: { cpu: '250m', memory: '32Mi' } },
}
const podOf = (limits?: Record<string, string>): Pod => ({
  spec: { containers: [container], ...(limits ? { resources: { limits } } : {}) },
})
const allocatable = async () => ({ cpu: '4', memory: '8Gi' })

test('amounts are in units of the divisor, rounded up', async () => {
  const value = (resource: string, divisor?: string): Promise<string> =>
    resourceValue(podOf(), container, { resource, divisor }, allocatable)
  assert.equal(await value('limits.cpu'), '2')
  assert.equal(await value('limits.cpu', '0'), '2')
  assert.equal(await value('limits.cpu', '1m'), '1250')
  assert.equal(await value('requests.cpu'), '1')
  assert.equal(await value('requests.memory'), '33554432')
  assert.equal(await value('requests.memory', '1Mi'), '32')
  assert.equal(await value('requests.ephemeral-storage'), '0')
})

test("a limit that is not set is the pod's, else what the node has", async () => {
  const field = { resource: 'limits.memory', divisor: '1Gi' }
  assert.equal(await resourceValue(podOf({ memory: '2Gi' }), container, field, allocatable), '2')
  assert.equal(await resourceValue(podOf(), container, field, allocatable), '8')
})
