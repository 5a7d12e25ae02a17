import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { createTestServer } from '@gyropilot/api-server/testing'
import { ApiClient, memoryTransport } from '@gyropilot/client'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { removeFormerLease } from './former-lease.ts'

const NAME = 'kube-controller-manager'

async function world(holderIdentity: string, ageSeconds: number) {
  const { server, clock } = await createTestServer()
  const transport = memoryTransport((request) =>
    server.handle({
      ...request,
      headers: { ...request.headers, authorization: 'Bearer test-token' },
    }),
  )
  const client = new ApiClient({ transport, clock, qps: -1 })
  const leases = client.resource(resources.leases, 'kube-system')
  const renewedAgo = (seconds: number) => ({
    holderIdentity,
    leaseDurationSeconds: 15,
    renewTime: new Date(clock.nowMs() - seconds * 1000).toISOString().replace('Z', '000Z'),
  })
  return {
    clock,
    leases,
    renewedAgo,
    start: async () => {
      const spec = renewedAgo(ageSeconds)
      for (const name of ['another', NAME]) await leases.create({ metadata: { name }, spec })
      return { removed: removeFormerLease(client, clock) }
    },
    names: async () => (await leases.list()).items.map(({ metadata }) => metadata?.name).toSorted(),
  }
}

for (const [what, holderIdentity, ageSeconds] of [
  ['that has run out goes', 'm1', 16],
  ['that nobody holds goes', '', 1],
] as const) {
  test(`a lease of former managers ${what}`, async () => {
    const { clock, start, names } = await world(holderIdentity, ageSeconds)
    const { removed } = await start()
    await clock.advance(0)
    await removed
    assert.deepEqual(await names(), ['another'])
  })
}

test('one that still runs goes when it has run out', async () => {
  const { clock, start, names } = await world('m1', 5)
  const { removed } = await start()
  await clock.advance(9_999)
  assert.deepEqual(await names(), ['another', NAME])
  await clock.advance(1)
  await removed
  assert.deepEqual(await names(), ['another'])
})

test('one that somebody renews stays', async () => {
  const { clock, leases, renewedAgo, start, names } = await world('m1', 5)
  const { removed } = await start()
  await clock.advance(5_000)
  await leases.update({ ...(await leases.get(NAME)), spec: renewedAgo(0) })
  await clock.advance(5_000)
  await removed
  assert.deepEqual(await names(), ['another', NAME])
})

test('a cluster that never had one has none to take away', async () => {
  await removeFormerLease(new FakeServer(), testClock())
})
