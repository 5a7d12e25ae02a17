import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestServer, type TestServer } from '../../testing/test-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

async function withMaps(...names: string[]): Promise<TestServer> {
  const server = await createTestServer()
  for (const name of names)
    await server.request('POST', MAPS, { metadata: { name, labels: { i: name } } })
  return server
}

async function names(server: TestServer, query: string, path = MAPS): Promise<string[]> {
  const { value, status } = await server.request('GET', `${path}?${query}`)
  assert.equal(status, 200, JSON.stringify(value))
  return value.items.map((item: { metadata: { name: string } }) => item.metadata.name)
}

test('Given 5 objects and RV r, one deleted and one created since, then list RV=r shows the new state, `RV=r&limit=2` and `RV=r&match=Exact` show the old five', async () => {
  const server = await withMaps('a', 'b', 'c', 'd', 'e')
  const { value } = await server.request('GET', MAPS)
  const r = value.metadata.resourceVersion
  await server.request('DELETE', `${MAPS}/b`)
  await server.request('POST', MAPS, { metadata: { name: 'f' } })
  assert.deepEqual(await names(server, `resourceVersion=${r}`), ['a', 'c', 'd', 'e', 'f'])
  assert.deepEqual(await names(server, `resourceVersion=${r}&limit=2`), ['a', 'b'])
  assert.deepEqual(await names(server, `resourceVersion=${r}&resourceVersionMatch=Exact`), [
    'a',
    'b',
    'c',
    'd',
    'e',
  ])
})

test('Given RV=0 and limit=2 on 5 objects, then 5 items and no continue', async () => {
  const server = await withMaps('a', 'b', 'c', 'd', 'e')
  const { value } = await server.request('GET', `${MAPS}?resourceVersion=0&limit=2`)
  assert.equal(value.items.length, 5)
  assert.deepEqual(Object.keys(value.metadata), ['resourceVersion'])
})

test('Given RV=r&match=NotOlderThan&limit=2, then 2 items and a continue whose pages belong to the returned RV', async () => {
  const server = await withMaps('a', 'b', 'c')
  const first = (
    await server.request(
      'GET',
      `${MAPS}?resourceVersion=1&resourceVersionMatch=NotOlderThan&limit=2`,
    )
  ).value
  assert.equal(first.metadata.remainingItemCount, 1)
  await server.request('DELETE', `${MAPS}/c`)
  const second = (
    await server.request('GET', `${MAPS}?limit=2&continue=${first.metadata.continue}`)
  ).value
  assert.deepEqual(
    second.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['c'],
  )
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion)
  assert.equal(second.metadata.continue, undefined)
})

test('Given a compacted r, then match=Exact is 410, plain RV=r is 200', async () => {
  const server = await withMaps('a')
  server.server.store.compact(server.server.store.revision)
  await server.request('POST', MAPS, { metadata: { name: 'b' } })
  const exact = await server.request('GET', `${MAPS}?resourceVersion=1&resourceVersionMatch=Exact`)
  assert.equal(exact.status, 410)
  assert.equal(exact.value.message, 'The resourceVersion for the provided list is too old.')
  assert.equal(exact.value.reason, 'Expired')
  assert.deepEqual(await names(server, 'resourceVersion=1'), ['a', 'b'])
})

test('Given a token older than the history, then 410 whose metadata.continue works and lists the rest at the current state', async () => {
  const server = await withMaps('a', 'b', 'c')
  const first = (await server.request('GET', `${MAPS}?limit=1`)).value
  await server.request('POST', MAPS, { metadata: { name: 'bb' } })
  server.server.store.compact(server.server.store.revision)
  const refused = await server.request('GET', `${MAPS}?limit=1&continue=${first.metadata.continue}`)
  assert.equal(refused.status, 410)
  assert.deepEqual(await names(server, `continue=${refused.value.metadata.continue}`), [
    'b',
    'bb',
    'c',
  ])
})

/** Names, remainingItemCount and the token's content: as kube-apiserver 1.36 answered for the same objects. */
async function page(server: TestServer, query: string): Promise<readonly unknown[]> {
  const { value } = await server.request('GET', `${MAPS}?${query}`)
  const { continue: token, remainingItemCount } = value.metadata
  const next = token === undefined ? undefined : Buffer.from(token, 'base64url').toString()
  return [
    value.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).join(),
    remainingItemCount,
    next === undefined ? undefined : JSON.parse(next).start,
  ]
}

