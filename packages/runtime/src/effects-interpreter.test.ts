import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { RestMapper, isNotFound } from '@gyropilot/client'
import {
  beside,
  callOutside,
  currentTimeMs,
  discoverLive,
  discoverRemembered,
  getLive,
  getLivePath,
  getLiveSubresource,
  listLive,
  resourceOfKind,
  wait,
  write,
  writeAll,
  writeAside,
} from './effects.ts'
import { apply, create, patch, remove, update, updateStatus } from './writes.ts'
import type { Effect, Outcome, Reconcile, Write } from './effects.ts'
import { InterruptedByShutdown, interpret } from './effects-interpreter.ts'
import type { World } from './effects-interpreter.ts'
import { createExpectations } from './expectations.ts'
import { SharedReads } from './shared-reads.ts'
import { FakeServer, keysOf, statusError, testClock } from './testing/index.ts'

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
})
const pods = (count: number): Pod[] => Array.from({ length: count }, (_, i) => pod(`p${i}`))

function world(extra: Partial<World> = {}) {
  const server = new FakeServer()
  const clock = testClock()
  const expectations = createExpectations(clock)
  const stop = new AbortController()
  const of: World = {
    client: server,
    clock,
    recordEvent() {},
    signal: stop.signal,
    expectations,
    ...extra,
  }
  return { of, server, clock, expectations, stop }
}

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
      { verb: 'create', path: `${path}/b`, options: { decode: 'metadata', due: true } },
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
  server.put(resources.pods, pod('a'))
  server.put(resources.pods, pod('b'))
  const listed = await interpret(listLive(resources.pods, 'default', { labelSelector: 'x=y' }), of)
  assert.ok(listed.ok)
  assert.deepEqual(keysOf(listed.object.items), ['default/a', 'default/b'])
  assert.deepEqual(server.requests[0]!.options, { labelSelector: 'x=y', fieldSelector: undefined })
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

test('given count 10 and at most 5 calls allowed, when slow-starting, then 7 calls are made and 5 succeed', async () => {
  const { of, server } = world()
  let calls = 0
  server.onRequest = () => {
    if (++calls > 5) throw statusError(403, 'Forbidden')
  }
  const outcomes = await interpret(
    writeAll(
      pods(10).map((object) => create(resources.pods, object)),
      'slow-start',
    ),
    of,
  )
  assert.equal(calls, 7)
  assert.equal(outcomes.length, 10)
  assert.equal(outcomes.filter(({ ok }) => ok).length, 5)
  assert.deepEqual(
    outcomes.slice(7).map((outcome) => !outcome.ok && outcome.attempted),
    [false, false, false],
  )
})

test('parallel writes are all started, whatever becomes of them', async () => {
  const { of, server } = world()
  server.onRequest = () => {
    throw statusError(500, 'InternalError')
  }
  const outcomes = await interpret(
    writeAll(
      pods(4).map((object) => create(resources.pods, object)),
      'parallel',
    ),
    of,
  )
  assert.equal(server.requests.length, 4)
  assert.ok(outcomes.every((outcome) => !outcome.ok && outcome.attempted))
})

test('expectations are set before the writes, and lowered for those that failed or were not attempted', async () => {
  const { of, server, expectations } = world()
  let during: boolean | undefined
  server.onRequest = ({ body }) => {
    during = expectations.satisfied('default/a')
    if ((body as Pod).metadata!.name === 'p1') throw statusError(500, 'InternalError')
  }
  const writes = pods(5).map((object) => create(resources.pods, object))
  await interpret(writeAll(writes, 'slow-start', { kind: 'creations', key: 'default/a' }), of)
  assert.equal(during, false)
  assert.deepEqual(keysOf(server.list(resources.pods)), ['default/p0', 'default/p2'])
  expectations.creationObserved('default/a')
  assert.equal(expectations.satisfied('default/a'), false)
  expectations.creationObserved('default/a')
  assert.equal(expectations.satisfied('default/a'), true)
})

