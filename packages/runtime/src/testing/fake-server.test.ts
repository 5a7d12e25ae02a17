import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { FakeServer } from './fake-server.ts'

const type = resources.deployments
const deployment = (more: object = {}): Deployment =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'web' },
    ...more,
  }) as Deployment

test('with a status subresource, status is written there only and everything else past it only', async () => {
  const server = new FakeServer()
  server.withStatusSubresource = [type]
  const deployments = server.resource(type, 'default')
  const created = await deployments.create(
    deployment({ spec: { replicas: 1 }, status: { replicas: 9 } }),
  )
  assert.equal(created.status, undefined)
  const both = deployment({ spec: { replicas: 2 }, status: { replicas: 2 } })
  assert.equal((await deployments.update(both)).status, undefined)
  const reported = await deployments.update(
    deployment({ spec: { replicas: 7 }, status: { replicas: 2 } }),
    { subresource: 'status' },
  )
  assert.deepEqual([reported.spec?.replicas, reported.status?.replicas], [2, 2])
  const patched = await deployments.patch('web', {
    type: 'merge',
    value: { spec: { paused: true }, status: { replicas: 0 } },
  })
  assert.deepEqual(
    [patched.spec?.replicas, patched.spec?.paused, patched.status?.replicas],
    [2, true, 2],
  )
})

test('patches: merge removes with null, JSON patch is carried out', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  server.put(type, deployment({ spec: { replicas: 1, paused: true } }))
  const merged = await deployments.patch('web', {
    type: 'merge',
    value: { spec: { paused: null } },
  })
  assert.equal(merged.spec?.paused, undefined)
  assert.equal(merged.spec?.replicas, 1)
  const operations = [{ op: 'replace', path: '/spec/replicas', value: 3 }]
  const replaced = await deployments.patch('web', { type: 'json', operations })
  assert.equal(replaced.spec?.replicas, 3)
})

test('an update and a patch that name a version are for that version', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  const { resourceVersion } = server.put(type, deployment()).metadata!
  const named = { metadata: { name: 'web', namespace: 'default', resourceVersion } }
  const value = { ...named, spec: { replicas: 2 } }
  await deployments.patch('web', { type: 'merge', value })
  const conflict = { code: 409, reason: 'Conflict' }
  await assert.rejects(deployments.patch('web', { type: 'merge', value }), conflict)
  await assert.rejects(deployments.update(deployment(named)), conflict)
  await deployments.patch('web', { type: 'merge', value: { spec: { replicas: 3 } } })
})

test('what is applied and not there is created; a part of it is not', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  const applying = { fieldManager: 'us' }
  const missing = deployments.apply('web', deployment(), { ...applying, subresource: 'status' })
  await assert.rejects(missing, { code: 404 })
  await deployments.apply('web', { spec: { replicas: 1 } } as Deployment, applying)
  const again = await deployments.apply('web', { spec: { paused: true } } as Deployment, applying)
  assert.deepEqual(again.spec, { replicas: 1, paused: true })
  assert.equal(server.get(type, 'default', 'web')?.metadata?.namespace, 'default')
  const verbs = server.requests.map(({ verb }) => verb)
  assert.deepEqual(verbs, ['patch', 'patch', 'patch'])
})

