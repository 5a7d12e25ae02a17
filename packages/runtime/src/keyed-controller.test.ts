import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, KubernetesObject, Pod } from '@gyropilot/api'
import { keyOf, resources } from '@gyropilot/api'
import type { KeyedController, Reason } from './controller.ts'
import { currentTimeMs, recordEvent, write, writeAside } from './effects.ts'
import { create } from './writes.ts'
import type { Reconcile } from './effects.ts'
import { EXPECTATIONS_TIMEOUT_MS, createExpectations } from './expectations.ts'
import { DeletedFinalStateUnknown } from './informer.ts'
import type { Informer } from './informer.ts'
import { runKeyedController } from './keyed-controller.ts'
import { keysOf, testContext } from './testing/index.ts'
import type { TestContext } from './testing/index.ts'

const configMap = (name: string, extra: Partial<ConfigMap> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name, uid: `uid-${name}` },
  ...extra,
})
const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
})

/** A controller of config maps whose rules are given. */
function controllerOf(
  rules: (object: ConfigMap) => Reconcile,
  options: {
    cached?: readonly ConfigMap[]
    trace?: boolean
    also?: (context: TestContext<undefined>) => Partial<KeyedController<ConfigMap>>
  } & Partial<KeyedController<ConfigMap>> = {},
) {
  const { cached = [configMap('a')], trace, also, ...logic } = options
  const traced: unknown[] = []
  const context = testContext({
    configuration: undefined,
    cached,
    trace: trace
      ? {
          started: (_, key, reasons) => traced.push({ key, reasons }),
          effect: (_, key, effect, outcome) => traced.push({ key, effect, outcome }),
          finished: (_, key, verdict) => traced.push({ key, verdict }),
        }
      : undefined,
  })
  const lister = context.informers.informer(resources.configmaps).lister
  const runnable = runKeyedController<ConfigMap>(
    {
      queueName: 'test',
      workers: 2,
      watches: [
        {
          type: resources.configmaps,
          onAdd: (object) => [keyOf(object)],
          onUpdate: (_, object) => [keyOf(object)],
          onDelete: (object) => [
            object instanceof DeletedFinalStateUnknown ? object.key : keyOf(object),
          ],
        },
      ],
      observe: (key) => lister.getByKey(key),
      reconcile: rules,
      ...logic,
      ...also?.(context),
    },
    context,
  )
  const stop = new AbortController()
  const start = async () => {
    const running = runnable.run(stop.signal)
    await context.clock.advance(0)
    return running
  }
  return {
    context,
    runnable,
    stop,
    start: () => void start(),
    run: () => runnable.run(stop.signal),
    traced,
  }
}

test('rules are run with what was observed, and their effects reach the world in order', async () => {
  const { context, start, stop } = controllerOf(function* (object) {
    const nowMs = yield* currentTimeMs()
    const created = yield* write(create(resources.pods, pod(`${object.metadata!.name}-${nowMs}`)))
    assert.ok(created.ok)
    yield* recordEvent(object, 'Normal', 'Created', `made ${created.object.metadata!.name}`)
  })
  start()
  await context.clock.advance(0)
  assert.deepEqual(keysOf(context.client.list(resources.pods)), ['default/a-1767225600000'])
  assert.deepEqual(
    context.events.map(({ component, reason, message }) => ({ component, reason, message })),
    [{ component: 'test-controller', reason: 'Created', message: 'made a-1767225600000' }],
  )
  stop.abort()
})

test('rules that step aside go on when every key that was ready has begun', async () => {
  const did: string[] = []
  const { context, start, stop } = controllerOf(
    function* (object) {
      const { name } = object.metadata!
      did.push(`${name} begins`)
      yield* writeAside(create(resources.pods, pod(`of-${name}`)))
      did.push(`${name} goes on`)
    },
    { cached: ['a', 'b', 'c', 'd'].map((name) => configMap(name)), workers: 2 },
  )
  start()
  await context.clock.advance(0)
  const each = (what: string) => ['a', 'b', 'c', 'd'].map((name) => `${name} ${what}`)
  assert.deepEqual(did.slice(0, 4), each('begins'))
  assert.deepEqual(did.slice(4).sort(), each('goes on'))
  stop.abort()
})

