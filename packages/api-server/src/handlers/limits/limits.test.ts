import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionPlugin, UserInfo } from '../../contracts.ts'
import { createTestServer, turn, type TestServer } from '../../testing/test-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const named = (name: string) => ({ metadata: { name } })

/** Admission that takes as long as the test wants. */
function slowAdmission() {
  const waiting: (() => void)[] = []
  const plugin: AdmissionPlugin = {
    name: 'Slow',
    handles: ({ resource }) => resource.resource === 'configmaps',
    validate: () => new Promise((resolve) => void waiting.push(resolve)),
  }
  const release = async (): Promise<void> => {
    for (const done of waiting.splice(0)) done()
    await turn()
  }
  return { plugin, release }
}

const WRITER: UserInfo = { name: 'writer', groups: ['system:authenticated'], extra: {} }
const AS_WRITER = { authorization: 'Bearer writer' }

async function withWriter(options: Parameters<typeof createTestServer>[0]): Promise<TestServer> {
  const admin: UserInfo = { name: 'admin', groups: ['system:masters'], extra: {} }
  const server = await createTestServer({
    tokens: new Map([
      ['test-token', admin],
      ['writer', WRITER],
    ]),
    ...options,
  })
  await server.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'writer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'writer' }],
  })
  return server
}

test('a write that takes longer than 34 s is answered 504 as a Status, and is not stored afterwards', async () => {
  const { plugin, release } = slowAdmission()
  const { request, clock } = await createTestServer({ admission: [plugin] })
  const created = request('POST', MAPS, named('late'))
  await clock.advance(33_999)
  let answered = false
  void created.then(() => (answered = true))
  await turn()
  assert.equal(answered, false)
  await clock.advance(1)
  const { status, value } = await created
  assert.deepEqual(
    [status, value],
    [
      504,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message:
          'Timeout: request did not complete within requested timeout - context deadline exceeded',
        reason: 'Timeout',
        details: {},
        code: 504,
      },
    ],
  )
  await release()
  assert.equal((await request('GET', `${MAPS}/late`)).status, 404)
})

test('updates, deletions and writes of subresources are not stored after their time either', async () => {
  const slow = slowAdmission()
  let held = false
  const plugin: AdmissionPlugin = {
    name: 'Slow',
    handles: ({ resource }) => held && ['configmaps', 'replicasets'].includes(resource.resource),
    validate: (request) => slow.plugin.validate!(request),
  }
  const { request, clock } = await createTestServer({ admission: [plugin] })
  await request('POST', MAPS, named('kept'))
  const sets = '/apis/apps/v1/namespaces/default/replicasets'
  const labels = { app: 'a' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await request('POST', sets, { metadata: { name: 'kept' }, spec })
  held = true
  const late = [
    request('PUT', `${MAPS}/kept`, { ...named('kept'), data: { a: 'b' } }),
    request(
      'PATCH',
      `${MAPS}/kept`,
      { data: { a: 'c' } },
      {
        'content-type': 'application/merge-patch+json',
      },
    ),
    request('DELETE', `${MAPS}/kept`),
    request('PUT', `${sets}/kept/scale`, { ...named('kept'), spec: { replicas: 5 } }),
  ]
  await turn()
  await clock.advance(34_000)
  assert.deepEqual(
    (await Promise.all(late)).map(({ status }) => status),
    [504, 504, 504, 504],
  )
  held = false
  await slow.release()
  await slow.release()
  assert.equal((await request('GET', `${MAPS}/kept`)).value.data, undefined)
  assert.equal((await request('GET', `${sets}/kept`)).value.spec.replicas, 1)
})

test('`?timeout=` shortens a write: 504 in plain words, and nothing stored', async () => {
  const { plugin, release } = slowAdmission()
  const { request, clock } = await createTestServer({ admission: [plugin] })
  const created = request('POST', `${MAPS}?timeout=2s`, named('late'))
  await clock.advance(2000)
  const { status, headers, value } = await created
  assert.deepEqual(
    [status, headers['content-type'], value.message, value.kind],
    [
      504,
      'text/plain; charset=utf-8',
      'Timeout: request did not complete within the allotted timeout',
      undefined,
    ],
  )
  // Written by who has not asked what the request is counted under.
  assert.equal(headers['x-kubernetes-pf-flowschema-uid'], undefined)
  assert.ok(headers['audit-id'])
  await release()
  const missing = await request('GET', `${MAPS}/late`)
  assert.equal(missing.status, 404)
  assert.ok(missing.headers['x-kubernetes-pf-flowschema-uid'])
})

test('more writes than the limit are refused with 429 and Retry-After, until one is done', async () => {
  const { plugin, release } = slowAdmission()
  const { request } = await withWriter({
    admission: [plugin],
    inFlight: { reading: 1, mutating: 2 },
  })
  const first = [
    request('POST', MAPS, named('a'), AS_WRITER),
    request('POST', MAPS, named('b'), AS_WRITER),
  ]
  await turn()
  const refused = await request('POST', MAPS, named('c'), AS_WRITER)
  assert.deepEqual(
    [refused.status, refused.headers['retry-after'], refused.value],
    [429, '1', 'Too many requests, please try again later.\n'],
  )
  assert.equal((await request('GET', MAPS, undefined, AS_WRITER)).status, 200, 'reads count apart')
  const administrator = request('POST', MAPS, named('d'))
  await turn()
  await release()
  assert.deepEqual(
    (await Promise.all([...first, administrator])).map(({ status }) => status),
    [201, 201, 201],
  )
  const later = request('POST', MAPS, named('c'), AS_WRITER)
  await turn()
  await release()
  assert.equal((await later).status, 201)
})

test('watches are not counted, and what was answered 504 counts until it has ended', async () => {
  const { plugin, release } = slowAdmission()
  const server = await withWriter({ admission: [plugin], inFlight: { reading: 1, mutating: 1 } })
  const { request, clock } = server
  const watches = await Promise.all([1, 2, 3].map(() => server.watch(`${MAPS}?watch=true`)))
  assert.equal((await request('GET', MAPS, undefined, AS_WRITER)).status, 200)
  for (const watch of watches) watch.stop()
  const late = request('POST', MAPS, named('late'), AS_WRITER)
  await clock.advance(34_000)
  assert.equal((await late).status, 504)
  const path = '/api/v1/namespaces/default/secrets'
  assert.equal((await request('POST', path, named('x'), AS_WRITER)).status, 429)
  await release()
  assert.equal((await request('POST', path, named('x'), AS_WRITER)).status, 201)
})
