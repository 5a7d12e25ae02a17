/** What upstream's end-to-end and integration tests say of EndpointSlices, on a whole cluster. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { resources } from '@gyropilot/api'
import type { Endpoint, EndpointSlice, Pod, Service } from '@gyropilot/api'
import { service } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 60_000
const HEADLESS = 'service.kubernetes.io/headless'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const SERVICE_NAME = 'kubernetes.io/service-name'

type Ports = NonNullable<Pod['spec']>['containers'][number]['ports']

function podOf(
  name: string,
  labels: Record<string, string>,
  given: Partial<Pod['spec']> = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: { containers: [{ name: 'c', image: 'web:1' }], ...given },
  }
}

const withPorts = (ports: Ports) => ({ containers: [{ name: 'c', image: 'web:1', ports }] })

function serviceOf(name: string, given: Partial<Service['spec']> = {}): Service {
  const base = service(name, { app: 'web' })
  return { ...base, spec: { ...base.spec, ...given } as Service['spec'] }
}

async function slicesOf(world: World, name: string): Promise<readonly EndpointSlice[]> {
  const all = await world.list(resources.endpointslices)
  return all.filter(({ metadata }) => metadata?.labels?.[SERVICE_NAME] === name)
}

async function endpointsOf(world: World, name: string): Promise<readonly Endpoint[]> {
  return (await slicesOf(world, name)).flatMap(({ endpoints }) => endpoints ?? [])
}

const names = (endpoints: readonly Endpoint[]): readonly string[] =>
  endpoints.map(({ targetRef }) => targetRef?.name ?? '').toSorted()

/** Waits until the Service has so many slices and ready endpoints. */
async function settled(world: World, name: string, slices: number, ready: number) {
  return await world.until(`${slices} slices, ${ready} ready endpoints`, WITHIN_MS, async () => {
    const all = await slicesOf(world, name)
    const endpoints = all.flatMap((slice) => slice.endpoints ?? [])
    const count = endpoints.filter(({ conditions }) => conditions?.ready).length
    return all.length === slices && count === ready ? all : undefined
  })
}

async function patch(world: World, value: object): Promise<void> {
  await world.of(resources.services).patch('web', { type: 'merge', value })
}

scenario(
  'Endpoints of a Service by number, by a name that pods use for different numbers, and of no pod; deleted slices come back',
  async (world) => {
    const port = (number: number) => withPorts([{ name: 'example-name', containerPort: number }])
    await world.of(resources.pods).create(podOf('pod1', { a: '1', both: 'x' }, port(3000)))
    await world.of(resources.pods).create(podOf('pod2', { a: '2', both: 'x' }, port(3001)))
    const publishNotReadyAddresses = true
    const create = (name: string, selector: Record<string, string>, targetPort: number | string) =>
      world.of(resources.services).create(
        serviceOf(name, {
          selector,
          publishNotReadyAddresses,
          ports: [{ name: 'http', port: 80, targetPort, protocol: 'TCP' }],
        }),
      )
    await create('int-port', { a: '1' }, 3000)
    await create('named-port', { both: 'x' }, 'example-name')
    await create('no-match', { a: '3' }, 8080)
    const [single] = await settled(world, 'int-port', 1, 1)
    assert.deepEqual(single?.ports, [{ name: 'http', port: 3000, protocol: 'TCP' }])
    const pod1 = await world.find(resources.pods, 'pod1')
    assert.deepEqual(single?.endpoints?.[0]?.targetRef, {
      kind: 'Pod',
      namespace: 'default',
      name: 'pod1',
      uid: pod1?.metadata?.uid,
    })
    assert.equal(single?.endpoints?.[0]?.addresses[0], pod1?.status?.podIP)
    const portOfPod = (slices: readonly EndpointSlice[]) =>
      Object.fromEntries(
        slices.map(({ endpoints, ports }) => [endpoints?.[0]?.targetRef?.name, ports?.[0]?.port]),
      )
    assert.deepEqual(portOfPod(await settled(world, 'named-port', 2, 2)), {
      pod1: 3000,
      pod2: 3001,
    })
    const [empty] = await settled(world, 'no-match', 1, 0)
    assert.deepEqual([empty?.endpoints ?? [], empty?.ports ?? []], [[], []])
    for (const { metadata } of await slicesOf(world, 'named-port'))
      await world.of(resources.endpointslices).delete(metadata!.name!)
    assert.deepEqual(portOfPod(await settled(world, 'named-port', 2, 2)), {
      pod1: 3000,
      pod2: 3001,
    })
  },
)

scenario(
  'Given a Service whose selector matches no pods, then slice exists and is removed with the Service',
  async (world) => {
    await world.of(resources.services).create(serviceOf('web'))
    const [slice] = await settled(world, 'web', 1, 0)
    assert.equal(slice?.metadata?.ownerReferences?.[0]?.name, 'web')
    await world.of(resources.services).delete('web')
    await world.until('the slice is gone', WITHIN_MS, async () =>
      (await slicesOf(world, 'web')).length === 0 ? true : undefined,
    )
  },
)

