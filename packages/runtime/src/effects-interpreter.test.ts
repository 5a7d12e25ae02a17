import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { RestMapper, isNotFound } from '@gyropilot/client'
import {
  callOutside,
  discoverLive,
  currentTimeMs,
  discoverRemembered,
  elapsedTimeMs,
  getLive,
  getLivePath,
  getLiveSubresource,
  giveWay,
  listLive,
  resourceOfKind,
  wait,
  write,
  writeAll,
} from './effects.ts'
import { apply, create, patch, remove, update, updateStatus } from './writes.ts'
import type { Outcome, Reconcile } from './effects.ts'
import { InterruptedByShutdown, interpret } from './effects-interpreter.ts'
import type { World } from './effects-interpreter.ts'
import { SharedReads } from './shared-reads.ts'
import { WorkClock, keysOf, statusError } from './testing/index.ts'
import { pod, world } from './fixtures.ts'

test('each verb is one request', async () => {
  const { of, server } = world()
  await interpret(
    (function* (): Reconcile {
      const made = yield* write(create(resources.pods, pod('a')))
      assert.ok(made.ok)
      yield* write({
        verb: 'create',
        type: resources.pods,
        namespace: 'default',
        object: pod('b'),
        metadataOnly: true,
        due: true,
        repeated: true,
      })
      yield* write(update(resources.pods, made.object))
      yield* write(updateStatus(resources.pods, pod('a')))
      yield* write(
        patch(resources.pods, pod('a'), { type: 'merge', value: { spec: {} } }, 'status'),
      )
      yield* write(apply(resources.pods, pod('a'), 'me', 'status'))
      yield* write({
        verb: 'create',
        type: resources.pods,
        namespace: 'default',
        name: 'a',
        subresource: 'binding',
        object: {},
      })
      yield* write(remove(resources.pods, pod('a'), { preconditions: { uid: 'u' } }))
      yield* write({ verb: 'deleteCollection', type: resources.pods, namespace: 'default' })
    })(),
    of,
  )
  const path = '/api/v1/namespaces/default/pods'
  assert.deepEqual(
    server.requests.map(({ verb, path, options, decode }) => ({
      verb,
      path,
      options: { ...options, ...(decode && { decode }) },
    })),
    [
      { verb: 'create', path: `${path}/a`, options: { decode: 'lean' } },
      {
        verb: 'create',
        path: `${path}/b`,
        options: { decode: 'metadata', due: true, repeated: true },
      },
      { verb: 'update', path: `${path}/a`, options: { decode: 'lean' } },
      { verb: 'update', path: `${path}/a`, options: { decode: 'lean', subresource: 'status' } },
      { verb: 'patch', path: `${path}/a`, options: { decode: 'lean', subresource: 'status' } },
      {
        verb: 'patch',
        path: `${path}/a`,
        options: { decode: 'lean', fieldManager: 'me', force: true, subresource: 'status' },
      },
      { verb: 'create binding', path: `${path}/a`, options: {} },
      {
        verb: 'delete',
        path: `${path}/a`,
        options: { decode: 'metadata', preconditions: { uid: 'u' } },
      },
      // What was in it is not decoded.
      {
        verb: 'deleteCollection',
        path,
        options: { metadataOnly: true, mentioning: ['00000000-0000-0000-0000-000000000000'] },
      },
    ],
  )
})

test('a refused write and a missing object are outcomes, never exceptions', async () => {
  const { of } = world()
  const outcomes = await interpret(
    (function* (): Reconcile<Outcome[]> {
      return [
        yield* getLive(resources.pods, 'default', 'a'),
        yield* write(remove(resources.pods, pod('a'))),
      ]
    })(),
    of,
  )
  for (const outcome of outcomes)
    assert.ok(!outcome.ok && outcome.attempted && isNotFound(outcome.error))
})

test('the body of any path is fetched, and a refusal is an outcome', async () => {
  const { of, server } = world()
  server.onRequest = ({ verb, path }) => {
    if (verb !== 'GET') return undefined
    if (path === '/apis/none') throw statusError(404, 'NotFound')
    return { path }
  }
  const fetched = await interpret(getLivePath('/apis/some?x=y'), of)
  assert.ok(fetched.ok)
  assert.deepEqual(fetched.object, { path: '/apis/some?x=y' })
  const missing = await interpret(getLivePath('/apis/none'), of)
  assert.ok(!missing.ok && isNotFound(missing.error))
})

