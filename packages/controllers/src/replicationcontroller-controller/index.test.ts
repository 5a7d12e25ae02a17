import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { ReplicationController } from '@gyropilot/api'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { drive, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { NOW_MS, TEMPLATE, pod, replicaSet } from '../workload-support/fixtures.ts'
import {
  replicationControllerController,
  replicationControllerLogic,
  replicationControllers,
} from './index.ts'

function replicationController(
  spec: Partial<NonNullable<ReplicationController['spec']>> = {},
): ReplicationController {
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'rc', namespace: 'ns', uid: 'rc-uid', generation: 1, resourceVersion: '10' },
    spec: { replicas: 2, selector: { app: 'a' }, template: TEMPLATE, ...spec },
    status: { replicas: 0 },
  }
}

const owner = replicationController()

function owned(options: Parameters<typeof pod>[0], by = owner) {
  const made = pod(options)
  const ownerReferences = [newControllerRef(by, resources.replicationcontrollers)]
  return { ...made, metadata: { ...made.metadata, ownerReferences } }
}

function wired(objects: Parameters<typeof fakeInformers>[0]) {
  const informers = fakeInformers(objects)
  const metrics = new PrometheusRegistry()
  const context = {
    informers,
    clock: testClock(),
    metrics,
    logger: silentLogger,
    configuration: defaultControllersConfiguration,
  } as unknown as ControllerContext<ControllersConfiguration>
  const logic = replicationControllerLogic(context)
  const watch = logic.watches.find(({ type }) => type === resources.pods)!
  const sync = () => drive(logic.reconcile(logic.observe('ns/rc')!), { nowMs: NOW_MS })
  return { logic, watch, sync, metrics }
}

test('The event component is replication-controller, the queue is replicationmanager, the controller name is replicationcontroller-controller', () => {
  const { name, aliases, serviceAccount } = replicationControllerController
  assert.ok(replicationControllerController.enabledByDefault)
  assert.deepEqual(
    [name, aliases, serviceAccount],
    ['replicationcontroller-controller', ['replicationcontroller'], 'replication-controller'],
  )
  const { logic } = wired([])
  assert.deepEqual(
    [logic.eventComponent, logic.queueName, logic.workers],
    ['replication-controller', 'replicationmanager', 5],
  )
  assert.equal(logic.staleGuard, undefined)
})

test('created pods have a v1 ReplicationController as their controller, and the status has no terminatingReplicas', () => {
  const { writes } = wired([owner]).sync()
  const [created] = writes
  assert.ok(created?.verb === 'create')
  assert.deepEqual(created.object.metadata?.ownerReferences, [
    newControllerRef(owner, resources.replicationcontrollers),
  ])
  const status = writes.at(-1)
  assert.ok(status?.verb === 'update' && status.subresource === 'status')
  assert.deepEqual(status.object, { ...owner, status: { replicas: 0, observedGeneration: 1 } })
})

test('a pod owned by a ReplicaSet of the same name is foreign', () => {
  const foreign = pod({ owner: replicaSet({ name: 'rc', uid: 'rc-uid' }) })
  const { watch, sync } = wired([owner, foreign])
  assert.deepEqual([...watch.onAdd!(foreign)], [])
  assert.equal(sync().writes.filter(({ verb }) => verb === 'create').length, 2)
})

test('a selector is the labels asked for; none selects nothing, an empty one no orphan', () => {
  assert.deepEqual(replicationControllers.selectorOf(owner), { matchLabels: { app: 'a' } })
  assert.equal(
    replicationControllers.selectorOf(owner),
    replicationControllers.selectorOf(replicationController({ selector: owner.spec!.selector! })),
  )
  const { selector: _, ...unselective } = owner.spec!
  const without = { ...owner, spec: unselective }
  assert.equal(replicationControllers.selectorOf(without), undefined)
  assert.deepEqual([...wired([without]).watch.onAdd!(pod())], [])
  assert.deepEqual([...wired([replicationController({ selector: {} })]).watch.onAdd!(pod())], [])
  assert.deepEqual([...wired([owner]).watch.onAdd!(pod())], ['ns/rc'])
})

test('Given pods of different logarithmic age, when scaling down by one, then a pod of the youngest age bucket is deleted', () => {
  const options = [
    { name: 'oldest', ageSeconds: 90_000 },
    { name: 'b-young', uid: 'b', ageSeconds: 3_700 },
    { name: 'a-young', uid: 'a', ageSeconds: 4_000 },
  ].map((each) => ({ ...each, readySeconds: each.ageSeconds }))
  const { sync, metrics } = wired([owner, ...options.map((each) => owned(each))])
  const deleted = sync().writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : []))
  assert.deepEqual(deleted, ['a-young'])
  assert.match(metrics.expose(), /replicaset_controller_sorting_deletion_age_ratio_count 1/)
})

test('Ranking without co-location: two doubled-up ready pods are ordered by ready time, restarts, age only', () => {
  const crowded = ['x', 'y'].map((name) => owned({ name, node: 'n1', readySeconds: 90_000 }))
  const single = owned({ name: 'single', node: 'n2', readySeconds: 10 })
  const { writes } = wired([owner, ...crowded, single]).sync()
  assert.deepEqual(
    writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : [])),
    ['single'],
  )
})

test('a ReplicationController without a selector, or without anything, selects nothing', () => {
  for (const spec of [undefined, {}, { selector: null }])
    assert.equal(replicationControllers.selectorOf({ spec } as ReplicationController), undefined)
})

test('what is built runs the loop', async () => {
  const context = {
    informers: fakeInformers([]),
    clock: testClock(),
    metrics: new PrometheusRegistry(),
    recorder: () => ({ event() {} }),
    logger: silentLogger,
    configuration: defaultControllersConfiguration,
  } as unknown as ControllerContext<ControllersConfiguration>
  const built = await replicationControllerController.build(context)
  assert.equal(typeof built?.run, 'function')
})
