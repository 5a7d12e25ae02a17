/** What upstream's end-to-end and integration tests say of ReplicaSets, on a whole cluster. */
import assert from 'node:assert/strict'
import { controllerOf, findCondition, resources } from '@gyropilot/api'
import type { OwnerReference, Pod, ReplicaSet } from '@gyropilot/api'
import { pod, replicaSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 60_000

async function web(world: World): Promise<ReplicaSet> {
  const found = await world.find(resources.replicasets, 'web')
  assert.ok(found)
  return found
}

async function livePods(world: World): Promise<readonly Pod[]> {
  const all = await world.list(resources.pods)
  return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
}

async function available(world: World, count: number): Promise<ReplicaSet> {
  return await world.until(`${count} available`, WITHIN_MS, async () => {
    const found = await web(world)
    const { replicas, availableReplicas = 0, observedGeneration } = found.status ?? {}
    const isThere = replicas === count && availableReplicas === count
    return isThere && observedGeneration === found.metadata?.generation ? found : undefined
  })
}

async function patch(world: World, value: object): Promise<void> {
  await world.of(resources.replicasets).patch('web', { type: 'merge', value })
}

scenario(
  'Given label change on an adopted pod, when synced, then it is released and replaced',
  async (world) => {
    await world.of(resources.pods).create(pod('orphan', { labels: { app: 'web' } }))
    const created = await world.of(resources.replicasets).create(replicaSet('web'))
    const owner = async () =>
      controllerOf((await world.find(resources.pods, 'orphan')) ?? ({} as Pod))
    await world.until('the orphan is adopted', WITHIN_MS, async () =>
      (await owner())?.uid === created.metadata?.uid ? true : undefined,
    )
    assert.equal((await livePods(world)).length, 1)
    await world
      .of(resources.pods)
      .patch('orphan', { type: 'merge', value: { metadata: { labels: { app: 'free' } } } })
    await world.until('it is released', WITHIN_MS, async () =>
      (await owner()) === undefined ? true : undefined,
    )
    await available(world, 1)
    assert.equal((await livePods(world)).length, 2)
  },
)

const other: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'other' }
const ownerships: readonly (readonly [
  string,
  (own: OwnerReference) => readonly OwnerReference[],
  (own: OwnerReference) => readonly OwnerReference[],
])[] = [
  [
    'refers to it as an owner, not a controller, becomes its own',
    (own) => [own],
    (own) => [{ ...own, controller: true, blockOwnerDeletion: true }],
  ],
  [
    'has no owner references, becomes its own',
    () => [],
    (own) => [{ ...own, controller: true, blockOwnerDeletion: true }],
  ],
  [
    'refers to it as a controller, stays as it is',
    (own) => [{ ...own, controller: true }],
    (own) => [{ ...own, controller: true }],
  ],
  [
    'has another controller, and it as an owner, stays as it is',
    (own) => [{ ...other, controller: true }, own],
    (own) => [{ ...other, controller: true }, own],
  ],
  [
    'has another owner and it as a controller, stays as it is',
    (own) => [{ ...own, controller: true }, other],
    (own) => [{ ...own, controller: true }, other],
  ],
]
for (const [title, before, after] of ownerships) {
  scenario(
    `a pod that matches a ReplicaSet and ${title}`,
    async (world) => {
      const { metadata } = await world.of(resources.replicasets).create(replicaSet('web'))
      const own = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: metadata!.uid! }
      // It may be the one that is too many: then it stays to be looked at.
      const finalizers = ['example.com/hold']
      const base = pod('p', { labels: { app: 'web' }, finalizers })
      await world
        .of(resources.pods)
        .create({ ...base, metadata: { ...base.metadata, ownerReferences: before(own) } })
      await world.until('the ReplicaSet is content', WITHIN_MS, async () => {
        const owners = (await livePods(world)).filter((each) => controllerOf(each)?.uid === own.uid)
        return owners.length === 1 && (await web(world)).status?.replicas === 1 ? true : undefined
      })
      await world.advance(5_000)
      const kept = await world.find(resources.pods, 'p')
      assert.deepEqual(kept?.metadata?.ownerReferences, after(own))
    },
    // The collector would take pods whose owner never was.
    { controllers: ['replicaset-controller', 'serviceaccount-controller'] },
  )
}

scenario(
  'Given an extra matching orphan, when adopted, then one pod is deleted to return to spec.replicas',
  async (world) => {
    await world.of(resources.replicasets).create(replicaSet('web', { replicas: 2 }))
    await available(world, 2)
    await world.of(resources.pods).create(pod('extra', { labels: { app: 'web' } }))
    await world.until('one is deleted', WITHIN_MS, async () =>
      (await world.list(resources.pods)).length === 2 ? true : undefined,
    )
    for (const each of await livePods(world)) assert.equal(controllerOf(each)?.name, 'web')
  },
)

