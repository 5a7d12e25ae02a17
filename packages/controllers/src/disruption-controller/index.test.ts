import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { Pod, PodDisruptionBudget } from '@gyropilot/api'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { drive, startLoop, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { deployment, pod, replicaSet, secondsAgo } from '../workload-support/fixtures.ts'
import { budget, replicationController, statefulSet } from './fixtures.ts'
import { budgetLogic, disruptionController, recheckLogic, stalePodLogic } from './index.ts'

const context = (...cached: Parameters<typeof testContext>[0]['cached'] & object) =>
  testContext({ configuration: defaultControllersConfiguration, cached })

test('names, queues and workers are those of the page', () => {
  const { name, aliases, serviceAccount } = disruptionController
  assert.ok(disruptionController.enabledByDefault)
  assert.deepEqual(
    [name, aliases, serviceAccount],
    ['disruption-controller', ['disruption'], 'disruption-controller'],
  )
  const budgets = budgetLogic(context(), () => {})
  assert.deepEqual([budgets.queueName, budgets.workers], ['disruption', 1])
  assert.equal(budgets.eventComponent, 'controllermanager')
  const recheck = recheckLogic(() => {})
  assert.deepEqual([recheck.queueName, recheck.workers], ['disruption_recheck', 1])
  const pods = stalePodLogic(context())
  assert.deepEqual([pods.queueName, pods.workers], ['stale_pod_disruption', 1])
})

test('Workers start after pods, PDBs, RCs, RSs, Deployments and StatefulSets synced', () => {
  const { alsoAwait = [], watches } = budgetLogic(context(), () => {})
  const awaited = [...alsoAwait, ...watches].map(({ type }) => type.resource)
  assert.deepEqual(awaited.toSorted(), [
    'deployments',
    'poddisruptionbudgets',
    'pods',
    'replicasets',
    'replicationcontrollers',
    'statefulsets',
  ])
})

test('a budget is observed with its pods by name and the owners in the caches; one that is gone is not', () => {
  const rc = replicationController(1)
  const pods = [pod({ name: 'b' }), pod({ name: 'a' }), pod({ name: 'c', labels: { app: 'z' } })]
  const logic = budgetLogic(context(budget(), rc, ...pods), () => {})
  const observed = logic.observe('ns/b')
  assert.deepEqual(
    observed?.pods().map(({ metadata }) => metadata?.name),
    ['a', 'b'],
  )
  assert.equal(observed.owners.replicationControllers.getByKey('ns/rc')?.spec?.replicas, 1)
  assert.equal(logic.observe('ns/none'), undefined)
})

test('an awaited pod has the budget looked at again in time, through the queue of rechecks', () => {
  const rechecks: (readonly [string, number])[] = []
  const awaiting = budget({
    spec: { minAvailable: 1 },
    status: { disruptedPods: { pod: secondsAgo(30) } },
  })
  const logic = budgetLogic(context(awaiting, pod()), (...given) => rechecks.push(given))
  assert.deepEqual(drive(logic.reconcile(logic.observe('ns/b')!)).result, {})
  assert.deepEqual(rechecks, [['ns/b', 90_001]])
  const enqueued: string[] = []
  const recheck = recheckLogic((key) => enqueued.push(key))
  drive(recheck.reconcile(recheck.observe('ns/b')!))
  assert.deepEqual(enqueued, ['ns/b'])
})

test('a budget is looked at again by itself when the deletion that it awaited has not come', async () => {
  const world = testContext({ configuration: defaultControllersConfiguration })
  const { client, clock, random, logger } = world
  const disruptedPods = { pod: new Date(clock.nowMs() - 30_000).toISOString() }
  client.put(
    resources.poddisruptionbudgets,
    budget({ spec: { minAvailable: 1 }, status: { disruptedPods } }),
  )
  client.put(resources.pods, pod())
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  const controller = await disruptionController.build({ ...world, informers })
  const { stop } = startLoop(controller, clock, informers)
  const awaited = () => {
    const stored = client.get(resources.poddisruptionbudgets, 'ns', 'b') as PodDisruptionBudget
    return Object.keys(stored.status?.disruptedPods ?? {})
  }
  await clock.advance(89_000)
  assert.deepEqual(awaited(), ['pod'])
  await clock.advance(2_000)
  assert.deepEqual(awaited(), [])
  await stop()
})

test('owners of every kind are looked for in the caches', () => {
  const ownerReferences = [newControllerRef(deployment(), resources.deployments)]
  const cached = [deployment(), replicaSet({ metadata: { ownerReferences } }), statefulSet(2)]
  const { owners } = budgetLogic(context(budget(), ...cached), () => {}).observe('ns/b')!
  assert.equal(owners.deployments.getByKey('ns/web')?.spec?.replicas, 3)
  assert.equal(owners.replicaSets.getByKey('ns/rs')?.spec?.replicas, 2)
  assert.equal(owners.statefulSets.getByKey('ns/set')?.spec?.replicas, 2)
})

test('a pod whose disruption did not come is told so by the controller at work', async () => {
  const world = testContext({ configuration: defaultControllersConfiguration })
  const { client, clock, random, logger } = world
  const lastTransitionTime = new Date(clock.nowMs() - 60_000).toISOString()
  const announced = pod()
  client.put(resources.pods, {
    ...announced,
    status: {
      ...announced.status,
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'EvictionByEvictionAPI',
          lastTransitionTime,
        },
      ],
    },
  })
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  const controller = await disruptionController.build({ ...world, informers })
  const { stop } = startLoop(controller, clock, informers)
  const told = (): string | undefined =>
    (client.get(resources.pods, 'ns', 'pod') as Pod).status?.conditions?.[0]?.status
  await clock.advance(59_000)
  const before = told()
  await clock.advance(2_000)
  const after = told()
  await stop()
  assert.deepEqual([before, after], ['True', 'False'])
})