test('a key whose expectations are never met is looked at again when they expire', async () => {
  const met: boolean[] = []
  const { context, start, stop } = controllerOf(function* () {}, {
    also: ({ clock }) => {
      const expectations = createExpectations(clock)
      expectations.expectCreations('default/a', 1)
      return {
        expectations,
        *reconcile() {
          met.push(expectations.satisfied('default/a'))
        },
      }
    },
  })
  start()
  await context.clock.advance(EXPECTATIONS_TIMEOUT_MS)
  assert.deepEqual(met, [false])
  await context.clock.advance(1_000)
  assert.deepEqual(met, [false, true])
  await context.clock.advance(3_600_000)
  assert.equal(met.length, 2)
  stop.abort()
})

test('Given an error, then a rate-limited requeue; next success clears it.', async () => {
  const runsAtMs: number[] = []
  const { context, start, stop } = controllerOf(function* () {
    runsAtMs.push(yield* currentTimeMs())
    if (runsAtMs.length === 4) return {}
    return { error: new Error('no') }
  })
  start()
  const startMs = context.clock.nowMs()
  await context.clock.advance(1_000)
  assert.deepEqual(
    runsAtMs.map((ms) => ms - startMs),
    [0, 5, 15, 35],
  )
  context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(1_000)
  assert.equal(
    runsAtMs.length,
    5 + 7,
    'after the success the backoff starts at 5 ms again: 5, 10, ... 320 ms',
  )
  stop.abort()
})

test('an expected error is retried like any other, and told at verbosity 4 only', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(function* () {
    yield* currentTimeMs()
    runs++
    return { error: new Error('not yet'), expected: true }
  })
  start()
  await context.clock.advance(16)
  assert.equal(runs, 3)
  const lines = context.logger.lines.filter(({ fields }) => fields['reason'] === 'not yet')
  assert.equal(lines.length, 3)
  assert.ok(lines.every(({ severity, verbosity }) => severity === 'info' && verbosity === 4))
  assert.ok(!context.logger.lines.some(({ severity }) => severity === 'error'))
  stop.abort()
})

test('Given error and RequeueAfter, then the error path.', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(function* () {
    runs++
    return runs === 1 ? { error: new Error('no'), requeueAfterMs: 1 } : {}
  })
  start()
  await context.clock.advance(4)
  assert.equal(runs, 1)
  await context.clock.advance(1)
  assert.equal(runs, 2)
  stop.abort()
})

test('Given RequeueAfter, then Forget and delayed add.', async () => {
  const runsAtMs: number[] = []
  const { context, start, stop } = controllerOf(function* () {
    runsAtMs.push(yield* currentTimeMs())
    return { requeueAfterMs: 1_000 }
  })
  start()
  const startMs = context.clock.nowMs()
  await context.clock.advance(3_500)
  assert.deepEqual(
    runsAtMs.map((ms) => ms - startMs),
    [0, 1_000, 2_000, 3_000],
  )
  stop.abort()
})

test('a wait that is not a number is a defect of the rules: it is told, and tried again with back-off', async () => {
  const runsAtMs: number[] = []
  const { context, start, stop } = controllerOf(function* () {
    runsAtMs.push(yield* currentTimeMs())
    return { requeueAfterMs: NaN }
  })
  start()
  const startMs = context.clock.nowMs()
  await context.clock.advance(40)
  assert.deepEqual(
    runsAtMs.map((ms) => ms - startMs),
    [0, 5, 15, 35],
  )
  const told = context.logger.lines.filter(({ severity }) => severity === 'error')
  assert.equal(told.length, 4)
  stop.abort()
})

test('a key is dropped after its retries, with a line in the log, and a new event starts over', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(
    function* () {
      runs++
      return { error: new Error('never') }
    },
    { maxRetries: 3 },
  )
  start()
  await context.clock.advance(60_000)
  assert.equal(runs, 4, 'one run and three retries')
  assert.equal(context.logger.lines.filter((line) => line.message.startsWith('Dropping')).length, 1)
  context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(60_000)
  assert.equal(runs, 8)
  stop.abort()
})

