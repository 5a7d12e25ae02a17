import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { FakeServer, statusError } from '../testing/index.ts'
import { configMap, website, websites } from '../builder/fixtures.ts'
import type { Website } from '../builder/fixtures.ts'
import { deepFreeze } from '@gyropilot/foundation'
import { createOrPatch, createOrUpdate } from './create-or-update.ts'

const target = { metadata: { namespace: 'default', name: 'c' } }
const writes = (server: FakeServer): string[] =>
  server.requested('create', 'update', 'patch').map(({ verb }) => verb)

test('create or update creates, then updates what changed; mutate edits a draft or answers another object', async () => {
  const server = new FakeServer()
  const set = (page: string) =>
    createOrUpdate(server, resources.configmaps, target, (draft) => {
      draft.data = { page }
    })
  assert.equal((await set('1')).operation, 'created')
  assert.equal((await set('1')).operation, 'unchanged')
  const updated = await set('2')
  assert.equal(updated.operation, 'updated')
  assert.equal(updated.object.data?.['page'], '2')
  const answered = await createOrUpdate(server, resources.configmaps, target, (draft) => ({
    ...(draft as ConfigMap),
    data: { page: '3' },
  }))
  assert.equal(answered.object.data?.['page'], '3')
  assert.deepEqual(writes(server), ['create', 'update', 'update'])
})

test('an object that cannot be read is not taken for one that is missing', async () => {
  const server = new FakeServer()
  server.onRequest = ({ verb }) => {
    if (verb === 'get') throw statusError(500, 'InternalError')
  }
  for (const make of [createOrUpdate, createOrPatch])
    await assert.rejects(
      make(server, resources.configmaps, target, () => {}),
      /InternalError/,
    )
  assert.deepEqual(writes(server), [])
})

test('Given create-or-update without a difference, then no write', async () => {
  const server = new FakeServer()
  server.put(resources.configmaps, { ...configMap('c'), data: { page: '1' } })
  const { operation } = await createOrUpdate(server, resources.configmaps, target, (draft) => {
    draft.data = { page: '1' }
    // To Kubernetes an empty map is no map.
    draft.binaryData = {}
  })
  assert.equal(operation, 'unchanged')
  assert.deepEqual(writes(server), [])
})

test('Given mutate renames the object, then an error', async () => {
  for (const rename of [
    (draft: { metadata?: { name?: string } }) => void (draft.metadata!.name = 'other'),
    (draft: { metadata?: { namespace?: string } }) => void (draft.metadata!.namespace = 'other'),
  ]) {
    const server = new FakeServer()
    for (const write of [createOrUpdate, createOrPatch]) {
      const attempt = () => write(server, resources.configmaps, target, rename)
      const refusal = {
        code: 'MUTATION_INVALID',
        message: 'MutateFn cannot mutate object name and/or object namespace',
      }
      await assert.rejects(attempt, refusal)
      server.put(resources.configmaps, configMap('c'))
      await assert.rejects(attempt, refusal)
      server.remove(resources.configmaps, configMap('c'))
    }
    assert.deepEqual(writes(server), [])
  }
})

test('what was read is never edited, frozen as it may be', async () => {
  const server = new FakeServer()
  const frozen = deepFreeze({ ...configMap('c'), data: { page: '1' } })
  server.onRequest = ({ verb }) => (verb === 'get' ? frozen : undefined)
  server.put(resources.configmaps, configMap('c'))
  await createOrUpdate(server, resources.configmaps, target, (draft) => {
    draft.data!['page'] = '2'
  })
  assert.equal(frozen.data['page'], '1')
})

test('errors of the server and of mutate are passed on; nothing is retried', async () => {
  const server = new FakeServer()
  server.put(resources.configmaps, configMap('c'))
  server.onRequest = ({ verb }) => {
    if (verb === 'update') throw statusError(409, 'Conflict')
  }
  await assert.rejects(
    createOrUpdate(server, resources.configmaps, target, (draft) => {
      draft.data = { a: 'b' }
    }),
    { reason: 'Conflict' },
  )
  assert.equal(server.requested('update').length, 1)
  await assert.rejects(
    createOrUpdate(server, resources.configmaps, target, () => {
      throw new Error('mutate failed')
    }),
    /mutate failed/,
  )
})

const PATCHES: readonly (readonly [string, string, Partial<Website>, readonly object[]])[] = [
  ['nothing', 'unchanged', {}, []],
  ['the spec', 'updated', { spec: { html: 'new' } }, [{ spec: { html: 'new' } }]],
  ['the status', 'updatedStatusOnly', { status: { ready: true } }, [{ status: { ready: true } }]],
  [
    'both',
    'updatedStatus',
    { spec: { html: 'new' }, status: { ready: true } },
    [{ spec: { html: 'new' } }, { status: { ready: true } }],
  ],
]

for (const [what, operation, changes, expected] of PATCHES) {
  test(`create or patch of ${what} is ${operation} and sends only the difference`, async () => {
    const server = new FakeServer()
    server.withStatusSubresource = [websites]
    server.put(websites, website('a'))
    const written = await createOrPatch(
      server,
      websites,
      { metadata: { namespace: 'default', name: 'a' } },
      (draft) => void Object.assign(draft, changes),
    )
    assert.equal(written.operation, operation)
    const patches = server.requested('patch')
    assert.deepEqual(
      patches.map(({ body }) => (body as { value: object }).value),
      expected,
    )
    assert.deepEqual(
      patches.map(({ options }) => options['subresource']),
      expected.map((patch) => ('status' in patch ? 'status' : undefined)),
    )
    const stored = server.get(websites, 'default', 'a') as Website
    assert.deepEqual(
      { spec: stored.spec, status: stored.status },
      {
        spec: { html: '' },
        status: undefined,
        ...changes,
      },
    )
  })
}

test('create or patch creates what does not exist', async () => {
  const server = new FakeServer()
  const { operation } = await createOrPatch(
    server,
    websites,
    { metadata: { namespace: 'default', name: 'a' } },
    (draft) => void (draft.spec = { html: 'x' }),
  )
  assert.equal(operation, 'created')
})

test('what mutate takes out of a status is taken out by the patch', async () => {
  const server = new FakeServer()
  server.put(websites, { ...website('c'), status: { ready: true } } as Website)
  await createOrPatch(server, websites, target, (draft) => {
    draft.status = {} as { ready: boolean }
  })
  const [patch] = server.requested('patch')
  assert.deepEqual(patch?.body, { type: 'merge', value: { status: { ready: null } } })
})
