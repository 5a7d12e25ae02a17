import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { write, writeAll } from './effects.ts'
import { create, remove } from './writes.ts'
import type { Effect, Outcome, Reconcile, Write } from './effects.ts'
import { InterruptedByShutdown, interpret } from './effects-interpreter.ts'
import { keysOf, statusError } from './testing/index.ts'
import { pod, pods, world } from './fixtures.ts'

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

test('an error that the rules accept ends a slow start as any does, and what was refused so is still expected', async () => {
  const { of, server, expectations } = world()
  server.onRequest = () => {
    throw statusError(403, 'Forbidden', 'terminating')
  }
  const writes = pods(3).map((object) => create(resources.pods, object))
  await interpret(
    writeAll(writes, 'slow-start', { kind: 'creations', key: 'k', keepOnError: () => true }),
    of,
  )
  assert.equal(server.requests.length, 1)
  assert.equal(expectations.satisfied('k'), false)
  expectations.creationObserved('k')
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
