import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { SchedulerWorld, asking, nodeOf } from './fixtures.ts'

/** A pod that was promised the room of one that is on its way out keeps a less important one away. */
async function waitingBehindPromise() {
  const world = new SchedulerWorld()
  const promised = asking('promised', '2', { priority: 10, preemptionPolicy: 'Never' })
  world.set(resources.nodes, nodeOf('n', '2'))
  const leaving = asking('leaving', '1', { nodeName: 'n' })
  const metadata = { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
  world.set(resources.pods, { ...leaving, metadata } as Pod)
  world.set(resources.pods, { ...promised, status: { nominatedNodeName: 'n' } } as Pod)
  world.set(resources.pods, asking('small', '1'))
  world.start()
  await world.clock.advance(5_000)
  assert.deepEqual(world.bound, [])
  return { world, promised }
}

test('Given a pod that was promised room, when it is deleted, then a less important one has it', async () => {
  const { world, promised } = await waitingBehindPromise()
  world.unset(resources.pods, promised)
  await world.clock.advance(1_000)
  assert.deepEqual(world.bound, [['small', 'n']])
  world.stop()
})

test('Given a pod that was promised room, when the promise is taken back, then a less important one has it', async () => {
  const { world, promised } = await waitingBehindPromise()
  world.set(resources.pods, promised)
  await world.clock.advance(1_000)
  assert.deepEqual(world.bound, [['small', 'n']])
  world.stop()
})

test('what another scheduler promises its pod keeps nobody away', async () => {
  const world = new SchedulerWorld()
  world.set(resources.nodes, nodeOf('n', '1'))
  const foreign = asking('foreign', '1', { schedulerName: 'other', priority: 10 })
  world.set(resources.pods, { ...foreign, status: { nominatedNodeName: 'n' } } as Pod)
  world.set(resources.pods, asking('own', '1'))
  world.start()
  await world.clock.advance(100)
  assert.deepEqual(world.bound, [['own', 'n']])
  world.stop()
})