const HEADLESS_CASES: readonly (readonly [string, boolean, Record<string, string> | undefined])[] =
  [
    ['a Service with an address', false, undefined],
    ['a headless Service', true, undefined],
    ['a Service with an address and the label', false, { [HEADLESS]: '' }],
    ['a headless Service with the label', true, { [HEADLESS]: '' }],
  ]
for (const [title, isHeadless, labels] of HEADLESS_CASES) {
  scenario(
    `the headless label of slices says what the Service is: ${title}`,
    async (world) => {
      const base = serviceOf('web', isHeadless ? { clusterIP: 'None' } : {})
      await world
        .of(resources.services)
        .create({ ...base, metadata: { ...base.metadata, ...(labels && { labels }) } })
      const [slice] = await settled(world, 'web', 1, 0)
      assert.equal(Object.hasOwn(slice?.metadata?.labels ?? {}, HEADLESS), isHeadless)
    },
    { nodes: 1 },
  )
}

scenario(
  'labels of a Service are those of its slices, also when they change or a user changes them there',
  async (world) => {
    const base = serviceOf('web', { clusterIP: 'None' })
    await world
      .of(resources.services)
      .create({ ...base, metadata: { ...base.metadata, labels: { app: 'test' } } })
    await world.of(resources.pods).create(podOf('p', { app: 'web' }))
    const [slice] = await settled(world, 'web', 1, 1)
    assert.equal(slice?.metadata?.labels?.['app'], 'test')
    await patch(world, { metadata: { labels: { app: null, 'new-label': 'value' } } })
    const labels = async () => {
      const {
        [SERVICE_NAME]: _,
        [MANAGED_BY]: __,
        ...others
      } = (await slicesOf(world, 'web'))[0]?.metadata?.labels ?? {}
      return others
    }
    const wanted = { 'new-label': 'value', [HEADLESS]: '' }
    const isRight = async () => (isDeepStrictEqual(await labels(), wanted) ? true : undefined)
    await world.until('the new label', WITHIN_MS, isRight)
    await world.of(resources.endpointslices).patch(slice!.metadata!.name!, {
      type: 'merge',
      value: { metadata: { labels: { mine: 'x', 'new-label': 'y' }, annotations: { note: 'z' } } },
    })
    await world.until('the labels of the Service again', WITHIN_MS, isRight)
    assert.equal((await slicesOf(world, 'web'))[0]?.metadata?.annotations?.['note'], 'z')
  },
)

scenario(
  'a slice that a user takes from its Service is replaced, and given back it is used again',
  async (world) => {
    await world.of(resources.pods).create(podOf('p', { app: 'web' }))
    await world.of(resources.services).create(serviceOf('web'))
    const [first] = await settled(world, 'web', 1, 1)
    const name = first!.metadata!.name!
    const relabel = async (labels: object) =>
      await world
        .of(resources.endpointslices)
        .patch(name, { type: 'merge', value: { metadata: { labels } } })
    await relabel({ [SERVICE_NAME]: null })
    await world.until('another one', WITHIN_MS, async () => {
      const [other] = await slicesOf(world, 'web')
      return other !== undefined && other.metadata?.name !== name ? true : undefined
    })
    await relabel({ [SERVICE_NAME]: 'web' })
    await settled(world, 'web', 1, 1)
    await world.of(resources.pods).create(podOf('q', { app: 'web' }))
    await settled(world, 'web', 1, 2)
  },
)

scenario(
  'a pod that ends is not ready, and serves while it terminates; published anyway it is ready',
  async (world) => {
    const behavior = JSON.stringify({ containers: { '*': { terminate: { duration: '20s' } } } })
    const base = podOf('p', { app: 'web' })
    await world.of(resources.pods).create({
      ...base,
      metadata: { ...base.metadata, annotations: { 'sim.kubelet/behavior': behavior } },
    })
    await world.of(resources.services).create(serviceOf('web'))
    await world.of(resources.services).create(serviceOf('all', { publishNotReadyAddresses: true }))
    await settled(world, 'web', 1, 1)
    await settled(world, 'all', 1, 1)
    await world.of(resources.pods).delete('p')
    const conditions = async (name: string) => (await endpointsOf(world, name))[0]?.conditions
    await world.until('it is terminating', WITHIN_MS, async () =>
      (await conditions('web'))?.terminating ? true : undefined,
    )
    assert.deepEqual(await conditions('web'), { ready: false, serving: true, terminating: true })
    await world.until('there too', WITHIN_MS, async () =>
      (await conditions('all'))?.terminating ? true : undefined,
    )
    assert.deepEqual(await conditions('all'), { ready: true, serving: true, terminating: true })
    await settled(world, 'all', 1, 0)
    assert.deepEqual(await endpointsOf(world, 'web'), [])
  },
)