test('a success forgets failures, unless its verdict keeps them', async () => {
  for (const [keepsFailures, delaysMs] of [
    [false, [5, 1_000, 5]],
    [true, [5, 1_000, 10]],
  ] as const) {
    const startsMs: number[] = []
    const { context, start, stop } = controllerOf(function* () {
      startsMs.push(context.clock.monotonicMs())
      if (startsMs.length === 2) return { requeueAfterMs: 1_000, keepsFailures }
      return startsMs.length < 4 ? { error: new Error('not yet') } : {}
    })
    start()
    await context.clock.advance(5_000)
    assert.deepEqual(
      startsMs.slice(1).map((ms, i) => ms - startsMs[i]!),
      delaysMs,
    )
    stop.abort()
  }
})

test('Given a panic, then it is recovered and retried.', async () => {
  const runs: string[] = []
  const { context, start, stop } = controllerOf(
    function* (object) {
      runs.push(object.metadata!.name!)
      if (runs.length === 1) throw new TypeError('a defect')
    },
    { cached: [configMap('a'), configMap('b')], workers: 1 },
  )
  start()
  await context.clock.advance(10)
  assert.deepEqual(runs, ['a', 'b', 'a'])
  const line = context.logger.lines.find(({ error }) => error instanceof TypeError)
  assert.equal(line?.fields.key, 'default/a')
  stop.abort()
})

test('a throwing observe is a defect like throwing rules', async () => {
  let observed = 0
  const { context, start, stop } = controllerOf(function* () {}, {
    observe() {
      if (observed++ === 0) throw new Error('a defect')
      return undefined
    },
  })
  start()
  await context.clock.advance(5)
  assert.equal(observed, 2)
  stop.abort()
})

test('one key is never worked on twice at a time, and a change meanwhile is one more run', async () => {
  let running = 0
  let most = 0
  let runs = 0
  const release: (() => void)[] = []
  const { context, start, stop } = controllerOf(
    function* () {
      most = Math.max(most, ++running)
      runs++
      yield* write(create(resources.pods, pod(`p${runs}`)))
      running--
    },
    { workers: 4 },
  )
  context.client.onRequest = () => new Promise((resolve) => release.push(() => resolve(pod('p'))))
  start()
  await context.clock.advance(0)
  for (let i = 0; i < 5; i++) context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(0)
  assert.equal(runs, 1)
  release.shift()!()
  await context.clock.advance(0)
  assert.equal(runs, 2)
  assert.equal(most, 1)
  release.shift()!()
  await context.clock.advance(0)
  assert.equal(runs, 2)
  stop.abort()
})

test('different keys are worked on at the same time, as many as there are workers', async () => {
  const { context, start, stop } = controllerOf(
    function* (object) {
      yield* write(create(resources.pods, pod(object.metadata!.name!)))
    },
    { cached: ['a', 'b', 'c'].map((name) => configMap(name)), workers: 2 },
  )
  context.client.onRequest = () => new Promise(() => {})
  start()
  await context.clock.advance(0)
  assert.equal(context.client.requests.length, 2)
  stop.abort()
})

test('the object of a key is gone: the controller forgets it and the rules are not asked', async () => {
  const forgotten: string[] = []
  let runs = 0
  const { context, start, stop } = controllerOf(
    function* () {
      runs++
    },
    { forget: (key) => void forgotten.push(key) },
  )
  start()
  await context.clock.advance(0)
  context.informers.remove(
    resources.configmaps,
    new DeletedFinalStateUnknown('default/a', undefined),
  )
  await context.clock.advance(0)
  assert.deepEqual(forgotten, ['default/a'])
  assert.equal(runs, 1)
  stop.abort()
})

test('a tombstone with its object is handed to watches as the object, one without as it is', () => {
  const handed: unknown[] = []
  const { context } = controllerOf(function* () {}, {
    watches: [{ type: resources.configmaps, onDelete: (object) => (handed.push(object), []) }],
  })
  const last = configMap('a')
  context.informers.remove(
    resources.configmaps,
    new DeletedFinalStateUnknown<ConfigMap>('default/a', last),
  )
  const unknown = new DeletedFinalStateUnknown<ConfigMap>('default/b', undefined)
  context.informers.remove(resources.configmaps, unknown)
  assert.deepEqual(handed, [last, unknown])
})

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