test('pages count what remains in the state they show: the first one for a token, the present for an inconsistent one', async () => {
  const server = await withMaps('a', 'b', 'c', 'd', 'e', 'f', 'g')
  const { revision } = server.server.store
  for (const name of ['aa', 'bb', 'cc', 'h', 'i'])
    await server.request('POST', MAPS, { metadata: { name } })
  await server.request('DELETE', `${MAPS}/d`)
  const rows: readonly (readonly [string, readonly unknown[]])[] = [
    [`limit=2&continue=${token(revision, '/b\u0000')}`, ['c,d', 3, '/d\u0000']],
    [`limit=2&continue=${token(revision, '/d\u0000')}`, ['e,f', 1, '/f\u0000']],
    [`limit=2&continue=${token(revision, '/e\u0000')}`, ['f,g', undefined, undefined]],
    [`limit=2&continue=${token(-1, '/b\u0000')}`, ['bb,c', 6, '/c\u0000']],
    [`limit=2&continue=${token(-1, 'b\u0000')}`, ['bb,c', 6, '/c\u0000']],
    [`continue=${token(-1, '/g\u0000')}`, ['h,i', undefined, undefined]],
    [
      `limit=2&resourceVersion=0&continue=${token(revision, '/e\u0000')}`,
      ['f,g', undefined, undefined],
    ],
    [`limit=2&resourceVersion=${revision}`, ['a,b', 5, '/b\u0000']],
    [
      `limit=2&resourceVersion=${revision}&resourceVersionMatch=NotOlderThan`,
      ['a,aa', 9, '/aa\u0000'],
    ],
    [`limit=2&continue=${token(revision, '/a\u0000')}&labelSelector=`, ['b,c', 4, '/c\u0000']],
    [
      `limit=2&fieldSelector=metadata.name!=a&continue=${token(revision, '/a\u0000')}`,
      ['b,c', undefined, '/c\u0000'],
    ],
    ['limit=1&fieldSelector=metadata.name=c', ['c', undefined, undefined]],
    [
      `limit=1&fieldSelector=metadata.name=c&continue=${token(revision, '/a\u0000')}`,
      ['c', undefined, '/c\u0000'],
    ],
  ]
  for (const [query, expected] of rows) assert.deepEqual(await page(server, query), expected, query)
})

test('Compaction every 5 min to the revision of 5 min ago: snapshots and tokens live 5 to 10 min, watches as long as events are kept', async () => {
  const server = await withMaps('a', 'b', 'c')
  const { revision } = server.server.store
  const list = (): Promise<number> =>
    server
      .request('GET', `${MAPS}?resourceVersion=${revision}&resourceVersionMatch=Exact`)
      .then(({ status }) => status)
  await server.request('POST', MAPS, { metadata: { name: 'd' } })
  await server.clock.advance(300_000)
  assert.equal(await list(), 200)
  await server.request('POST', MAPS, { metadata: { name: 'e' } })
  await server.clock.advance(299_000)
  assert.equal(await list(), 200)
  await server.clock.advance(1000)
  assert.equal(await list(), 410)
  const refused = await server.request(
    'GET',
    `${MAPS}?limit=1&continue=${token(revision, '/a\u0000')}`,
  )
  assert.equal(refused.status, 410)
  assert.equal(
    Buffer.from(refused.value.metadata.continue, 'base64url').toString(),
    JSON.stringify({ v: 'meta.k8s.io/v1', rv: -1, start: 'a\u0000' }),
  )
  const watch = await server.watch(`${MAPS}?watch=true&resourceVersion=${revision}`)
  assert.deepEqual(
    watch.events.map(({ object }) => object.metadata.name),
    ['d', 'e'],
  )
})

test('Given namespaces `spec-rv` and `spec-rv-2`, then objects of `spec-rv-2` come first in an all-namespaces list', async () => {
  const server = await createTestServer()
  for (const name of ['spec-rv', 'spec-rv-2']) {
    await server.request('POST', '/api/v1/namespaces', { metadata: { name } })
    await server.request('POST', `/api/v1/namespaces/${name}/configmaps`, {
      metadata: { name: `in-${name}` },
    })
  }
  assert.deepEqual(
    await names(
      server,
      'fieldSelector=metadata.name!=x,metadata.namespace!=kube-system',
      '/api/v1/configmaps',
    ),
    ['in-spec-rv-2', 'in-spec-rv'],
  )
})

test('names inside a namespace sort by bytes: a, a-b, a.b, a0, ab, b', async () => {
  assert.deepEqual(await names(await withMaps('b', 'ab', 'a0', 'a.b', 'a-b', 'a'), ''), [
    'a',
    'a-b',
    'a.b',
    'a0',
    'ab',
    'b',
  ])
})

