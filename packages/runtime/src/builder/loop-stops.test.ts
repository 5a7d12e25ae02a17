/** How a loop begins and ends, and what it counts: the loop by itself. */
import assert from 'node:assert/strict'
import { AssertionError } from 'node:assert'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { PrometheusRegistry, sleep } from '@gyropilot/foundation'
import { buildController } from './controller-builder.ts'
import { managing, websites } from './fixtures.ts'
import { ReconcileLoop } from './reconcile-loop.ts'
import type { ControllerOptions } from './controller-options.ts'
import { reconcileMetrics } from './reconcile-metrics.ts'
import { PanicError, TerminalError, isPanic, isTerminal } from './reconciler.ts'
import type { Reconciler } from './reconciler.ts'
import type { KeyQueue } from './request-queue.ts'
import type { Source } from './sources.ts'

/** A loop whose one source adds these keys at its start. */
function looping(
  reconciler: Reconciler,
  options: ControllerOptions = {},
  { keys = ['default/a'], source }: { keys?: readonly string[]; source?: Partial<Source> } = {},
) {
  const { manager, clock, logger, metrics } = managing()
  const started: KeyQueue[] = []
  const own: Source = {
    description: 'test',
    start(queue) {
      started.push(queue)
      queue.addWithOptions({}, ...keys)
    },
    ...source,
  }
  const loop = new ReconcileLoop({ name: 'loop', sources: [own], reconciler, options }, manager)
  const stop = new AbortController()
  const failed = (kind: string): number | undefined =>
    metrics.value(`controller_runtime_${kind}_total`, { controller: 'loop' })
  return { loop, clock, logger, metrics, started, stop, failed }
}

test('a loop runs on the leader unless it says otherwise, and warms up where it is asked to', async () => {
  const cold = looping(() => {})
  assert.equal(cold.loop.needLeaderElection, true)
  await cold.loop.warmup(cold.stop.signal)
  assert.equal(cold.started.length, 0)
  const warm = looping(() => {}, { enableWarmup: true })
  await warm.loop.warmup(warm.stop.signal)
  assert.equal(warm.started.length, 1)
})

test('a name with slashes is reconciled as any other', async () => {
  const requests: object[] = []
  const keys = ['/bucket/a/b', 'default/bucket/a']
  const { loop, clock, logger, stop } = looping(
    (request) => void requests.push(request),
    {},
    { keys },
  )
  const ended = loop.start(stop.signal)
  await clock.advance(0)
  assert.deepEqual(requests, [
    { namespace: '', name: 'bucket/a/b' },
    { namespace: 'default', name: 'bucket/a' },
  ])
  assert.ok(!logger.messages().includes('A worker failed'))
  stop.abort()
  await ended
})

test('a loop that was stopped before it started starts no worker, and one that was stopped ends well', async () => {
  const early = looping(() => assert.fail('reconciled'))
  early.stop.abort()
  await early.loop.start(early.stop.signal)
  assert.ok(!early.logger.messages().includes('Starting workers'))
  const late = looping(() => {})
  const running = late.loop.start(late.stop.signal)
  await late.clock.advance(0)
  late.stop.abort()
  assert.equal(await running, undefined)
})

test('what is queued when the stop comes is not begun', async () => {
  for (const usePriorityQueue of [true, false]) {
    const begun: string[] = []
    const { loop, clock, stop } = looping(
      async ({ name }, { signal }) => {
        begun.push(name)
        await sleep(clock, 60_000, signal)
      },
      { usePriorityQueue },
      { keys: ['default/a', 'default/b'] },
    )
    const running = loop.start(stop.signal)
    await clock.advance(0)
    stop.abort()
    await running
    assert.deepEqual(begun, ['a'])
  }
})

test('where caches do not fill the queue is shut down, and nothing is left to listen', async () => {
  const asked: AbortSignal[] = []
  const { loop, clock, started, stop } = looping(
    () => {},
    {},
    {
      keys: [],
      source: {
        async whenSynced(signal) {
          asked.push(signal)
          return false
        },
      },
    },
  )
  await assert.rejects(loop.start(stop.signal), { code: 'CACHE_SYNC_FAILED' })
  await clock.advance(0)
  assert.equal(await started[0]!.get(), undefined)
  assert.equal(getEventListeners(asked[0]!, 'abort').length, 0)
})

test('a limit of 0 is one that was not set: one worker, 2 min for the caches, any time for a reconcile', async () => {
  for (const maxConcurrentReconciles of [0, -1]) {
    const limits = { maxConcurrentReconciles, reconciliationTimeoutMs: 0, cacheSyncTimeoutMs: 0 }
    const running: string[] = []
    let aborted = false
    const reconciler: Reconciler = async ({ name }, { signal }) => {
      running.push(name)
      await sleep(clock, 3_600_000, signal).catch(() => (aborted = true))
    }
    const source = {
      whenSynced: (signal: AbortSignal) => sleep(clock, 60_000, signal).then(() => true),
    }
    const { loop, clock, stop } = looping(reconciler, limits, { source, keys: ['x/a', 'x/b'] })
    const ended = loop.start(stop.signal)
    await clock.advance(3_000_000)
    assert.deepEqual([running, aborted], [['a'], false])
    stop.abort()
    await clock.advance(0)
    await ended
  }
})

