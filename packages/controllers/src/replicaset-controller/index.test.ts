import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { drive, fakeInformers, testClock, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { NOW_MS, deployment, pod, pods, refused, replicaSet } from '../workload-support/fixtures.ts'
import { replicaSetController, replicaSetLogic } from './index.ts'

const owner = replicaSet()

function wired(
  featureGates: Readonly<Record<string, boolean>> = {},
  objects: Parameters<typeof fakeInformers>[0] = [owner],
) {
  const informers = fakeInformers(objects)
  const clock = testClock()
  const context = {
    informers,
    clock,
    metrics: new PrometheusRegistry(),
    logger: silentLogger,
    configuration: { ...defaultControllersConfiguration, featureGates },
  } as unknown as ControllerContext<ControllersConfiguration>
  const logic = replicaSetLogic(context)
  const watch = logic.watches.find(({ type }) => type === resources.pods)!
  return { logic, informers, clock, watch, expectations: logic.expectations! }
}

test('name, alias, identity, queue and workers are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = replicaSetController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['replicaset-controller', ['replicaset'], 'replicaset-controller', true],
  )
  const { logic } = wired()
  assert.deepEqual(
    [logic.queueName, logic.eventComponent, logic.workers],
    ['replicaset', 'replicaset-controller', 5],
  )
  assert.deepEqual(logic.staleGuard?.metric, {
    name: 'replicaset_controller_stale_sync_skips_total',
    kind: 'ReplicaSet',
  })
  assert.equal(logic.staleGuard.informers.length, 2)
  assert.equal(logic.staleGuard.ownerUid(logic.observe('ns/rs')!), 'rs-uid')
})

test('with the gate StaleControllerConsistencyReplicaSet off there is no stale-cache guard', () => {
  assert.equal(wired({ StaleControllerConsistencyReplicaSet: false }).logic.staleGuard, undefined)
})

test('the gate DeploymentReplicaSetTerminatingReplicas decides about status.terminatingReplicas', () => {
  const written = (gates: Readonly<Record<string, boolean>>) => {
    const { logic } = wired(gates, [owner, pod({ owner, deleting: true })])
    const last = drive(logic.reconcile(logic.observe('ns/rs')!)).writes.at(-1)
    assert.ok(last?.verb === 'update' && last.subresource === 'status')
    return (last.object as typeof owner).status?.terminatingReplicas
  }
  assert.equal(written({}), 1)
  assert.equal(written({ DeploymentReplicaSetTerminatingReplicas: false }), undefined)
})

test('Given pods on doubled-up nodes, when scaling down, then pods with more co-located related pods go first', () => {
  const ownerReferences = [newControllerRef(deployment(), resources.deployments)]
  const [mine, sibling] = [
    replicaSet({ replicas: 1, metadata: { ownerReferences } }),
    replicaSet({ name: 'sibling', labels: { app: 'b' }, metadata: { ownerReferences } }),
  ]
  const made = [
    pod({ name: 'alone', owner: mine, node: 'n1', readySeconds: 1 }),
    pod({ name: 'crowded', owner: mine, node: 'n2', readySeconds: 90_000 }),
    pod({ name: 'of-sibling', owner: sibling, labels: { app: 'b' }, node: 'n2', readySeconds: 9 }),
  ]
  const { logic } = wired({}, [mine, sibling, ...made])
  const { writes } = drive(logic.reconcile(logic.observe('ns/rs')!), { nowMs: NOW_MS })
  assert.deepEqual(
    writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : [])),
    ['crowded'],
  )
})

test('Given deletion costs 1000 and 100, when scaling 2 → 1, then the pod with cost 1000 remains, unless the gate is off', () => {
  const cost = (value: string) => ({ 'controller.kubernetes.io/pod-deletion-cost': value })
  const single = replicaSet({ replicas: 1 })
  const made = [
    pod({ name: 'dear', owner: single, annotations: cost('1000'), readySeconds: 1 }),
    pod({ name: 'cheap', owner: single, annotations: cost('100'), readySeconds: 90_000 }),
  ]
  const deleted = (gates: Readonly<Record<string, boolean>>) => {
    const { logic } = wired(gates, [single, ...made])
    const { writes } = drive(logic.reconcile(logic.observe('ns/rs')!), { nowMs: NOW_MS })
    return writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : []))
  }
  assert.deepEqual(deleted({}), ['cheap'])
  assert.deepEqual(deleted({ PodDeletionCost: false }), ['dear'])
})

