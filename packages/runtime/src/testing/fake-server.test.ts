import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, KubernetesObject, WatchEvent } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { FakeServer, keysOf } from './fake-server.ts'

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

async function eventsOf(server: FakeServer, watch: AsyncIterable<WatchEvent>): Promise<string[]> {
  for (const open of server.watches) open.end()
  const events: string[] = []
  for await (const { type: what, object } of watch) events.push(`${what} ${object.metadata?.name}`)
  return events
}

const labelled = (name: string, labels: Record<string, string>): Deployment =>
  deployment({ metadata: { namespace: 'default', name, labels } })

test('a dry run answers what would be, and changes nothing', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  server.put(type, deployment())
  const before = server.resourceVersion
  const dry = { dryRun: true }
  const made = await deployments.create(labelled('new', { a: 'b' }), dry)
  assert.deepEqual(made.metadata?.labels, { a: 'b' })
  const spec = { replicas: 2 }
  const updated = await deployments.update(deployment({ spec }), dry)
  const patched = await deployments.patch('web', { type: 'merge', value: { spec } }, dry)
  const applying = { ...dry, fieldManager: 'us' }
  const applied = await deployments.apply('web', deployment({ spec }), applying)
  await deployments.apply('other', deployment({ spec }), applying)
  for (const answer of [updated, patched, applied]) assert.deepEqual(answer.spec, spec)
  await deployments.delete('web', dry)
  await deployments.deleteCollection(dry)
  assert.equal(server.resourceVersion, before)
  assert.deepEqual(keysOf(server.list(type)), ['default/web'])
})

test('a deletion is of the object that its preconditions mean', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  const { uid, resourceVersion } = server.put(type, deployment()).metadata!
  for (const preconditions of [{ uid: 'other' }, { uid: uid!, resourceVersion: '0' }])
    await assert.rejects(deployments.delete('web', { preconditions }), { reason: 'Conflict' })
  await deployments.delete('web', {
    preconditions: { uid: uid!, resourceVersion: resourceVersion! },
  })
  assert.deepEqual(server.list(type), [])
})

test('selectors choose what is listed, watched and deleted; an object goes from a watch with its label', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  const labelSelector = 'app in (a,b),!old'
  const watch = await deployments.watch({ labelSelector })
  server.put(type, labelled('one', { app: 'a' }))
  server.put(type, labelled('two', { app: 'c' }))
  server.put(type, labelled('two', { app: 'b' }))
  server.put(type, labelled('two', { app: 'b', more: 'x' }))
  assert.deepEqual(keysOf((await deployments.list({ labelSelector })).items), [
    'default/one',
    'default/two',
  ])
  server.put(type, labelled('one', { app: 'a', old: '' }))
  assert.deepEqual(await eventsOf(server, watch), [
    'ADDED one',
    'ADDED two',
    'MODIFIED two',
    'DELETED one',
  ])
  await deployments.deleteCollection({ labelSelector })
  assert.deepEqual(keysOf(server.list(type)), ['default/one'])
  const wrong = { code: 400, reason: 'BadRequest' }
  await assert.rejects(deployments.list({ labelSelector: 'a in b' }), wrong)
  await assert.rejects(deployments.watch({ labelSelector: 'a in b' }), wrong)
})

test('a watch is told of what came after the version that it starts from, as long as that is known', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  server.put(type, labelled('before', {}))
  const { resourceVersion } = server
  server.put(type, labelled('after', {}))
  server.put(resources.pods, { metadata: { namespace: 'default', name: 'pod' } })
  server.remove(type, labelled('before', {}))
  const watch = await deployments.watch({ resourceVersion })
  server.put(type, labelled('last', {}))
  assert.deepEqual(await eventsOf(server, watch), ['ADDED after', 'DELETED before', 'ADDED last'])
  for (let n = 0; n < 1_000; n++) server.put(type, labelled('last', {}))
  await assert.rejects(deployments.watch({ resourceVersion }), { code: 410, reason: 'Expired' })
})

test('where status is a subresource, generation counts what is wanted, and nobody else sets it', async () => {
  const server = new FakeServer()
  server.withStatusSubresource = [type]
  const deployments = server.resource(type, 'default')
  const metadata = { namespace: 'default', name: 'web', finalizers: ['a/b'], generation: 7 }
  const generations: unknown[] = []
  const note = ({ metadata: written }: KubernetesObject): void =>
    void generations.push(written?.generation)
  note(await deployments.create(deployment({ metadata, spec: { replicas: 1 } })))
  note(await deployments.update(deployment({ metadata, spec: { replicas: 2 } })))
  note(
    await deployments.patch('web', { type: 'merge', value: { metadata: { labels: { a: 'b' } } } }),
  )
  const status = { replicas: 2 }
  note(await deployments.update(deployment({ status }), { subresource: 'status' }))
  note(await deployments.delete('web'))
  assert.deepEqual(generations, [1, 2, 2, 2, 3])
})

test('what it cannot do is an error, unless the test answers it', async () => {
  const server = new FakeServer()
  const deployments = server.resource(type, 'default')
  const old = { resourceVersion: '1', resourceVersionMatch: 'Exact' } as const
  server.put(type, deployment())
  server.put(type, deployment())
  await assert.rejects(deployments.list({ continue: 'x' }), /lists in one page/)
  await assert.rejects(deployments.list(old), /has no former version/)
  await deployments.list({ ...old, resourceVersion: '2' })
  server.onRequest = () => ({ metadata: {}, items: [] })
  assert.deepEqual((await deployments.list({ continue: 'x' })).items, [])
})
