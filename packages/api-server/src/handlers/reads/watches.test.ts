import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createTestServer,
  turn,
  type TestServer,
  type TestWatch,
} from '../../testing/test-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

const create = (server: TestServer, name: string, labels = {}) =>
  server.request('POST', MAPS, { metadata: { name, labels } })
const merge = (server: TestServer, name: string, patch: object) =>
  server.request('PATCH', `${MAPS}/${name}`, patch, {
    'content-type': 'application/merge-patch+json',
  })
const types = ({ events }: TestWatch) => events.map(({ type }) => type)
const now = (server: TestServer) => String(server.server.store.revision)

test('Given a watch with label selector p=1 and an object going none→1→(data)→0→1→deleted, then ADDED, MODIFIED, DELETED (with label p=1 and the new RV), ADDED, DELETED', async () => {
  const server = await createTestServer()
  const watch = await server.watch(
    `${MAPS}?watch=true&resourceVersion=${now(server)}&labelSelector=p%3D1`,
  )
  await create(server, 'x')
  await merge(server, 'x', { metadata: { labels: { p: '1' } } })
  await merge(server, 'x', { data: { a: 'b' } })
  const left = await merge(server, 'x', { metadata: { labels: { p: '0' } } })
  await merge(server, 'x', { metadata: { labels: { p: '1' } } })
  await server.request('DELETE', `${MAPS}/x`)
  await turn()
  assert.deepEqual(types(watch), ['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED'])
  const gone = watch.events[2]!.object
  assert.equal(gone.metadata.labels.p, '1')
  assert.equal(gone.metadata.resourceVersion, left.value.metadata.resourceVersion)
  assert.equal(watch.events[4]!.object.metadata.resourceVersion, now(server))
})