scenario(
  'pods that are not ready are endpoints that are not, unless their addresses are published; hostnames are kept',
  async (world) => {
    const base = podOf('p', { app: 'web' }, { hostname: 'h', subdomain: 'web' })
    await world.of(resources.pods).create({
      ...base,
      metadata: { ...base.metadata, annotations: { 'sim.kubelet/never-ready': 'true' } },
    })
    await world.of(resources.services).create(serviceOf('web', { clusterIP: 'None' }))
    const endpoint = await world.until(
      'an endpoint',
      WITHIN_MS,
      async () => (await endpointsOf(world, 'web'))[0],
    )
    assert.deepEqual(endpoint.conditions, { ready: false, serving: false, terminating: false })
    assert.equal(endpoint.hostname, 'h')
    await patch(world, { spec: { publishNotReadyAddresses: true } })
    await settled(world, 'web', 1, 1)
    assert.equal((await endpointsOf(world, 'web'))[0]?.conditions?.serving, false)
  },
)

scenario(
  'a Service that becomes an ExternalName keeps its slices as they are, and back again they are right',
  async (world) => {
    await world.of(resources.pods).create(podOf('p', { app: 'web' }))
    await world.of(resources.services).create(serviceOf('web'))
    await settled(world, 'web', 1, 1)
    await patch(world, {
      spec: {
        type: 'ExternalName',
        externalName: 'example.com',
        clusterIP: null,
        clusterIPs: null,
      },
    })
    await world.of(resources.pods).create(podOf('q', { app: 'web' }))
    await world.advance(10_000)
    assert.deepEqual(names(await endpointsOf(world, 'web')), ['p'])
    await patch(world, { spec: { type: 'ClusterIP', externalName: null } })
    await settled(world, 'web', 1, 2)
  },
)

scenario(
  'a Service without selector has no slices but those that users make, which nobody touches',
  async (world) => {
    await world.of(resources.pods).create(podOf('p', { app: 'web' }))
    await world.of(resources.services).create({
      metadata: { name: 'web', namespace: 'default' },
      spec: { ports: [{ port: 80 }] },
    })
    const made = await world.of(resources.endpointslices).create({
      metadata: { name: 'by-hand', namespace: 'default', labels: { [SERVICE_NAME]: 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'] }],
      ports: [{ port: 8080 }],
    })
    await world.advance(10_000)
    const all = await slicesOf(world, 'web')
    assert.deepEqual(
      all.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]),
      [['by-hand', made.metadata?.resourceVersion]],
    )
    await patch(world, { spec: { selector: { app: 'web' } } })
    await settled(world, 'web', 2, 1)
    assert.deepEqual(
      (await world.find(resources.endpointslices, 'by-hand'))?.endpoints,
      made.endpoints,
    )
  },
)

scenario('transitions of trafficDistribution and of the topology annotation', async (world) => {
  for (const { metadata } of await world.list(resources.nodes))
    await world.of(resources.nodes).patch(metadata!.name!, {
      type: 'merge',
      value: { metadata: { labels: { 'topology.kubernetes.io/zone': `zone-${metadata!.name}` } } },
    })
  await world.advance(2_000)
  await world.of(resources.pods).create(podOf('p', { app: 'web' }))
  await world
    .of(resources.services)
    .create(serviceOf('web', { trafficDistribution: 'PreferClose' }))
  await settled(world, 'web', 1, 1)
  const node = (await world.find(resources.pods, 'p'))?.spec?.nodeName ?? ''
  const zones = { forZones: [{ name: `zone-${node}` }] }
  const hints = async (wanted: object | undefined) =>
    await world.until(`hints ${JSON.stringify(wanted)}`, WITHIN_MS, async () =>
      isDeepStrictEqual((await endpointsOf(world, 'web'))[0]?.hints, wanted) ? true : undefined,
    )
  await hints(zones)
  await patch(world, { spec: { trafficDistribution: null } })
  await hints(undefined)
  await patch(world, { spec: { trafficDistribution: 'PreferSameNode' } })
  await hints({ forNodes: [{ name: node }], ...zones })
  await patch(world, { spec: { trafficDistribution: 'PreferSameZone' } })
  await hints(zones)
  // One endpoint for two zones: the annotation wins, and cannot be followed.
  await patch(world, {
    metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
  })
  await hints(undefined)
  await patch(world, { metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } } })
  await hints(zones)
})

scenario('slices tell when what they say happened, once', async (world) => {
  await world.of(resources.services).create(serviceOf('web'))
  const annotation = 'endpoints.kubernetes.io/last-change-trigger-time'
  const [first] = await settled(world, 'web', 1, 0)
  const created = (await world.find(resources.services, 'web'))?.metadata?.creationTimestamp
  assert.equal(first?.metadata?.annotations?.[annotation], created)
  await world.advance(10_000)
  await world.of(resources.pods).create(podOf('p', { app: 'web' }))
  const [second] = await settled(world, 'web', 1, 1)
  const ready = (await world.find(resources.pods, 'p'))?.status?.conditions?.find(
    ({ type }) => type === 'Ready',
  )
  assert.equal(second?.metadata?.annotations?.[annotation], ready?.lastTransitionTime)
  await patch(world, { metadata: { labels: { changed: 'x' } } })
  await world.until('no time', WITHIN_MS, async () =>
    (await slicesOf(world, 'web'))[0]?.metadata?.annotations?.[annotation] === undefined
      ? true
      : undefined,
  )
})