test('an error that the rules accept neither lowers expectations nor ends a slow start', async () => {
  const { of, server, expectations } = world()
  server.onRequest = () => {
    throw statusError(403, 'Forbidden', 'terminating')
  }
  const writes = pods(3).map((object) => create(resources.pods, object))
  await interpret(
    writeAll(writes, 'slow-start', { kind: 'creations', key: 'k', keepOnError: () => true }),
    of,
  )
  assert.equal(server.requests.length, 3)
  for (let i = 0; i < 3; i++) {
    assert.equal(expectations.satisfied('k'), false)
    expectations.creationObserved('k')
  }
  assert.equal(expectations.satisfied('k'), true)
})

test('a deletion that failed is no longer expected', async () => {
  const { of, server, expectations } = world()
  server.put(resources.pods, pod('p0'))
  const writes = pods(2).map((object) => remove(resources.pods, object))
  await interpret(
    writeAll(writes, 'parallel', {
      kind: 'deletions',
      key: 'k',
      dependents: ['default/p0', 'default/p1'],
    }),
    of,
  )
  assert.equal(expectations.satisfied('k'), false)
  expectations.deletionObserved('k', 'default/p0')
  assert.equal(expectations.satisfied('k'), true)
})

test('when stopping, a slow start finishes its batch and starts no other', async () => {
  const { of, server, stop } = world()
  server.onRequest = () => {
    if (server.requests.length === 3) stop.abort()
  }
  const outcomes = await interpret(
    writeAll(
      pods(10).map((object) => create(resources.pods, object)),
      'slow-start',
    ),
    of,
  )
  assert.equal(server.requests.length, 3)
  assert.ok(outcomes.slice(3).every((outcome) => !outcome.ok && !outcome.attempted))
})

