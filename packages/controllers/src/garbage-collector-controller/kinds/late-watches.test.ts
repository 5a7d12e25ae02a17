/** Owners whose deletion is seen before their dependents are: one watch is late, the others are not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { apiVersionOf, resources } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference, ResourceType } from '@gyropilot/api'
import { TransportError } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import { isCollectionOf, liveWorld } from '../testing/live-world.ts'
import type { LiveWorld, LiveWorldOptions } from '../testing/live-world.ts'

interface LateWorld extends LiveWorld {
  /** The watch works from now on. */
  catchUp(): Promise<void>
}

async function worldWithout(
  t: TestContext,
  late: ResourceType,
  before: LiveWorldOptions['before'] = () => {},
): Promise<LateWorld> {
  let isBroken = true
  const world = await liveWorld({
    before(request, world) {
      if (isBroken && isCollectionOf(late, request)) {
        throw new TransportError('ECONNREFUSED', 'this watch is down')
      }
      return before(request, world)
    },
  })
  t.after(() => world.stop())
  world.start()
  await world.clock.advance(31_000)
  return {
    ...world,
    async catchUp() {
      isBroken = false
      await world.clock.advance(60_000)
    },
  }
}

function refTo(type: ResourceType, { metadata }: KubernetesObject): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {}
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, blockOwnerDeletion: true }
}

const metadata = (name: string, owners: readonly OwnerReference[] = []) => ({
  name,
  namespace: 'default',
  ownerReferences: [...owners],
})

async function deploymentWithSet(world: LiveWorld) {
  const labels = { app: 'web' }
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  }
  const owner = await world.create(resources.deployments, { metadata: metadata('web'), spec })
  const owners = [refTo(resources.deployments, owner)]
  const set = { metadata: metadata('web-1', owners), spec: { ...spec, replicas: 0 } }
  return { owner, set: await world.create(resources.replicasets, set) }
}

test('a ReplicaSet that no watch has shown survives when its Deployment is deleted with Orphan', async (t) => {
  const world = await worldWithout(t, resources.replicasets)
  const { owner, set } = await deploymentWithSet(world)
  await world.delete(resources.deployments, owner, 'Orphan')
  await world.clock.advance(1_000)
  assert.equal(await world.find(resources.deployments, owner), undefined)
  assert.deepEqual(world.writes(), ['patch deployments', 'patch replicasets'])
  await world.catchUp()
  const kept = await world.find(resources.replicasets, set)
  assert.deepEqual([kept?.metadata?.ownerReferences ?? []], [[]])
  assert.equal(world.writes().length, 2)
})

test('a Deployment that is deleted in the foreground waits for a ReplicaSet that no watch has shown', async (t) => {
  const world = await worldWithout(t, resources.replicasets)
  const { owner, set } = await deploymentWithSet(world)
  await world.delete(resources.deployments, owner, 'Foreground')
  await world.clock.advance(20_000)
  assert.ok(await world.find(resources.deployments, owner))
  assert.deepEqual(world.writes(), [])
  await world.catchUp()
  assert.equal(await world.find(resources.replicasets, set), undefined)
  assert.equal(await world.find(resources.deployments, owner), undefined)
  assert.deepEqual(world.writes(), ['delete replicasets', 'patch deployments'])
})

test('owners that wait at the same time are looked after together', async (t) => {
  // A look takes its time, as those of real servers do: all ask while the first is under way.
  const world = await worldWithout(t, resources.secrets, (request, { clock }) =>
    request.path.startsWith('/api/v1/namespaces/default/pods') ? sleep(clock, 10) : undefined,
  )
  const owners = Array.from({ length: 15 }, (_, index) => ({ metadata: metadata(`rc-${index}`) }))
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const spec = { replicas: 0, selector: { a: 'b' }, template }
  for (const { metadata } of owners)
    await world.create(resources.replicationcontrollers, { metadata, spec })
  await world.clock.advance(1_000)
  world.requests.length = 0
  await Promise.all(
    owners.map((owner) => world.delete(resources.replicationcontrollers, owner, 'Foreground')),
  )
  await world.clock.advance(1_000)
  for (const owner of owners)
    assert.equal(await world.find(resources.replicationcontrollers, owner), undefined)
  const requests = Map.groupBy(world.requests, (line) => line)
  assert.equal(requests.get('get replicationcontrollers')?.length, owners.length)
  assert.equal(requests.get('patch replicationcontrollers')?.length, owners.length)
  assert.equal(requests.get('get pods')?.length, 2)
})