scenario(
  'Given a quota of 2 pods and 3 replicas, when synced, then ReplicaFailure appears; after scaling to 2 it disappears',
  async (world) => {
    const hard = { pods: '2' }
    await world
      .of(resources.resourcequotas)
      .create({ metadata: { name: 'q', namespace: 'default' }, spec: { hard } })
    await world
      .of(resources.resourcequotas)
      .patch(
        'q',
        { type: 'merge', value: { status: { hard, used: { pods: '0' } } } },
        { subresource: 'status' },
      )
    await world.advance(2_000)
    await world.of(resources.replicasets).create(replicaSet('web', { replicas: 3 }))
    const failure = await world.until('the failure shows', WITHIN_MS, async () =>
      findCondition((await web(world)).status?.conditions, 'ReplicaFailure'),
    )
    assert.deepEqual([failure.status, failure.reason], ['True', 'FailedCreate'])
    assert.match(failure.message ?? '', /exceeded quota: q/)
    assert.equal((await livePods(world)).length, 2)
    await world.advance(3_000)
    const texts = (await world.list(resources.events))
      .filter(({ reason }) => reason === 'FailedCreate')
      .map(({ message }) => message ?? '')
    assert.ok(texts.length > 0)
    // From the tenth on they are told as one.
    const told = /^(\(combined from similar events\): )?Error creating: pods "web-\w+" is forbidden/
    for (const text of texts) assert.match(text, told)
    await patch(world, { spec: { replicas: 2 } })
    await world.until('the failure is gone', WITHIN_MS, async () =>
      findCondition((await web(world)).status?.conditions, 'ReplicaFailure') === undefined
        ? true
        : undefined,
    )
    await available(world, 2)
  },
)

scenario('a condition that somebody else puts into the status stays', async (world) => {
  await world.of(resources.replicasets).create(replicaSet('web'))
  await available(world, 1)
  const conditions = [{ type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'from e2e' }]
  await world
    .of(resources.replicasets)
    .patch('web', { type: 'merge', value: { status: { conditions } } }, { subresource: 'status' })
  await patch(world, { spec: { replicas: 3 } })
  const { status } = await available(world, 3)
  assert.equal(findCondition(status?.conditions, 'StatusUpdate')?.message, 'from e2e')
})

scenario(
  'the generation of a change is observed, and scaling through the subresource is one',
  async (world) => {
    await world.of(resources.replicasets).create(replicaSet('web'))
    const before = await available(world, 1)
    await world
      .of(resources.replicasets)
      .patch('web', { type: 'merge', value: { spec: { replicas: 2 } } }, { subresource: 'scale' })
    const scaled = await available(world, 2)
    assert.equal(scaled.status?.observedGeneration, before.status!.observedGeneration! + 1)
    await patch(world, { spec: { template: { metadata: { annotations: { note: 'x' } } } } })
    const noted = await available(world, 2)
    assert.equal(noted.status?.observedGeneration, scaled.status!.observedGeneration! + 1)
    await patch(world, { spec: { replicas: 0 } })
    const none = await available(world, 0)
    assert.equal(none.status?.replicas, 0)
  },
)

scenario(
  'fullyLabeledReplicas counts pods with the labels of the template as it is now',
  async (world) => {
    await world.of(resources.replicasets).create(replicaSet('web', { replicas: 2 }))
    await available(world, 2)
    assert.equal((await web(world)).status?.fullyLabeledReplicas, 2)
    await patch(world, { spec: { template: { metadata: { labels: { extra: 'x' } } } } })
    await world.until('none is fully labelled', WITHIN_MS, async () =>
      (await web(world)).status?.fullyLabeledReplicas === undefined ? true : undefined,
    )
    const [one] = await livePods(world)
    await world.of(resources.pods).patch(one!.metadata!.name!, {
      type: 'merge',
      value: { metadata: { labels: { extra: 'x' } } },
    })
    await world.until('one is', WITHIN_MS, async () =>
      (await web(world)).status?.fullyLabeledReplicas === 1 ? true : undefined,
    )
  },
)

scenario(
  'a ReplicaSet that is deleted and made again at once has pods of its own, as many as it asks for',
  async (world) => {
    const made = replicaSet('web', { replicas: 3 })
    await world.of(resources.replicasets).create(made)
    await available(world, 3)
    await world.of(resources.replicasets).delete('web', { propagationPolicy: 'Background' })
    const again = await world.of(resources.replicasets).create(made)
    await available(world, 3)
    await world.until('only its own pods are left', WITHIN_MS, async () => {
      const all = await world.list(resources.pods)
      const own = all.every((each) => controllerOf(each)?.uid === again.metadata?.uid)
      return own && all.length === 3 ? true : undefined
    })
  },
)
