import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, VirtualClock } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { createMemoryStore } from '../storage/memory-store.ts'
import { turn } from '../testing/test-server.ts'
import { NodePortAllocator } from './node-port-allocator.ts'
import { reviewNodePorts } from './node-port-faults.ts'

const RANGE = { first: 30000, last: 30010 }

function service(name: string, ...nodePorts: number[]): Stored {
  return { metadata: { name }, spec: { ports: nodePorts.map((nodePort) => ({ nodePort })) } }
}

test('ports beyond the range, of several Services and not taken are told of', () => {
  const services = [
    service('fine', 30001, 30001),
    service('far', 31000),
    service('twin', 30001),
    service('free', 30002),
  ]
  const { faults, used } = reviewNodePorts(services, RANGE, (port) => port !== 30002)
  assert.deepEqual(
    faults.map(({ service: { metadata }, finding: { reason, action, note } }) => [
      metadata.name,
      reason,
      action,
      note,
    ]),
    [
      [
        'far',
        'PortOutOfRange',
        'PortAllocation',
        'Port 31000 is not within the port range 30000-30010; please recreate service',
      ],
      [
        'twin',
        'PortAlreadyAllocated',
        'PortAllocation',
        'Port 30001 was assigned to multiple services; please recreate service',
      ],
      ['free', 'PortNotAllocated', 'PortAllocation', 'Port 30002 is not allocated; repairing'],
    ],
  )
  assert.deepEqual([...used].toSorted(), [30001, 30002, 31000])
})

test('a port that no Service has is free when it was found so for the third time', () => {
  const store = createMemoryStore(new VirtualClock({ settle: turn }))
  const ports = new NodePortAllocator(store, new SeededRandom(1), RANGE)
  ports.take(30001, undefined)
  ports.take(30002, undefined)
  assert.equal(ports.settle(new Set([30003])), false)
  assert.ok(ports.isTaken(30003))
  assert.equal(ports.settle(new Set([30003])), false)
  // The Service of one of them has come: it begins anew.
  assert.equal(ports.settle(new Set([30002, 30003])), true)
  assert.deepEqual(
    [30001, 30002].map((port) => ports.isTaken(port)),
    [false, true],
  )
  assert.equal(ports.settle(new Set([30003])), false)
  assert.ok(ports.isTaken(30002))
})
