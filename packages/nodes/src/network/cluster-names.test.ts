import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidates, clusterName, hostsFrom, resolverFrom } from './cluster-names.ts'

const resolver = resolverFrom(
  'nameserver 10.0.0.10\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n',
)

test('resolv.conf is read as resolvers read it', () => {
  assert.deepEqual(resolver, {
    servers: ['10.0.0.10'],
    search: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    ndots: 5,
  })
  assert.deepEqual(resolverFrom('nameserver 192.0.2.53\n'), {
    servers: ['192.0.2.53'],
    search: [],
    ndots: 1,
  })
})

test('names with few dots are looked for with the search list first, whole ones only as they are', () => {
  assert.deepEqual(candidates('web', resolver), [
    'web.shop.svc.cluster.local',
    'web.svc.cluster.local',
    'web.cluster.local',
    'web',
  ])
  assert.equal(candidates('a.b.c.d.e.f', resolver)[0], 'a.b.c.d.e.f')
  assert.equal(candidates('a.b.c.d.e', resolver).at(-1), 'a.b.c.d.e')
  assert.deepEqual(candidates('web.shop.svc.cluster.local.', resolver), [
    'web.shop.svc.cluster.local',
  ])
})

for (const [name, expected] of [
  ['web.shop.svc.cluster.local', { kind: 'service', namespace: 'shop', service: 'web' }],
  [
    'Db-0.DB.shop.svc.cluster.local',
    { kind: 'service', namespace: 'shop', service: 'db', host: 'db-0' },
  ],
  ['10-244-0-7.shop.pod.cluster.local', { kind: 'pod', namespace: 'shop', address: '10.244.0.7' }],
  ['fd00--7.shop.pod.cluster.local', { kind: 'pod', namespace: 'shop', address: 'fd00::7' }],
  ['a.b.c.shop.svc.cluster.local', { kind: 'none' }],
  ['x.10-244-0-7.shop.pod.cluster.local', { kind: 'none' }],
  ['shop.svc.cluster.local', { kind: 'none' }],
  ['web.cluster.local', { kind: 'none' }],
  ['example.com', undefined],
] as const)
  test(`what ${name} means`, () => assert.deepEqual(clusterName(name), expected))

test('hosts have several names, names several rows, and comments are none', () => {
  const hosts = hostsFrom('# 1.2.3.4 no\n127.0.0.1\tlocalhost\n::1 localhost ip6-localhost # x\n')
  assert.deepEqual(
    [...hosts],
    [
      ['localhost', ['127.0.0.1', '::1']],
      ['ip6-localhost', ['::1']],
    ],
  )
})