test('what finalizers hold is kept, as deleted, until an update or a patch takes the last one', async () => {
  for (const by of ['update', 'patch'] as const) {
    const server = new FakeServer()
    server.nowMs = () => Date.UTC(2026, 1, 2)
    const deployments = server.resource(type, 'default')
    const watch = await deployments.watch()
    const held = { namespace: 'default', name: 'web', finalizers: ['a/b', 'c/d'] }
    const { metadata } = await deployments.create(deployment({ metadata: held }))
    const first = await deployments.delete('web')
    assert.equal(first.metadata?.deletionTimestamp, '2026-02-02T00:00:00Z')
    const second = await deployments.delete('web')
    await deployments.deleteCollection()
    assert.equal(second.metadata?.resourceVersion, first.metadata?.resourceVersion)
    const withFinalizers = (...finalizers: string[]) => {
      const wanted = { ...held, uid: metadata!.uid!, finalizers }
      return by === 'update'
        ? deployments.update(deployment({ metadata: wanted }))
        : deployments.patch('web', { type: 'merge', value: { metadata: { finalizers } } })
    }
    const one = await withFinalizers('c/d')
    assert.equal(one.metadata?.deletionTimestamp, '2026-02-02T00:00:00Z', 'nobody takes it back')
    const last = await withFinalizers()
    assert.equal(last.metadata?.name, 'web')
    await assert.rejects(deployments.get('web'), { code: 404 })
    server.watches[0]!.end()
    const events: string[] = []
    for await (const event of watch) events.push(event.type)
    assert.deepEqual(events, ['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'])
  }
})

test('a pod that has time left is not gone with its finalizers, nor one that never had any', async () => {
  const server = new FakeServer()
  const pods = server.resource(resources.pods, 'default')
  const deletion = { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }
  for (const finalizers of [['a/b'], []]) {
    server.put(resources.pods, {
      metadata: { namespace: 'default', name: 'a', finalizers, ...deletion },
    })
    await pods.patch('a', { type: 'merge', value: { metadata: { finalizers: null } } })
    assert.equal((await pods.get('a')).metadata?.deletionGracePeriodSeconds, 30)
  }
})

test('asked for metadata it answers PartialObjectMetadata', async () => {
  const server = new FakeServer()
  server.put(type, deployment({ spec: { replicas: 1 } }))
  const deployments = server.resource(type, 'default')
  const one = await deployments.get('web', { metadataOnly: true })
  const { items } = await deployments.list({ metadataOnly: true })
  for (const object of [one, items[0]!]) {
    assert.equal(object.kind, 'PartialObjectMetadata')
    assert.equal(object.spec, undefined)
    assert.equal(object.metadata?.name, 'web')
  }
})

const REFUSED: readonly ['list' | 'watch', object, RegExp][] = [
  ['watch', { sendInitialEvents: true }, /requires setting resourceVersionMatch/],
  ['watch', { resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' }, /forbidden for watch/],
  ['watch', { resourceVersion: 'abc' }, /Invalid value: "abc"/],
  ['list', { sendInitialEvents: true }, /forbidden for list/],
  ['list', { resourceVersionMatch: 'Exact' }, /unless resourceVersion is provided/],
  [
    'list',
    { resourceVersion: '0', resourceVersionMatch: 'Exact' },
    /forbidden for resourceVersion/,
  ],
  ['list', { continue: 'x', resourceVersion: '5' }, /not allowed when using continue/],
  ['list', { resourceVersion: '5', resourceVersionMatch: 'Newest' }, /Unsupported value/],
]
for (const [verb, options, message] of REFUSED) {
  test(`as an API server it refuses a ${verb} with ${JSON.stringify(options)}`, async () => {
    const server = new FakeServer()
    server.onRequest = () => assert.fail('asked')
    await assert.rejects(server.resource(resources.pods)[verb](options), message)
  })
}

test('of a field selector it knows equality and its contrary, in lists and in watches', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  const fieldSelector = 'metadata.name!=other,spec.replicas=2'
  const watch = await deployments.watch({ fieldSelector })
  const named = (name: string, replicas: number): Deployment =>
    deployment({ metadata: { namespace: 'default', name }, spec: { replicas } })
  for (const one of [named('other', 2), named('web', 1), named('web', 2)]) server.put(type, one)
  const listed = await deployments.list({ fieldSelector })
  assert.deepEqual(
    listed.items.map(({ metadata, spec }) => [metadata?.name, spec?.replicas]),
    [['web', 2]],
  )
  for await (const { object } of watch) {
    assert.deepEqual((object as Deployment).spec, { replicas: 2 })
    break
  }
})
