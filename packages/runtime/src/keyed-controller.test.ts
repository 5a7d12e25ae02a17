import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, KubernetesObject, Pod } from '@gyropilot/api'
import { keyOf, resources } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import type { Reason } from './controller.ts'
import { currentTimeMs, recordEvent, write, writeAside } from './effects.ts'
import { create, update, updateStatus } from './writes.ts'
import { EXPECTATIONS_TIMEOUT_MS, createExpectations } from './expectations.ts'
import { DeletedFinalStateUnknown } from './informer.ts'
import type { Informer } from './informer.ts'
import { keysOf } from './testing/index.ts'
import { configMap, pod, controllerOf } from './fixtures.ts'

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

test('after a conflict the rules wait for the version that the cache does not have, and see it', async () => {
  const seen: string[] = []
  const { context, start, stop } = controllerOf(
    function* (object) {
      seen.push(object.metadata!.resourceVersion!)
      const updated = yield* write(update(resources.configmaps, object))
      return updated.ok ? {} : { error: updated.error }
    },
    {
      cached: [at('10')],
      also: ({ informers }) => ({
        staleGuard: {
          informers: [informers.informer(resources.configmaps)],
          ownerUid: (object) => object.metadata!.uid!,
        },
      }),
    },
  )
  context.client.onRequest = () => {
    throw new StatusError({ kind: 'Status', apiVersion: 'v1', reason: 'Conflict', code: 409 })
  }
  start()
  await context.clock.advance(10_000)
  assert.deepEqual(seen, ['10'])
  context.client.onRequest = undefined
  context.informers.apply(resources.configmaps, at('12'))
  await context.clock.advance(0)
  assert.deepEqual(seen, ['10', '12'])
  stop.abort()
})

const at = (resourceVersion: string): ConfigMap =>
  configMap('a', { metadata: { ...configMap('a').metadata, resourceVersion } })

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

test('the trace tells a change from a resync, a retry from both, and a reconcile that the stop interrupted', async () => {
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
    { cached: [at('1')], trace: true },
  )
  start()
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, at('2'))
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, at('2'))
  await context.clock.advance(0)
  context.informers.apply(resources.configmaps, at('3'))
  await context.clock.advance(5)
  context.client.onRequest = async () => {
    stop.abort()
    return undefined
  }
  context.informers.apply(resources.configmaps, at('4'))
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

for (const restsWithoutWrites of [false, true]) {
  const writing = restsWithoutWrites ? 'nothing' : 'its status alone'
  test(`the key of a large owner rests after a sync that wrote ${writing}`, async () => {
    const syncedMs: number[] = []
    const counting = controllerOf(
      function* (object) {
        syncedMs.push(yield* currentTimeMs())
        if (!restsWithoutWrites) yield* write(updateStatus(resources.configmaps, object))
      },
      { countedObjects: () => 2_000, restsWithoutWrites },
    )
    const { context, runnable, start, stop } = counting
    context.client.put(resources.configmaps, configMap('a'))
    start()
    await context.clock.advance(0)
    const firstMs = syncedMs[0]!
    for (let look = 0; look < 9; look += 1) {
      runnable.enqueue('default/a')
      await context.clock.advance(10)
    }
    assert.deepEqual(syncedMs, [firstMs], 'nine changes within the rest of 100 ms')
    await context.clock.advance(10)
    assert.deepEqual(
      syncedMs,
      [firstMs, firstMs + 100],
      'one look for all of them, when it is over',
    )
    stop.abort()
  })
}

test('it does not rest when it made something too, or when its sync failed', async () => {
  const written: string[] = []
  const { context, runnable, start, stop } = controllerOf(
    function* (object) {
      const made = written.length < 2
      written.push(made ? 'pod' : 'status that is refused')
      if (made) yield* write(create(resources.pods, pod(`p${written.length}`)))
      const updated = yield* write(
        updateStatus(resources.configmaps, made ? object : configMap('not-there')),
      )
      return updated.ok ? undefined : { error: updated.error, terminal: true }
    },
    { countedObjects: () => 2_000 },
  )
  context.client.put(resources.configmaps, configMap('a'))
  start()
  for (let look = 0; look < 3; look += 1) {
    await context.clock.advance(0)
    runnable.enqueue('default/a')
  }
  await context.clock.advance(0)
  assert.equal(written.length, 4)
  stop.abort()
})
