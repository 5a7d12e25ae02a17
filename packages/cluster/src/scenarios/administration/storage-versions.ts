/** Versions in which objects are stored: which servers write which, and objects that are written anew. */
import type { Lease } from '@gyropilot/api'
import { resources, resourcesOnRequest } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { gatedKind } from '../gated-kinds.ts'
import { configMap } from '../objects.ts'
import { untilSo, untilWithOccasions } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

/** Longer than any cache lags: a server that came and went meanwhile would be none. */
const STEP_MS = 20_000
const VERSIONS = resourcesOnRequest.storageversions

function serverLease(name: string): Lease {
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-system', labels },
  }
}

type Encodings = Readonly<Record<string, string>>

const entriesOf = (encodings: Encodings) =>
  Object.entries(encodings).map(([apiServerID, encodingVersion]) => ({
    apiServerID,
    encodingVersion,
    decodableVersions: ['v1', 'v2'],
  }))

/** As servers say it when they start. */
async function announce(cluster: SimulatedCluster, name: string, encodings: Encodings) {
  const client = cluster.client.resource(VERSIONS)
  const { metadata } = await client.create({ metadata: { name }, spec: {} })
  const [common, ...others] = new Set(Object.values(encodings))
  const isCommon = others.length === 0
  const status = {
    storageVersions: entriesOf(encodings),
    ...(isCommon && { commonEncodingVersion: common }),
  }
  await client.patch(
    metadata?.name ?? '',
    { type: 'merge', value: { status } },
    { subresource: 'status' },
  )
}

/** Who writes it, in which version all, and what is said of that. */
function versionText(cluster: SimulatedCluster, name: string): string | undefined {
  const found = cluster.objects.find(VERSIONS, undefined, name)
  if (found === undefined) return undefined
  const { storageVersions = [], commonEncodingVersion, conditions = [] } = found.status ?? {}
  const servers = storageVersions.map(({ apiServerID }) => apiServerID).join('+')
  const said = conditions.map(({ type, status }) => `${type}=${status}`).join()
  return `${servers} ${commonEncodingVersion} ${said}`
}

const collecting: Scenario = {
  name: 'servers that are gone store nothing any more',
  controllers: ['storageversion-garbage-collector-controller'],
  nodes: 0,
  featureGates: { StorageVersionAPI: true },
  runtimeConfig: { 'internal.apiserver.k8s.io/v1alpha1': true },
  async play(cluster) {
    for (const name of ['one', 'two', 'three']) await cluster.create(serverLease(name))
    await announce(cluster, 'apps.deployments', { one: 'v1', two: 'v2', three: 'v2' })
    await announce(cluster, 'apps.daemonsets', { one: 'v1', two: 'v2', three: 'v1' })
    await announce(cluster, 'apps.statefulsets', { one: 'v1' })
    await announce(cluster, 'batch.jobs', { three: 'v1', ghost: 'v2' })
    await cluster.advance(STEP_MS)
    await cluster.delete(resources.leases, 'kube-system', 'one')
    await untilWithOccasions(
      cluster,
      'nobody stores but who is there',
      () => [...problems(cluster)].length === 0,
      () => announceAnew(cluster),
    )
  },
  ends: problems,
}

const LEFT = {
  'apps.deployments': 'two+three v2 AllEncodingVersionsEqual=True',
  'apps.daemonsets': 'two+three undefined AllEncodingVersionsEqual=False',
  'apps.statefulsets': undefined,
  'batch.jobs': 'three v1 AllEncodingVersionsEqual=True',
}

function* problems(cluster: SimulatedCluster): Iterable<string> {
  for (const [name, text] of Object.entries(LEFT)) {
    const found = versionText(cluster, name)
    if (found !== text) yield `${name}: ${found} and not ${text}`
  }
}

/** As servers do now and then: what was taken for gone is there again, and the rest is looked at again. */
async function announceAnew(cluster: SimulatedCluster): Promise<void> {
  if (versionText(cluster, 'batch.jobs') === undefined)
    await announce(cluster, 'batch.jobs', { three: 'v1', ghost: 'v2' })
  for (const { metadata } of cluster.objects.all(VERSIONS))
    await cluster.client.resource(VERSIONS).patch(metadata?.name ?? '', {
      type: 'merge',
      value: { metadata: { annotations: { 'example.com/at': `${cluster.virtualMs}` } } },
    })
}

const MIGRATIONS = resourcesOnRequest.storageversionmigrations

const WIDGETS = gatedKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  namespaced: true,
  account: 'nobody',
  verbs: ['get'],
})
const [WIDGET_DEFINITION] = WIDGETS.installed
const DEFINITION = 'widgets.example.com'

/** Both versions are served, and the second one is stored from now on. */
async function storeInSecond(cluster: SimulatedCluster): Promise<void> {
  const { spec } = await cluster.get(resources.customresourcedefinitions, undefined, DEFINITION)
  const [first] = spec!.versions
  const versions = [
    { ...first!, storage: false },
    { ...first!, name: 'v2', storage: true },
  ]
  await cluster.patch(resources.customresourcedefinitions, undefined, DEFINITION, {
    type: 'merge',
    value: { spec: { versions } },
  })
}

const migrate = (cluster: SimulatedCluster, name: string, group: string, resource: string) =>
  cluster.client
    .resource(MIGRATIONS)
    .create({ metadata: { name }, spec: { resource: { group, resource } } })

function conditionsOf(cluster: SimulatedCluster, name: string): string {
  const { conditions = [] } = cluster.objects.find(MIGRATIONS, undefined, name)?.status ?? {}
  return conditions
    .map(({ type, status }) => `${type}=${status}`)
    .toSorted()
    .join()
}

const DONE = 'Running=False,Succeeded=True'
const ALL = ['configs', 'first', 'second']

const migrating: Scenario = {
  name: 'objects are stored anew, one migration of a kind after the other',
  controllers: ['storage-version-migrator-controller'],
  nodes: 0,
  featureGates: { StorageVersionMigrator: true },
  runtimeConfig: { 'storagemigration.k8s.io/v1beta1': true },
  installed: [WIDGET_DEFINITION!],
  async play(cluster) {
    const widgets = cluster.client.resource(WIDGETS.type, 'default')
    for (const name of ['a', 'b'])
      await widgets.create(WIDGETS.object({ name, namespace: 'default' }, { spec: { size: 1 } }))
    await cluster.create(configMap('plain'))
    await storeInSecond(cluster)
    await migrate(cluster, 'first', 'example.com', 'widgets')
    await migrate(cluster, 'second', 'example.com', 'widgets')
    await migrate(cluster, 'configs', '', 'configmaps')
    for (const name of ALL)
      await untilSo(cluster, `${name} is done`, () => conditionsOf(cluster, name) === DONE)
  },
  *ends(cluster) {
    for (const name of ALL) {
      const found = conditionsOf(cluster, name)
      if (found !== DONE) yield `${name}: ${found}`
    }
    const definition = cluster.objects.find(
      resources.customresourcedefinitions,
      undefined,
      DEFINITION,
    )
    const { storedVersions, conditions } = definition?.status ?? {}
    if (storedVersions?.join() !== 'v2') yield `widgets are stored as ${storedVersions?.join()}`
    const migrating = conditions?.find(({ type }) => (type as string) === 'StorageMigrating')
    if (migrating?.status !== 'False' || migrating.reason !== 'MigrationSucceeded')
      yield `widgets are migrating: ${migrating?.status} ${migrating?.reason}`
  },
}

export const storageVersionScenarios: readonly Scenario[] = [collecting, migrating]
