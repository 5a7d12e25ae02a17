import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { statusError } from '../testing/index.ts'
import { buildController } from './controller-builder.ts'
import { configMap, managing, recording, website, websites } from './fixtures.ts'
import { TerminalError } from './reconciler.ts'
import type { ReconcileContext, Reconciler } from './reconciler.ts'
import type { ControllerOptions } from './controller-options.ts'
import { requestFor } from './request.ts'
import type { WatchHandler } from './event-handlers.ts'

/** A controller of websites whose reconciler is told what to answer, with website a in place. */
async function reconciling(
  answer: (key: string, context: ReconcileContext) => ReturnType<Reconciler>,
  options: ControllerOptions = {},
) {
  const world = managing()
  const { reconcile, keys, taken } = recording(answer)
  buildController(world.manager).for(websites).withOptions(options).complete(reconcile)
  world.server.put(websites, website('a'))
  await world.start()
  const metric = (name: string, labels: Record<string, string> = {}): number | undefined =>
    world.metrics.value(`controller_runtime_${name}`, { controller: 'website', ...labels })
  const retries = (): number | undefined =>
    world.metrics.value('workqueue_retries_total', { name: 'website', controller: 'website' })
  return { ...world, keys, taken, metric, retries }
}

test('Given an error, then a rate-limited requeue; next success clears it', async () => {
  const outcomes = [new Error('1'), new Error('2'), undefined, new Error('3'), undefined]
  const { keys, clock, server, metric, stop } = await reconciling(async () => {
    const outcome = outcomes.shift()
    if (outcome !== undefined) throw outcome
  })
  assert.equal(keys.length, 1)
  await clock.advance(5)
  assert.equal(keys.length, 2)
  await clock.advance(9)
  assert.equal(keys.length, 2)
  await clock.advance(1)
  assert.equal(keys.length, 3)
  assert.equal(metric('reconcile_total', { result: 'error' }), 2)
  assert.equal(metric('reconcile_errors_total'), 2)
  assert.equal(metric('reconcile_total', { result: 'success' }), 1)
  server.put(websites, website('a'))
  await clock.advance(0)
  assert.equal(keys.length, 4)
  await clock.advance(5)
  assert.equal(keys.length, 5, 'the back-off has started over')
  await stop()
})

test('Given a terminal error, then no requeue', async () => {
  const { keys, clock, metric, logger, stop } = await reconciling(() => {
    throw new Error('spec.html cannot be used', { cause: new TerminalError(new Error('bad')) })
  })
  await clock.advance(3_600_000)
  assert.equal(keys.length, 1)
  assert.equal(metric('reconcile_total', { result: 'error' }), 1)
  assert.equal(metric('terminal_reconcile_errors_total'), 1)
  assert.equal(logger.lines.filter(({ message }) => message === 'Reconciler error').length, 1)
  assert.equal(new TerminalError(new Error('bad')).message, 'terminal error: bad')
  await stop()
})

test('a terminal error leaves the back-off as it is', async () => {
  const outcomes = [new Error('1'), new Error('2'), new TerminalError('no'), new Error('3')]
  const { keys, clock, server, stop } = await reconciling(() => {
    const outcome = outcomes.shift()
    if (outcome !== undefined) throw outcome
  })
  await clock.advance(15)
  assert.equal(keys.length, 3)
  server.put(websites, website('a'))
  await clock.advance(19)
  assert.equal(keys.length, 4)
  await clock.advance(1)
  assert.equal(keys.length, 5, 'the third failure waits 20 ms')
  await stop()
})

test('Given RequeueAfter, then Forget and delayed add', async () => {
  let fails = true
  const { keys, clock, metric, stop } = await reconciling(() => {
    if (fails) {
      fails = false
      throw new Error('once')
    }
    return { requeueAfterMs: 60_000, requeue: true }
  })
  await clock.advance(5)
  assert.equal(keys.length, 2)
  assert.equal(metric('reconcile_total', { result: 'requeue_after' }), 1)
  await clock.advance(59_999)
  assert.equal(keys.length, 2)
  fails = true
  await clock.advance(1)
  assert.equal(keys.length, 3)
  await clock.advance(5)
  assert.equal(keys.length, 4, 'the back-off has started over')
  await stop()
})

test('a wait that is not a number is an error: the key would wait for ever', async () => {
  const { keys, clock, metric, logger, stop } = await reconciling(() => ({
    requeueAfterMs: Date.parse(''),
  }))
  await clock.advance(15)
  assert.equal(keys.length, 3)
  assert.equal(metric('reconcile_total', { result: 'error' }), 3)
  assert.match(String(logger.lines.at(-1)?.error), /not a number/)
  await stop()
})