test('500 pods are created or deleted by a sync at most, and awaited under the key', () => {
  const asked = (objects: Parameters<typeof fakeInformers>[0]) => {
    const { logic } = wired({}, objects)
    return drive(logic.reconcile(logic.observe('ns/rs')!)).effects.flatMap((effect) =>
      effect.effect === 'writes'
        ? [[effect.writes.length, effect.expectations?.kind, effect.expectations?.key]]
        : [],
    )
  }
  const many = replicaSet({ replicas: 501 })
  assert.deepEqual(asked([many]), [[500, 'creations', 'ns/rs']])
  const one = replicaSet({ replicas: 1 })
  assert.deepEqual(asked([one, ...pods(502, { owner: one })]), [[500, 'deletions', 'ns/rs']])
})

test('a second of minReadySeconds is waited for too', () => {
  const brief = replicaSet({ replicas: 1, minReadySeconds: 1 })
  const { logic } = wired({}, [brief, pod({ owner: brief, readySeconds: 0 })])
  assert.deepEqual(drive(logic.reconcile(logic.observe('ns/rs')!), { nowMs: NOW_MS }).result, {
    requeueAfterMs: 1_000,
  })
})

test('what is built runs the loop', async () => {
  const built = await replicaSetController.build(
    testContext({ name: 'replicaset-controller', configuration: defaultControllersConfiguration }),
  )
  assert.equal(typeof built?.run, 'function')
})

test('an orphan concerns the ReplicaSet that selects it, and no other', () => {
  const { watch } = wired()
  assert.deepEqual([...watch.onAdd!(pod())], ['ns/rs'])
  assert.deepEqual([...watch.onAdd!(pod({ labels: { app: 'other' } }))], [])
})

test('creations are awaited until the informer showed all of them', () => {
  const { logic, expectations, watch } = wired()
  expectations.expectCreations('ns/rs', 2)
  const [first, second] = pods(2, { owner })
  watch.onAdd!(first!)
  assert.equal(logic.observe('ns/rs')?.expectationsMet, false)
  watch.onAdd!(second!)
  assert.equal(logic.observe('ns/rs')?.expectationsMet, true)
})

test('Given expected deletions of two pods, when one pod’s delete is observed twice, then only one is counted', () => {
  const { logic, expectations, watch } = wired()
  expectations.expectDeletions('ns/rs', ['ns/pod-0', 'ns/pod-1'])
  const [first, second] = pods(2, { owner })
  const terminating = pod({ name: 'pod-0', owner, deleting: true, resourceVersion: '21' })
  watch.onUpdate!(first!, terminating)
  watch.onDelete!(terminating)
  assert.equal(logic.observe('ns/rs')?.expectationsMet, false)
  watch.onDelete!(second!)
  assert.equal(logic.observe('ns/rs')?.expectationsMet, true)
})

test('Terminating-namespace create errors leave the creation expectation set; the key stays dormant until it expires (5 min)', async () => {
  const { logic, expectations, clock } = wired()
  expectations.expectCreations('ns/rs', 1)
  await clock.advance(5 * 60_000)
  assert.equal(logic.observe('ns/rs')?.expectationsMet, false)
  await clock.advance(1)
  assert.equal(logic.observe('ns/rs')?.expectationsMet, true)
})

test('a ReplicaSet whose namespace is being emptied is looked at once in five seconds; its namesake later at any time', async () => {
  const { logic, clock } = wired()
  const pod = refused(403, 'Forbidden', 'going', 'NamespaceTerminating')
  const sync = () =>
    drive(logic.reconcile(logic.observe('ns/rs')!), {
      onWrite: ({ verb }) => (verb === 'create' ? pod : undefined),
    })
  assert.notDeepEqual(sync().writes, [])
  assert.deepEqual(sync().result, { requeueAfterMs: 5_000 })
  await clock.advance(5_000)
  assert.equal(sync().result, undefined)
  assert.deepEqual(sync().result, { requeueAfterMs: 5_000 })
  logic.forget?.('ns/rs')
  assert.equal(sync().result, undefined)
})

test('a ReplicaSet that is gone is forgotten', () => {
  const { logic, expectations, informers } = wired()
  expectations.expectCreations('ns/rs', 1)
  informers.remove(resources.replicasets, owner)
  assert.equal(logic.observe('ns/rs'), undefined)
  logic.forget?.('ns/rs')
  assert.ok(expectations.satisfied('ns/rs'))
})
