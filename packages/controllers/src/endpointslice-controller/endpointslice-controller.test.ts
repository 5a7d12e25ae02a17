import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext as NodeTest } from 'node:test'
import { resources } from '@gyropilot/api'
import type { EndpointSlice, Node, Pod, Service } from '@gyropilot/api'
import { statusError } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { node, pod, pods, service, slice } from '../endpoint-support/fixtures.ts'
import {
  BATCHES,
  POD_HAPPENINGS,
  runningController,
} from '../endpoint-support/running-controller.ts'
import { MANAGER } from './config.ts'
import { endpointSliceController } from './index.ts'

interface Started {
  readonly services?: readonly Service[]
  readonly pods?: readonly Pod[]
  readonly nodes?: readonly Node[]
  readonly batchPeriodMs?: number
  /** Writes of slices are refused. */
  readonly refuses?: boolean
  /** Created slices never come to the cache. */
  readonly hidesCreated?: boolean
}

/** The controller on informers of a server in memory, settled after its first syncs. */
async function running(t: NodeTest, options: Started = {}) {
  const { services = [service()], nodes = [node()], batchPeriodMs = 0 } = options
  const configuration: ControllersConfiguration = {
    ...defaultControllersConfiguration,
    endpointSlice: {
      ...defaultControllersConfiguration.endpointSlice,
      endpointUpdatesBatchPeriodMs: batchPeriodMs,
    },
  }
  const isWrite = (verb: string): boolean => ['create', 'update', 'delete'].includes(verb)
  const running = await runningController(t, endpointSliceController, {
    configuration,
    objects: [
      ...services.map((each) => [resources.services, each] as const),
      ...(options.pods ?? []).map((each) => [resources.pods, each] as const),
      ...nodes.map((each) => [resources.nodes, each] as const),
    ],
    onRequest({ verb, body }) {
      if (options.refuses && isWrite(verb)) throw statusError(500, 'InternalError', 'no')
      if (!options.hidesCreated || verb !== 'create') return undefined
      const object = body as EndpointSlice
      return { ...object, metadata: { ...object.metadata, name: 'hidden', uid: 'hidden' } }
    },
  })
  return {
    ...running,
    slices: () => running.server.list(resources.endpointslices, 'ns') as EndpointSlice[],
    syncs: (result: string) =>
      running.metrics.value('endpoint_slice_controller_syncs', { result }) ?? 0,
  }
}

for (const { what, before, event } of POD_HAPPENINGS) {
  for (const { title, batchPeriodMs, waitsMs, writes } of BATCHES) {
    test(`Given batch period and pod events, then write counts match: ${what}, ${title}`, async (t) => {
      const world = await running(t, { pods: before, batchPeriodMs })
      await world.clock.advance(5_000)
      assert.deepEqual(world.writes(), ['create'])
      for (const [index, waitMs] of waitsMs.entries()) {
        await world.clock.advance(waitMs)
        event(world.server, index)
      }
      await world.clock.advance(3_000)
      assert.deepEqual(world.writes(), [
        'create',
        ...Array.from({ length: writes }, () => 'update'),
      ])
    })
  }
}

test('Deleting a Service issues no slice deletes here', async (t) => {
  const world = await running(t, { pods: [pod()] })
  assert.equal(world.metrics.value('endpoint_slice_controller_endpoints_desired'), 1)
  world.server.remove(resources.services, service())
  await world.clock.advance(10_000)
  assert.deepEqual(world.writes(), ['create'])
  assert.equal(world.slices().length, 1)
  assert.equal(world.metrics.value('endpoint_slice_controller_endpoints_desired'), 0)
})

test('a slice that somebody deletes before its creation is answered is made again', async (t) => {
  const world = await running(t, { services: [], pods: [pod()] })
  let answer: (made: EndpointSlice) => void = () => {}
  let made: EndpointSlice | undefined
  world.server.onRequest = ({ verb, body }) => {
    if (verb !== 'create' || made !== undefined) return undefined
    const { metadata, ...rest } = body as EndpointSlice
    made = world.server.put(resources.endpointslices, {
      ...rest,
      metadata: { ...metadata, name: 'short', generation: 1 },
    })
    return new Promise((resolve) => (answer = resolve))
  }
  world.server.put(resources.services, service())
  await world.clock.advance(100)
  world.server.remove(resources.endpointslices, made!)
  await world.clock.advance(100)
  answer(made!)
  await world.clock.advance(10_000)
  assert.deepEqual([world.slices().length, world.syncs('stale')], [1, 0])
})