test('the trace is told why a key was queued, of each effect with its outcome, and of the verdict', async () => {
  let runs = 0
  const { context, start, stop, traced } = controllerOf(
    function* () {
      if (runs++ === 0) return { requeueAfterMs: 10 }
      yield* write(create(resources.pods, pod('p')))
      return { error: 'no' }
    },
    { trace: true },
  )
  start()
  await context.clock.advance(10)
  const reasons = (reason: Reason) => ({ key: 'default/a', reasons: [reason] })
  assert.deepEqual(traced[0], reasons({ cause: 'add', object: 'configmaps default/a' }))
  assert.deepEqual(traced[1], { key: 'default/a', verdict: { requeueAfterMs: 10 } })
  assert.deepEqual(traced[2], reasons({ cause: 'requeue-after' }))
  const effect = traced[3] as { effect: { effect: string }; outcome: { ok: boolean } }
  assert.equal(effect.effect.effect, 'write')
  assert.equal(effect.outcome.ok, true)
  assert.deepEqual(traced[4], { key: 'default/a', verdict: { error: 'no' } })
  stop.abort()
})

test('keys of a watch can be delayed, and keys can be added from outside', async () => {
  let runs = 0
  const { context, runnable, start, stop } = controllerOf(
    function* () {
      runs++
    },
    {
      watches: [
        { type: resources.configmaps, onAdd: (object) => [{ key: keyOf(object), afterMs: 1_000 }] },
      ],
    },
  )
  start()
  await context.clock.advance(999)
  assert.equal(runs, 0)
  await context.clock.advance(1)
  assert.equal(runs, 1)
  runnable.enqueue('default/a')
  await context.clock.advance(0)
  assert.equal(runs, 2)
  stop.abort()
})

test('Given remembered RV 10 and processed RV 5, when checking readiness, then the sync is refused; with 10 or 15 processed it proceeds and the record is dropped', async () => {
  let runs = 0
  const { context, start, stop, runnable } = controllerOf(
    function* () {
      if (++runs === 1) yield* write(create(resources.pods, pod('p')))
    },
    {
      also: ({ informers }) => ({
        staleGuard: {
          informers: [informers.informer(resources.pods)],
          ownerUid: (object) => object.metadata!.uid!,
          metric: { name: 'test_stale_sync_skips_total', kind: 'Test' },
        },
      }),
    },
  )
  const pods = context.informers.informer(resources.pods)
  pods.bookmark('5')
  context.client.onRequest = () => ({
    ...pod('p'),
    metadata: { ...pod('p').metadata, resourceVersion: '10' },
  })
  start()
  await context.clock.advance(0)
  runnable.enqueue('default/a')
  await context.clock.advance(0)
  assert.equal(runs, 1)
  const labels = { group: '', resource: 'pods' }
  assert.equal(context.metrics.value('test_stale_sync_skips_total', labels), 1)
  pods.bookmark('10')
  await context.clock.advance(5)
  assert.equal(runs, 2, 'retried with backoff')
  assert.equal(context.metrics.value('test_stale_sync_skips_total', labels), 1)
  assert.ok(!context.logger.lines.some(({ severity }) => severity === 'error'), 'no alarm')
  stop.abort()
})

test('events carry the component that the controller names', async () => {
  const { context, start, stop } = controllerOf(
    function* (object) {
      yield* recordEvent(object, 'Warning', 'Odd', 'odd')
    },
    { eventComponent: 'another-name' },
  )
  start()
  await context.clock.advance(0)
  assert.deepEqual(
    context.events.map(({ component }) => component),
    ['another-name'],
  )
  stop.abort()
})

