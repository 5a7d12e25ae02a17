import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Device, ResourceSlice } from '@gyropilot/api'
import { allocate } from './allocate.ts'
import { devicesByNode, publishedDevices } from './device-pools.ts'
import { claim, request, slice } from './fixtures.ts'
import { Selectors } from './selectors.ts'

/** The device that the node gives while others are taken. */
function givenOn(nodeName: string, slices: readonly ResourceSlice[], taken: readonly string[]) {
  const results = allocate([claim({ requests: [request('r')] })], {
    devices: devicesByNode(publishedDevices(slices))({ metadata: { name: nodeName } }),
    closedPools: [],
    taken: new Set(taken.map((device) => `d.example.com/p/${device}`)),
    shares: new Map(),
    newShareId: () => 'share',
    classes: (name) => ({ metadata: { name }, spec: {} }),
    selectors: new Selectors(),
  })
  return results?.[0]?.devices?.results?.[0]?.device
}

test('counters that devices of several nodes share are used up by those of other nodes too', () => {
  const pool = { name: 'p', generation: 1, resourceSliceCount: 3 }
  const part = (name: string, memory: string): Device => ({
    name,
    consumesCounters: [{ counterSet: 'fabric', counters: { memory: { value: memory } } }],
  })
  const sharedCounters = [{ name: 'fabric', counters: { memory: { value: '40Gi' } } }]
  const slices = [
    slice('counters', [], { pool, nodeName: undefined, allNodes: true, sharedCounters }),
    slice('of-n', [part('whole', '40Gi'), part('half', '20Gi')], { pool, nodeName: 'n' }),
    slice('of-m', [part('other', '20Gi')], { pool, nodeName: 'm' }),
  ]
  assert.equal(givenOn('m', slices, []), 'other')
  assert.equal(givenOn('m', slices, ['whole']), undefined)
  assert.equal(givenOn('m', slices, ['half']), 'other')
  assert.equal(givenOn('n', slices, ['other']), 'half')
})
