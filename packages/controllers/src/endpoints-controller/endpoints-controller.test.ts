import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext as NodeTest } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Endpoints, Pod, Service } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { statusError, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { pod, service } from '../endpoint-support/fixtures.ts'
import {
  BATCHES,
  POD_HAPPENINGS,
  runningController,
} from '../endpoint-support/running-controller.ts'
import { endpoints } from './fixtures.ts'
import { endpointsController, endpointsLogic } from './index.ts'
import { endpointsWatch, leftOverKeys } from './watches.ts'

interface Started {
  readonly services?: readonly Service[]
  readonly pods?: readonly Pod[]
  readonly endpoints?: readonly Endpoints[]
  readonly batchPeriodMs?: number
  readonly refuses?: boolean
}

async function running(t: NodeTest, options: Started = {}) {
  const { services = [service()], batchPeriodMs = 0 } = options
  const configuration = {
    ...defaultControllersConfiguration,
    endpoints: {
      ...defaultControllersConfiguration.endpoints,
      endpointUpdatesBatchPeriodMs: batchPeriodMs,
    },
  }
  const world = await runningController(t, endpointsController, {
    configuration,
    objects: [
      ...services.map((each) => [resources.services, each] as const),
      ...(options.pods ?? []).map((each) => [resources.pods, each] as const),
      ...(options.endpoints ?? []).map((each) => [resources.endpoints, each] as const),
    ],
    onRequest({ verb }) {
      if (options.refuses && ['create', 'update', 'delete'].includes(verb))
        throw statusError(500, 'InternalError', 'no')
      return undefined
    },
  })
  return { ...world, all: () => world.server.list(resources.endpoints, 'ns') as Endpoints[] }
}

test('names are those of the page', () => {
  const { name, aliases, serviceAccount } = endpointsController
  assert.ok(endpointsController.enabledByDefault)
  assert.deepEqual(
    [name, aliases, serviceAccount],
    ['endpoints-controller', ['endpoint'], 'endpoint-controller'],
  )
})

test('queue, component, workers and retries are those of the page', () => {
  const logic = endpointsLogic(testContext({ configuration: defaultControllersConfiguration }))
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers, logic.maxRetries],
    ['endpoint', 'endpoint-controller', 5, 15],
  )
})

for (const { what, before, event } of POD_HAPPENINGS) {
  for (const { title, batchPeriodMs, waitsMs, writes } of BATCHES) {
    test(`Given a 2 s batch period and pod adds/updates/deletes at known times, then the number of writes matches: ${what}, ${title}`, async (t) => {
      const world = await running(t, { pods: before, batchPeriodMs: batchPeriodMs * 2 })
      await world.clock.advance(5_000)
      assert.deepEqual(world.writes(), ['create'])
      for (const [index, waitMs] of waitsMs.entries()) {
        await world.clock.advance(waitMs * 2)
        event(world.server, index)
      }
      await world.clock.advance(6_000)
      assert.deepEqual(world.writes(), ['create', ...Array<string>(writes).fill('update')])
    })
  }
}

test('Pod readiness flips back and forth within one batch period produce one write.', async (t) => {
  const world = await running(t, { pods: [pod()], batchPeriodMs: 1_000 })
  await world.clock.advance(2_000)
  for (const ready of [false, true, false]) {
    world.server.put(resources.pods, pod({ ready }))
    await world.clock.advance(100)
  }
  await world.clock.advance(5_000)
  assert.deepEqual(world.writes(), ['create', 'update'])
  assert.equal(world.all()[0]?.subsets?.[0]?.notReadyAddresses?.length, 1)
})

test('Given leftover Endpoints without Service, then the key is queued once at start', async (t) => {
  const leader = endpoints({
    name: 'lock',
    annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' },
  })
  const world = await running(t, { services: [], endpoints: [endpoints({ name: 'old' }), leader] })
  await world.clock.advance(1_000)
  assert.deepEqual(
    [world.writes(), world.all().map(({ metadata }) => metadata?.name)],
    [['delete'], ['lock']],
  )
  world.server.put(resources.endpoints, endpoints({ name: 'later' }))
  await world.clock.advance(1_000)
  assert.equal(world.writes().length, 1)
})

test('the keys looked at once are of all Endpoints but those that hold a lock', () => {
  const lock = endpoints({ annotations: { 'control-plane.alpha.kubernetes.io/leader': '' } })
  assert.deepEqual(leftOverKeys([endpoints({ name: 'a' }), lock]), ['ns/a'])
})

test('Given an unexpected Endpoints deletion, then it is recreated', async (t) => {
  const world = await running(t, { pods: [pod()] })
  const [made] = world.all()
  world.server.remove(resources.endpoints, made!)
  await world.clock.advance(1_000)
  assert.deepEqual(world.writes(), ['create', 'create'])
  assert.deepEqual(world.all()[0]?.subsets, made?.subsets)
  const tombstone = new DeletedFinalStateUnknown<Endpoints>('ns/svc', undefined)
  assert.deepEqual([...endpointsWatch.onDelete!(tombstone)], ['ns/svc'])
  assert.deepEqual([...endpointsWatch.onDelete!(endpoints())], ['ns/svc'])
})

test('Given an ExternalName Service turned ClusterIP, then Endpoints appear', async (t) => {
  const external = service({ spec: { type: 'ExternalName', externalName: 'example.com' } })
  const world = await running(t, { services: [external], pods: [pod()] })
  assert.deepEqual(world.writes(), [])
  world.server.put(resources.services, service())
  await world.clock.advance(1_000)
  assert.equal(world.all()[0]?.subsets?.[0]?.addresses?.length, 1)
})

test('Given more than 1000 pods, then the object carries `truncated`', async (t) => {
  const many = Array.from({ length: 1_001 }, (_, index) =>
    pod({ name: `p${index}`, ips: [`10.9.${index >> 8}.${index & 255}`] }),
  )
  const world = await running(t, { pods: many })
  const [made] = world.all()
  assert.equal(made?.metadata?.annotations?.['endpoints.kubernetes.io/over-capacity'], 'truncated')
  assert.equal(made?.subsets?.[0]?.addresses?.length, 1_000)
  world.server.remove(resources.pods, many[0]!)
  await world.clock.advance(1_000)
  assert.equal(
    world.all()[0]?.metadata?.annotations?.['endpoints.kubernetes.io/over-capacity'],
    undefined,
  )
})

test('The object is deleted when the Service vanishes even if a user created it by hand for a selector-less Service of that name.', async (t) => {
  const bare = service({ spec: { selector: undefined } as never })
  const byHand = endpoints({ labels: {}, subsets: [{ addresses: [{ ip: '10.1.2.3' }] }] })
  const world = await running(t, { services: [bare], endpoints: [byHand] })
  await world.clock.advance(1_000)
  assert.deepEqual(world.writes(), [])
  world.server.remove(resources.services, bare)
  await world.clock.advance(1_000)
  assert.deepEqual([world.writes().includes('delete'), world.all()], [true, []])
})

test('a Service whose Endpoints cannot be written is dropped after 15 retries', async (t) => {
  const world = await running(t, { refuses: true })
  await world.clock.advance(2_000_000)
  assert.equal(world.writes().length, 16)
  assert.equal(world.events.at(-1)?.reason, 'FailedToCreateEndpoint')
})