test('a limit that is no number, and a part of a worker, are refused', () => {
  for (const limits of [
    { maxConcurrentReconciles: Number.NaN },
    { maxConcurrentReconciles: 1.5 },
    { maxConcurrentReconciles: Infinity },
    { cacheSyncTimeoutMs: Number.NaN },
    { reconciliationTimeoutMs: Number.NaN },
  ]) {
    const [name, value] = Object.entries(limits)[0]!
    assert.throws(() => looping(() => {}, limits), {
      code: 'CONTROLLER_INVALID',
      message: new RegExp(`^${name} must be a (whole )?number, not ${value}$`),
    })
  }
})

const TIMEOUT = { reconciliationTimeoutMs: 1_000 }

test('a timeout is counted where the reconcile failed after it, and only there', async () => {
  const counted = async (reconciler: Reconciler, options: ControllerOptions = {}) => {
    const { loop, clock, stop, failed } = looping(reconciler, options)
    const running = loop.start(stop.signal)
    await clock.advance(1_000)
    stop.abort()
    await clock.advance(0)
    await running
    return failed('reconcile_timeouts')
  }
  const waits: Reconciler = (_, { clock, signal }) => sleep(clock, 1_500, signal)
  const answers: Reconciler = async (_, { clock, signal }) => {
    const error = await sleep(clock, 1_500, signal).catch((reason: unknown) => reason)
    return { error }
  }
  const isWell: Reconciler = async (_, { clock, signal }) => {
    await sleep(clock, 1_500, signal).catch(() => {})
    return {}
  }
  assert.equal(await counted(waits, TIMEOUT), 1)
  assert.equal(await counted(answers, TIMEOUT), 1)
  assert.equal(await counted(isWell, TIMEOUT), 0)
  assert.equal(await counted(() => ({ error: new Error('no') }), TIMEOUT), 0)
  assert.equal(await counted(() => Promise.reject(new Error('no')), TIMEOUT), 0)
  assert.equal(await counted(waits), 0, 'the stop is no timeout')
  assert.equal(await counted(answers), 0, 'the stop is no timeout')
})

test('an error alone is told without a warning, and a reconcile is timed', async () => {
  const { loop, clock, stop, logger, metrics } = looping(async (_, context) => {
    await sleep(context.clock, 2_000)
    return { error: new Error('no') }
  })
  await clock.advance(30_000)
  const running = loop.start(stop.signal)
  await clock.advance(2_000)
  stop.abort()
  await clock.advance(2_000)
  await running
  assert.ok(!logger.messages().some((message) => message.startsWith('Warning')))
  const labels = { controller: 'loop' }
  const [first] = metrics.observed('controller_runtime_reconcile_time_seconds', labels)
  assert.equal(first, 2)
})

test('times are counted in the buckets of controller-runtime', () => {
  const asked: (readonly number[] | undefined)[] = []
  const registry = new PrometheusRegistry()
  const histogram = registry.histogram.bind(registry)
  registry.histogram = (options) => {
    if (options.name === 'controller_runtime_reconcile_time_seconds') asked.push(options.buckets)
    return histogram(options)
  }
  reconcileMetrics(registry, 'loop', 1)
  const toOne = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]
  const toTen = [0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10]
  assert.deepEqual(asked, [[...toOne, ...toTen, 15, 20, 25, 30, 40, 50, 60]])
})

test('errors keep what they are about, and causes that lead back to themselves are followed once', () => {
  const cause = new Error('bad')
  assert.equal(new TerminalError(cause).cause, cause)
  assert.equal(new PanicError(cause).cause, cause)
  const [one, other] = [new Error('one'), new Error('other')]
  one.cause = other
  other.cause = one
  assert.equal(isTerminal(one), false)
  assert.equal(isPanic(new AssertionError({ message: 'broken' })), true)
})

test("an error of Node's own functions reports on what it was given; mistakes in calling them are panics", () => {
  const thrownBy = (call: () => unknown): unknown => {
    try {
      return assert.fail(String(call()))
    } catch (error) {
      return error
    }
  }
  assert.equal(isPanic(thrownBy(() => new URL('no address'))), false)
  assert.equal(isPanic(thrownBy(() => Buffer.alloc(8).readInt8(9))), false)
  assert.equal(isPanic(thrownBy(() => Buffer.from(undefined as never))), true)
  assert.equal(isPanic(thrownBy(() => Array.from({ length: 1 }).with(1, 0))), true)
  assert.equal(isPanic(new AssertionError({ message: 'broken' })), true)
})

test('of several errors one that is terminal makes them all so, however deep', () => {
  const terminal = new TerminalError(new Error('bad'))
  const other = new Error('other')
  const joined = new AggregateError([other, terminal])
  assert.equal(isTerminal(joined), true)
  assert.equal(isTerminal(new Error('outer', { cause: new AggregateError([joined]) })), true)
  assert.equal(isTerminal(new AggregateError([new Error('x', { cause: terminal })])), true)
  const round = new AggregateError([other])
  round.errors.push(round, 'no error')
  assert.equal(isTerminal(round), false)
})

test('a controller of one watch and one source besides is complete, and caches whole objects', async () => {
  const { manager, server, start, stop } = managing()
  const source: Source = { description: 'test', start() {} }
  buildController(manager)
    .for(websites)
    .watchesRawSource(source)
    .complete(() => {})
  await start()
  const watches = server.requested('watch')
  assert.ok(watches.length > 0 && watches.every(({ options }) => options['metadataOnly'] !== true))
  await stop()
})
