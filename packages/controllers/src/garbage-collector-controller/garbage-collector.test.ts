import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap, Pod, ResourceType } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { isCollectionOf } from './testing/live-world.ts'
import type { LiveWorldOptions } from './testing/live-world.ts'
import {
  BLOCKING,
  UNKNOWN_UID,
  absentRef,
  configMap,
  controller,
  controllerWithPods,
  existing,
  metadata,
  pod,
  refTo,
  refToMap,
  start,
  started,
} from './testing/owners.ts'

test('Given an RC with 2 pods deleted with Background, then pods are deleted; with Orphan or default, pods stay without the ref', async (t) => {
  for (const policy of ['Background', 'Orphan', undefined] as const) {
    const world = await started(t)
    const { rc, pods } = await controllerWithPods(world)
    await world.delete(resources.replicationcontrollers, rc, policy)
    await world.clock.advance(1_000)
    assert.equal(await world.find(resources.replicationcontrollers, rc), undefined)
    if (policy === 'Background') {
      assert.deepEqual(await existing(world, resources.pods, pods), [])
      assert.deepEqual(world.writes(), ['delete pods', 'delete pods'])
      continue
    }
    for (const known of pods) {
      const left = await world.find(resources.pods, known)
      assert.deepEqual(left?.metadata?.ownerReferences ?? [], [])
      assert.equal(left?.metadata?.deletionTimestamp, undefined)
    }
    assert.deepEqual(world.writes(), ['patch pods', 'patch pods', 'patch replicationcontrollers'])
  }
})

test('Given a pod with owners absent and absent, then deleted; with one existing owner, then kept and dangling refs removed', async (t) => {
  const world = await started(t)
  const solid = await world.create(resources.configmaps, configMap('solid'))
  const gone = await world.create(
    resources.pods,
    pod('gone', [absentRef('a'), { ...absentRef('b'), uid: `${UNKNOWN_UID}2` }]),
  )
  const kept = await world.create(resources.pods, pod('kept', [absentRef('a'), refToMap(solid)]))
  await world.clock.advance(2_000)
  assert.equal(await world.find(resources.pods, gone), undefined)
  const left = await world.find(resources.pods, kept)
  assert.deepEqual(left?.metadata?.ownerReferences, [refToMap(solid)])
})

test('Given a pod created with a non-existent owner, then collected', async (t) => {
  const world = await started(t)
  const child = await world.create(resources.pods, pod('child', [absentRef('nobody')]))
  await world.clock.advance(2_000)
  assert.equal(await world.find(resources.pods, child), undefined)
  assert.deepEqual(world.writes(), ['delete pods'])
})

test('Given foreground RC deletion, then the RC stays until blocking pods are gone; non-blocking pods do not hold it', async (t) => {
  const type = resources.replicationcontrollers
  for (const blocks of [true, false]) {
    const world = await started(t)
    const rc = await world.create(type, controller('rc'))
    const owners = [refTo(type, rc, { blockOwnerDeletion: blocks })]
    const held = await world.create(resources.pods, pod('held', owners, ['example.com/hold']))
    await world.clock.advance(100)
    await world.delete(type, rc, 'Foreground')
    await world.clock.advance(60_000)
    assert.ok((await world.find(resources.pods, held))?.metadata?.deletionTimestamp)
    const waiting = await world.find(type, rc)
    assert.deepEqual(waiting?.metadata?.finalizers, blocks ? ['foregroundDeletion'] : undefined)
    const value = { metadata: { finalizers: null } }
    await world.client.resource(resources.pods, 'default').patch('held', { type: 'merge', value })
    await world.clock.advance(1_000)
    assert.deepEqual(await existing(world, type, [rc]), [])
    assert.deepEqual(world.writes(), ['delete pods', 'patch replicationcontrollers'])
  }
})

test('a tree of owners deleted in the foreground goes from its leaves to its root, each with one write and one release', async (t) => {
  const world = await started(t)
  const root = await world.create(resources.configmaps, configMap('root'))
  const middle = await world.create(resources.secrets, {
    metadata: metadata('middle', [refToMap(root, BLOCKING)]),
  })
  const owners = [refTo(resources.secrets, middle, BLOCKING)]
  await world.create(resources.pods, pod('one', owners))
  await world.create(resources.pods, pod('two', owners))
  await world.clock.advance(100)
  await world.delete(resources.configmaps, root, 'Foreground')
  await world.clock.advance(5_000)
  assert.equal(await world.find(resources.configmaps, root), undefined)
  assert.deepEqual(world.writes(), [
    'delete pods',
    'delete pods',
    'delete secrets',
    'patch configmaps',
    'patch secrets',
  ])
})

