/** What upstream's end-to-end and integration tests say of ReplicationControllers, on a whole cluster. */
import assert from 'node:assert/strict'
import { controllerOf, findCondition, isPodReady, resources } from '@gyropilot/api'
import type { Pod, ReplicationController } from '@gyropilot/api'
import { pod, replicaSet, replicationController } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 60_000
const TYPE = resources.replicationcontrollers

async function found(world: World, name = 'web'): Promise<ReplicationController> {
  const controller = await world.find(TYPE, name)
  assert.ok(controller)
  return controller
}

async function livePods(world: World): Promise<readonly Pod[]> {
  const all = await world.list(resources.pods)
  return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
}

async function available(world: World, count: number, name = 'web') {
  return await world.until(`${count} of ${name} available`, WITHIN_MS, async () => {
    const controller = await found(world, name)
    const { replicas = 0, availableReplicas = 0, observedGeneration } = controller.status ?? {}
    const isThere = replicas === count && availableReplicas === count
    return isThere && observedGeneration === controller.metadata?.generation
      ? controller
      : undefined
  })
}

async function patch(world: World, value: object, name = 'web'): Promise<void> {
  await world.of(TYPE).patch(name, { type: 'merge', value })
}

async function relabel(world: World, name: string, app: string): Promise<void> {
  const value = { metadata: { labels: { app } } }
  await world.of(resources.pods).patch(name, { type: 'merge', value })
}

async function untilController(world: World, podName: string, uid: string | undefined) {
  await world.until(`the controller of ${podName} is ${uid}`, WITHIN_MS, async () => {
    const owner = controllerOf((await world.find(resources.pods, podName)) ?? {})
    return owner?.uid === uid ? true : undefined
  })
}

async function setReady(world: World, name: string, since: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: since }]
  await world
    .of(resources.pods)
    .patch(
      name,
      { type: 'merge', value: { status: { phase: 'Running', conditions } } },
      { subresource: 'status' },
    )
}

