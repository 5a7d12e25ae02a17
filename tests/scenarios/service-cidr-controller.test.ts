/** Ranges of service addresses come, are used up and go. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { Service, ServiceCIDR } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const WITHIN_MS = 5_000
/** Nobody is given an address from a range that is going for so long. */
const GRACE_MS = 15_000

const find = (world: World, name: string): Promise<ServiceCIDR | undefined> =>
  world.find(resources.servicecidrs, name)

async function untilReady(world: World, name: string, status: string): Promise<void> {
  await world.until(`${name} is ready: ${status}`, WITHIN_MS, async () => {
    const found = findCondition((await find(world, name))?.status?.conditions, 'Ready')
    return found?.status === status ? true : undefined
  })
}

async function addRange(world: World, name: string, cidr: string): Promise<void> {
  await world.of(resources.servicecidrs).create({ metadata: { name }, spec: { cidrs: [cidr] } })
  await untilReady(world, name, 'True')
}

async function addService(world: World, name: string, clusterIP: string): Promise<Service> {
  return await world
    .of(resources.services)
    .create({ metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] } } as Service)
}

async function untilGone(world: World, name: string): Promise<void> {
  await world.until(`${name} is gone`, GRACE_MS, async () =>
    (await find(world, name)) === undefined ? true : undefined,
  )
}

scenario('the default range is ready, and protected', async (world) => {
  await untilReady(world, 'kubernetes', 'True')
  const finalizers = await world.until(
    'it has a finalizer',
    WITHIN_MS,
    async () => (await find(world, 'kubernetes'))?.metadata?.finalizers,
  )
  assert.deepEqual(finalizers, ['networking.k8s.io/service-cidr-finalizer'])
})

scenario(
  'Given a Service using an extra range, when the range is deleted, then it stays with Ready=False until the Service is gone',
  async (world) => {
    await addRange(world, 'extra', '192.168.77.0/24')
    await addService(world, 'web', '192.168.77.7')
    await world.of(resources.servicecidrs).delete('extra')
    await untilReady(world, 'extra', 'False')
    await assert.rejects(addService(world, 'late', '192.168.77.8'))
    await world.advance(GRACE_MS)
    assert.ok(await find(world, 'extra'))
    await world.of(resources.services).delete('web')
    await untilGone(world, 'extra')
  },
)

scenario(
  'Given the default range swapped for a bigger or smaller one, then Services keep their addresses and the old object goes once covered',
  async (world) => {
    await addRange(world, 'old', '192.168.77.0/24')
    await addService(world, 'web', '192.168.77.7')
    await world.of(resources.servicecidrs).delete('old')
    await untilReady(world, 'old', 'False')
    await addRange(world, 'bigger', '192.168.0.0/16')
    await untilGone(world, 'old')
    await addRange(world, 'smaller', '192.168.77.0/28')
    await world.of(resources.servicecidrs).delete('bigger')
    await untilGone(world, 'bigger')
    assert.equal((await world.find(resources.services, 'web'))?.spec?.clusterIP, '192.168.77.7')
    assert.ok(await world.find(resources.ipaddresses, '192.168.77.7'))
  },
)