test('Given a pod owned by a waiting RC and a valid RC, then pod kept, waiting ref removed, waiting RC deleted', async (t) => {
  const world = await started(t)
  const type = resources.replicationcontrollers
  const going = await world.create(type, controller('going'))
  const valid = await world.create(type, controller('valid'))
  const owners = [refTo(type, going, BLOCKING), refTo(type, valid)]
  const child = await world.create(resources.pods, pod('child', owners))
  await world.clock.advance(100)
  await world.delete(type, going, 'Foreground')
  await world.clock.advance(2_000)
  assert.equal(await world.find(type, going), undefined)
  const kept = await world.find(resources.pods, child)
  assert.deepEqual(kept?.metadata?.ownerReferences, [refTo(type, valid)])
  assert.equal(kept?.metadata?.deletionTimestamp, undefined)
})

test('Given pods 1->2->3->1 and pod 1 deleted foreground, then all go', async (t) => {
  const world = await started(t)
  const names = ['pod1', 'pod2', 'pod3']
  const pods: Pod[] = []
  for (const name of names) pods.push(await world.create(resources.pods, pod(name)))
  for (const [index, name] of names.entries()) {
    const ownerReferences = [refTo(resources.pods, pods[(index + 2) % 3]!, BLOCKING)]
    await world.client
      .resource(resources.pods, 'default')
      .patch(name, { type: 'merge', value: { metadata: { ownerReferences } } })
  }
  await world.clock.advance(100)
  await world.delete(resources.pods, pods[0]!, 'Foreground')
  await world.clock.advance(10_000)
  assert.deepEqual(await existing(world, resources.pods, pods), [])
})

test('Given a pod with a custom finalizer deleted with Orphan, then later deletes leave only the custom finalizer', async (t) => {
  const world = await started(t)
  const held = await world.create(resources.pods, pod('held', [], ['example.com/hold']))
  const { client, clock } = world
  for (const propagationPolicy of ['Orphan', 'Background'] as const) {
    await client.resource(resources.pods, 'default').delete('held', { propagationPolicy })
    await clock.advance(1_000)
    const left = await world.find(resources.pods, held)
    assert.deepEqual(left?.metadata?.finalizers, ['example.com/hold'])
  }
})

test('Given invalid cross-namespace children before a restart, then they are collected in 10s and 10 valid children stay', async (t) => {
  const world = await started(t, false)
  await world.create(resources.namespaces, { metadata: { name: 'other' } })
  const parent = await world.create(resources.configmaps, configMap('parent'))
  const owners = [refToMap(parent)]
  const invalid: ConfigMap[] = []
  const valid: ConfigMap[] = []
  for (let i = 0; i < 10; i++) {
    const bad = { metadata: { ...metadata(`bad-${i}`, owners), namespace: 'other' } }
    invalid.push(await world.create(resources.configmaps, bad))
    valid.push(await world.create(resources.configmaps, configMap(`good-${i}`, owners)))
  }
  await start(world)
  await world.clock.advance(9_000)
  assert.deepEqual(await existing(world, resources.configmaps, invalid), [])
  assert.equal((await existing(world, resources.configmaps, valid)).length, 10)
  assert.equal(world.events.length, 10)
  assert.ok(world.events.every(({ reason }) => reason === 'OwnerRefInvalidNamespace'))
  assert.equal(world.writes().length, 10)
})

/** All orders of the indexes below `count`. */
function orders(count: number): number[][] {
  if (count === 0) return [[]]
  return orders(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => order.toSpliced(at, 0, count - 1)),
  )
}

