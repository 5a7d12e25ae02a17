import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { classOf, devicesOf, sliceOf } from './device-list.ts'

const node = (devices?: string): Node => ({
  metadata: {
    name: 'node-1',
    uid: 'u',
    ...(devices !== undefined && { annotations: { 'sim.kubelet/devices': devices } }),
  },
})

test('devices by driver, and what cannot be read', () => {
  const cases: readonly (readonly [string | undefined, Record<string, number>, number])[] = [
    [undefined, {}, 0],
    ['', {}, 0],
    ['gpu.example.com=4', { 'gpu.example.com': 4 }, 0],
    [' gpu.example.com=4 , nic.example.com=0,', { 'gpu.example.com': 4, 'nic.example.com': 0 }, 0],
    ['gpu.example.com=128', { 'gpu.example.com': 128 }, 0],
    ['gpu.example.com=129,a=1', { a: 1 }, 1],
    ['gpu.example.com', {}, 1],
    ['gpu.example.com=x', {}, 1],
    ['gpu.example.com=1=2', {}, 1],
    ['GPU=1', {}, 1],
    [`${'a'.repeat(64)}=1`, {}, 1],
  ]
  for (const [text, devices, count] of cases) {
    const problems: string[] = []
    assert.deepEqual(
      Object.fromEntries(devicesOf(node(text), (each) => problems.push(each))),
      devices,
    )
    assert.equal(problems.length, count, text ?? 'none')
  }
})

test('a slice is the whole pool of its node, and a class selects all of a driver', () => {
  const { metadata, spec } = sliceOf(node(), 'gpu.example.com', 2, 7)
  assert.equal(metadata?.name, 'node-1-gpu.example.com')
  assert.deepEqual(metadata?.ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u', controller: true },
  ])
  assert.deepEqual(spec.pool, { name: 'node-1', generation: 7, resourceSliceCount: 1 })
  assert.deepEqual(
    spec.devices?.map(({ name, attributes }) => [name, attributes?.['index']?.int]),
    [
      ['gpu-0', 0],
      ['gpu-1', 1],
    ],
  )
  const [selector] = classOf('gpu.example.com').spec.selectors ?? []
  assert.equal(selector?.cel?.expression, 'device.driver == "gpu.example.com"')
})
