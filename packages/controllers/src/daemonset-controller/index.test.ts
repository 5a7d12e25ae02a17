import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { DaemonSet, KubernetesObject, WatchEvent } from '@gyropilot/api'
import { KeyedBackoff, SharedInformerFactory } from '@gyropilot/runtime'
import { startLoop, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import {
  BACKOFF_COLLECTION_PERIOD_MS,
  FAILED_POD_BACKOFF_MAX_MS,
  FAILED_POD_BACKOFF_MS,
} from './config.ts'
import { targetNodeOf } from './daemon-pod.ts'
import { daemonPod, daemonSet, node, revision } from './fixtures.ts'
import { daemonSetController, daemonSetLogic } from './index.ts'
import { nodeDecisions } from './node-decision.ts'

interface Given {
  readonly objects: readonly KubernetesObject[]
  readonly featureGates?: Readonly<Record<string, boolean>>
}

const TYPES = {
  DaemonSet: resources.daemonsets,
  Node: resources.nodes,
  Pod: resources.pods,
  ControllerRevision: resources.controllerrevisions,
} as const

/** The controller at work on a server in memory. */
async function running({ objects, featureGates = {} }: Given) {
  const configuration = { ...defaultControllersConfiguration, featureGates }
  const context = testContext({ name: 'daemonset-controller', configuration })
  const { client, clock, random, logger } = context
  const put = (object: KubernetesObject) =>
    client.put(TYPES[object.kind as keyof typeof TYPES], object)
  for (const object of objects) put(object)
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  const controller = await daemonSetController.build({ ...context, informers })
  const { stop } = startLoop(controller, clock, informers)
  await clock.advance(1_000)
  return {
    client,
    clock,
    put,
    events: context.events,
    metrics: context.metrics,
    pods: () => client.list(resources.pods, 'ns').map(targetNodeOf).toSorted(),
    status: () => (client.get(resources.daemonsets, 'ns', 'ds') as DaemonSet).status,
    writes: () => client.requested('create', 'update', 'patch', 'delete').length,
    stop,
  }
}

test('names are those of the page', () => {
  const { name, aliases, serviceAccount } = daemonSetController
  assert.deepEqual(
    [name, aliases, serviceAccount],
    ['daemonset-controller', ['daemonset'], 'daemon-set-controller'],
  )
  assert.equal(daemonSetController.enabledByDefault, true)
  assert.deepEqual(defaultControllersConfiguration.daemonSet, { concurrentDaemonSetSyncs: 2 })
  const owner = daemonSet({ uid: 'of this one' })
  const context = testContext({ configuration: defaultControllersConfiguration, cached: [owner] })
  const { clock } = context
  const logic = daemonSetLogic(context, nodeDecisions(), new KeyedBackoff(clock, 1, 1))
  assert.equal(logic.staleGuard?.ownerUid(logic.observe('ns/ds')!), 'of this one')
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers],
    ['daemonset', 'daemonset-controller', 2],
  )
  const resourcesOf = (all: readonly { readonly type: { readonly resource: string } }[] = []) =>
    all.map(({ type }) => type.resource)
  assert.deepEqual(resourcesOf(logic.watches), ['daemonsets', 'pods', 'controllerrevisions'])
  assert.deepEqual(resourcesOf(logic.alsoAwait), ['nodes'])
  const { informers, metric } = logic.staleGuard
  assert.deepEqual(resourcesOf(informers), ['pods', 'daemonsets', 'controllerrevisions'])
  assert.deepEqual(metric, {
    name: 'daemonset_controller_stale_sync_skips_total',
    kind: 'DaemonSet',
  })
})

test('a DaemonSet is observed with its nodes by name, and forgotten with what was awaited', () => {
  const cached = [daemonSet(), node('a')]
  const context = testContext({ configuration: defaultControllersConfiguration, cached })
  const logic = daemonSetLogic(context, nodeDecisions(), new KeyedBackoff(context.clock, 1, 1))
  const observed = logic.observe('ns/ds')!
  assert.equal(observed.key, 'ns/ds')
  assert.equal(observed.nodeNamed('a')?.metadata?.name, 'a')
  assert.equal(observed.nodeNamed('b'), undefined)
  logic.expectations!.expectCreations('ns/ds', 1)
  assert.equal(observed.expectationsMet(), false)
  logic.forget!('ns/ds')
  assert.equal(observed.expectationsMet(), true)
})

test('the back-off of failed pods is a second that doubles up to a quarter of an hour', () => {
  assert.deepEqual(
    [FAILED_POD_BACKOFF_MS, FAILED_POD_BACKOFF_MAX_MS, BACKOFF_COLLECTION_PERIOD_MS],
    [1_000, 900_000, 60_000],
  )
})