test('with selectors a page holds matching items only, counts none, and the last one may be full', async () => {
  const server = await withMaps('a', 'b', 'c', 'd')
  const { value } = await server.request('GET', `${MAPS}?limit=2&labelSelector=i%20in%20(a,c,d)`)
  assert.deepEqual(
    value.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['a', 'c'],
  )
  assert.equal(value.metadata.remainingItemCount, undefined)
  assert.deepEqual(
    await names(
      server,
      `limit=1&labelSelector=i%20in%20(a,c,d)&continue=${value.metadata.continue}`,
    ),
    ['d'],
  )
})

test('Given GET list in a missing namespace, then 200 with empty items and a resourceVersion', async () => {
  const server = await createTestServer()
  const { status, value } = await server.request('GET', '/api/v1/namespaces/missing/configmaps')
  assert.equal(status, 200)
  assert.deepEqual(value.items, [])
  assert.equal(value.metadata.resourceVersion, String(server.server.store.revision))
})

test('a list that asks for a version of the future waits three seconds', async () => {
  const server = await withMaps('a')
  const version = server.server.store.revision + 1
  let answered: unknown
  const late = server
    .request('GET', `${MAPS}?resourceVersion=${version}`)
    .then((answer) => (answered = answer))
  await server.clock.advance(2999)
  assert.equal(answered, undefined)
  await server.clock.advance(1)
  const { status, value, headers } = await late
  assert.equal(status, 504)
  assert.equal(
    value.message,
    `Timeout: Too large resource version: ${version}, current: ${version - 1}`,
  )
  assert.deepEqual(value.details, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
  assert.equal(headers['retry-after'], '1')
  const inTime = server.request('GET', `${MAPS}?resourceVersion=${version}`)
  await server.request('POST', MAPS, { metadata: { name: 'b' } })
  assert.equal((await inTime).status, 200)
})

test('a deletion of a collection of a version deletes what was there then', async () => {
  const server = await withMaps('a')
  const version = server.server.store.revision
  await server.request('POST', MAPS, { metadata: { name: 'b' } })
  const { status, value } = await server.request('DELETE', `${MAPS}?resourceVersion=${version}`)
  assert.deepEqual([status, value.items[0].metadata.name, value.items.length], [200, 'a', 1])
  assert.deepEqual(await names(server, ''), ['b'])
})

test('versions have 64 bits, and are told with all their digits', async () => {
  const server = await withMaps('a')
  const asked = async (version: string) => {
    const answer = server.request('GET', `${MAPS}?resourceVersion=${version}`)
    await server.clock.advance(3000)
    const { status, value } = await answer
    return `${status} ${value.message}`
  }
  assert.match(await asked('9007199254740993'), /^504 .*: 9007199254740993, /)
  assert.match(await asked('018446744073709551615'), /^504 .*: 18446744073709551615, /)
  assert.match(await asked('18446744073709551616'), /^400 .*value out of range$/)
})

const REFUSALS: readonly (readonly [query: string, status: number, message: string])[] = [
  [
    'resourceVersion=abc',
    400,
    'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [
    'resourceVersionMatch=Exact',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ],
  [
    'resourceVersion=0&resourceVersionMatch=Exact',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  [
    'resourceVersion=1&resourceVersionMatch=Foo',
    422,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
  ],
  [
    'sendInitialEvents=true',
    422,
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  ],
  ['limit=abc', 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
  [
    'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0',
    400,
    'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
  ],
  [
    `continue=${token(1, '')}`,
    400,
    'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
  ],
  [`continue=${token(1, '../x')}`, 400, 'invalid continue token: continue key is not valid: ../x'],
  [
    `continue=${token(1, 'x', 'v2')}`,
    400,
    'invalid continue token: continue key is not valid: server does not recognize this encoded version v2',
  ],
  [
    `continue=${token(1, 'x')}&resourceVersion=5`,
    400,
    'specifying resource version is not allowed when using continue',
  ],
  ['fieldSelector=foo', 400, "invalid selector: 'foo'; can't understand 'foo'"],
  [
    'fieldSelector=foo=a',
    400,
    '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
]

function token(rv: number, start: string, v = 'meta.k8s.io/v1'): string {
  return Buffer.from(JSON.stringify({ v, rv, start })).toString('base64url')
}

for (const [query, status, message] of REFUSALS) {
  test(`list ?${query} is ${status}`, async () => {
    const server = await createTestServer()
    // Leases have no field selectors of their own.
    const answer = await server.request('GET', `/apis/coordination.k8s.io/v1/leases?${query}`)
    assert.deepEqual([answer.status, answer.value.message], [status, message])
  })
}
