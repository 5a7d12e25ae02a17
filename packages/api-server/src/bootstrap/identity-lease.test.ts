import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Stored } from '@gyropilot/schema/objects'
import { PATCH, startServer } from './fixtures.ts'
import type { TestServer } from './fixtures.ts'
import { serverIdentity } from './identity-lease.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const NAME = 'apiserver-wlv32tlttr4jl3gtroqexyxapa'
const LABELS = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }

function own({ stored }: TestServer): Stored | undefined {
  return stored('leases.coordination.k8s.io', `kube-system/${NAME}`)
}

describe('the lease of a server', () => {
  test('is named after its machine, as that of kube-apiserver on it', () => {
    assert.equal(serverIdentity('vm'), NAME)
  })

  test('says where the server is, and who owns what', async () => {
    const world = await startServer({ hostname: 'vm', advertiseAddress: '2001:db8::1' })
    const { metadata, spec } = own(world)!
    assert.deepEqual(metadata.labels, { ...LABELS, 'kubernetes.io/hostname': 'vm' })
    assert.deepEqual(metadata.annotations, {
      'kubernetes.io/peer-advertise-address': '[2001:db8::1]:6443',
    })
    assert.match(spec.holderIdentity, new RegExp(`^${NAME}_[0-9a-f-]{36}$`))
    assert.equal(spec.leaseDurationSeconds, 3600)
    assert.deepEqual(
      metadata.managedFields.map(({ manager, operation }: Stored) => `${manager} ${operation}`),
      ['kube-apiserver Update'],
    )
    assert.deepEqual(Object.keys(metadata.managedFields[0].fieldsV1['f:spec']), [
      'f:holderIdentity',
      'f:leaseDurationSeconds',
      'f:renewTime',
    ])
    await world.server.stop()
  })

  test('is renewed every 10 s; holder and labels that somebody else wrote stay, what it says of itself comes back', async () => {
    const world = await startServer({ hostname: 'vm' })
    const { annotations } = own(world)!['metadata']
    const change = {
      metadata: {
        labels: { 'apiserver.kubernetes.io/identity': null, mine: 'x' },
        annotations: { 'kubernetes.io/peer-advertise-address': '192.0.2.9:1' },
      },
      spec: { holderIdentity: 'other', leaseDurationSeconds: 7 },
    }
    assert.equal((await world.call('PATCH', `${LEASES}/${NAME}`, change, PATCH)).status, 200)
    await world.clock.advance(10_000)
    const { metadata, spec } = own(world)!
    assert.equal(spec.renewTime, '2026-11-21T00:00:10.000000Z')
    assert.equal(spec.leaseDurationSeconds, 3600)
    assert.equal(spec.holderIdentity, 'other')
    assert.deepEqual(metadata.labels, { 'kubernetes.io/hostname': 'vm', mine: 'x', ...LABELS })
    assert.deepEqual(metadata.annotations, annotations)
    await world.call('DELETE', `${LEASES}/${NAME}`)
    await world.clock.advance(10_000)
    assert.match(own(world)!['spec'].holderIdentity, new RegExp(`^${NAME}_`))
    await world.server.stop()
  })

  test('a server that is started again has a new one', async () => {
    const first = await startServer({ hostname: 'vm' })
    const { metadata, spec } = own(first)!
    await first.server.stop()
    const second = await startServer({ hostname: 'vm', store: first.server.store })
    const again = second.server.store.get({
      collection: 'leases.coordination.k8s.io',
      key: `kube-system/${NAME}`,
    })!.object
    assert.notEqual(again['metadata'].uid, metadata.uid)
    assert.equal(again['spec'].leaseDurationSeconds, spec.leaseDurationSeconds)
    await second.server.stop()
  })
})

describe('leases of servers that are gone', () => {
  test('are deleted at the start and every hour: expired ones, and those that tell no time', async () => {
    const world = await startServer({ hostname: 'vm' })
    const renewTime = '2026-11-21T00:00:00.000000Z'
    const make = (name: string, labels: object, spec: object): Promise<unknown> =>
      world.call('POST', LEASES, { metadata: { name, labels }, spec })
    await make('expired', LABELS, { leaseDurationSeconds: 3599, renewTime })
    await make('no-duration', LABELS, { renewTime })
    await make('no-time', LABELS, { leaseDurationSeconds: 3599 })
    await make('empty', LABELS, {})
    await make('live', LABELS, { leaseDurationSeconds: 3601, renewTime })
    await make('other', { 'apiserver.kubernetes.io/identity': 'x' }, {})
    await make('unlabelled', {}, {})
    const names = (): string[] =>
      world.server.internals
        .list('coordination.k8s.io', 'leases', 'kube-system')
        .map((lease) => lease['metadata'].name)
    await world.clock.advance(3_590_000)
    assert.equal(names().length, 8)
    await world.clock.advance(10_000)
    assert.deepEqual(names(), [NAME, 'live', 'other', 'unlabelled'])
    await world.server.stop()
  })

  test('stay while no server is named', async () => {
    const world = await startServer()
    await world.call('POST', LEASES, { metadata: { name: 'empty', labels: LABELS }, spec: {} })
    await world.clock.advance(3_600_000)
    assert.ok(world.stored('leases.coordination.k8s.io', 'kube-system/empty'))
    await world.server.stop()
  })
})
