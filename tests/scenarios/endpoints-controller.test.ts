/** What upstream's end-to-end and integration tests say of Endpoints, on a whole cluster. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import type { Endpoints, Service } from '@gyropilot/api'
import { pod, service } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 60_000

async function endpointsOf(
  world: World,
  what: string,
  check: (endpoints: Endpoints) => boolean,
): Promise<Endpoints> {
  return await world.until(what, WITHIN_MS, async () => {
    const found = await world.find(resources.endpoints, 'web')
    return found !== undefined && check(found) ? found : undefined
  })
}

const addresses = ({ subsets }: Endpoints) =>
  (subsets ?? []).flatMap((subset) => (subset.addresses ?? []).map((each) => each.targetRef?.name))

scenario(
  'Given a selector matching no pods, then Endpoints exists with empty subsets',
  async (world) => {
    await world.of(resources.services).create(service('web', { app: 'nobody' }))
    const { subsets } = await endpointsOf(world, 'there are Endpoints', () => true)
    assert.deepEqual(subsets ?? [], [])
    await world.of(resources.services).delete('web')
    await world.until('they went with the Service', WITHIN_MS, async () =>
      (await world.find(resources.endpoints, 'web')) === undefined ? true : undefined,
    )
  },
)

scenario('Endpoints follow their pods: ready, not ready, terminating, gone', async (world) => {
  await world.of(resources.services).create(service('web', { app: 'web' }))
  await world.of(resources.pods).create(pod('p', { labels: { app: 'web' } }))
  const { metadata } = await endpointsOf(
    world,
    'p is listed',
    (found) => addresses(found)[0] === 'p',
  )
  assert.equal(metadata?.labels?.['endpoints.kubernetes.io/managed-by'], 'endpoint-controller')
  const finalizers = ['example.com/hold']
  await world.of(resources.pods).patch('p', { type: 'merge', value: { metadata: { finalizers } } })
  await world.of(resources.pods).delete('p')
  await endpointsOf(world, 'p is not', (found) => addresses(found).length === 0)
  const value = { spec: { publishNotReadyAddresses: true } }
  await world.of(resources.services).patch('web', { type: 'merge', value })
  await endpointsOf(world, 'p is again, on its way out', (found) => addresses(found)[0] === 'p')
})

scenario('the `kubernetes` Service is left alone', async (world) => {
  await world.advance(5_000)
  const before = await world.find(resources.endpoints, 'kubernetes')
  const value = { metadata: { labels: { touched: 'yes' } } }
  await world.of(resources.services).patch('kubernetes', { type: 'merge', value })
  await world.advance(5_000)
  assert.ok(before?.subsets?.[0]?.addresses?.[0])
  assert.deepEqual(await world.find(resources.endpoints, 'kubernetes'), before)
})

scenario(
  'a Service that changes its type or loses its selector keeps its Endpoints',
  async (world) => {
    await world.of(resources.services).create(service('web', { app: 'web' }))
    await world.of(resources.pods).create(pod('p', { labels: { app: 'web' } }))
    await endpointsOf(world, 'p is listed', (found) => addresses(found)[0] === 'p')
    const value = { spec: { selector: null } }
    await world.of(resources.services).patch('web', { type: 'merge', value })
    await world.advance(1_000)
    await world.of(resources.pods).delete('p')
    await world.advance(60_000)
    await endpointsOf(world, 'p is still listed', (found) => addresses(found)[0] === 'p')
    const selector = { spec: { selector: { app: 'web' } } } satisfies Partial<Service>
    await world.of(resources.services).patch('web', { type: 'merge', value: selector })
    await endpointsOf(world, 'p is not', (found) => addresses(found).length === 0)
  },
)
