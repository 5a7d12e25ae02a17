/** Handlers that come late or go, and who of them is told of what after the first check for resyncs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { informing, noting, pod } from './fixtures.ts'
import { MutationDetector } from './mutation-detector.ts'

test('a handler that joins an informer without objects has synced at once', async () => {
  const i = informing()
  await i.start()
  assert.equal(i.informer.addHandler({}).hasSynced(), true)
  await i.end()
})

test('an informer that is stopped before its first list has not synced', async () => {
  const i = informing({ watchList: false })
  const registration = i.informer.addHandler({})
  i.server.onRequest = () => new Promise(() => {})
  void i.start()
  await i.clock.advance(1_000)
  void i.end()
  await i.clock.advance(60_000)
  assert.deepEqual([i.informer.hasSynced(), registration.hasSynced()], [false, false])
})

test('one that joins a running informer and asks for short resyncs puts off those of nobody', async () => {
  const i = informing({ defaultResyncMs: 5_000 })
  i.server.put(resources.pods, pod('a'))
  const { handler, seen } = noting()
  i.informer.addHandler(handler)
  await i.start()
  await i.clock.advance(4_000)
  i.informer.addHandler({}, { resyncPeriodMs: 1_000 })
  await i.clock.advance(1_000)
  assert.deepEqual(seen, ['add a@1 initial', 'update a@1 a@1'])
  await i.end()
})

test('when nobody is left who wants resyncs there are none', async () => {
  const tookMs: number[] = []
  const i = informing({
    defaultResyncMs: 1_000,
    metrics: { observe() {}, processed: (durationMs) => void tookMs.push(durationMs) },
  })
  i.informer.addHandler({}, { resyncPeriodMs: 0 })
  const registration = i.informer.addHandler({})
  await i.start()
  tookMs.length = 0
  await i.clock.advance(3_000)
  assert.deepEqual(tookMs, [0, 0, 0])
  registration.remove()
  await i.clock.advance(3_000)
  assert.equal(tookMs.length, 3)
  await i.end()
})

test('nothing is kept of a removed handler', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const i = informing()
  await i.start()
  const joinAndLeave = (): WeakRef<object> => {
    const handler = {}
    i.informer.addHandler(handler).remove()
    return new WeakRef(handler)
  }
  const handler = joinAndLeave()
  await setImmediate()
  collectGarbage()
  assert.equal(handler.deref(), undefined)
  await i.end()
})

test('who never wants a resync is told of every change, before and after those of others', async () => {
  const i = informing({ defaultResyncMs: 1_000 })
  const { handler, seen } = noting()
  i.server.put(resources.pods, pod('a'))
  i.informer.addHandler(handler, { resyncPeriodMs: 0 })
  i.informer.addHandler({})
  await i.start()
  await i.clock.advance(1_000)
  i.server.put(resources.pods, pod('a'))
  await i.clock.advance(0)
  assert.deepEqual(seen, ['add a@1 initial', 'update a@1 a@2'])
  await i.end()
})

test('the mutation detector is shown each object once: not what stays, but another of the same version', async () => {
  const shown: unknown[] = []
  const inner = informing()
  const detector = new MutationDetector({
    clock: inner.clock,
    name: 'pods',
    onAltered: (error) => assert.fail(error),
  })
  detector.capture = ({ metadata }) => void shown.push(metadata?.name)
  const i = informing({ watchList: false, defaultResyncMs: 1_000, mutationDetector: detector })
  const listed = (name: string, uid?: string): Pod =>
    pod(name, { metadata: { uid, resourceVersion: '5' } })
  i.server.onRequest = ({ verb }) =>
    verb === 'list'
      ? { metadata: { resourceVersion: '5' }, items: [listed('same', 'uid'), listed('other')] }
      : undefined
  i.informer.addHandler({})
  await i.start()
  assert.deepEqual(shown.splice(0), ['same', 'other'])
  await i.clock.advance(1_000)
  assert.deepEqual(shown, [], 'a resync tells of what was shown')
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  await i.clock.advance(2_000)
  // Without a uid nobody knows that it is the same.
  assert.deepEqual(shown, ['other'])
  await i.end()
})

test('a resync period is told of as too short below a second, and below that of the running informer', async () => {
  const i = informing({ defaultResyncMs: 5_000 })
  const told = (): readonly string[] =>
    i.logger.lines.splice(0).flatMap(({ message }) => (/resync/.test(message) ? [message] : []))
  i.informer.addHandler({}, { resyncPeriodMs: 5_000 })
  await i.start()
  told()
  i.informer.addHandler({}, { resyncPeriodMs: 5_000 })
  assert.deepEqual(told(), [])
  i.informer.addHandler({}, { resyncPeriodMs: 1_000 })
  assert.deepEqual(told(), ['A resync period is shorter than that of the running informer'])
  i.informer.addHandler({}, { resyncPeriodMs: 999 })
  assert.equal(told()[0], 'A resync period is too short')
  await i.end()
})
