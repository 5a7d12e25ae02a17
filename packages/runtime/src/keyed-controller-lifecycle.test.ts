import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf, resources } from '@gyropilot/api'
import { write } from './effects.ts'
import { create } from './writes.ts'
import { keysOf, testContext } from './testing/index.ts'
import { configMap, pod, controllerOf } from './fixtures.ts'

test('after the signal to stop no further write is started, the one under way is finished, and run resolves', async () => {
  let answer: (() => void) | undefined
  let finished = false
  const { context, stop, run } = controllerOf(function* () {
    yield* write(create(resources.pods, pod('first')))
    yield* write(create(resources.pods, pod('second')))
    finished = true
  })
  context.client.onRequest = () => new Promise((resolve) => (answer = () => resolve(undefined)))
  let stopped = false
  const running = run().then(() => (stopped = true))
  await context.clock.advance(0)
  stop.abort()
  await context.clock.advance(0)
  assert.equal(stopped, false)
  answer!()
  await running
  assert.deepEqual(keysOf(context.client.list(resources.pods)), ['default/first'])
  assert.equal(finished, false)
  assert.deepEqual(
    context.logger.lines.filter(({ severity }) => severity === 'error'),
    [],
  )
})

test('keys still queued at the end are not worked on', async () => {
  let runs = 0
  const { stop, run } = controllerOf(function* () {
    runs++
  })
  stop.abort()
  await run()
  assert.equal(runs, 0)
})

test('Given slow handlers at start, then no reconcile before all have seen the initial objects.', async () => {
  const { context, start, stop, traced } = controllerOf(function* () {}, {
    trace: true,
    alsoAwait: [
      {
        ...testContext({ configuration: undefined }).informers.informer(resources.pods),
        whenSynced: (signal: AbortSignal) =>
          new Promise<boolean>((resolve) => {
            context.clock.after(5_000, () => resolve(true))
            signal.addEventListener('abort', () => resolve(false))
          }),
      } as never,
    ],
  })
  start()
  await context.clock.advance(4_999)
  assert.equal(traced.length, 0)
  await context.clock.advance(1)
  assert.equal(traced.length, 2)
  stop.abort()
})

test('a cache that never fills does not keep the controller from stopping', async () => {
  const { stop, run } = controllerOf(function* () {}, {
    alsoAwait: [
      {
        whenSynced: (signal: AbortSignal) =>
          new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false))),
      } as never,
    ],
  })
  const running = run()
  stop.abort()
  await running
})

test('Given a cache that does not sync, then start fails after the timeout.', async () => {
  const { context, run, runnable } = controllerOf(function* () {}, {
    cacheSyncTimeoutMs: 120_000,
    alsoAwait: [
      {
        whenSynced: (signal: AbortSignal) =>
          new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false))),
      } as never,
    ],
  })
  let failure: unknown
  const running = run().catch((error: unknown) => (failure = error))
  await context.clock.advance(119_999)
  assert.equal(failure, undefined)
  await context.clock.advance(1)
  await running
  assert.match(String(failure), /timed out waiting for caches to sync/)
  runnable.enqueue('default/late')
  const depth = context.metrics.value('workqueue_depth', { name: 'test' })
  assert.equal(depth, 1, 'nothing more is taken: only what came before')
})

test('a cache that fills in time is worked from, and one that a stop overtakes is no failure', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(
    function* () {
      runs++
    },
    { cacheSyncTimeoutMs: 120_000 },
  )
  start()
  await context.clock.advance(0)
  assert.equal(runs, 1)
  stop.abort()
  const waiting = controllerOf(function* () {}, {
    cacheSyncTimeoutMs: 120_000,
    alsoAwait: [
      {
        whenSynced: (signal: AbortSignal) =>
          new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false))),
      } as never,
    ],
  })
  const running = waiting.run()
  waiting.stop.abort()
  await running
})

test('a watch is asked only about the events that it names, and not any more when the controller has stopped', async () => {
  const asked: string[] = []
  const { context, run, stop } = controllerOf(function* () {}, {
    watches: [{ type: resources.configmaps, onAdd: (object) => (asked.push(keyOf(object)), []) }],
  })
  const running = run()
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, configMap('a'))
  context.informers.apply(resources.configmaps, configMap('b'))
  stop.abort()
  await running
  context.informers.apply(resources.configmaps, configMap('c'))
  assert.deepEqual(asked, ['default/a', 'default/b'])
})