test('Given error and RequeueAfter, then the error path', async () => {
  const { keys, clock, metric, logger, stop } = await reconciling(() => ({
    error: new Error('broken'),
    requeueAfterMs: 3_600_000,
  }))
  await clock.advance(15)
  assert.equal(keys.length, 3)
  assert.equal(metric('reconcile_total', { result: 'requeue_after' }), 0)
  assert.ok(
    logger.lines.some(({ message }) =>
      message.startsWith('Warning: Reconciler returned both a result'),
    ),
  )
  await stop()
})

test('Requeue true goes back with back-off', async () => {
  const { keys, clock, metric, stop } = await reconciling(() => ({ requeue: true }))
  await clock.advance(15)
  assert.equal(keys.length, 3)
  assert.equal(metric('reconcile_total', { result: 'requeue' }), 3)
  await stop()
})

test('Given a panic, then it is recovered and retried', async () => {
  const panics: readonly (() => unknown)[] = [
    () => (undefined as unknown as { spec: object }).spec,
    () => {
      throw 'a string'
    },
  ]
  for (const panic of panics) {
    const { keys, clock, metric, logger, stop } = await reconciling(async () => void panic())
    await clock.advance(5)
    assert.equal(keys.length, 2)
    assert.equal(metric('reconcile_panics_total'), 2)
    assert.equal(metric('reconcile_errors_total'), 2)
    const reported = logger.lines.find(({ message }) => message === 'Reconciler error')
    assert.match(String(reported?.error), /^PanicError: panic: .+ \[recovered\]$/)
    await stop()
  }
})

test('an error with a cause, or of a class of its own, is no panic', async () => {
  const failed = new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
  for (const error of [failed, statusError(409, 'Conflict')]) {
    const { metric, stop } = await reconciling(() => Promise.reject(error))
    assert.equal(metric('reconcile_panics_total'), 0)
    assert.equal(metric('reconcile_errors_total'), 1)
    await stop()
  }
})

test('without RecoverPanic a panic ends the manager with it', async () => {
  const panic = new RangeError('out of range')
  const { ended, clock } = await reconciling(() => Promise.reject(panic), { recoverPanic: false })
  await clock.advance(0)
  await assert.rejects(async () => ended(), panic)
})

test('Given slow handlers at start, then no reconcile before all have seen the initial objects', async () => {
  const { manager, server, clock, start, stop } = managing()
  const { reconcile, keys } = recording()
  const slow: WatchHandler = {
    async create({ object }, queue) {
      await sleep(clock, 10_000)
      queue.add(requestFor(object))
    },
  }
  buildController(manager).for(websites).watches(resources.configmaps, slow).complete(reconcile)
  server.put(websites, website('a'))
  server.put(resources.configmaps, configMap('b'))
  server.put(resources.configmaps, configMap('c'))
  await start()
  await clock.advance(19_999)
  assert.deepEqual(keys, [])
  await clock.advance(1)
  assert.deepEqual(keys.sort(), ['default/a', 'default/b', 'default/c'])
  await stop()
})

test('Given a cache that does not sync, then start fails after the timeout', async () => {
  for (const [cacheSyncTimeoutMs, expectedMs] of [
    [undefined, 120_000],
    [5_000, 5_000],
  ] as const) {
    const world = managing()
    world.server.onRequest = () => {
      throw statusError(404, 'NotFound', 'the server could not find the requested resource')
    }
    const { reconcile, keys } = recording()
    buildController(world.manager)
      .for(websites)
      .withOptions({ cacheSyncTimeoutMs })
      .complete(reconcile)
    await world.start()
    let failed: unknown
    world.ended()?.catch((error: unknown) => (failed = error))
    await world.clock.advance(expectedMs - 1)
    assert.equal(failed, undefined)
    await world.clock.advance(1)
    assert.equal(
      (failed as Error | undefined)?.message,
      'failed to wait for website caches to sync kind source: Website: timed out waiting for cache to be synced',
    )
    assert.deepEqual(keys, [])
  }
})

test('a key is never at two workers; different keys run at once up to MaxConcurrentReconciles, one by default', async () => {
  for (const [maxConcurrentReconciles, expected] of [
    [undefined, 1],
    [3, 3],
  ] as const) {
    const running = new Set<string>()
    let most = 0
    const world = managing()
    buildController(world.manager)
      .for(websites)
      .withOptions({ maxConcurrentReconciles })
      .complete(async ({ name }) => {
        assert.ok(!running.has(name))
        running.add(name)
        most = Math.max(most, running.size)
        await sleep(world.clock, 100)
        running.delete(name)
      })
    for (let i = 0; i < 6; i++) world.server.put(websites, website(`w${i}`))
    await world.start()
    const labels = { controller: 'website' }
    const active = 'controller_runtime_active_workers'
    assert.equal(world.metrics.value(active, labels), expected)
    world.server.put(websites, website('w0'))
    await world.clock.advance(5_000)
    assert.equal(most, expected)
    assert.equal(world.metrics.value(active, labels), 0)
    assert.equal(
      world.metrics.value('controller_runtime_max_concurrent_reconciles', labels),
      expected,
    )
    const times = world.metrics.observed('controller_runtime_reconcile_time_seconds', labels)
    assert.equal(times.length, 7)
    assert.equal(times[0], 0.1)
    await world.stop()
  }
})