test('pods are made for all nodes, and for one that joins', async () => {
  const world = await running({ objects: [daemonSet(), node('a'), node('b')] })
  assert.deepEqual(world.pods(), ['a', 'b'])
  assert.equal(world.status()?.desiredNumberScheduled, 2)
  world.put(node('c'))
  await world.clock.advance(1_000)
  assert.deepEqual(world.pods(), ['a', 'b', 'c'])
  assert.ok(world.events.every(({ component }) => component === 'daemonset-controller'))
  for (const name of ['daemonset', 'daemonset-node-updates'])
    assert.ok(world.metrics.value('workqueue_adds_total', { name })! > 0)
  await world.stop()
})

test('a heartbeat of a node costs nothing, a taint does what it says', async () => {
  const world = await running({ objects: [daemonSet(), node('a')] })
  const adds = () => world.metrics.value('workqueue_adds_total', { name: 'daemonset' })
  const [bound] = world.client.list(resources.pods, 'ns')
  world.put({ ...bound, spec: { nodeName: 'a', containers: [] } } as KubernetesObject)
  await world.clock.advance(1_000)
  const before = adds()
  world.put({ ...node('a'), status: { allocatable: { cpu: '1' } } } as KubernetesObject)
  await world.clock.advance(1_000)
  assert.equal(adds(), before)
  world.put(node('a', { taints: [{ key: 'k', effect: 'NoExecute' }] }))
  await world.clock.advance(1_000)
  assert.deepEqual(world.pods(), [])
  assert.equal(world.status()?.desiredNumberScheduled, 0)
  await world.stop()
})

test('a failed pod is replaced after a back-off that doubles, and is forgotten after half an hour', async () => {
  const world = await running({ objects: [daemonSet(), node('a')] })
  const fail = async (): Promise<number> => {
    const [pod] = world.client.list(resources.pods, 'ns')
    const { length } = world.client.requested('delete')
    world.put({ ...pod, status: { phase: 'Failed' } } as KubernetesObject)
    for (let waitedMs = 0; ; waitedMs += 100) {
      await world.clock.advance(100)
      if (world.client.requested('delete').length > length) return waitedMs
      assert.ok(waitedMs < 60_000)
    }
  }
  assert.equal(await fail(), 0)
  await world.clock.advance(100)
  const second = await fail()
  assert.ok(second >= 700 && second <= 1_000, String(second))
  const third = await fail()
  assert.ok(third >= 1_500 && third <= 2_000, String(third))
  await world.clock.advance(31 * 60_000)
  assert.equal(await fail(), 0)
  await world.stop()
})

test('with the gate the cache must have seen what was written', async () => {
  const status = { collisionCount: 1 }
  const names = (gates: Readonly<Record<string, boolean>>) =>
    running({ objects: [daemonSet({ status }), node('a')], featureGates: gates })
  const guarded = await names({})
  assert.ok(guarded.metrics.families.has('daemonset_controller_stale_sync_skips_total'))
  await guarded.stop()
  const unguarded = await names({ StaleControllerConsistencyDaemonSet: false })
  assert.ok(!unguarded.metrics.families.has('daemonset_controller_stale_sync_skips_total'))
  await unguarded.stop()
})

test('a revision that the cache does not show yet is not made again', async () => {
  const world = await running({ objects: [daemonSet(), node('a')] })
  const made = () =>
    world.client.requested('create').filter(({ path }) => path.includes('revisions'))
  const watch = world.client.watches.find(({ type }) => type === resources.controllerrevisions)!
  const late: WatchEvent<KubernetesObject>[] = []
  watch.send = (event) => void late.push(event)
  const containers = [{ name: 'c', image: 'img:2' }]
  world.put(daemonSet({ spec: { containers }, generation: '2' }))
  await world.clock.advance(1_000)
  world.put(node('b'))
  await world.clock.advance(10_000)
  assert.deepEqual([made().length, late.length, world.pods()], [2, 1, []])
  Reflect.deleteProperty(watch, 'send')
  for (const event of late) watch.send(event)
  await world.clock.advance(60_000)
  assert.deepEqual([made().length, world.pods()], [2, ['a', 'b']])
  await world.stop()
})

test('comparing taints is off unless its gate is on', async () => {
  const tolerations = [{ key: 'k', operator: 'Gt' as 'Equal', value: '1' }]
  const objects = [
    daemonSet({ spec: { tolerations } }),
    node('a', { taints: [{ key: 'k', value: '2', effect: 'NoSchedule' }] }),
  ]
  const off = await running({ objects })
  assert.deepEqual(off.pods(), [])
  await off.stop()
  const on = await running({ objects, featureGates: { TaintTolerationComparisonOperators: true } })
  assert.deepEqual(on.pods(), ['a'])
  await on.stop()
})

test('a healthy DaemonSet is left alone by a restart', async () => {
  const owner = daemonSet({
    status: {
      currentNumberScheduled: 1,
      desiredNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberReady: 1,
      numberAvailable: 1,
      observedGeneration: 1,
    },
  })
  const world = await running({
    objects: [owner, node('a'), daemonPod('a', { owner, readySeconds: 5 }), revision()],
  })
  assert.equal(world.writes(), 0)
  await world.stop()
})
