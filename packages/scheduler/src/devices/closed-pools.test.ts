import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Device, ResourceSlice } from '@gyropilot/api'
import { AllocationError } from './allocation-error.ts'
import { closedPools } from './closed-pools.ts'
import { claim, request, served, slice } from './fixtures.ts'

const pool = (name: string, resourceSliceCount: number, generation = 1) => ({
  pool: { name, generation, resourceSliceCount },
})
const closed = (slices: readonly ResourceSlice[], name = 'n') =>
  closedPools(slices)({ metadata: { name } }).map(({ id, state }) => `${id} ${state}`)
const x: Device = { name: 'x' }
const elsewhere = { nodeName: 'm' }

test('a pool is closed while its driver is at work, on the nodes that have devices of it', () => {
  const whole = slice('a', [x], pool('a', 1))
  const half = slice('b', [x], pool('b', 2))
  assert.deepEqual(closed([whole, half]), ['d.example.com/b being updated'])
  assert.deepEqual(closed([whole, half], 'm'), [])
  // The newer generation has not come to this node yet, and may not.
  const newer = slice('c', [x], { ...pool('b', 2, 2), ...elsewhere })
  assert.deepEqual(closed([half, newer]), [])
  assert.deepEqual(closed([half, newer], 'm'), ['d.example.com/b being updated'])
  const sharedCounters = [{ name: 'set', counters: {} }]
  const shared = slice('d', [], { ...pool('d', 2), ...elsewhere, sharedCounters })
  assert.deepEqual(closed([shared]), ['d.example.com/d being updated'])
  const own = { nodeName: undefined, perDeviceNodeSelection: true }
  const ofDevices = slice('e', [x, { name: 'y', nodeName: 'n' }], { ...pool('e', 2), ...own })
  assert.deepEqual(closed([ofDevices]), ['d.example.com/e being updated'])
  assert.deepEqual(closed([ofDevices], 'm'), [])
})

test('a pool is closed where its slices contradict each other', () => {
  const twice = (spec = {}) => [
    slice('a', [x], pool('a', 2)),
    slice('b', [x], { ...pool('a', 2), ...spec }),
  ]
  assert.deepEqual(closed(twice()), ['d.example.com/a invalid'])
  assert.deepEqual(closed(twice(elsewhere)), [])
  const consuming = (counterSet: string, counter: string): Device => ({
    name: 'x',
    consumesCounters: [{ counterSet, counters: { [counter]: { value: '1' } } }],
  })
  const set = { name: 'set', counters: { memory: { value: '4' } } }
  const states = (
    device: Device,
    sharedCounters: ResourceSlice['spec']['sharedCounters'] = [set],
  ) =>
    closed([
      slice('a', [device], pool('a', 2)),
      slice('b', [], { ...pool('a', 2), sharedCounters }),
    ])
  assert.deepEqual(states(consuming('set', 'memory')), [])
  for (const lost of [consuming('set', 'cores'), consuming('other', 'memory')])
    assert.deepEqual(states(lost), ['d.example.com/a invalid'])
  assert.deepEqual(states(x, [set, set]), ['d.example.com/a invalid'])
})

test('nobody gets all devices while a pool is closed; others get what the other pools have', () => {
  const slices = [slice('a', [x], pool('a', 1)), slice('b', [{ name: 'y' }], pool('b', 2))]
  const all = { allocationMode: 'All', count: undefined } as const
  const either = {
    name: 'some',
    firstAvailable: [
      { name: 'one', deviceClassName: 'c', count: 1 },
      { name: 'all', deviceClassName: 'c', ...all },
    ],
  }
  for (const [asked, name] of [
    [request('some', all), 'some'],
    [either, 'some/all'],
  ] as const)
    assert.throws(() => served([claim({ requests: [asked] })], slices), {
      constructor: AllocationError,
      message: `claim ns/claim, request ${name}: asks for all devices, but resource pool d.example.com/b is currently being updated`,
    })
  assert.deepEqual(served([claim({ requests: [request('one')] })], slices), ['one=x'])
})