test('a live list answers the items of all pages', async () => {
  const { of, server } = world()
  for (const name of ['a', 'b'])
    server.put(resources.pods, { metadata: { namespace: 'default', name, labels: { x: 'y' } } })
  const listed = await interpret(listLive(resources.pods, 'default', { labelSelector: 'x=y' }), of)
  assert.ok(listed.ok)
  assert.deepEqual(keysOf(listed.object.items), ['default/a', 'default/b'])
  assert.deepEqual(server.requests[0]!.options, {
    labelSelector: 'x=y',
    fieldSelector: undefined,
    limit: 500,
  })
})

test('what may be shared is one request of all who wait, where reads are shared at all', async () => {
  const { of, server } = world()
  const look = (mentioning: string, shared: boolean) =>
    listLive(resources.pods, 'default', { mentioning, shared, limit: 5 })
  const mentioned = async (world: World, shared: boolean): Promise<unknown[]> => {
    server.requests.length = 0
    await Promise.all(['a', 'b'].map((text) => interpret(look(text, shared), world)))
    return server.requests.map(({ options }) => options.mentioning)
  }
  const sharing = { ...of, sharedReads: new SharedReads() }
  assert.deepEqual(await mentioned(sharing, true), [['a', 'b']])
  assert.deepEqual(await mentioned(sharing, false), [['a'], ['b']])
  assert.deepEqual(await mentioned(of, true), [['a'], ['b']])
})

test('a wait lasts as long as it says, and is ended by shutdown', async () => {
  const { of, clock, stop } = world()
  const startMs = clock.nowMs()
  const waited = interpret(wait(150), of)
  await clock.advance(149)
  assert.equal(await Promise.race([waited, 'still waiting']), 'still waiting')
  await clock.advance(1)
  await waited
  assert.equal(clock.nowMs() - startMs, 150)
  const interrupted = assert.rejects(interpret(wait(150), of), InterruptedByShutdown)
  stop.abort()
  await interrupted
})

test('whatever reaches out is ended when the process stops', async () => {
  const { of, server, stop } = world()
  stop.abort()
  const outward: readonly Reconcile<unknown>[] = [
    getLive(resources.pods, 'default', 'a'),
    listLive(resources.pods),
    discoverLive(),
    resourceOfKind('acme.test', 'Foo', 'v1'),
    getLivePath('/version'),
    writeAll([create(resources.pods, pod('a'))], 'parallel'),
  ]
  for (const rules of outward) await assert.rejects(interpret(rules, of), InterruptedByShutdown)
  assert.equal(server.requests.length, 0)
})

test('live reads ask for what the rules want of them', async () => {
  const { of, server } = world()
  server.put(resources.pods, pod('a'))
  await interpret(getLive(resources.pods, 'default', 'a'), of)
  const selected = { fieldSelector: 'metadata.name=a', metadataOnly: true }
  await interpret(listLive(resources.pods, 'default', selected), of)
  const portion = { limit: 2, continue: 'next' }
  await interpret(listLive(resources.pods, 'default', portion), of)
  await interpret(listLive(resources.pods, 'default', { limit: 0 }), of)
  const [got, listed, part, whole] = server.requests
  assert.equal(got!.decode, 'lean')
  assert.deepEqual(listed!.options, { ...selected, labelSelector: undefined, limit: 500 })
  assert.deepEqual([part!.options.limit, part!.options.continue], [2, 'next'])
  assert.equal(whole!.options.limit, 0, 'which is sent as no limit at all')
})

test('a live list of several pages has the items of all and the metadata of the last', async () => {
  const pages = [
    { items: [pod('a')], metadata: { resourceVersion: '7', continue: 'next' } },
    { items: [pod('b')], metadata: { resourceVersion: '7' } },
  ]
  const signals: unknown[] = []
  const client = {
    resource: () => ({
      async *pages({ signal }: { signal: AbortSignal }) {
        signals.push(signal)
        yield* pages
      },
    }),
  }
  const { of } = world({ client: client as never })
  const listed = await interpret(listLive(resources.pods, 'default'), of)
  assert.ok(listed.ok)
  assert.deepEqual(keysOf(listed.object.items), ['default/a', 'default/b'])
  assert.deepEqual(listed.object.metadata, { resourceVersion: '7' })
  assert.deepEqual(signals, [of.signal], 'a stop ends the request')
})

test('a server that knows no pages may answer a live list with any number of items', async () => {
  const items = Array.from({ length: 300_000 }, () => pod('a'))
  const client = {
    resource: () => ({
      async *pages() {
        yield { items, metadata: {} }
      },
    }),
  }
  const { of } = world({ client: client as never })
  const listed = await interpret(listLive(resources.pods), of)
  assert.equal(listed.ok && listed.object.items.length, 300_000)
})

