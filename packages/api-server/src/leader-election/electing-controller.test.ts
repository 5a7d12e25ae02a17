import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatMicroTime } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import type { ApiServerOptions } from '../server-options.ts'
import { createTestServer, type AnyValue } from '../testing/test-server.ts'

const CANDIDATES = '/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const SPEC = {
  leaseName: 'l',
  binaryVersion: '1.36.0',
  emulationVersion: '1.36.0',
  strategy: 'OldestEmulationVersion',
}

/** A server, and candidates that answer pings when they are told to. */
async function world(options: Partial<ApiServerOptions> = {}) {
  const runtimeConfig = { 'coordination.k8s.io/v1beta1': true }
  const { server, clock, request } = await createTestServer({ runtimeConfig, ...options })
  const now = () => formatMicroTime(clock.nowMs())
  const read = async (path: string): Promise<AnyValue> => (await request('GET', path)).value
  const renew = async (name: string): Promise<void> => {
    const candidate = await read(`${CANDIDATES}/${name}`)
    const spec = { ...candidate.spec, renewTime: now() }
    await request('PUT', `${CANDIDATES}/${name}`, { ...candidate, spec })
  }
  return {
    server,
    clock,
    request,
    now,
    renew,
    announce: async (name: string, spec: object = {}) => {
      const object = { metadata: { name }, spec: { ...SPEC, renewTime: now(), ...spec } }
      const { status } = await request('POST', CANDIDATES, object)
      assert.equal(status, 201)
    },
    lease: async (name = 'l') => (await read(`${LEASES}/${name}`)).spec,
    candidate: async (name: string) => (await read(`${CANDIDATES}/${name}`)).spec,
    names: async () => (await read(CANDIDATES)).items.map((item: AnyValue) => item.metadata.name),
  }
}

test('the lease of a first candidate is made at once, for 5 s, by the server', async () => {
  const { announce, clock, lease, now, request } = await world()
  await announce('a')
  await clock.advance(0)
  assert.deepEqual(await lease(), {
    holderIdentity: 'a',
    leaseDurationSeconds: 5,
    renewTime: now(),
    strategy: 'OldestEmulationVersion',
  })
  const { value } = await request('GET', `${LEASES}/l`)
  assert.equal(value.metadata.managedFields[0].manager, 'kube-apiserver')
})

test('an expired lease: candidates are asked, and who answers within 5 s is elected', async () => {
  const { announce, candidate, clock, lease, now, renew } = await world()
  await announce('a')
  await announce('b', { emulationVersion: '1.35.0' })
  await announce('c', { emulationVersion: '1.34.0' })
  await clock.advance(0)
  assert.equal((await lease()).holderIdentity, 'c')
  // Nobody renews the lease or answers: they are asked, and once only.
  await clock.advance(11_000)
  const { pingTime } = await candidate('a')
  assert.ok(pingTime !== undefined)
  await clock.advance(30_000)
  assert.equal((await candidate('a')).pingTime, pingTime)
  assert.equal((await lease()).holderIdentity, 'c')
  await renew('a')
  await renew('b')
  await clock.advance(0)
  const { holderIdentity, preferredHolder, renewTime } = await lease()
  assert.deepEqual([holderIdentity, preferredHolder, renewTime], ['b', undefined, now()])
})

test('a better candidate than a live holder is wished for, and gets the lease when it is free', async () => {
  const { announce, clock, lease, renew } = await world()
  await announce('a')
  await clock.advance(2_000)
  await announce('b', { emulationVersion: '1.35.0' })
  await clock.advance(0)
  assert.deepEqual([(await lease()).holderIdentity, (await lease()).preferredHolder], ['a', 'b'])
  await clock.advance(8_000)
  await renew('b')
  await clock.advance(5_000)
  assert.deepEqual(
    [(await lease()).holderIdentity, (await lease()).preferredHolder],
    ['b', undefined],
  )
})

test('each lease has its own election; leases without candidates are left alone', async () => {
  const { announce, clock, lease, request } = await world()
  const spec = {
    holderIdentity: 'x',
    leaseDurationSeconds: 1,
    renewTime: '2020-01-01T00:00:00.000000Z',
  }
  await request('POST', LEASES, { metadata: { name: 'other' }, spec })
  await announce('a')
  await announce('b', { leaseName: 'm' })
  await clock.advance(20_000)
  assert.equal((await lease('l')).holderIdentity, 'a')
  assert.equal((await lease('m')).holderIdentity, 'b')
  assert.deepEqual(await lease('other'), spec)
})

test('a lease that is deleted is made again', async () => {
  const { announce, clock, lease, request } = await world()
  await announce('a')
  await clock.advance(0)
  await request('DELETE', `${LEASES}/l`)
  await clock.advance(0)
  assert.equal((await lease()).holderIdentity, 'a')
})

test('candidates that disagree on the strategy are an error that is logged, and the lease stays as it is', async () => {
  const logger = new RecordingLogger()
  const { announce, clock, lease } = await world({ logger })
  await announce('a', { strategy: 'example.com/one' })
  await announce('b', { leaseName: 'm' })
  await clock.advance(0)
  assert.equal('holderIdentity' in (await lease()), false, 'somebody else elects')
  await announce('c', { strategy: 'example.com/two', leaseName: 'm' })
  await clock.advance(6_000)
  assert.equal((await lease('m')).holderIdentity, 'b')
  const reasons = logger.lines.map(({ fields }) => String(fields['reason'] ?? ''))
  assert.ok(
    reasons.some((reason) => /"b", "c" at same binary version/.test(reason)),
    String(reasons),
  )
})

test('candidates that were not heard of for 30 minutes are deleted at a start and every 30 minutes', async () => {
  const first = await world()
  await first.announce('a')
  await first.announce('b')
  await first.clock.advance(25 * 60_000)
  await first.renew('b')
  await first.clock.advance(10 * 60_000)
  assert.deepEqual(await first.names(), ['a', 'b'])
  await first.server.stop(0)
  const { store } = first.server
  const second = await world({ store, clock: first.clock })
  await second.clock.advance(0)
  assert.deepEqual(await second.names(), ['b'])
  await second.clock.advance(30 * 60_000)
  assert.deepEqual(await second.names(), [])
})

test('a stopped server elects nobody any more', async () => {
  const { announce, clock, server } = await world()
  await announce('a')
  await server.stop(0)
  await clock.advance(60_000)
  assert.equal(
    server.store.get({ collection: 'leases.coordination.k8s.io', key: 'default/l' }),
    undefined,
  )
})
