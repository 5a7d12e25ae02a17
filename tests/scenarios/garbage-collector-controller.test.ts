import assert from 'node:assert/strict'
import { apiVersionOf, resources } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference, ResourceType } from '@gyropilot/api'
import { daemonSet, deployment, statefulSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const SITES: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'sites',
  kind: 'Site',
  namespaced: true,
}
const ORPHAN = { propagationPolicy: 'Orphan' } as const
const DEFINITION = 'sites.example.com'

async function defineSites(world: World): Promise<void> {
  const { group, version, resource, kind } = SITES
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  await world.of(resources.customresourcedefinitions).create({
    metadata: { name: DEFINITION },
    spec: {
      group,
      names: { plural: resource, singular: 'site', kind },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  })
  // Until the next discovery nobody watches the new kind.
  await world.advance(31_000)
}

async function undefineSites(world: World): Promise<void> {
  await world.of(resources.customresourcedefinitions).delete(DEFINITION)
  await world.advance(1_000)
  assert.equal(await world.find(resources.customresourcedefinitions, DEFINITION), undefined)
}

function ownedBy(type: ResourceType, { metadata }: KubernetesObject): OwnerReference[] {
  const { name = '', uid = '' } = metadata ?? {}
  return [{ apiVersion: apiVersionOf(type), kind: type.kind, name, uid, blockOwnerDeletion: true }]
}

const meta = (name: string, ownerReferences: OwnerReference[] = [], finalizers: string[] = []) => ({
  metadata: { name, namespace: 'default', ownerReferences, finalizers },
})

const site = (...given: Parameters<typeof meta>): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  ...meta(...given),
})

scenario(
  'Given a custom resource that owns a Deployment and is deleted in the foreground, then it stays until the last pod is gone',
  async (world) => {
    await defineSites(world)
    const owner = await world.of(SITES).create(site('shop'))
    const web = deployment('web', { replicas: 2 })
    const metadata = { ...web.metadata, ownerReferences: ownedBy(SITES, owner) }
    await world.of(resources.deployments).create({ ...web, metadata })
    await world.until('two pods', 60_000, async () =>
      (await world.list(resources.pods)).length === 2 ? true : undefined,
    )
    await world.of(SITES).delete('shop', { propagationPolicy: 'Foreground' })
    await world.until('the site is gone', 120_000, async () => {
      if ((await world.find(SITES, 'shop')) !== undefined) return undefined
      const left = [
        ...(await world.list(resources.deployments)),
        ...(await world.list(resources.replicasets)),
        ...(await world.list(resources.pods)),
      ]
      assert.deepEqual(left, [])
      return true
    })
  },
)

scenario(
  'Given a CRD that vanishes and comes back, then dependents of the old instances go and those of new ones are kept and collected',
  async (world) => {
    for (const round of ['first', 'second']) {
      await defineSites(world)
      const owner = await world.of(SITES).create(site('shop'))
      const configMaps = world.of(resources.configmaps)
      await configMaps.create(meta(round, ownedBy(SITES, owner)))
      await world.advance(60_000)
      assert.ok(await world.find(resources.configmaps, round), 'kept')
      await undefineSites(world)
      await world.advance(60_000)
      const left = await world.find(resources.configmaps, round)
      assert.equal(left, undefined, `${round}: its owner was seen to go`)
    }
  },
)

scenario(
  'Given a kind of dependents that vanished, then owners of the kinds that had them still go in the foreground and with Orphan',
  async (world) => {
    await defineSites(world)
    for (const policy of ['Foreground', 'Orphan'] as const) {
      const owner = await world.of(resources.configmaps).create(meta(policy.toLowerCase()))
      await world.of(SITES).create(site(policy.toLowerCase(), ownedBy(resources.configmaps, owner)))
    }
    await world.advance(1_000)
    await undefineSites(world)
    for (const propagationPolicy of ['Foreground', 'Orphan'] as const) {
      const name = propagationPolicy.toLowerCase()
      await world.of(resources.configmaps).delete(name, { propagationPolicy })
      await world.until(`${name} is gone`, 60_000, async () =>
        (await world.find(resources.configmaps, name)) === undefined ? true : undefined,
      )
    }
  },
)

scenario(
  'Given a dependent with a finalizer, then its owner stays in the foreground deletion until the finalizer is removed',
  async (world) => {
    const owner = await world.of(resources.configmaps).create(meta('owner'))
    const owners = ownedBy(resources.configmaps, owner)
    await world.of(resources.secrets).create(meta('held', owners, ['example.com/hold']))
    await world.advance(1_000)
    await world.of(resources.configmaps).delete('owner', { propagationPolicy: 'Foreground' })
    await world.advance(120_000)
    assert.ok((await world.find(resources.secrets, 'held'))?.metadata?.deletionTimestamp)
    assert.ok(await world.find(resources.configmaps, 'owner'))
    const value = { metadata: { finalizers: null } }
    await world.of(resources.secrets).patch('held', { type: 'merge', value })
    await world.advance(5_000)
    assert.equal(await world.find(resources.secrets, 'held'), undefined)
    assert.equal(await world.find(resources.configmaps, 'owner'), undefined)
  },
)

scenario(
  'Given a StatefulSet and a DaemonSet deleted with Orphan while they are making their first pods, then all pods and revisions that were made stay, without the ref',
  async (world) => {
    const dependents = async (): Promise<readonly KubernetesObject[]> => [
      ...(await world.list(resources.pods)),
      ...(await world.list(resources.controllerrevisions)),
    ]
    const made = new Set<string>()
    for (const delayMs of [0, 2, 5, 10, 15, 20, 30, 50]) {
      const db = statefulSet(`db-${delayMs}`, {
        replicas: 3,
        spec: { podManagementPolicy: 'Parallel' },
      })
      const agent = daemonSet(`agent-${delayMs}`)
      await world.of(resources.statefulsets).create(db)
      await world.of(resources.daemonsets).create(agent)
      await world.advance(delayMs)
      await world.of(resources.statefulsets).delete(db.metadata!.name!, ORPHAN)
      await world.of(resources.daemonsets).delete(agent.metadata!.name!, ORPHAN)
      for (let passedMs = 0; passedMs < 300; passedMs += 2) {
        for (const { metadata } of await dependents()) made.add(metadata!.uid!)
        await world.advance(2)
      }
    }
    await world.advance(60_000)
    assert.deepEqual(await world.list(resources.statefulsets), [])
    assert.deepEqual(await world.list(resources.daemonsets), [])
    const left = await dependents()
    assert.ok(left.length > 16, `${left.length} were made in time`)
    assert.deepEqual(left.map(({ metadata }) => metadata!.uid!).toSorted(), [...made].toSorted())
    for (const { metadata } of left) assert.deepEqual(metadata?.ownerReferences ?? [], [])
  },
)
