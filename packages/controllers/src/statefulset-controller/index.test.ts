import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodTemplateSpec } from '@gyropilot/api'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { drive, fakeInformers, testClock, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { TEMPLATE, pod } from '../workload-support/fixtures.ts'
import {
  PARALLEL,
  claim,
  ownedRevision,
  rollingUpdate,
  setPod,
  setPods,
  statefulSet,
} from './fixtures.ts'
import { statefulSetController, statefulSetLogic } from './index.ts'

const set = statefulSet({
  replicas: 3,
  spec: { ...PARALLEL, ...rollingUpdate({ maxUnavailable: 2 }) },
})
const own = ownedRevision(set, 'db-own', 1)
const orphan = pod({ name: 'orphan' })
const foreign = setPod(statefulSet({ uid: 'other' }), 1)

function wired(featureGates: Readonly<Record<string, boolean>> = {}) {
  const informers = fakeInformers([set, setPod(set, 0), orphan, foreign, own, claim(set, 0)])
  const metrics = new PrometheusRegistry()
  const context = {
    informers,
    clock: testClock(),
    metrics,
    logger: silentLogger,
    configuration: { ...defaultControllersConfiguration, featureGates },
  } as unknown as ControllerContext<ControllersConfiguration>
  return { logic: statefulSetLogic(context), metrics }
}

test('name, alias, identity, queue and workers are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = statefulSetController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['statefulset-controller', ['statefulset'], 'statefulset-controller', true],
  )
  const { logic } = wired()
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers, logic.maxRetries],
    ['statefulset', 'statefulset-controller', 5, undefined],
  )
})

test('PVCs and ControllerRevisions are cached but do not trigger syncs', () => {
  const { logic } = wired()
  assert.deepEqual(
    logic.watches.map(({ type }) => type.resource),
    ['statefulsets', 'pods'],
  )
  assert.deepEqual(
    logic.alsoAwait?.map(({ type }) => type.resource),
    ['persistentvolumeclaims', 'controllerrevisions'],
  )
})

test('the stale-cache guard watches pods, claims, sets and revisions, under its gate, and is not exposed as a metric', () => {
  const { staleGuard } = wired().logic
  assert.deepEqual(
    staleGuard?.informers.map(({ type }) => type.resource),
    ['pods', 'persistentvolumeclaims', 'statefulsets', 'controllerrevisions'],
  )
  assert.equal(staleGuard.metric, undefined)
  assert.equal(staleGuard.deletions, true)
  assert.equal(wired({ StaleControllerConsistencyStatefulSet: false }).logic.staleGuard, undefined)
})

test('what is observed are the pods and revisions of this uid and the orphans, and look-ups by name', () => {
  const { logic } = wired()
  assert.equal(logic.observe('ns/none'), undefined)
  const observed = logic.observe('ns/db')!
  assert.deepEqual(
    observed.pods.map(({ metadata }) => metadata?.name),
    ['db-0', 'orphan'],
  )
  assert.deepEqual(observed.revisions, [own])
  assert.equal(observed.claim('data-db-0')?.metadata?.name, 'data-db-0')
  assert.equal(observed.claim('data-db-1'), undefined)
  assert.equal(observed.pod('db-0')?.metadata?.name, 'db-0')
  assert.equal(observed.revision('db-own'), own)
  assert.equal(observed.current(), set)
  assert.equal(logic.staleGuard?.ownerUid(observed), 'db-uid')
})

test('metrics of unavailability are there with the gate MaxUnavailableStatefulSet only', () => {
  const off = wired()
  const on = wired({ MaxUnavailableStatefulSet: true })
  for (const { logic } of [off, on]) {
    const observed = { ...logic.observe('ns/db')!, pods: setPods(set, 3) }
    drive(logic.reconcile(observed))
  }
  assert.doesNotMatch(off.metrics.expose(), /statefulset_controller/)
  const labels = 'pod_management_policy="Parallel",statefulset_name="db",statefulset_namespace="ns"'
  const text = on.metrics.expose()
  assert.ok(text.includes(`\nstatefulset_controller_statefulset_max_unavailable{${labels}} 2\n`))
  assert.ok(
    text.includes(`\nstatefulset_controller_statefulset_unavailable_replicas{${labels}} 0\n`),
  )
})

test('the gate StatefulSetSemanticRevisionComparison decides whether other words are another revision', () => {
  // A template as the server completes it, and a revision that was stored before it completed so much.
  const { spec } = TEMPLATE
  const template: PodTemplateSpec = {
    ...TEMPLATE,
    spec: {
      ...spec!,
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      containers: spec!.containers.map((container) => ({
        ...container,
        imagePullPolicy: 'IfNotPresent' as const,
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File' as const,
      })),
    },
  }
  const complete = statefulSet({ replicas: 0, spec: { template } })
  const created = (featureGates: Readonly<Record<string, boolean>>) => {
    const { logic } = wired(featureGates)
    const observed = { ...logic.observe('ns/db')!, set: complete, pods: [] }
    const revisions = [ownedRevision(complete, 'bare', 7)]
    const { writes } = drive(logic.reconcile({ ...observed, revisions }))
    return writes.some(({ verb }) => verb === 'create')
  }
  assert.equal(created({}), false)
  assert.equal(created({ StatefulSetSemanticRevisionComparison: false }), true)
})

test('what is built runs the loop', async () => {
  const built = await statefulSetController.build(
    testContext({ name: 'statefulset-controller', configuration: defaultControllersConfiguration }),
  )
  assert.equal(typeof built?.run, 'function')
})