scenario(
  'Given a pod without ref but matching labels, when the RC syncs, then the pod gets a controller ref to the RC',
  async (world) => {
    await world.of(resources.pods).create(pod('orphan', { labels: { app: 'web' } }))
    // Until it is known: a controller that has not seen it makes a pod of its own, and may keep that one.
    await world.advance(1_000)
    const { metadata } = await world.of(TYPE).create(replicationController('web'))
    await untilController(world, 'orphan', metadata?.uid)
    const adopted = await world.find(resources.pods, 'orphan')
    assert.deepEqual(adopted?.metadata?.ownerReferences, [
      {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        name: 'web',
        uid: metadata?.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
  },
)

scenario(
  'Given a matching orphan, when the RC is created, then it is adopted; given a label change, it is released',
  async (world) => {
    await world.of(resources.pods).create(pod('orphan', { labels: { app: 'web' } }))
    await world.advance(1_000)
    const { metadata } = await world.of(TYPE).create(replicationController('web'))
    await untilController(world, 'orphan', metadata?.uid)
    await relabel(world, 'orphan', 'free')
    await untilController(world, 'orphan', undefined)
    await available(world, 1)
    assert.equal((await livePods(world)).length, 2)
  },
)

scenario(
  'Given pod labels changed away and back, when synced, then the ref is removed and later added again',
  async (world) => {
    const { metadata } = await world.of(TYPE).create(replicationController('web'))
    await available(world, 1)
    const [only] = await livePods(world)
    const name = only!.metadata!.name!
    await relabel(world, name, 'free')
    await untilController(world, name, undefined)
    await available(world, 1)
    await patch(world, { spec: { replicas: 2 } })
    await relabel(world, name, 'web')
    await untilController(world, name, metadata?.uid)
  },
)

scenario(
  'Given spec.replicas changes up, down and to 0, when synced, then pods follow and observedGeneration catches up',
  async (world) => {
    await world.of(TYPE).create(replicationController('web', { replicas: 2 }))
    await available(world, 2)
    for (const replicas of [3, 1, 0]) {
      await patch(world, { spec: { replicas } })
      await available(world, replicas)
      await world.until('no pod too many', WITHIN_MS, async () =>
        (await livePods(world)).length === replicas ? true : undefined,
      )
    }
  },
)

scenario(
  'Given one Failed pod and one terminating pod, when synced, then new pods replace both',
  async (world) => {
    await world.of(TYPE).create(replicationController('web', { replicas: 2 }))
    await available(world, 2)
    const [failing, going] = (await livePods(world)).map(({ metadata }) => metadata!.name!)
    const finalizers = ['example.com/hold']
    await world
      .of(resources.pods)
      .patch(going!, { type: 'merge', value: { metadata: { finalizers } } })
    await world.of(resources.pods).delete(going!)
    await world
      .of(resources.pods)
      .patch(
        failing!,
        { type: 'merge', value: { status: { phase: 'Failed' } } },
        { subresource: 'status' },
      )
    await world.until('two others run', WITHIN_MS, async () => {
      const others = (await livePods(world)).filter(({ metadata }) => metadata?.name !== failing)
      return others.filter(isPodReady).length === 2 ? true : undefined
    })
    assert.ok(await world.find(resources.pods, failing!))
    assert.ok(await world.find(resources.pods, going!))
  },
)

scenario(
  'Given two overlapping RCs, when one scales, then the other keeps its count',
  async (world) => {
    const labels = { app: 'shared' }
    await world.of(TYPE).create(replicationController('one', { labels }))
    await world.of(TYPE).create(replicationController('two', { labels, replicas: 2 }))
    await available(world, 1, 'one')
    await available(world, 2, 'two')
    await patch(world, { spec: { replicas: 0 } }, 'one')
    await available(world, 0, 'one')
    await world.advance(5_000)
    const kept = await available(world, 2, 'two')
    for (const each of await livePods(world)) {
      assert.equal(controllerOf(each)?.uid, kept.metadata?.uid)
    }
  },
)

scenario(
  'RC and ReplicaSet with the same namespace/name must not share expectations: each has the pods it asks for',
  async (world) => {
    const labels = { app: 'shared' }
    await world.of(TYPE).create(replicationController('web', { labels, replicas: 2 }))
    await world.of(resources.replicasets).create(replicaSet('web', { labels, replicas: 3 }))
    await available(world, 2)
    await world.until('3 of the ReplicaSet', WITHIN_MS, async () =>
      (await world.find(resources.replicasets, 'web'))?.status?.availableReplicas === 3
        ? true
        : undefined,
    )
    await patch(world, { spec: { replicas: 0 } })
    await available(world, 0)
    const kinds = (await livePods(world)).map((each) => controllerOf(each)?.kind)
    assert.deepEqual(kinds, ['ReplicaSet', 'ReplicaSet', 'ReplicaSet'])
  },
)

scenario(
  'Given an extra matching pod, when adopted, then the RC deletes one pod to return to spec.replicas',
  async (world) => {
    await world.of(TYPE).create(replicationController('web', { replicas: 2 }))
    await available(world, 2)
    await world.of(resources.pods).create(pod('extra', { labels: { app: 'web' } }))
    await world.until('one is deleted', WITHIN_MS, async () =>
      (await world.list(resources.pods)).length === 2 ? true : undefined,
    )
    for (const each of await livePods(world)) assert.equal(controllerOf(each)?.name, 'web')
  },
)

scenario(
  'Given extra template labels, when synced, then fullyLabeledReplicas counts only pods with all template labels',
  async (world) => {
    await world.of(TYPE).create(replicationController('web', { replicas: 2 }))
    await available(world, 2)
    assert.equal((await found(world)).status?.fullyLabeledReplicas, 2)
    await patch(world, { spec: { template: { metadata: { labels: { extra: 'x' } } } } })
    await world.until('none is fully labelled', WITHIN_MS, async () =>
      (await found(world)).status?.fullyLabeledReplicas === undefined ? true : undefined,
    )
    const [one] = await livePods(world)
    const value = { metadata: { labels: { extra: 'x' } } }
    await world.of(resources.pods).patch(one!.metadata!.name!, { type: 'merge', value })
    await world.until('one is', WITHIN_MS, async () =>
      (await found(world)).status?.fullyLabeledReplicas === 1 ? true : undefined,
    )
  },
)

scenario(
  'Given minReadySeconds 3600 and 3 pods of which 2 are ready and only one has been ready longer than 3600 s, when synced, then replicas 3, readyReplicas 2, availableReplicas 1',
  async (world) => {
    const spec = { minReadySeconds: 3600 }
    await world.of(TYPE).create(replicationController('web', { replicas: 3, spec }))
    const names = await world.until('three pods', WITHIN_MS, async () => {
      const all = await livePods(world)
      return all.length === 3 ? all.map(({ metadata }) => metadata!.name!) : undefined
    })
    const agoText = (ms: number) => new Date(world.clock.nowMs() - ms).toISOString()
    await setReady(world, names[0]!, agoText(3_601_000).replace(/\.\d+/, ''))
    await setReady(world, names[1]!, agoText(60_000).replace(/\.\d+/, ''))
    const { status } = await world.until('two are ready', WITHIN_MS, async () => {
      const controller = await found(world)
      return controller.status?.readyReplicas === 2 ? controller : undefined
    })
    assert.deepEqual(
      [status?.replicas, status?.readyReplicas, status?.availableReplicas],
      [3, 2, 1],
    )
  },
  { nodes: 0 },
)

scenario(
  'Given a quota of 2 pods and 3 replicas, when synced, then ReplicaFailure appears and disappears after scaling to 2',
  async (world) => {
    const hard = { pods: '2' }
    const quotas = world.of(resources.resourcequotas)
    await quotas.create({ metadata: { name: 'q', namespace: 'default' }, spec: { hard } })
    await quotas.patch(
      'q',
      { type: 'merge', value: { status: { hard, used: { pods: '0' } } } },
      { subresource: 'status' },
    )
    await world.advance(2_000)
    await world.of(TYPE).create(replicationController('web', { replicas: 3 }))
    const failure = await world.until('the failure shows', WITHIN_MS, async () =>
      findCondition((await found(world)).status?.conditions, 'ReplicaFailure'),
    )
    assert.deepEqual([failure.status, failure.reason], ['True', 'FailedCreate'])
    assert.match(failure.message ?? '', /exceeded quota: q/)
    await patch(world, { spec: { replicas: 2 } })
    await world.until('the failure is gone', WITHIN_MS, async () =>
      findCondition((await found(world)).status?.conditions, 'ReplicaFailure') === undefined
        ? true
        : undefined,
    )
    await available(world, 2)
    assert.equal((await livePods(world)).length, 2)
  },
)

scenario(
  'Given create, patch, status patch and delete of an RC, when watched, then status follows',
  async (world) => {
    await world.of(TYPE).create(replicationController('web'))
    await available(world, 1)
    await patch(world, { metadata: { labels: { patched: 'yes' } }, spec: { replicas: 2 } })
    await available(world, 2)
    const value = { status: { readyReplicas: 0, availableReplicas: 0 } }
    await world.of(TYPE).patch('web', { type: 'merge', value }, { subresource: 'status' })
    await available(world, 2)
    const scale = { spec: { replicas: 3 } }
    await world.of(TYPE).patch('web', { type: 'merge', value: scale }, { subresource: 'scale' })
    await available(world, 3)
    await world.of(TYPE).delete('web', { propagationPolicy: 'Background' })
    await world.until('its pods are gone', WITHIN_MS, async () =>
      (await world.list(resources.pods)).length === 0 ? true : undefined,
    )
  },
)

scenario(
  'an event is about the ReplicationController and comes from replication-controller',
  async (world) => {
    await world.of(TYPE).create(replicationController('web'))
    await available(world, 1)
    await world.advance(2_000)
    const events = await world.list(resources.events)
    const created = events.find(({ reason }) => reason === 'SuccessfulCreate')
    const { kind, apiVersion, name } = created?.involvedObject ?? {}
    assert.deepEqual([kind, apiVersion, name], ['ReplicationController', 'v1', 'web'])
    assert.equal(created?.source?.component, 'replication-controller')
  },
)
