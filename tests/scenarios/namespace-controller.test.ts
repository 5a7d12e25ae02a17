import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { Namespace } from '@gyropilot/api'
import { job } from './jobs.ts'
import { pod, service } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const namespaceOf = (name: string): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})

async function gone(world: World, name: string, withinMs: number): Promise<void> {
  await world.until(`${name} is gone`, withinMs, async () =>
    (await world.find(resources.namespaces, name)) === undefined ? true : undefined,
  )
}

scenario(
  'Given a namespace with pods or services, then both are gone and a recreated namespace is empty',
  async (world) => {
    await world.of(resources.namespaces).create(namespaceOf('a'))
    await world.of(resources.pods, 'a').create(pod('p', { namespace: 'a' }))
    await world.of(resources.services, 'a').create(service('s', { app: 'x' }, 'a'))
    await world.of(resources.namespaces).delete('a')
    await gone(world, 'a', 60_000)
    await world.of(resources.namespaces).create(namespaceOf('a'))
    assert.deepEqual(await world.list(resources.pods, 'a'), [])
    assert.deepEqual(await world.list(resources.services, 'a'), [])
  },
)

scenario(
  'Given 500 pods or more in a namespace, then they are asked to go after one second, and everything else as ever after five',
  async (world) => {
    for (const [name, count] of [
      ['large', 500],
      ['small', 499],
    ] as const) {
      await world.of(resources.namespaces).create(namespaceOf(name))
      await world.of(resources.configmaps, name).create({ metadata: { name: 'c' } })
      for (let at = 0; at < count; at++)
        await world.of(resources.pods, name).create(pod(`p${at}`, { namespace: name }))
      // Until the manager has seen them.
      await world.advance(1_000)
      await world.of(resources.namespaces).delete(name)
      const left = async (): Promise<readonly number[]> => [
        (await world.list(resources.pods, name)).length,
        (await world.list(resources.configmaps, name)).filter((c) => c.metadata?.name === 'c')
          .length,
      ]
      await world.advance(900)
      assert.deepEqual(await left(), [count, 1])
      await world.advance(3_600)
      assert.deepEqual(await left(), [count === 500 ? 0 : count, 1])
      await gone(world, name, 1_000)
    }
  },
)

scenario(
  'Given a pod with a finalizer and a config map, then the pod gets deletionTimestamp, the config map stays; after the finalizer is removed all goes',
  async (world) => {
    await world.of(resources.namespaces).create(namespaceOf('a'))
    await world
      .of(resources.pods, 'a')
      .create(pod('p', { namespace: 'a', finalizers: ['example.com/hold'] }))
    await world.of(resources.configmaps, 'a').create({ metadata: { name: 'c', namespace: 'a' } })
    await world.of(resources.namespaces).delete('a')
    await world.advance(60_000)
    assert.ok((await world.find(resources.pods, 'p', 'a'))?.metadata?.deletionTimestamp)
    assert.ok(await world.find(resources.configmaps, 'c', 'a'))
    await world
      .of(resources.pods, 'a')
      .patch('p', { type: 'merge', value: { metadata: { finalizers: null } } })
    await gone(world, 'a', 60_000)
  },
)

scenario(
  'Given a failed pod that its Job keeps for a replacement, then the namespace ends all the same, though the Job is suspended',
  async (world) => {
    for (const suspend of [false, true]) {
      await world.of(resources.namespaces).create(namespaceOf('a'))
      const { apiVersion, kind, spec } = job({
        completionMode: 'Indexed',
        completions: 1,
        backoffLimitPerIndex: 1,
      })
      await world
        .of(resources.jobs, 'a')
        .create({ apiVersion, kind, metadata: { name: 'w' }, spec })
      const failed = await world.until('its pod', 60_000, async () => {
        return (await world.list(resources.pods, 'a'))[0]
      })
      await world
        .of(resources.pods, 'a')
        .update({ ...failed, status: { phase: 'Failed' } }, { subresource: 'status' })
      await world
        .of(resources.jobs, 'a')
        .patch('w', { type: 'merge', value: { spec: { suspend } } })
      await world.of(resources.namespaces).delete('a')
      await gone(world, 'a', 60_000)
    }
  },
)