test('rules that want to write while stopping are ended there, their finally blocks run', async () => {
  const { of, server, stop } = world()
  stop.abort()
  let cleanedUp = false
  const rules = (function* (): Reconcile {
    try {
      yield* write(create(resources.pods, pod('a')))
    } finally {
      cleanedUp = true
    }
  })()
  await assert.rejects(interpret(rules, of), InterruptedByShutdown)
  assert.equal(server.requests.length, 0)
  assert.equal(cleanedUp, true)
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

test('what was written and what came of each effect is reported', async () => {
  const written: [Write, KubernetesObject][] = []
  const effects: [Effect, unknown][] = []
  const { of, server } = world({
    onWritten: (write, object) => written.push([write, object]),
    onEffect: (effect, outcome) => effects.push([effect, outcome]),
  })
  server.onRequest = ({ body }) => {
    if ((body as Pod).metadata!.name === 'p1') throw statusError(500, 'InternalError')
  }
  await interpret(
    writeAll(
      pods(2).map((object) => create(resources.pods, object)),
      'parallel',
    ),
    of,
  )
  assert.deepEqual(
    written.map(([, object]) => object.metadata?.name),
    ['p0'],
  )
  assert.deepEqual(
    (effects[0]![1] as Outcome[]).map(({ ok }) => ok),
    [true, false],
  )
})

test('the time and rules beside each other are no effects to be told of, what those do is', async () => {
  const told: string[] = []
  const { of } = world({ onEffect: ({ effect }) => told.push(effect) })
  await interpret(
    (function* (): Reconcile {
      yield* currentTimeMs()
      yield* beside([write(create(resources.pods, pod('a')))], 1)
    })(),
    of,
  )
  assert.deepEqual(told, ['write'])
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

test('after a write aside rules go on with its outcome when the others have begun', async () => {
  const others = Promise.withResolvers<void>()
  let answer: unknown
  const { of, clock } = world({
    stepAside: async (written) => {
      answer = await written
      return others.promise
    },
  })
  let goesOn = false
  const rules = writeAside(create(resources.pods, pod('a')))
  const running = interpret(rules, of).finally(() => (goesOn = true))
  await clock.advance(0)
  assert.equal(goesOn, false)
  others.resolve()
  const outcome = await running
  assert.ok(outcome.ok && answer === outcome)
})

test('where nobody can step aside, a write aside is a write', async () => {
  const { of, server } = world()
  const outcome = await interpret(writeAside(create(resources.pods, pod('a'))), of)
  assert.ok(outcome.ok)
  assert.equal(server.requests.length, 1)
})

test('a subresource that names no object is created of its own', async () => {
  const { of, server } = world()
  const object = pod('a')
  const { namespace } = object.metadata!
  await interpret(
    write({ verb: 'create', type: resources.pods, namespace, object, subresource: 'eviction' }),
    of,
  )
  assert.equal(server.requests[0]!.path, '/api/v1/namespaces/default/pods/a')
})

test('a collection is deleted with its options, in portions where they are asked for', async () => {
  const { of, server } = world()
  const all = { verb: 'deleteCollection', type: resources.pods, namespace: 'default' } as const
  const options = { propagationPolicy: 'Foreground' } as const
  await interpret(write({ ...all, options, limit: 100, continue: 'next' }), of)
  const { mentioning: _, ...asked } = server.requests[0]!.options
  assert.deepEqual(asked, { ...options, limit: 100, continue: 'next', metadataOnly: true })
})

test('live reads ask for what the rules want of them', async () => {
  const { of, server } = world()
  server.put(resources.pods, pod('a'))
  await interpret(getLive(resources.pods, 'default', 'a'), of)
  const selected = { fieldSelector: 'metadata.name=a', metadataOnly: true }
  await interpret(listLive(resources.pods, 'default', selected), of)
  const portion = { limit: 2, continue: 'next' }
  await interpret(listLive(resources.pods, 'default', portion), of)
  const [got, listed, part] = server.requests
  assert.equal(got!.decode, 'lean')
  assert.deepEqual(listed!.options, { ...selected, labelSelector: undefined })
  assert.deepEqual([part!.options.limit, part!.options.continue], [2, 'next'])
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

test('without a mapper the server is asked what it has', async () => {
  const { of, server } = world()
  server.onRequest = () => ({ kind: 'APIGroupDiscoveryList', items: [] })
  const found = await interpret(discoverLive(), of)
  assert.deepEqual([found.ok, server.requests.map(({ path }) => path)], [true, ['/api', '/apis']])
})

test('when stopping, what a slow start never reached is not expected, whatever errors the rules accept', async () => {
  const { of, server, stop, expectations } = world()
  server.onRequest = () => stop.abort()
  const writes = pods(3).map((object) => create(resources.pods, object))
  const expected = { kind: 'creations', key: 'k', keepOnError: () => true } as const
  await interpret(writeAll(writes, 'slow-start', expected), of)
  assert.equal(server.requests.length, 1)
  assert.equal(expectations.satisfied('k'), false)
  expectations.creationObserved('k')
  assert.equal(expectations.satisfied('k'), true)
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

test('rules beside each other: so many at a time, and what they come to in their order', async () => {
  const { of } = world()
  let running = 0
  let most = 0
  const letGo: (() => void)[] = []
  const outside = (): Promise<void> => {
    running += 1
    most = Math.max(most, running)
    return new Promise((resolve) => {
      letGo.push(() => {
        running -= 1
        resolve()
      })
    })
  }
  const rule = function* (index: number): Reconcile<string> {
    yield* callOutside('something')
    return `rule ${index}`
  }
  const ending = interpret(beside([0, 1, 2, 3, 4].map(rule), 2), { ...of, outside })
  // The last that began ends first.
  for (let ended = 0; ended < 5; ended += 1) {
    letGo.pop()!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(await ending, ['rule 0', 'rule 1', 'rule 2', 'rule 3', 'rule 4'])
  assert.equal(most, 2)
})

test('when one of them throws, what has begun is waited for and nothing else begins', async () => {
  const { of, server } = world()
  const begun: string[] = []
  const rule = function* (name: string): Reconcile<void> {
    begun.push(name)
    yield* write(create(resources.pods, pod(name)))
    if (name === 'a') throw new Error('a defect')
    yield* write(create(resources.pods, pod(`${name}-again`)))
  }
  await assert.rejects(interpret(beside(['a', 'b', 'c', 'd'].map(rule), 2), of), /a defect/)
  assert.deepEqual(begun, ['a', 'b'])
  assert.deepEqual(keysOf(server.list(resources.pods)), [
    'default/a',
    'default/b',
    'default/b-again',
  ])
})

test('beside nobody nothing comes of it', async () => {
  assert.deepEqual(await interpret(beside([], 2), world().of), [])
})

test('rules beside each other end with the process', async () => {
  const { of, stop } = world()
  stop.abort()
  const rule = () => write(create(resources.pods, pod('a')))
  await assert.rejects(interpret(beside([rule(), rule()], 2), of), InterruptedByShutdown)
})
