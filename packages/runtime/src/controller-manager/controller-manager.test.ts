import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { PrometheusRegistry, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { buildController } from '../builder/controller-builder.ts'
import { enqueueObject } from '../builder/event-handlers.ts'
import { managing, website, websites } from '../builder/fixtures.ts'
import { informerSource } from '../builder/sources.ts'
import { ObjectCache } from '../object-cache/object-cache.ts'
import { FakeServer, testClock } from '../testing/index.ts'
import { stopSignal } from './stop-signals.ts'
import { LEASE, diary } from './fixtures.ts'

test('starts servers, webhooks, caches, unelected runnables, warm-up, elected runnables; stops in the reverse sense', async () => {
  const { entries, runnable } = diary()
  const { manager, server, start, stop } = managing({
    servers: [runnable('server')],
    leaderElection: LEASE,
  })
  server.onRequest = ({ verb, path }) => {
    if (path.includes('websites') && verb === 'watch') entries.push('cache starts')
    if (path.includes('leases') && verb === 'get') entries.push('election')
  }
  manager.cache.informer(websites)
  manager.add(
    runnable('elected', {
      async warmup() {
        entries.push('warm-up')
      },
    }),
  )
  manager.add(runnable('unelected', { needLeaderElection: false }))
  manager.addWebhook(runnable('webhook'))
  await start()
  await manager.elected
  assert.deepEqual(
    entries.filter((entry, index) => entries.indexOf(entry) === index),
    [
      'server starts',
      'webhook starts',
      'cache starts',
      'unelected starts',
      'warm-up',
      'election',
      'elected starts',
    ],
  )
  entries.length = 0
  await stop()
  assert.deepEqual(entries, ['elected ends', 'unelected ends', 'webhook ends', 'server ends'])
  assert.equal(server.watches.length, 0)
})

test('what is added later starts at once, after the stop not at all; a manager starts once', async () => {
  const { entries, runnable } = diary()
  const { manager, clock, start, stop } = managing()
  await start()
  manager.add(runnable('late'))
  await clock.advance(0)
  assert.deepEqual(entries, ['late starts'])
  await stop()
  manager.add(runnable('too late'))
  await clock.advance(0)
  assert.deepEqual(entries, ['late starts', 'late ends'])
  await assert.rejects(manager.start(new AbortController().signal), { code: 'MANAGER_STARTED' })
})

test('a start with a signal that has aborted already starts nothing', async () => {
  const { entries, runnable } = diary()
  const { manager, abort, start, ended } = managing({ servers: [runnable('server')] })
  manager.add(runnable('a'))
  abort()
  await start()
  await ended()
  assert.deepEqual(entries, [])
})

test('a runnable that fails ends the manager with its error, and the others with it', async () => {
  const { entries, runnable } = diary()
  const { manager, clock, start, ended } = managing()
  const failure = new Error('port is taken')
  manager.add(runnable('other'))
  manager.add({
    needLeaderElection: false,
    async start(signal) {
      await sleep(clock, 1_000, signal)
      throw failure
    },
  })
  await start()
  await clock.advance(1_000)
  await assert.rejects(async () => ended(), failure)
  assert.deepEqual(entries, ['other starts', 'other ends'])
})

test('the stop waits 30 s for what does not end; 0: not at all; negative: for ever', async () => {
  for (const [gracefulShutdownTimeoutMs, endsAfterMs] of [
    [undefined, 30_000],
    [5_000, 5_000],
    [0, 0],
    [-1, Infinity],
  ] as const) {
    const { manager, clock, start, abort, ended } = managing({ gracefulShutdownTimeoutMs })
    manager.add({ start: () => new Promise(() => {}) })
    await start()
    let outcome: unknown
    ended()?.then(
      () => (outcome = 'ended'),
      (error: Error) => (outcome = error.message),
    )
    abort()
    if (endsAfterMs === Infinity) {
      await clock.advance(24 * 3_600_000)
      assert.equal(outcome, undefined)
      continue
    }
    await clock.advance(Math.max(0, endsAfterMs - 1))
    if (endsAfterMs > 0) assert.equal(outcome, undefined)
    await clock.advance(1)
    assert.equal(
      outcome,
      endsAfterMs === 0
        ? 'ended'
        : `failed waiting for all runnables to end within grace period of ${endsAfterMs / 1000}s: context deadline exceeded`,
    )
  }
})

test('a stop that waits no longer tells everybody to end, whoever holds up the others', async () => {
  for (const gracefulShutdownTimeoutMs of [0, 5_000]) {
    const { entries, runnable } = diary()
    const { manager, clock, start, abort, ended } = managing({ gracefulShutdownTimeoutMs })
    manager.add(runnable('unelected', { needLeaderElection: false }))
    manager.add({ start: () => new Promise(() => {}) })
    await start()
    abort()
    await clock.advance(gracefulShutdownTimeoutMs)
    await ended()?.catch(() => {})
    assert.deepEqual(entries, ['unelected starts', 'unelected ends'])
  }
})

test('nothing of a manager that has ended listens to the signal', async () => {
  const { manager, clock } = managing()
  const { signal } = new AbortController()
  manager.add({ start: () => Promise.reject(new Error('port is taken')) })
  const running = manager.start(signal).catch(() => {})
  await clock.advance(0)
  await running
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('a stop that ends in time leaves no timer behind', async () => {
  const inner = testClock()
  const due = new Set<object>()
  const clock: Clock = {
    nowMs: () => inner.nowMs(),
    monotonicMs: () => inner.monotonicMs(),
    turnMs: () => inner.turnMs(),
    after(delayMs, callback) {
      const timer = inner.after(delayMs, () => {
        due.delete(timer)
        callback()
      })
      due.add(timer)
      return {
        cancel() {
          due.delete(timer)
          timer.cancel()
        },
      }
    },
  }
  const { manager } = managing({ clock })
  const stop = new AbortController()
  const running = manager.start(stop.signal)
  await inner.advance(0)
  stop.abort()
  await inner.advance(0)
  await running
  assert.equal(due.size, 0)
})

test('a cache of another cluster runs in the manager, and its objects can be watched', async () => {
  const { manager, clock, start, stop } = managing()
  const other = new FakeServer()
  const { random, logger } = manager
  const cache = new ObjectCache({ client: other, clock, random, logger })
  manager.add(cache)
  const keys: string[] = []
  buildController(manager)
    .named('copies')
    .watchesRawSource(informerSource(() => cache.informer(websites), 'there', enqueueObject()))
    .complete(async ({ name, namespace }) => {
      await cache.filled(resources.configmaps)
      keys.push(`${namespace}/${name}`)
    })
  other.put(websites, website('a'))
  await start()
  assert.deepEqual(keys, ['default/a'])
  const kinds = other.watches.map(({ type }) => type.kind)
  assert.deepEqual(kinds, ['Website', 'ConfigMap'])
  await stop()
  assert.equal(other.watches.length, 0)
})

test('a graceful stop waits for the reconcile under way', async () => {
  const { manager, server, clock, start, abort, ended } = managing()
  let finished = false
  buildController(manager)
    .for(websites)
    .complete(async () => {
      await sleep(clock, 10_000)
      finished = true
    })
  server.put(websites, website('a'))
  await start()
  abort()
  await clock.advance(9_999)
  assert.equal(finished, false)
  await clock.advance(1)
  await ended()
  assert.equal(finished, true)
})

test('probes: ping without checks; verbose, exclude and single checks; metrics as text', async () => {
  const metrics = new PrometheusRegistry()
  const { manager } = managing({ metrics })
  const answer = async (target: string) => {
    const { status, body } = (await manager.handle(target)) ?? { status: 404, body: '' }
    return `${status} ${body}`
  }
  assert.equal(await answer('/healthz'), '200 ok')
  assert.equal(await answer('/readyz?verbose'), '200 [+]ping ok\nhealthz check passed\n')
  manager.addReadyCheck('cache', () => undefined)
  manager.addReadyCheck('a-peer', async () => new Error('no route'))
  manager.addReadyCheck('broken', () => {
    throw new Error('broken')
  })
  assert.equal(
    await answer('/readyz'),
    '500 [-]a-peer failed: reason withheld\n[-]broken failed: reason withheld\n[+]cache ok\nhealthz check failed\n',
  )
  assert.equal(
    await answer('/readyz?exclude=a-peer&exclude=broken&exclude=nope&verbose'),
    '200 [+]a-peer excluded: ok\n[+]broken excluded: ok\n[+]cache ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nhealthz check passed\n',
  )
  assert.equal(await answer('/readyz/cache'), '200 ok')
  assert.equal(await answer('/readyz/a-peer'), '500 internal server error: no route\n')
  assert.equal(await answer('/readyz/nope'), '404 ')
  assert.equal(await answer('/healthz/ping'), '200 ok')
  assert.equal(await answer('/healthz/'), '200 ok')
  for (const elsewhere of ['/elsewhere', '/old/healthz', '/healthzz', '//', '//x/healthz', '*'])
    assert.equal(await answer(elsewhere), '404 ')
  manager.addHealthCheck('alive', () => undefined)
  assert.equal(await answer('/healthz?verbose'), '200 [+]alive ok\nhealthz check passed\n')
  buildController(manager)
    .for(websites)
    .complete(() => {})
  assert.match(
    await answer('/metrics'),
    /^200 [^]*controller_runtime_reconcile_total\{controller="website",result="success"\} 0/,
  )
})

test('the first signal stops, the second ends the process with exit code 1', () => {
  const listeners = new Map<string, () => void>()
  const exits: number[] = []
  const signal = stopSignal({
    on: (name, listener) => void listeners.set(name, listener),
    exit: (code) => void exits.push(code),
  })
  assert.equal(signal.aborted, false)
  listeners.get('SIGTERM')!()
  assert.equal(signal.aborted, true)
  assert.deepEqual(exits, [])
  listeners.get('SIGINT')!()
  assert.deepEqual(exits, [1])
})
