import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type AnyValue } from '../testing/test-server.ts'

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const apiService = (group: string, version: string, spec: object): AnyValue => ({
  metadata: { name: `${version}.${group}` },
  spec: {
    group,
    version,
    versionPriority: 100,
    service: { namespace: 'default', name: 'x' },
    insecureSkipTLSVerify: true,
    ...spec,
  },
})

async function discovering() {
  const { request } = await createTestServer()
  const listed = async (): Promise<string[]> =>
    (await request('GET', '/apis')).value.groups.map(({ name, versions }: AnyValue) =>
      [name, ...versions.map(({ version }: AnyValue) => version)].join(' '),
    )
  const aggregated = async (): Promise<string[]> => {
    const { value } = await request('GET', '/apis', undefined, { accept: AGGREGATED })
    return (typeof value === 'string' ? JSON.parse(value) : value).items.map(
      ({ metadata, versions }: AnyValue) =>
        [metadata.name, ...versions.map(({ version }: AnyValue) => version)].join(' '),
    )
  }
  const announce = (group: string, version: string, spec: object) =>
    request('POST', API_SERVICES, apiService(group, version, spec))
  const patch = (name: string, spec: object) =>
    request('PATCH', `${API_SERVICES}/${name}`, { spec }, MERGE)
  return { request, listed, aggregated, announce, patch }
}

test('groups of other servers stand among those of this one, by the priority of their APIServices', async () => {
  const { request, listed, aggregated, announce, patch } = await discovering()
  const before = await listed()
  assert.deepEqual(before.slice(0, 3), ['apiregistration.k8s.io v1', 'apps v1', 'events.k8s.io v1'])
  await announce('high.example.com', 'v1', { groupPriorityMinimum: 20_000 })
  await announce('b.example.com', 'v1', { groupPriorityMinimum: 17_750 })
  await announce('low.example.com', 'v1', { groupPriorityMinimum: 1 })
  const among = await listed()
  assert.deepEqual(among.slice(0, 5), [
    'apiregistration.k8s.io v1',
    'high.example.com v1',
    'apps v1',
    'b.example.com v1',
    'events.k8s.io v1',
  ])
  assert.equal(among.at(-1), 'low.example.com v1')
  assert.deepEqual(await aggregated(), among)
  await patch('v1.batch', { groupPriorityMinimum: 19_000 })
  await patch('v2.autoscaling', { versionPriority: 1 })
  const changed = await listed()
  assert.equal(changed[2], 'batch v1')
  assert.ok(changed.includes('autoscaling v1 v2'))
  assert.deepEqual(await aggregated(), changed)
  for (const name of ['high', 'b', 'low'])
    await request('DELETE', `${API_SERVICES}/v1.${name}.example.com`)
  await patch('v1.batch', { groupPriorityMinimum: 17_400 })
  await patch('v2.autoscaling', { versionPriority: 30 })
  assert.deepEqual(await listed(), before)
})

test('another server may have other versions of a group that is served here', async () => {
  const { request, listed, aggregated, announce } = await discovering()
  await announce('apps', 'v3', { groupPriorityMinimum: 1, versionPriority: 1 })
  const plural = 'things'
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.d.example.com` },
    spec: {
      group: 'd.example.com',
      scope: 'Cluster',
      names: { plural, kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  })
  await announce('d.example.com', 'v2', { groupPriorityMinimum: 2_000, versionPriority: 200 })
  const groups = await listed()
  assert.ok(groups.includes('apps v1 v3'))
  assert.equal(groups.at(-1), 'd.example.com v2 v1')
  assert.deepEqual(await aggregated(), groups)
  const { value } = await request('GET', '/apis/d.example.com')
  assert.equal(value.preferredVersion.version, 'v2')
  // There is no such service; one that nobody announced is not looked for.
  for (const [path, expected] of [
    ['/apis/apps/v3', 503],
    ['/apis/apps/v3/things', 503],
    ['/apis/d.example.com/v2/things', 503],
    ['/apis/apps/v4/things', 404],
    ['/apis/apps/v1/things', 404],
  ] as const)
    assert.equal((await request('GET', path)).status, expected, path)
})

test('the list tells of built-in versions that have an APIService, and groups of one priority by the names of these', async () => {
  const { request, listed, aggregated, announce } = await discovering()
  const all = await aggregated()
  const unannounced = ['v1.autoscaling', 'v1.batch']
  for (const name of unannounced) await request('DELETE', `${API_SERVICES}/${name}`)
  const left = all
    .filter((group) => group !== 'batch v1')
    .map((group) => (group === 'autoscaling v2 v1' ? 'autoscaling v2' : group))
  assert.deepEqual([await listed(), await aggregated()], [left, all])
  for (const [name, version] of [
    ['autoscaling', 'v2'],
    ['batch', 'v1'],
  ]) {
    const { value } = await request('GET', `/apis/${name}`)
    assert.deepEqual(value.versions, [{ groupVersion: `${name}/${version}`, version }])
  }
  for (const [group, version] of [
    ['a.example.com', 'v2'],
    ['b.example.com', 'v1'],
  ] as const)
    await announce(group, version, { groupPriorityMinimum: 5 })
  const names = ['a.example.com v2', 'b.example.com v1']
  assert.deepEqual(
    [await listed(), await aggregated()].map((groups) => groups.slice(-2)),
    [names.toReversed(), names],
  )
})