test('initial objects and resyncs go behind what changes now; a requeue keeps the priority or takes that of the result', async () => {
  const world = managing()
  let release = (): void => {}
  const order: string[] = []
  buildController(world.manager)
    .for(websites)
    .complete(async ({ name }) => {
      order.push(name)
      if (order.length === 1 || order.length === 6)
        await new Promise<void>((resolve) => (release = resolve))
      if (name === 'w2' && order.length < 8) return { requeueAfterMs: 1, priority: 5 }
      if (name === 'w1' && order.length < 6) return { requeueAfterMs: 1 }
      return undefined
    })
  for (let i = 0; i < 4; i++) world.server.put(websites, website(`w${i}`))
  await world.start()
  const depth = (priority: string) =>
    world.metrics.value('workqueue_depth', { name: 'website', controller: 'website', priority })
  assert.equal(depth('-100'), 3)
  world.server.put(websites, website('w3'))
  world.server.put(websites, website('new'))
  await world.clock.advance(0)
  assert.equal(depth('-100'), 2)
  assert.equal(depth('0'), 2)
  release()
  await world.clock.advance(0)
  assert.deepEqual(order, ['w0', 'w3', 'new', 'w1', 'w2'])
  assert.equal(depth('5'), undefined)
  await world.clock.advance(1)
  assert.equal(depth('5'), 0, 'it was queued with the priority of the result')
  world.server.put(websites, website('late'))
  await world.clock.advance(0)
  release()
  await world.clock.advance(0)
  assert.deepEqual(order.slice(5), ['w2', 'late', 'w1'], 'w1 with its own of -100')
  await world.stop()
})

test('with the plain queue the order is that of arrival, and the bucket of 10 a second applies', async () => {
  const { manager, server, clock, metrics, start, stop } = managing()
  const { reconcile, keys } = recording(() => ({ requeue: true }))
  buildController(manager)
    .for(websites)
    .withOptions({ usePriorityQueue: false, maxConcurrentReconciles: 5 })
    .complete(reconcile)
  for (let i = 0; i < 120; i++) server.put(websites, website(`w${i}`))
  await start()
  await clock.advance(6)
  assert.equal(keys.length, 120 + 100, 'the burst is spent')
  const labels = { name: 'website', controller: 'website', priority: '' }
  assert.equal(metrics.value('workqueue_depth', labels), 0)
  await stop()
})

test('ReconciliationTimeout aborts the signal and the requests of the reconcile, and is counted', async () => {
  const { keys, clock, metric, stop } = await reconciling(
    async (_, { signal, clock }) => sleep(clock, 60_000, signal),
    { reconciliationTimeoutMs: 10_000 },
  )
  await clock.advance(9_999)
  assert.equal(metric('reconcile_timeouts_total'), 0)
  await clock.advance(1)
  assert.equal(metric('reconcile_timeouts_total'), 1)
  assert.equal(metric('reconcile_errors_total'), 1)
  await clock.advance(5)
  assert.equal(keys.length, 2, 'retried')
  await stop()
})

test('logs carry controller, group, kind, namespace, name and an id that is unique per call', async () => {
  const { logger, server, clock, stop } = await reconciling((_, context) => {
    context.logger.info('looking')
  })
  server.put(websites, website('a'))
  await clock.advance(0)
  const fields = logger.lines
    .filter(({ message }) => message === 'looking')
    .map(({ fields }) => fields)
  assert.equal(fields.length, 2)
  const { reconcileID, ...rest } = fields[0]!
  assert.deepEqual(rest, {
    controller: 'website',
    controllerGroup: 'example.com',
    controllerKind: 'Website',
    namespace: 'default',
    name: 'a',
  })
  assert.match(String(reconcileID), /^[0-9a-f-]{36}$/)
  assert.notEqual(reconcileID, fields[1]!['reconcileID'])
  await stop()
})

test('every series exists with 0 before anything ran', async () => {
  const { manager, metrics } = managing()
  buildController(manager)
    .for(websites)
    .complete(() => {})
  const controller = 'website'
  for (const result of ['error', 'requeue_after', 'requeue', 'success'])
    assert.equal(metrics.value('controller_runtime_reconcile_total', { controller, result }), 0)
  for (const name of [
    'reconcile_errors_total',
    'terminal_reconcile_errors_total',
    'reconcile_panics_total',
    'reconcile_timeouts_total',
    'active_workers',
  ])
    assert.equal(metrics.value(`controller_runtime_${name}`, { controller }), 0, name)
})

test('a reconcile that the stop interrupts is no error', async () => {
  const { ended, abort, clock, metric } = await reconciling(async (_, { signal, clock }) =>
    sleep(clock, 60_000, signal),
  )
  abort()
  await clock.advance(0)
  await ended()
  assert.equal(metric('reconcile_errors_total'), 0)
})