test('Given a terminal error, then no requeue.', async () => {
  let runs = 0
  const { context, start, stop } = controllerOf(function* () {
    runs++
    return { error: new Error('never'), terminal: true }
  })
  start()
  await context.clock.advance(3600_000)
  assert.equal(runs, 1)
  assert.equal(context.logger.lines.filter(({ severity }) => severity === 'error').length, 1)
  context.informers.apply(resources.configmaps, configMap('a'))
  await context.clock.advance(0)
  assert.equal(runs, 2, 'the next event starts it again')
  stop.abort()
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

test('what was written for an object that is gone does not hold up the next one of its name', async () => {
  const seen: string[] = []
  const { context, start, stop } = controllerOf(
    function* (object) {
      seen.push(object.metadata!.uid!)
      yield* write(create(resources.pods, pod('p')))
    },
    {
      also: ({ informers }) => ({
        staleGuard: {
          informers: [informers.informer(resources.pods)],
          ownerUid: (object) => object.metadata!.uid!,
        },
      }),
    },
  )
  context.informers.informer(resources.pods).bookmark('5')
  context.client.onRequest = () => ({ metadata: { name: 'p', resourceVersion: '10' } })
  start()
  await context.clock.advance(0)
  context.informers.remove(resources.configmaps, configMap('a'))
  await context.clock.advance(0)
  const metadata = { namespace: 'default', name: 'a', uid: 'next' }
  context.informers.apply(resources.configmaps, configMap('a', { metadata }))
  await context.clock.advance(0)
  assert.deepEqual(seen, ['uid-a', 'next'])
  stop.abort()
})

test('watches of metadata are of the informers of metadata, and the period of a resync is the watch’s own', async () => {
  const told: string[] = []
  const asked: unknown[] = []
  const { context, stop } = controllerOf(function* () {}, {
    also: ({ informers }) => {
      const pods: Informer<Pod> = informers.informer(resources.pods)
      const { addHandler } = pods
      pods.addHandler = (...args) => {
        asked.push(args[1])
        return addHandler.apply(pods, args)
      }
      const onAdd = (object: KubernetesObject) => {
        told.push(keyOf(object))
        return []
      }
      return {
        watches: [
          { type: resources.configmaps, metadataOnly: true, onAdd },
          { type: resources.pods, resyncPeriodMs: 30_000, onAdd },
          { type: resources.pods, onAdd },
        ],
      }
    },
  })
  context.informers.apply(resources.configmaps, configMap('whole'))
  context.metadataInformers.apply(resources.configmaps, configMap('metadata'))
  assert.deepEqual(told, ['default/a', 'default/metadata'])
  assert.deepEqual(asked, [{ resyncPeriodMs: 30_000 }, {}])
  stop.abort()
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

test('an error that is not expected is told as an error', async () => {
  const { context, start, stop } = controllerOf(function* () {
    return { error: new Error('no') }
  })
  start()
  await context.clock.advance(0)
  const told = context.logger.lines.filter(({ message }) => message === 'Sync failed, will retry')
  assert.deepEqual(
    told.map(({ severity }) => severity),
    ['error'],
  )
  stop.abort()
})

test('the trace tells a change from a resync, a retry from both, and a reconcile that the stop interrupted', async () => {
  const object = (resourceVersion: string) =>
    configMap('a', { metadata: { ...configMap('a').metadata, resourceVersion } })
  let runs = 0
  const { context, start, stop, traced } = controllerOf(
    function* () {
      if (++runs === 4) return { error: new Error('again') }
      if (runs === 6) {
        yield* write(create(resources.pods, pod('first')))
        yield* write(create(resources.pods, pod('second')))
      }
      return {}
    },
    { cached: [object('1')], trace: true },
  )
  start()
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, object('2'))
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, object('2'))
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, object('3'))
  await context.clock.advance(5)
  context.client.onRequest = async () => {
    stop.abort()
    return undefined
  }
  context.informers.apply(resources.configmaps, object('4'))
  await context.clock.advance(0)
  const told = traced as { reasons?: readonly Reason[]; verdict?: object }[]
  assert.deepEqual(
    told.flatMap(({ reasons }) => (reasons ?? []).map(({ cause }) => cause)),
    ['add', 'update', 'resync', 'update', 'retry', 'update'],
  )
  assert.deepEqual(told.at(-1)!.verdict, { interrupted: true })
})

test('a controller that forgets nothing takes the end of an object in silence', async () => {
  const { context, start, stop } = controllerOf(function* () {})
  start()
  await context.clock.advance(0)
  context.informers.remove(resources.configmaps, configMap('a'))
  await context.clock.advance(10)
  assert.deepEqual(
    context.logger.lines.filter(({ severity }) => severity === 'error'),
    [],
  )
  stop.abort()
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