test('Slices whose managed-by label names another controller are invisible; user-owned slices for the same Service are untouched', async (t) => {
  const world = await running(t, { pods: [pod()] })
  const foreign = slice({ name: 'foreign', manager: 'somebody' })
  const { metadata, ...rest } = slice({ name: 'by-hand' })
  const byHand = {
    ...rest,
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'svc' } },
  }
  world.server.put(resources.endpointslices, foreign)
  world.server.put(resources.endpointslices, byHand)
  world.server.put(resources.services, service({ labels: { changed: 'x' } }))
  await world.clock.advance(10_000)
  assert.deepEqual(world.writes(), ['create', 'update'])
  assert.deepEqual(
    world
      .slices()
      .map(({ metadata: { name = '' } = {} }) => name.slice(0, 4))
      .toSorted(),
    ['by-h', 'fore', 'svc-'],
  )
})

test('a slice that somebody deletes comes back after a second', async (t) => {
  const world = await running(t, { pods: [pod()] })
  await world.clock.advance(5_000)
  world.server.remove(resources.endpointslices, world.slices()[0]!)
  await world.clock.advance(999)
  assert.deepEqual(world.writes(), ['create'])
  await world.clock.advance(1)
  assert.deepEqual(world.writes(), ['create', 'create'])
})

for (const [what, labels] of [
  ['names no Service', { 'endpointslice.kubernetes.io/managed-by': MANAGER }],
  ['has no manager', { 'kubernetes.io/service-name': 'svc' }],
] as const) {
  test(`a slice whose labels a user changes, so that it ${what}, is replaced and not waited for`, async (t) => {
    const world = await running(t, { pods: [pod()] })
    await world.clock.advance(5_000)
    const [taken] = world.slices()
    world.server.put(resources.endpointslices, {
      ...taken!,
      metadata: { ...taken!.metadata, labels, generation: 2 },
    })
    await world.clock.advance(1_000)
    assert.deepEqual(world.writes(), ['create', 'create'])
    assert.equal(world.syncs('stale'), 0)
  })
}

test('a batch period above a second also delays what others do to slices', async (t) => {
  const world = await running(t, { pods: [pod()], batchPeriodMs: 3_000 })
  await world.clock.advance(10_000)
  world.server.remove(resources.endpointslices, world.slices()[0]!)
  await world.clock.advance(2_999)
  assert.deepEqual(world.writes(), ['create'])
  await world.clock.advance(1)
  assert.deepEqual(world.writes(), ['create', 'create'])
})

test('The stale error backs off from 1 s, not 5 ms', async (t) => {
  const world = await running(t, { hidesCreated: true })
  assert.equal(world.syncs('success'), 1)
  world.server.put(resources.services, service())
  await world.clock.advance(0)
  assert.equal(world.syncs('stale'), 1)
  await world.clock.advance(999)
  assert.equal(world.syncs('stale'), 1)
  await world.clock.advance(1)
  assert.equal(world.syncs('stale'), 2)
  await world.clock.advance(2_000)
  assert.equal(world.syncs('stale'), 3)
  assert.deepEqual(world.writes(), ['create'])
})

test('after 15 retries a Service is dropped until something happens to it', async (t) => {
  const world = await running(t, { refuses: true })
  await world.clock.advance(24 * 3_600_000)
  assert.equal(world.syncs('error'), 16)
  world.server.put(resources.services, service())
  await world.clock.advance(0)
  assert.equal(world.syncs('error'), 17)
})

test('events come from endpoint-slice-controller and are about the Service', async (t) => {
  const world = await running(t, { refuses: true })
  assert.deepEqual(
    world.events.map(({ component, regarding, reason }) => [component, regarding.kind, reason]),
    [['endpoint-slice-controller', 'Service', 'FailedToUpdateEndpointSlices']],
  )
})

test('After node changes, Services whose zone has fewer than ceil(total*share/1.2) endpoints are re-synced', async (t) => {
  const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' }
  const nodes = ['a', 'b'].map((zone) => node({ name: `node-${zone}`, zone, cpu: '1' }))
  const world = await running(t, {
    services: [service({ annotations })],
    nodes,
    pods: pods(4, (index) => ({ node: index < 2 ? 'node-a' : 'node-b' })),
  })
  const zonesServed = (): string[] =>
    world
      .slices()
      .flatMap(({ endpoints = [] }) =>
        endpoints.map(({ hints }) => hints?.forZones?.[0]?.name ?? ''),
      )
      .toSorted()
  assert.deepEqual(
    world.events.map(({ reason }) => reason),
    ['TopologyAwareHintsEnabled'],
  )
  assert.deepEqual(zonesServed(), ['a', 'a', 'b', 'b'])
  world.server.put(resources.nodes, node({ name: 'node-a2', zone: 'a', cpu: '2' }))
  await world.clock.advance(0)
  assert.deepEqual(zonesServed(), ['a', 'a', 'a', 'b'])
  world.server.put(resources.nodes, node({ name: 'unzoned', cpu: '1' }))
  await world.clock.advance(0)
  assert.deepEqual(zonesServed(), ['', '', '', ''])
})
