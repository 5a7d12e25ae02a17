/** What upstream's end-to-end and integration tests say of mirrored Endpoints, on a whole cluster. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { EndpointSlice, EndpointSubset, Endpoints, Service } from '@gyropilot/api'
import { pod, service } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 60_000
const MIRRORED = 'endpointslicemirroring-controller.k8s.io'

const subset = (ip: string, port = 80): EndpointSubset => ({
  addresses: [{ ip }],
  ports: [{ port }],
})

function bare(name: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80 }] },
  }
}

function byHand(subsets: readonly EndpointSubset[]): Endpoints {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default' },
    subsets,
  }
}

const managerOf = ({ metadata }: EndpointSlice) =>
  metadata?.labels?.['endpointslice.kubernetes.io/managed-by']

async function slices(world: World): Promise<readonly EndpointSlice[]> {
  const all = await world.list(resources.endpointslices)
  return all.filter(({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === 'web')
}

async function mirrored(world: World): Promise<readonly string[]> {
  return (await slices(world))
    .filter((slice) => managerOf(slice) === MIRRORED)
    .flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).map(
        ({ addresses }) => `${addresses[0]}:${ports?.map(({ port }) => port).join('+')}`,
      ),
    )
    .toSorted()
}

async function untilMirrored(world: World, ...wanted: readonly string[]): Promise<void> {
  await world.until(`mirrored: ${wanted.join(' ')}`, WITHIN_MS, async () =>
    (await mirrored(world)).join() === wanted.join() ? true : undefined,
  )
}

scenario(
  'Given a created, updated and deleted Endpoints of a selector-less Service, then slices follow',
  async (world) => {
    await world.of(resources.services).create(bare('web'))
    await world.of(resources.endpoints).create(byHand([subset('10.1.2.3')]))
    await untilMirrored(world, '10.1.2.3:80')
    const value = { subsets: [subset('10.1.2.4', 81)] }
    await world.of(resources.endpoints).patch('web', { type: 'merge', value })
    await untilMirrored(world, '10.1.2.4:81')
    await world.of(resources.endpoints).delete('web')
    await untilMirrored(world)
    assert.deepEqual(await slices(world), [])
  },
)

scenario('several subsets with one address are one slice with all ports', async (world) => {
  await world.of(resources.services).create(bare('web'))
  await world.of(resources.endpoints).create(
    byHand([
      { addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'a', port: 80 }] },
      { addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'b', port: 81 }] },
    ]),
  )
  await untilMirrored(world, '10.1.2.3:81+80')
})

scenario(
  'Given a Service that gains or loses its selector, then slices are removed or created and never mirrored twice',
  async (world) => {
    await world.of(resources.services).create(bare('web'))
    await world.of(resources.pods).create(pod('p', { labels: { app: 'web' } }))
    await world.of(resources.endpoints).create(byHand([subset('10.1.2.3')]))
    await untilMirrored(world, '10.1.2.3:80')
    const { spec } = service('web', { app: 'web' })
    await world.of(resources.services).patch('web', { type: 'merge', value: { spec } })
    await world.until('the pod is the only endpoint', WITHIN_MS, async () => {
      const all = await slices(world)
      return all.length === 1 && all[0]!.endpoints?.[0]?.targetRef?.name === 'p' ? true : undefined
    })
    assert.deepEqual(await mirrored(world), [])
    const without = { spec: { selector: null } }
    await world.of(resources.services).patch('web', { type: 'merge', value: without })
    await world.until('the Endpoints are mirrored', WITHIN_MS, async () =>
      (await mirrored(world)).length === 1 ? true : undefined,
    )
  },
)

scenario(
  'Deleting the Service removes the slices even though Endpoints still exists.',
  async (world) => {
    await world.of(resources.services).create(bare('web'))
    await world.of(resources.endpoints).create(byHand([subset('10.1.2.3')]))
    await untilMirrored(world, '10.1.2.3:80')
    await world.of(resources.services).delete('web')
    await untilMirrored(world)
  },
)

scenario('a mirrored slice that somebody deletes comes back', async (world) => {
  await world.of(resources.services).create(bare('web'))
  await world.of(resources.endpoints).create(byHand([subset('10.1.2.3')]))
  await untilMirrored(world, '10.1.2.3:80')
  const [only] = await slices(world)
  await world.of(resources.endpointslices).delete(only!.metadata!.name!)
  await world.until('another', WITHIN_MS, async () => {
    const [next] = await slices(world)
    return next !== undefined && next.metadata?.uid !== only!.metadata?.uid ? true : undefined
  })
})
