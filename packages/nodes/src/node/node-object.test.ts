import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSaid, nodeObject, nodeStatus, resourcesGone } from './node-object.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const plain = { name: 'n', hostIps: ['192.168.0.11'] }
const addresses = [
  { type: 'InternalIP', address: '192.168.0.11' },
  { type: 'Hostname', address: 'n' },
]

test('a node without a cloud has no taint and keeps to its own addresses', () => {
  const node = nodeObject(plain, NOW_MS)
  assert.equal(node.spec?.taints, undefined)
  assert.deepEqual(node.status?.addresses, addresses)
  const stored = { addresses: [{ type: 'ExternalIP', address: '1.1.1.1' }] }
  assert.deepEqual(nodeStatus(plain, stored, NOW_MS).addresses, addresses)
})

test('a node of a cloud waits for it, and leaves its addresses to it once there are any', () => {
  const clouded = { ...plain, hasCloud: true, taints: [{ key: 'own', effect: 'NoExecute' }] }
  const node = nodeObject(clouded, NOW_MS)
  assert.deepEqual(node.spec?.taints, [
    { key: 'own', effect: 'NoExecute' },
    {
      key: 'node.cloudprovider.kubernetes.io/uninitialized',
      value: 'true',
      effect: 'NoSchedule',
    },
  ])
  assert.deepEqual(node.status?.addresses, addresses)
  const stored = { addresses: [{ type: 'ExternalIP', address: '1.1.1.1' }] }
  assert.ok(!('addresses' in nodeStatus(clouded, stored, NOW_MS)))
  assert.deepEqual(nodeStatus(clouded, {}, NOW_MS).addresses, addresses)
})

test('a node of both families has an address and a range of each', () => {
  const node = nodeObject(
    {
      name: 'n',
      hostIps: ['192.168.0.11', 'fd00::b'],
      podCidrs: ['10.1.0.0/24', 'fd00:1::/64'],
    },
    NOW_MS,
  )
  assert.deepEqual(node.status?.addresses, [
    addresses[0],
    { type: 'InternalIP', address: 'fd00::b' },
    addresses[1],
  ])
  assert.equal(node.spec?.podCIDR, '10.1.0.0/24')
  assert.deepEqual(node.spec?.podCIDRs, ['10.1.0.0/24', 'fd00:1::/64'])
})

test('a node says that it follows policies for the groups of containers', () => {
  assert.deepEqual(nodeObject(plain, NOW_MS).status?.features, { supplementalGroupsPolicy: true })
})

test("what others count on a node may be used, its own amounts are the node's to say", () => {
  const capacity = { cpu: '64', 'example.com/dongle': '4' }
  const status = nodeStatus(plain, { capacity }, NOW_MS)
  assert.equal(status.allocatable?.['example.com/dongle'], '4')
  assert.equal(status.allocatable?.['cpu'], '8')
  assert.equal(status.capacity?.['example.com/dongle'], undefined)
  const allocatable = { ...status.allocatable, 'example.com/gone': '1', 'hugepages-64Ki': '0' }
  assert.deepEqual(resourcesGone(status, { allocatable }), ['example.com/gone'])
})

test('a status that says what is stored, in whatever words and at whatever time, is said already', () => {
  const stored = nodeObject(plain, NOW_MS).status!
  const status = nodeStatus(plain, stored, NOW_MS + 10_000)
  const [memory, ...others] = stored.conditions!
  assert.equal(isSaid(status, stored), true)
  assert.equal(isSaid(status, { ...stored, capacity: { ...stored.capacity, cpu: '8000m' } }), true)
  for (const change of [
    { capacity: { ...stored.capacity, cpu: '9' } },
    { allocatable: { ...stored.allocatable, pods: '9' } },
    { allocatable: { ...stored.allocatable, 'example.com/gone': '1' } },
    { addresses: [] },
    { conditions: others },
    { conditions: [{ ...memory!, status: 'Unknown' as const }, ...others] },
  ])
    assert.equal(isSaid(status, { ...stored, ...change }), false, JSON.stringify(change))
  assert.equal(isSaid(status, undefined), false)
})