test('Given child-first/owner-first/wrong-version mixes, then graph, cache and calls match the tables', async (t) => {
  const type = resources.replicationcontrollers
  for (const order of orders(3)) {
    for (const seenOneByOne of [true, false]) {
      const world = await started(t, seenOneByOne)
      const rc = await world.create(type, controller('rc'))
      const right = configMap('right', [refTo(type, rc)])
      const wrong = configMap('wrong', [refTo(resources.replicasets, rc)])
      const unserved = configMap('unserved', [refTo(type, rc, { apiVersion: 'v9' })])
      for (const index of order) {
        await world.create(resources.configmaps, [right, wrong, unserved][index]!)
        if (seenOneByOne) await world.clock.advance(500)
      }
      if (!seenOneByOne) await start(world)
      await world.clock.advance(20_000)
      const left = await existing(world, resources.configmaps, [right, wrong, unserved])
      assert.deepEqual(left, ['right', 'unserved'], `${order} ${seenOneByOne}`)
      assert.deepEqual(world.writes(), ['delete configmaps'])
      const { graph } = world.collector()
      const node = graph.get(rc.metadata!.uid!)
      assert.deepEqual([node?.isVirtual, node?.identity.kind], [false, 'ReplicationController'])
      await world.delete(type, rc, 'Background')
      await world.clock.advance(20_000)
      assert.deepEqual(await existing(world, resources.configmaps, [right, unserved]), ['unserved'])
      assert.equal(graph.get(rc.metadata!.uid!)?.identity, undefined)
      await world.stop()
    }
  }
})

test('Given an owner that never was, named in several ways, then every child that names a served kind goes', async (t) => {
  for (const order of orders(3)) {
    const world = await started(t)
    const reference = absentRef('nobody')
    const children = [
      configMap('one', [reference]),
      configMap('two', [{ ...reference, kind: 'Pod' }]),
      configMap('three', [{ ...reference, name: 'somebody' }]),
    ]
    for (const index of order) await world.create(resources.configmaps, children[index]!)
    await world.clock.advance(20_000)
    assert.deepEqual(await existing(world, resources.configmaps, children), [])
    assert.equal(world.writes().length, 3)
    assert.equal(world.collector().graph.get(UNKNOWN_UID), undefined)
    await world.stop()
  }
})

test('A ref with a served but non-preferred version of the owner must work', async (t) => {
  const world = await started(t)
  const type = resources.horizontalpodautoscalers
  const owner = await world.create(type, {
    metadata: metadata('scaler'),
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' },
    },
  })
  const older = [refTo(type, owner, { apiVersion: 'autoscaling/v1' })]
  const child = await world.create(resources.configmaps, configMap('child', older))
  await world.clock.advance(20_000)
  assert.deepEqual(await existing(world, resources.configmaps, [child]), ['child'])
  await world.delete(type, owner)
  await world.clock.advance(5_000)
  assert.deepEqual(await existing(world, resources.configmaps, [child]), [])
})

test('Given a cluster-scoped owner, then only dependents of absent owners go', async (t) => {
  const world = await started(t)
  const role = await world.create(resources.clusterroles, { metadata: { name: 'role' }, rules: [] })
  const held = [refTo(resources.clusterroles, role)]
  const kept = await world.create(resources.configmaps, configMap('kept', held))
  const lost = [refTo(resources.clusterroles, role, { name: 'nobody', uid: UNKNOWN_UID })]
  const gone = await world.create(resources.configmaps, configMap('gone', lost))
  await world.clock.advance(2_000)
  assert.deepEqual(await existing(world, resources.configmaps, [kept, gone]), ['kept'])
  await world.delete(resources.clusterroles, role)
  await world.clock.advance(2_000)
  assert.deepEqual(await existing(world, resources.configmaps, [kept]), [])
})

test('Given a CronJob deleted, then Jobs and pods go', async (t) => {
  const world = await started(t)
  const template = {
    spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' as const },
  }
  const cronJob = await world.create(resources.cronjobs, {
    metadata: metadata('cron'),
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
  })
  const job = await world.create(resources.jobs, {
    metadata: metadata('job', [refTo(resources.cronjobs, cronJob, BLOCKING)]),
    spec: { template },
  })
  const child = await world.create(
    resources.pods,
    pod('child', [refTo(resources.jobs, job, BLOCKING)]),
  )
  await world.clock.advance(100)
  await world.delete(resources.cronjobs, cronJob)
  await world.clock.advance(5_000)
  assert.equal(await world.find(resources.jobs, job), undefined)
  assert.equal(await world.find(resources.pods, child), undefined)
})

/** One resource whose lists and watches always fail, as behind a conversion webhook that is broken. */
const unwatchable = (type: ResourceType): LiveWorldOptions => ({
  before(request) {
    if (!isCollectionOf(type, request)) return
    throw new TransportError('ECONNREFUSED', 'conversion webhook failed')
  },
})

