/** Objects are written anew when somebody asks for it. The API of these migrations is brought by a definition. */
import assert from 'node:assert/strict'
import { isConditionTrue, resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType, StatusCondition } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { ScenarioOptions, World } from './scenario.ts'

interface Migration extends KubernetesObject {
  readonly spec: { readonly resource: { readonly group: string; readonly resource: string } }
  readonly status?: { readonly conditions?: readonly StatusCondition[] }
}

const typeOf = <T extends KubernetesObject>(
  group: string,
  version: string,
  resource: string,
  kind: string,
  namespaced: boolean,
): ResourceType<T> => ({ group, version, resource, kind, namespaced })

const GROUP = 'storagemigration.k8s.io'
const MIGRATIONS = typeOf<Migration>(
  GROUP,
  'v1beta1',
  'storageversionmigrations',
  'StorageVersionMigration',
  false,
)
const sitesIn = (version: string): ResourceType =>
  typeOf('example.com', version, 'sites', 'Site', true)
const SITES = 'sites.example.com'
const MIGRATED_WITHIN_MS = 300_000

const OPTIONS: ScenarioOptions = {
  nodes: 0,
  controllers: ['garbage-collector-controller', 'storage-version-migrator-controller'],
  featureGates: ['StorageVersionMigrator'],
}

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }

async function define(world: World, type: ResourceType): Promise<void> {
  const { group, version, resource, kind, namespaced } = type
  await world.of(resources.customresourcedefinitions).create({
    metadata: {
      name: `${resource}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, of a test' },
    },
    spec: {
      group,
      names: { plural: resource, singular: kind.toLowerCase(), kind },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        { name: version, served: true, storage: true, schema, subresources: { status: {} } },
      ],
    },
  })
  await world.advance(1_000)
}

async function migrate(world: World, name: string, group: string, resource: string): Promise<void> {
  const spec = { resource: { group, resource } }
  await world.of(MIGRATIONS).create({ metadata: { name }, spec })
}

async function untilSucceeded(world: World, name: string): Promise<void> {
  await world.until(`${name} has succeeded`, MIGRATED_WITHIN_MS, async () => {
    const conditions = (await world.find(MIGRATIONS, name))?.status?.conditions
    const isOver =
      isConditionTrue(conditions, 'Succeeded') && !isConditionTrue(conditions, 'Running')
    return isOver ? true : undefined
  })
}

/** What a server with the gate on has of itself. */
async function allow(world: World): Promise<void> {
  const name = 'system:controller:storage-version-migrator-controller'
  await world.of(resources.clusterroles).create({
    metadata: { name },
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['list', 'create', 'patch'] },
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        verbs: ['get'],
      },
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions/status'],
        verbs: ['patch'],
      },
      { apiGroups: [GROUP], resources: ['storageversionmigrations/status'], verbs: ['update'] },
    ],
  })
  await world.of(resources.clusterrolebindings).create({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [
      {
        kind: 'ServiceAccount',
        name: 'storage-version-migrator-controller',
        namespace: 'kube-system',
      },
    ],
  })
  await define(world, MIGRATIONS)
}

const versionsOf = async (world: World, type: ResourceType): Promise<readonly unknown[]> =>
  (await world.list(type)).map(({ metadata }) => metadata?.resourceVersion)

const definition = async (world: World) =>
  (await world.find(resources.customresourcedefinitions, SITES))!

scenario(
  'a second SVM changes no resourceVersion',
  async (world) => {
    await allow(world)
    for (const name of ['a', 'b', 'c'])
      await world.of(resources.secrets).create({ metadata: { name }, stringData: { key: name } })
    for (const name of ['first', 'second']) {
      const before = await versionsOf(world, resources.secrets)
      await migrate(world, name, '', 'secrets')
      await untilSucceeded(world, name)
      assert.deepEqual(await versionsOf(world, resources.secrets), before)
    }
  },
  OPTIONS,
)

scenario(
  'Given a CRD whose storage version moved to v2, then CRs are stored as v2 and v1 can be dropped from storedVersions',
  async (world) => {
    await allow(world)
    await define(world, sitesIn('v1'))
    for (const name of ['a', 'b']) await world.of(sitesIn('v1')).create({ metadata: { name } })
    const [v1] = (await definition(world)).spec.versions
    const v2 = { ...v1!, name: 'v2' }
    const withVersions = async (versions: readonly (typeof v2)[]): Promise<void> => {
      const known = await definition(world)
      const changed = { ...known, spec: { ...known.spec, versions } }
      await world.of(resources.customresourcedefinitions).update(changed)
      await world.advance(31_000)
    }
    await withVersions([{ ...v1!, storage: false }, v2])
    assert.deepEqual((await definition(world)).status?.storedVersions, ['v1', 'v2'])
    await assert.rejects(withVersions([v2]))
    const before = await versionsOf(world, sitesIn('v2'))
    await migrate(world, 'sites', 'example.com', 'sites')
    await untilSucceeded(world, 'sites')
    assert.deepEqual((await definition(world)).status?.storedVersions, ['v2'])
    const after = await versionsOf(world, sitesIn('v2'))
    assert.ok(after.length === 2 && after.every((version) => !before.includes(version)))
    await withVersions([v2])
    const sites = await world.of(sitesIn('v2')).list()
    assert.deepEqual(
      sites.items.map(({ metadata }) => metadata?.name),
      ['a', 'b'],
    )
  },
  OPTIONS,
)

scenario(
  'Given 10 SVMs for one CRD while objects are created and deleted all the time, then all succeed',
  async (world) => {
    await allow(world)
    await define(world, sitesIn('v1'))
    const sites = world.of(sitesIn('v1'))
    const names = Array.from({ length: 10 }, (_, index) => `m${index}`)
    for (const name of names) await migrate(world, name, 'example.com', 'sites')
    let made = 0
    await world.until('all have succeeded', 20 * MIGRATED_WITHIN_MS, async () => {
      await sites.create({ metadata: { name: `s${made++}` } })
      if (made > 5) await sites.delete(`s${made - 6}`)
      await world.advance(500)
      const found = await world.list(MIGRATIONS)
      const over = found.filter(({ status }) => isConditionTrue(status?.conditions, 'Succeeded'))
      return over.length === names.length ? true : undefined
    })
  },
  OPTIONS,
)