scenario(
  'Given a user adds a finalizer through `finalize`, then the namespace stays until it is removed',
  async (world) => {
    const namespaces = world.of(resources.namespaces)
    const created = await namespaces.create(namespaceOf('a'))
    const held = { ...created, spec: { finalizers: ['kubernetes', 'example.com/hold'] } }
    await namespaces.update(held, { subresource: 'finalize' })
    await namespaces.delete('a')
    await world.advance(60_000)
    const waiting = await world.find(resources.namespaces, 'a')
    assert.deepEqual(waiting?.spec?.finalizers, ['example.com/hold'])
    await namespaces.update({ ...waiting!, spec: { finalizers: [] } }, { subresource: 'finalize' })
    await gone(world, 'a', 5_000)
  },
)

scenario(
  'Given 100 namespaces deleted together, then 90 percent are gone in 150s',
  async (world) => {
    const names = Array.from({ length: 100 }, (_, i) => `n${i}`)
    for (const name of names) await world.of(resources.namespaces).create(namespaceOf(name))
    for (const name of names) await world.of(resources.namespaces).delete(name)
    await world.advance(150_000)
    const left = (await world.list(resources.namespaces)).filter(({ metadata }) =>
      /^n\d+$/.test(metadata?.name ?? ''),
    )
    assert.ok(left.length <= 10, `${left.length} are left`)
  },
)

function conditionsOf(namespace: Namespace | undefined): Readonly<Record<string, string>> {
  const conditions = namespace?.status?.conditions ?? []
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [
      type,
      `${status} ${reason}: ${message}`,
    ]),
  )
}

const ENDS_WELL = {
  NamespaceDeletionDiscoveryFailure:
    'False ResourcesDiscovered: All resources successfully discovered',
  NamespaceDeletionGroupVersionParsingFailure:
    'False ParsedGroupVersions: All legacy kube types successfully parsed',
  NamespaceDeletionContentFailure:
    'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
}

scenario(
  'Given a pod, then a config map with a finalizer, then the conditions say what the namespace waits for, pods first',
  async (world) => {
    const finalizers = ['example.com/hold']
    await world.of(resources.namespaces).create(namespaceOf('a'))
    await world.of(resources.pods, 'a').create(pod('p', { namespace: 'a', finalizers }))
    const configMap = { metadata: { name: 'c', namespace: 'a', finalizers } }
    await world.of(resources.configmaps, 'a').create(configMap)
    await world.of(resources.secrets, 'a').create({ metadata: { name: 's', namespace: 'a' } })
    await world.of(resources.namespaces).delete('a')
    await world.advance(30_000)
    assert.ok(await world.find(resources.secrets, 's', 'a'), 'nothing but pods is deleted')
    const release = { type: 'merge', value: { metadata: { finalizers: null } } } as const
    await world.of(resources.pods, 'a').patch('p', release)
    await world.advance(60_000)
    assert.equal(await world.find(resources.secrets, 's', 'a'), undefined)
    const waiting = await world.find(resources.namespaces, 'a')
    assert.equal(waiting?.status?.phase, 'Terminating')
    assert.deepEqual(conditionsOf(waiting), {
      ...ENDS_WELL,
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    })
    await world.of(resources.configmaps, 'a').patch('c', release)
    await gone(world, 'a', 30_000)
  },
)

scenario(
  'Given a status that a user patches, then it is kept, and the deletion adds its conditions to it',
  async (world) => {
    const namespaces = world.of(resources.namespaces)
    const finalizers = ['example.com/hold']
    await namespaces.create({ ...namespaceOf('a'), metadata: { name: 'a', finalizers } })
    const condition = { type: 'StatusPatch', status: 'True', reason: 'E2E', message: 'patched' }
    const value = { status: { conditions: [condition] } }
    await namespaces.patch('a', { type: 'merge', value }, { subresource: 'status' })
    await world.advance(60_000)
    const patched = { StatusPatch: 'True E2E: patched' }
    assert.deepEqual(conditionsOf(await world.find(resources.namespaces, 'a')), patched)
    await namespaces.delete('a')
    await world.advance(30_000)
    const emptied = await world.find(resources.namespaces, 'a')
    assert.deepEqual([emptied?.status?.phase, emptied?.spec?.finalizers ?? []], ['Terminating', []])
    assert.deepEqual(conditionsOf(emptied), {
      ...patched,
      ...ENDS_WELL,
      NamespaceContentRemaining: 'False ContentRemoved: All content successfully removed',
      NamespaceFinalizersRemaining:
        'False ContentHasNoFinalizers: All content-preserving finalizers finished',
    })
  },
)