test('Given a broken conversion webhook, then other cascades still work', async (t) => {
  const world = await started(t, false, unwatchable(resources.leases))
  world.start()
  const child = await world.create(resources.configmaps, configMap('child', [absentRef('nobody')]))
  await world.clock.advance(29_999)
  assert.deepEqual(world.writes(), [], 'workers wait for the monitors, but not for ever')
  await world.clock.advance(1_000)
  assert.equal(await world.find(resources.configmaps, child), undefined)
  assert.equal(world.metrics.value('garbagecollector_controller_resources_sync_error_total'), 1)
})

test('Virtual nodes must be polled; an owner created and deleted while the watch was down would otherwise stay forever', async (t) => {
  const type = resources.replicationcontrollers
  const world = await started(t, false, unwatchable(type))
  world.start()
  const unseen = await world.create(type, controller('unseen'))
  const child = await world.create(resources.configmaps, configMap('child', [refTo(type, unseen)]))
  await world.clock.advance(31_000)
  assert.ok(world.collector().graph.get(unseen.metadata!.uid!)?.isVirtual)
  assert.ok(await world.find(resources.configmaps, child))
  await world.delete(type, unseen, 'Background')
  await world.clock.advance(60_000)
  assert.equal(await world.find(resources.configmaps, child), undefined)
  assert.deepEqual(world.writes(), ['delete configmaps'])
})

test('Rapid updates unrelated to owners must not starve deletion (uid-only retry); a changed ownerReferences list must stop it', async (t) => {
  let changes: object[] = []
  const world = await started(t, true, {
    async before(request, { client }) {
      if (request.method !== 'DELETE') return
      const value = changes.shift()
      if (value === undefined) return
      await client
        .resource(resources.configmaps, 'default')
        .patch('child', { type: 'merge', value })
    },
  })
  const solid = await world.create(resources.configmaps, configMap('solid'))
  changes = [{ metadata: { ownerReferences: [absentRef('nobody'), refToMap(solid)] } }]
  const child = configMap('child', [absentRef('nobody')])
  await world.create(resources.configmaps, child)
  await world.clock.advance(5_000)
  const kept = await world.find(resources.configmaps, child)
  assert.deepEqual(kept?.metadata?.ownerReferences, [refToMap(solid)])
  assert.deepEqual(world.writes(), ['delete configmaps -> 409', 'patch configmaps'])
  changes = [{ data: { unrelated: 'yes' } }]
  await world.delete(resources.configmaps, solid)
  await world.clock.advance(5_000)
  assert.equal(await world.find(resources.configmaps, child), undefined)
  assert.equal(world.writes().filter((line) => line === 'delete configmaps').length, 1)
  assert.equal(world.writes().filter((line) => line === 'delete configmaps -> 409').length, 2)
})

test('deletions that began while no collector ran are finished: foreground, orphan and background', async (t) => {
  const world = await started(t, false)
  const owners: ConfigMap[] = []
  const children: ConfigMap[] = []
  for (const policy of ['Foreground', 'Orphan', 'Background'] as const) {
    const name = policy.toLowerCase()
    const owner = await world.create(resources.configmaps, configMap(name))
    const references = [refToMap(owner, BLOCKING)]
    children.push(await world.create(resources.configmaps, configMap(`of-${name}`, references)))
    owners.push(owner)
    await world.delete(resources.configmaps, owner, policy)
  }
  assert.deepEqual(await existing(world, resources.configmaps, owners), ['foreground', 'orphan'])
  await start(world)
  await world.clock.advance(5_000)
  assert.deepEqual(await existing(world, resources.configmaps, owners), [])
  assert.deepEqual(await existing(world, resources.configmaps, children), ['of-orphan'])
})

test('a custom finalizer on a dependent that was deleted in the background keeps its own dependents until it is gone', async (t) => {
  const world = await started(t)
  const root = await world.create(resources.configmaps, configMap('root'))
  const hold = ['example.com/hold']
  const middle = await world.create(resources.configmaps, configMap('m', [refToMap(root)], hold))
  const leaf = await world.create(resources.configmaps, configMap('leaf', [refToMap(middle)]))
  await world.clock.advance(100)
  await world.delete(resources.configmaps, root)
  await world.clock.advance(30_000)
  assert.ok((await world.find(resources.configmaps, middle))?.metadata?.deletionTimestamp)
  assert.ok(await world.find(resources.configmaps, leaf))
  const value = { metadata: { finalizers: null } }
  await world.client.resource(resources.configmaps, 'default').patch('m', { type: 'merge', value })
  await world.clock.advance(5_000)
  assert.deepEqual(await existing(world, resources.configmaps, [middle, leaf]), [])
})