/** Nothing tells a collector that config maps may own secrets before it sees the first one. */
async function orphanedSecret(world: LiveWorld) {
  const owner = await world.create(resources.configmaps, { metadata: metadata('owner') })
  const owners = [refTo(resources.configmaps, owner)]
  const left = await world.create(resources.secrets, { metadata: metadata('left', owners) })
  await world.delete(resources.configmaps, owner, 'Orphan')
  await world.clock.advance(5_000)
  assert.equal(await world.find(resources.configmaps, owner), undefined)
  return { left, owners }
}

test('a dependent of a kind that never depended on its owner’s before is freed when it is seen at last', async (t) => {
  const world = await worldWithout(t, resources.secrets)
  const { left, owners } = await orphanedSecret(world)
  const late = await world.create(resources.secrets, { metadata: metadata('late', owners) })
  await world.catchUp()
  const kept = await world.find(resources.secrets, left)
  assert.deepEqual([kept?.metadata?.ownerReferences ?? []], [[]])
  assert.equal(await world.find(resources.secrets, late), undefined, 'made after the deletion')
  assert.deepEqual(world.writes(), ['delete secrets', 'patch configmaps', 'patch secrets'])
})

test('a status that is written while an owner is released costs no further write', async (t) => {
  let isDisturbed = true
  const world = await liveWorld({
    async before({ method, path }, { client }) {
      if (method !== 'PATCH' || !path.includes('/deployments/') || !isDisturbed) return
      isDisturbed = false
      const value = { metadata: { labels: { changed: 'meanwhile' } } }
      await client.resource(resources.deployments, 'default').patch('web', { type: 'merge', value })
    },
  })
  t.after(() => world.stop())
  world.start()
  await world.clock.advance(1_000)
  const { owner } = await deploymentWithSet(world)
  await world.clock.advance(100)
  await world.delete(resources.deployments, owner, 'Foreground')
  await world.clock.advance(5_000)
  assert.equal(isDisturbed, false)
  assert.equal(await world.find(resources.deployments, owner), undefined)
  assert.deepEqual(world.writes(), ['delete replicasets', 'patch deployments'])
})

test('finalizers that go while an owner is released do not come back', async (t) => {
  const changes = [
    ['b/two', 'c/three', 'orphan'],
    ['c/three', 'orphan'],
  ]
  const world = await liveWorld({
    async before({ method, path }, { client }) {
      const finalizers = method === 'PATCH' && path.includes('/configmaps/') && changes.shift()
      if (!finalizers) return
      const patch = { type: 'merge', value: { metadata: { finalizers } } } as const
      await client.resource(resources.configmaps, 'default').patch('held', patch)
    },
  })
  t.after(() => world.stop())
  world.start()
  await world.clock.advance(1_000)
  const held = { metadata: { ...metadata('held'), finalizers: ['a/one', 'b/two', 'c/three'] } }
  await world.create(resources.configmaps, held)
  await world.delete(resources.configmaps, held, 'Orphan')
  await world.clock.advance(5_000)
  const left = await world.find(resources.configmaps, held)
  assert.deepEqual(left?.metadata?.finalizers, ['c/three'])
  assert.deepEqual(world.writes(), [
    'patch configmaps',
    'patch configmaps -> 422',
    'patch configmaps -> 422',
  ])
})
