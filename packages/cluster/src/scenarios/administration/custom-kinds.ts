/** Kinds that come, go and come back as others while objects depend on theirs. */
import type { CustomResourceDefinition, KubernetesObject, ResourceType } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { definitionOf } from '@gyropilot/runtime'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { configMap, namespace } from '../objects.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

/** Longer than discovery is asked again by garbage collection and quotas. */
const DISCOVERED_MS = 40_000
const FINALIZER = 'example.com/hold'
const QUOTA = { name: 'kinds', namespace: 'box' }

interface Widget extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>
}

function widgets(version: string, namespaced: boolean): ResourceType<Widget> {
  return { group: 'example.com', version, resource: 'widgets', kind: 'Widget', namespaced }
}

/** With `former`: a version that is still served, so that what is said of the kind before can be understood. */
function definition(
  type: ResourceType<Widget>,
  former: readonly string[],
): CustomResourceDefinition {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const { spec, ...rest } = definitionOf(type, { schema, statusSubresource: false })
  const versions = spec!.versions!.flatMap((stored) => [
    stored,
    ...former.map((name) => ({ ...stored, name, storage: false })),
  ])
  return { ...rest, spec: { ...spec, versions } }
}

function widget(type: ResourceType<Widget>, name: string, finalizers: string[] = []): Widget {
  const place = type.namespaced ? { namespace: finalizers.length > 0 ? 'box' : 'default' } : {}
  return {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name, ...place, ...(finalizers.length > 0 ? { finalizers } : {}) },
  }
}

async function install(
  cluster: SimulatedCluster,
  type: ResourceType<Widget>,
  ...former: readonly string[]
): Promise<void> {
  await cluster.create(definition(type, former))
  const name = `${type.resource}.${type.group}`
  await untilSo(cluster, `${name} is served`, () => {
    const live = cluster.objects.find(resources.customresourcedefinitions, undefined, name)
    return live?.status?.conditions?.some(({ type: is }) => is === 'Established') === true
  })
}

function made(cluster: SimulatedCluster, type: ResourceType<Widget>, object: Widget) {
  return cluster.client.resource(type, object.metadata?.namespace).create(object)
}

/** A config map that goes with `owner`. */
async function dependent(cluster: SimulatedCluster, name: string, owner: Widget): Promise<void> {
  const { apiVersion = '', kind = '', metadata } = owner
  const reference = { apiVersion, kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '' }
  const { metadata: own, ...rest } = configMap(name)
  await cluster.create({ ...rest, metadata: { ...own, ownerReferences: [reference] } })
}

const isThere = (cluster: SimulatedCluster, name: string): boolean =>
  cluster.objects.find(resources.configmaps, 'default', name) !== undefined

export const customKindScenarios: readonly Scenario[] = [
  {
    name: 'a custom kind goes and comes back with another scope and version',
    controllers: [
      'garbage-collector-controller',
      'namespace-controller',
      'resourcequota-controller',
    ],
    async play(cluster) {
      const first = widgets('v1', true)
      await install(cluster, first)
      await cluster.create(namespace('box'))
      await cluster.create({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: QUOTA,
        spec: { hard: { 'count/widgets.example.com': '5' } },
      } as KubernetesObject)
      const owner = await made(cluster, first, widget(first, 'owner'))
      await dependent(cluster, 'of-owner', owner)
      await made(cluster, first, widget(first, 'held', [FINALIZER]))
      await untilSo(cluster, 'the widget was counted', () => {
        const live = cluster.objects.find(resources.resourcequotas, 'box', QUOTA.name)
        return live?.status?.used?.['count/widgets.example.com'] === '1'
      })
      await cluster.delete(first, 'default', 'owner')
      await untilSo(
        cluster,
        'what depends on a widget goes with it',
        () => !isThere(cluster, 'of-owner'),
      )
      await cluster.delete(resources.namespaces, undefined, 'box')
      await cluster.advance(DISCOVERED_MS)
      const free = { type: 'merge', value: { metadata: { finalizers: null } } } as const
      await cluster.patch(first, 'box', 'held', free)
      await untilSo(
        cluster,
        'the namespace of a held widget goes',
        () => cluster.objects.find(resources.namespaces, undefined, 'box') === undefined,
      )
      const second = await made(cluster, first, widget(first, 'second'))
      await dependent(cluster, 'of-second', second)
      await cluster.advance(DISCOVERED_MS)
      const { resource, group } = first
      await cluster.delete(resources.customresourcedefinitions, undefined, `${resource}.${group}`)
      await untilSo(
        cluster,
        'the kind goes',
        () =>
          cluster.objects.find(
            resources.customresourcedefinitions,
            undefined,
            `${resource}.${group}`,
          ) === undefined,
      )
      await cluster.advance(DISCOVERED_MS)
      const other = widgets('v2', false)
      await install(cluster, other, first.version)
      const top = await made(cluster, other, widget(other, 'top'))
      await dependent(cluster, 'of-top', top)
      await cluster.advance(DISCOVERED_MS)
      await cluster.delete(other, undefined, 'top')
      await cluster.advance(DISCOVERED_MS)
    },
    *ends(cluster) {
      for (const name of ['of-owner', 'of-second', 'of-top'])
        if (isThere(cluster, name)) yield `${name} outlived its owner`
    },
  },
]
