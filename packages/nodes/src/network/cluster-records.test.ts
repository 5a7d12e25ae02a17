import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Service } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { ClusterRecords, isClusterRecord } from './cluster-records.ts'

const service = (name: string, spec: Service['spec']): Service => ({
  metadata: { name, namespace: 'shop' },
  spec,
})
const PORTS = [{ name: 'http', port: 80 }]
const SERVICES = [
  service('web', { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7', 'fd00::7'], ports: PORTS }),
  service('db', { clusterIP: 'None', clusterIPs: ['None'], ports: PORTS }),
  service('out', { type: 'ExternalName', externalName: 'foo.example.com' }),
]
const SLICE: EndpointSlice = {
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080 }],
  endpoints: [
    { addresses: ['10.1.0.2'], hostname: 'db-0' },
    { addresses: ['10.1.0.3'] },
    { addresses: ['10.1.0.4'], conditions: { ready: false } },
  ],
}

const client = {
  resource: () => ({
    list: async () => ({ items: SERVICES }),
    async get(name: string) {
      const found = SERVICES.find(({ metadata }) => metadata?.name === name)
      if (found === undefined) throw Object.assign(new Error('none'), { code: 404 })
      return found
    },
  }),
} as unknown as Client

const records = new ClusterRecords({
  client,
  slicesOf: async () => [SLICE],
  resolve: async (name) => ({ kind: 'found', name, addresses: ['10.0.0.7', 'fd00::7'] }),
})
const data = async (name: string, type: 'A' | 'AAAA' | 'CNAME' | 'SRV' | 'PTR') =>
  (await records.of(name, type)).map((each) => `${each.type} ${each.data}`)

test('addresses by their family', async () => {
  assert.deepEqual(await data('web.shop.svc.cluster.local', 'A'), ['A 10.0.0.7'])
  assert.deepEqual(await data('web.shop.svc.cluster.local', 'AAAA'), ['AAAA fd00::7'])
  assert.deepEqual(await data('web.shop.svc.cluster.local', 'CNAME'), [])
})

test('a Service of type ExternalName is another name, whatever is asked', async () => {
  for (const type of ['A', 'AAAA', 'CNAME'] as const)
    assert.deepEqual(await data('out.shop.svc.cluster.local', type), ['CNAME foo.example.com.'])
})

test('a named port is at its Service, or at the ready pods of a headless one', async () => {
  assert.deepEqual(await data('_http._tcp.web.shop.svc.cluster.local', 'SRV'), [
    'SRV 0 100 80 web.shop.svc.cluster.local.',
  ])
  assert.deepEqual(await data('_http._tcp.db.shop.svc.cluster.local', 'SRV'), [
    'SRV 0 50 8080 10-1-0-3.db.shop.svc.cluster.local.',
    'SRV 0 50 8080 db-0.db.shop.svc.cluster.local.',
  ])
  for (const name of ['_http._udp.web', '_https._tcp.web', 'web', '_http._tcp.web.x.y'])
    assert.deepEqual(await data(`${name}.shop.svc.cluster.local`, 'SRV'), [], name)
})

test('an address has the name of its Service, or of its pod behind a headless one', async () => {
  const of = (address: string) =>
    data(`${address.split('.').toReversed().join('.')}.in-addr.arpa`, 'PTR')
  assert.deepEqual(await of('10.0.0.7'), ['PTR web.shop.svc.cluster.local.'])
  assert.deepEqual(await of('10.1.0.2'), ['PTR db-0.db.shop.svc.cluster.local.'])
  assert.deepEqual(await of('10.1.0.3'), ['PTR 10-1-0-3.db.shop.svc.cluster.local.'])
  assert.deepEqual([await of('10.1.0.4'), await of('10.9.9.9')], [[], []])
})

test('what the DNS of the cluster answers for', () => {
  assert.ok(isClusterRecord('x.shop.svc.cluster.local'))
  assert.ok(isClusterRecord('7.0.0.10.in-addr.arpa'))
  assert.ok(!isClusterRecord('example.com'))
})