test('Given a watch with RV unset and allowWatchBookmarks, then the initial-events-end bookmark arrives although sendInitialEvents was not sent', async () => {
  const server = await createTestServer()
  await create(server, 'b')
  await create(server, 'a')
  const watch = await server.watch(`${MAPS}?watch=true&allowWatchBookmarks=true`)
  await create(server, 'c')
  await turn()
  assert.deepEqual(
    watch.events.map(({ type, object }) => [type, object.metadata.name]),
    [
      ['ADDED', 'a'],
      ['ADDED', 'b'],
      ['BOOKMARK', undefined],
      ['ADDED', 'c'],
    ],
  )
  const bookmark = watch.events[2]!.object
  assert.deepEqual(bookmark.metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
  assert.deepEqual([bookmark.kind, bookmark.apiVersion], ['ConfigMap', 'v1'])
})

test('an empty collection yields the end marker at once; without allowWatchBookmarks there is none', async () => {
  const server = await createTestServer()
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
  assert.deepEqual(types(await server.watch(`${MAPS}?${query}&allowWatchBookmarks=true`)), [
    'BOOKMARK',
  ])
  assert.deepEqual(types(await server.watch(`${MAPS}?${query}`)), [])
})

test('Given sendInitialEvents=true without match, then 422; with Exact, 422 with two causes', async () => {
  const server = await createTestServer()
  const without = await server.request('GET', `${MAPS}?watch=true&sendInitialEvents=true`)
  assert.deepEqual([without.status, without.value.details.causes.length], [422, 1])
  const exact = await server.request(
    'GET',
    `${MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact`,
  )
  assert.deepEqual([exact.status, exact.value.details.causes.length], [422, 2])
})

test('Given a watch at RV 5 long ago, then status 200 and one ERROR event of code 410, then end of stream', async () => {
  const server = await createTestServer()
  server.server.store.forget(50)
  const watch = await server.watch(`${MAPS}?watch=true&resourceVersion=5`)
  await turn()
  assert.deepEqual(types(watch), ['ERROR'])
  const { code, reason, message } = watch.events[0]!.object
  assert.deepEqual([code, reason, message], [410, 'Expired', 'too old resource version: 5 (50)'])
  assert.ok(watch.ended())
})

test('Given a watch at a future RV without sendInitialEvents, then it stays silent until its timeout', async () => {
  const server = await createTestServer()
  const watch = await server.watch(
    `${MAPS}?watch=true&resourceVersion=999999&timeoutSeconds=10&allowWatchBookmarks=false`,
  )
  await create(server, 'x')
  await server.clock.advance(9000)
  assert.equal(watch.ended(), false)
  await server.clock.advance(1000)
  assert.deepEqual([watch.events, watch.ended()], [[], true])
})

test('a watch from the future has no bookmark below the version that its client asked for', async () => {
  const server = await createTestServer()
  const future = server.server.store.revision + 2
  const watch = await server.watch(
    `${MAPS}?watch=true&resourceVersion=${future}&allowWatchBookmarks=true`,
  )
  await server.clock.advance(60_000)
  assert.deepEqual(types(watch), [])
  for (const name of ['x', 'y', 'z']) await create(server, name)
  await server.clock.advance(60_000)
  assert.deepEqual(types(watch).at(-1), 'BOOKMARK')
  assert.ok(Number(watch.events.at(-1)!.object.metadata.resourceVersion) > future)
})

test('a watch list at a future RV ends with 504 as an event after three seconds', async () => {
  const server = await createTestServer()
  const watch = await server.watch(
    `${MAPS}?watch=true&resourceVersion=999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
  )
  await server.clock.advance(3000)
  assert.deepEqual(
    [types(watch), watch.events[0]!.object.code, watch.ended()],
    [['ERROR'], 504, true],
  )
})

test('a watch list waits for a version of the future also beyond its time, and tells when it does not come', async () => {
  const server = await createTestServer()
  const query = 'timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
  const far = await server.watch(`${MAPS}?watch=true&resourceVersion=18446744073709551615&${query}`)
  const near = await server.watch(
    `${MAPS}?watch=true&resourceVersion=${server.server.store.revision + 1}&${query}`,
  )
  await server.clock.advance(2000)
  assert.deepEqual([far.ended(), near.ended()], [false, false])
  await create(server, 'x')
  await turn()
  assert.deepEqual([types(near), near.ended()], [[], true])
  await server.clock.advance(1000)
  assert.deepEqual([types(far), far.ended()], [['ERROR'], true])
  assert.match(far.events[0]!.object.message, /Too large resource version: 18446744073709551615, /)
})

test('Given timeoutSeconds=6 and bookmarks, then a bookmark arrives before the end and the stream ends after 6 s', async () => {
  const server = await createTestServer()
  const watch = await server.watch(
    `${MAPS}?watch=true&resourceVersion=${now(server)}&timeoutSeconds=6&allowWatchBookmarks=true`,
  )
  await server.clock.advance(5000)
  assert.deepEqual(types(watch), ['BOOKMARK'])
  assert.equal(watch.events[0]!.object.metadata.annotations, undefined)
  await server.clock.advance(1000)
  assert.ok(watch.ended())
})

test('a watch of less than no time ends at once, one of none or of too little to count after its usual time', async () => {
  const server = await createTestServer()
  const ended = await server.watch(`${MAPS}?watch=true&timeoutSeconds=-1`)
  const { code, message, reason } = ended.events[0]!.object
  assert.deepEqual(
    [types(ended), code, reason, message],
    [['ERROR'], 500, 'InternalError', 'context deadline exceeded'],
  )
  const fromNow = await server.watch(
    `${MAPS}?watch=true&timeoutSeconds=-1&resourceVersion=${now(server)}`,
  )
  const lasting = await server.watch(`${MAPS}?watch=true&timeoutSeconds=0`)
  const wrapped = await server.watch(`${MAPS}?watch=true&timeoutSeconds=-9999999999`)
  await server.clock.advance(1000)
  assert.deepEqual(
    [ended, fromNow, lasting, wrapped].map((watch) => watch.ended()),
    [true, true, false, false],
  )
  assert.deepEqual(types(fromNow), [])
  lasting.stop()
  wrapped.stop()
})

test('bookmarks come every minute and advance when only other resources changed', async () => {
  const server = await createTestServer()
  const watch = await server.watch(
    `${MAPS}?watch=true&resourceVersion=${now(server)}&allowWatchBookmarks=true`,
  )
  await server.request('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
  await server.clock.advance(60_000)
  await server.clock.advance(60_000)
  const bookmarks = watch.events.filter(({ type }) => type === 'BOOKMARK')
  assert.equal(bookmarks.length, 2)
  assert.ok(Number(bookmarks[0]!.object.metadata.resourceVersion) > 0)
})

test('a watch of one namespace does not see others; a watch of all sees them', async () => {
  const server = await createTestServer()
  await server.request('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
  const own = await server.watch(`${MAPS}?watch=1&resourceVersion=${now(server)}`)
  const all = await server.watch(`/api/v1/watch/configmaps?resourceVersion=${now(server)}`)
  await server.request('POST', '/api/v1/namespaces/other/configmaps', { metadata: { name: 'x' } })
  await turn()
  assert.deepEqual([types(own), types(all)], [[], ['ADDED']])
})

test('the deprecated path with a name watches that object', async () => {
  const server = await createTestServer()
  const watch = await server.watch(
    `/api/v1/watch/namespaces/default/configmaps/x?resourceVersion=${now(server)}`,
  )
  await create(server, 'y')
  await create(server, 'x')
  await turn()
  assert.deepEqual(
    watch.events.map(({ object }) => object.metadata.name),
    ['x'],
  )
})

test('Given the same PUT twice, then one event and the same RV', async () => {
  const server = await createTestServer()
  await create(server, 'x')
  const watch = await server.watch(`${MAPS}?watch=true&resourceVersion=${now(server)}`)
  const body = { metadata: { name: 'x' }, data: { a: 'b' } }
  const first = await server.request('PUT', `${MAPS}/x`, body)
  await server.clock.advance(5000)
  const second = await server.request('PUT', `${MAPS}/x`, body)
  await turn()
  assert.deepEqual(types(watch), ['MODIFIED'])
  assert.equal(second.value.metadata.resourceVersion, first.value.metadata.resourceVersion)
})

test('a watcher is given the stored object itself: values are shared within the process', async () => {
  const server = await createTestServer()
  const watch = await server.watch(`${MAPS}?watch=true&resourceVersion=${now(server)}`)
  const { value } = await create(server, 'x')
  await turn()
  assert.equal(watch.events[0]!.object, value)
  assert.equal((await server.request('GET', `${MAPS}/x`)).value, value)
  assert.ok(Object.isFrozen(value.metadata))
})

test('a watch of a field sees objects come, change, leave and go, also together with other terms', async () => {
  const server = await createTestServer()
  await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const pods = '/api/v1/namespaces/default/pods'
  const from = now(server)
  const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 }
  const watch = (selector: string) =>
    server.watch(
      `/api/v1/pods?watch=1&resourceVersion=${from}&fieldSelector=${encodeURIComponent(selector)}`,
    )
  const onNode = await watch('spec.nodeName=n1')
  const waiting = await watch('spec.nodeName=')
  const both = await watch('metadata.name!=y,spec.nodeName=n1,status.phase!=Failed')
  const named = await watch('metadata.name=y,spec.nodeName=n1')
  for (const name of ['x', 'y']) {
    await server.request('POST', pods, { metadata: { name }, spec })
    await server.request('POST', `${pods}/${name}/binding`, {
      metadata: { name },
      target: { name: 'n1' },
    })
  }
  await server.request(
    'PATCH',
    `${pods}/x/status`,
    { status: { phase: 'Failed' } },
    { 'content-type': 'application/merge-patch+json' },
  )
  await server.request('DELETE', `${pods}/x?gracePeriodSeconds=0`)
  await turn()
  const seen = ({ events }: TestWatch): string[] =>
    events.map(({ type, object }) => `${type} ${object.metadata.name}`)
  assert.deepEqual(seen(onNode), ['ADDED x', 'ADDED y', 'MODIFIED x', 'MODIFIED x', 'DELETED x'])
  assert.deepEqual(seen(waiting), ['ADDED x', 'DELETED x', 'ADDED y', 'DELETED y'])
  assert.deepEqual(seen(both), ['ADDED x', 'DELETED x'])
  assert.deepEqual(seen(named), ['ADDED y'])
})

test('a watch that is given up stops listening', async () => {
  const server = await createTestServer()
  const watch = await server.watch(`${MAPS}?watch=true&resourceVersion=${now(server)}`)
  watch.stop()
  await create(server, 'x')
  await turn()
  assert.deepEqual([watch.events.length, watch.ended()], [0, true])
})

test('a watch with a version that is none is refused before the stream, with 500', async () => {
  const server = await createTestServer()
  const { status, value } = await server.request('GET', `${MAPS}?watch=true&resourceVersion=abc`)
  assert.deepEqual(
    [status, value.message, value.reason],
    [
      500,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      undefined,
    ],
  )
})

test('Given a Table watch, then only the first event has columns', async () => {
  const server = await createTestServer()
  await create(server, 'a')
  const abort = new AbortController()
  const headers = {
    authorization: 'Bearer test-token',
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  }
  const response = await server.server.handle({
    method: 'GET',
    path: `${MAPS}?watch=true`,
    headers,
    signal: abort.signal,
  })
  assert.ok(response.body.kind === 'events')
  await create(server, 'b')
  const seen: unknown[] = []
  for await (const { type, object } of response.body.events) {
    const table = object as unknown as {
      kind: string
      columnDefinitions: unknown[] | null
      rows: { cells: unknown[] }[]
    }
    seen.push([type, table.kind, table.columnDefinitions !== null, table.rows[0]!.cells[0]])
    if (seen.length === 2) abort.abort()
  }
  assert.deepEqual(seen, [
    ['ADDED', 'Table', true, 'a'],
    ['ADDED', 'Table', false, 'b'],
  ])
})

test('Events live an hour from their last write and leave as ordinary deletions', async () => {
  const server = await createTestServer()
  const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } }
  const path = '/api/v1/namespaces/default/events'
  assert.equal((await server.request('POST', path, event)).status, 201)
  await server.clock.advance(3_500_000)
  await server.request('PUT', `${path}/e`, { ...event, message: 'again' })
  const watch = await server.watch(`${path}?watch=true&resourceVersion=${now(server)}`)
  await server.clock.advance(3_500_000)
  assert.equal((await server.request('GET', `${path}/e`)).status, 200)
  await server.clock.advance(200_000)
  assert.equal((await server.request('GET', `${path}/e`)).status, 404)
  assert.ok(types(watch).includes('DELETED') || watch.ended())
})

/** A watch within the process whose reader decides when it reads. */
async function unreadWatch(server: TestServer, path: string) {
  const headers = { authorization: 'Bearer test-token' }
  const { body } = await server.server.handle({ method: 'GET', path, headers })
  assert.ok(body.kind === 'events')
  return body.events
}

test('a watcher within the process that does not read is cut off after 10,000 events', async () => {
  const server = await createTestServer()
  await create(server, 'busy')
  const unread = await unreadWatch(server, `${MAPS}?watch=true&resourceVersion=${now(server)}`)
  for (let n = 0; n < 10_050; n++) await merge(server, 'busy', { data: { n: String(n) } })
  let seen = 0
  for await (const { type } of unread) {
    assert.equal(type, 'MODIFIED')
    seen++
  }
  assert.equal(seen, 10_000)
})

test('a reader that begins late gets a large initial state whole, then what happened meanwhile, then what happens', async () => {
  const server = await createTestServer()
  for (let n = 0; n < 3000; n++) await create(server, `m-${n}`)
  const late = await unreadWatch(server, `${MAPS}?watch=true&allowWatchBookmarks=true`)
  for (let n = 0; n < 500; n++) await merge(server, 'm-7', { data: { n: String(n) } })
  const counts: Record<string, number> = {}
  let last = 0
  for await (const { type, object } of late) {
    counts[type] = (counts[type] ?? 0) + 1
    if (type === 'MODIFIED') {
      const version = Number(object.metadata!.resourceVersion)
      assert.ok(version > last, 'in order, nothing twice')
      last = version
    }
    if (type === 'MODIFIED' && counts[type] === 500) void create(server, 'at-last')
    if (type === 'ADDED' && object.metadata!.name === 'at-last') break
  }
  assert.deepEqual(counts, { ADDED: 3001, BOOKMARK: 1, MODIFIED: 500 })
})