test('what the server has is read anew, or remembered by the mapper', async () => {
  const { of, clock } = world()
  const did: string[] = []
  const mapper = new RestMapper({ client: of.client, clock })
  mapper.reset = () => void did.push('reset')
  mapper.discovered = async () => {
    did.push('discovered')
    return { resources: [], failed: [] } as never
  }
  await interpret(discoverLive(), { ...of, mapper })
  assert.deepEqual(did.splice(0), ['reset', 'discovered'])
  await interpret(discoverRemembered(), { ...of, mapper })
  assert.deepEqual(did, ['discovered'])
  const without = await interpret(discoverRemembered(), of)
  assert.match(String(!without.ok && without.error), /has no mapper/)
})

test('a subresource is read under the name of its object', async () => {
  const { of, server } = world()
  server.onRequest = ({ verb, options }) => (verb === 'get' ? { options } : undefined)
  const read = getLiveSubresource(resources.deployments, 'default', 'web', 'scale')
  const scale = await interpret(read, of)
  assert.ok(scale.ok)
  assert.deepEqual(server.requests.at(-1)?.options['subresource'], 'scale')
})

test('the resource of a kind is asked of the mapper; without one it is a defect of the controller', async () => {
  const { of, clock } = world()
  const forKind = interpret(resourceOfKind('acme.test', 'Foo', 'v1'), of)
  const refused = await forKind
  assert.match(String(!refused.ok && refused.error), /has no mapper/)
  const known = {
    group: 'acme.test',
    version: 'v1',
    resource: 'foos',
    kind: 'Foo',
    namespaced: true,
  }
  const mapper = new RestMapper({ client: of.client, clock })
  mapper.requireKind = async () => known
  mapper.forResource = async () => ({
    ...known,
    singular: 'foo',
    shortNames: [],
    categories: [],
    verbs: ['get'],
    subresources: [],
  })
  const found = await interpret(resourceOfKind('acme.test', 'Foo', 'v1'), { ...of, mapper })
  assert.equal(found.ok && found.object.resource, 'foos')
})

test('a call outside is performed by the controller, and what it rejects with is an outcome', async () => {
  const calls: unknown[] = []
  const { of, stop }: ReturnType<typeof world> = world({
    outside: async (call, signal) => {
      assert.equal(signal, of.signal)
      calls.push([call, signal.aborted])
      if (call.name === 'fail') throw new Error('unreachable')
      return 7
    },
  })
  const rules = (name: string) =>
    (function* (): Reconcile<Outcome<number>> {
      return yield* callOutside<number>(name, 'a', 1)
    })()
  assert.deepEqual(await interpret(rules('count'), of), { ok: true, object: 7 })
  const failed = await interpret(rules('fail'), of)
  assert.ok(!failed.ok && (failed.error as Error).message === 'unreachable')
  stop.abort()
  await assert.rejects(interpret(rules('count'), of), InterruptedByShutdown)
  assert.deepEqual(calls, [
    [{ name: 'count', arguments: ['a', 1] }, false],
    [{ name: 'fail', arguments: ['a', 1] }, false],
  ])
})

test('rules that call outside need a controller with a way out', async () => {
  const { of } = world()
  const outcome = await interpret(callOutside('count'), of)
  assert.ok(!outcome.ok)
  assert.match(String(outcome.error), /no way out/)
})

test('without a mapper the server is asked what it has', async () => {
  const { of, server } = world()
  server.onRequest = () => ({ kind: 'APIGroupDiscoveryList', items: [] })
  const found = await interpret(discoverLive(), of)
  assert.deepEqual([found.ok, server.requests.map(({ path }) => path)], [true, ['/api', '/apis']])
})

test('how long something took is told by a clock that nobody sets', async () => {
  const { of, clock } = world()
  const [wallMs, elapsedMs] = await interpret(
    (function* (): Reconcile<readonly [number, number]> {
      const [wall, elapsed] = [yield* currentTimeMs(), yield* elapsedTimeMs()]
      clock.jumpWallTime(60_000)
      return [(yield* currentTimeMs()) - wall, (yield* elapsedTimeMs()) - elapsed] as const
    })(),
    of,
  )
  assert.deepEqual([wallMs, elapsedMs], [60_000, 0])
})

test('a long calculation gives way between its pieces once the turn is long, and not before', async () => {
  const { of, clock: inner } = world()
  const clock = new WorkClock(inner)
  let done = 0
  const calculating = interpret(
    (function* (): Reconcile<void> {
      for (; done < 4; done++) {
        clock.work(6)
        yield* giveWay()
      }
    })(),
    { ...of, clock },
  )
  for (let step = 0; step < 50; step++) await undefined
  assert.equal(done, 1, 'after 12 ms it waits for the next turn')
  await inner.advance(0)
  await calculating
  assert.ok(clock.longestTurnMs < 20)
})
