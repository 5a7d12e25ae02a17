/** What is told of in more than one turn, what it costs, and who is told meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { ApiClient } from '@gyropilot/client'
import { fakeTransport, watchBytes } from '@gyropilot/client/testing'
import type { Clock } from '@gyropilot/foundation'
import { WorkClock, testClock } from '../testing/index.ts'
import { informing, noting, pod } from './fixtures.ts'

const SIZE = 640
/** A look at the time takes longer than a turn may: each is its end. */
const WHOLE_TURN_MS = 20
/** For all objects, in several loops: one for each of them would be hundreds. */
const MOST_LOOKS = 100
const NAMES = Array.from({ length: SIZE }, (_, number) => `p${number}`)

/** Counts looks at the time. */
function counting(clock: Clock): Clock & { looks: number } {
  return {
    looks: 0,
    nowMs: () => clock.nowMs(),
    monotonicMs() {
      this.looks++
      return clock.monotonicMs()
    },
    turnMs() {
      this.looks++
      return clock.turnMs()
    },
    after: (delayMs, callback) => clock.after(delayMs, callback),
  }
}

test('what arrives while a list is being told of is told behind it', async () => {
  const inner = testClock()
  const { server, informer, start, end } = informing({
    clock: new WorkClock(inner, WHOLE_TURN_MS),
    watchList: false,
  })
  for (const name of NAMES) server.put(resources.pods, pod(name))
  const { handler, seen } = noting()
  informer.addHandler(handler)
  informer.addHandler({
    onAdd({ metadata }) {
      if (metadata?.name === 'p0') server.put(resources.pods, pod('p639'))
    },
  })
  await start()
  await inner.advance(0)
  assert.deepEqual(seen, [
    ...NAMES.map((name, at) => `add ${name}@${at + 1} initial`),
    'update p639@640 p639@641',
  ])
  await end()
})

test('while objects are told of the time is looked at once for 64 of them: in lists and in resyncs', async () => {
  const inner = testClock()
  const clock = counting(inner)
  const i = informing({ clock, watchList: false, defaultResyncMs: 3600_000 })
  for (const name of NAMES) i.server.put(resources.pods, pod(name))
  i.informer.addHandler({})
  const looksOf = async (forMs: number): Promise<number> => {
    clock.looks = 0
    await inner.advance(forMs)
    return clock.looks
  }
  void i.start()
  const first = await looksOf(0)
  assert.ok(first <= MOST_LOOKS, `${first} looks for a first list`)
  const resync = await looksOf(3600_000)
  // Once while the buffers are filled, once while they are emptied.
  assert.ok(resync >= (2 * SIZE) / 64, `${resync} looks for a resync`)
  assert.ok(resync <= MOST_LOOKS, `${resync} looks for a resync`)
  i.server.watches[0]!.error({ code: 410, reason: 'Expired' })
  for (const name of NAMES) i.server.put(resources.pods, pod(name))
  const second = await looksOf(2_000)
  // At what was listed, twice to find differences, twice to tell of them, and while the buffers are emptied.
  assert.ok(second >= (6 * SIZE) / 64, `${second} looks for another list`)
  assert.ok(second <= MOST_LOOKS, `${second} looks for another list`)
  await i.end()
})

test('who is due a resync is told of every object once, though the next check comes meanwhile', async () => {
  const inner = testClock()
  // Whoever gives the turn up gets it back after that time, one after the other: a resync and its delivery take more than 20 s.
  let awayMs = 0
  const busy: Clock = {
    nowMs: () => inner.nowMs(),
    monotonicMs: () => inner.monotonicMs(),
    turnMs: () => inner.turnMs(),
    after: (delayMs, callback) => inner.after(delayMs === 0 ? awayMs : delayMs, callback),
  }
  const i = informing({
    clock: new WorkClock(busy, WHOLE_TURN_MS),
    watchList: false,
    defaultResyncMs: 20_000,
  })
  await i.start()
  for (const name of NAMES) i.server.put(resources.pods, pod(name))
  await inner.advance(0)
  awayMs = 1_000
  const told: string[] = []
  i.informer.addHandler({})
  i.informer.addHandler(
    { onUpdate: (_, { metadata }) => void told.push(metadata!.name!) },
    { resyncPeriodMs: 40_000 },
  )
  await inner.advance(79_000)
  assert.deepEqual(told, NAMES)
  const ended = i.end()
  await inner.advance(200_000)
  await ended
})

test('events that arrive together are taken in together', async () => {
  const inner = testClock()
  const clock = counting(inner)
  const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
  const bookmark = {
    ...pod(''),
    metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
  }
  const events = NAMES.slice(0, 60).map((name) =>
    line('ADDED', pod(name, { metadata: { resourceVersion: '10' } })),
  )
  const transport = fakeTransport([watchBytes(line('BOOKMARK', bookmark), events.join(''))])
  const i = informing({ clock, client: new ApiClient({ transport, clock: inner, qps: -1 }) })
  await i.start()
  await inner.advance(0)
  assert.equal(i.informer.lister.list().length, 60)
  assert.ok(clock.looks <= 30, `${clock.looks} looks at the time`)
  await i.end()
})

test('who waited for a large cache goes on in a turn of its own, who waited for a small one at once', async () => {
  const worksMs = 15
  for (const [size, longestTurnMs] of [
    [5_000, worksMs],
    [4_999, 4 * worksMs],
  ] as const) {
    const inner = testClock()
    const clock = new WorkClock(inner)
    const { server, informer, start, end } = informing({ clock, watchList: false })
    for (let at = 0; at < size; at++) server.put(resources.pods, pod(`p${at}`))
    const { signal } = new AbortController()
    const went: string[] = []
    const beginAfter = async (what: string, synced: Promise<boolean>): Promise<void> => {
      assert.equal(await synced, true)
      clock.work(worksMs)
      went.push(what)
    }
    const registration = informer.addHandler({})
    const waiting = [
      beginAfter('cache', informer.whenSynced(signal)),
      beginAfter('cache too', informer.whenSynced(signal)),
      beginAfter('handler', registration.whenSynced(signal)),
      beginAfter('handler too', registration.whenSynced(signal)),
    ]
    await start()
    await inner.advance(0)
    await Promise.all(waiting)
    assert.equal(clock.longestTurnMs, longestTurnMs, `${size} objects`)
    assert.deepEqual(went.toSorted(), ['cache', 'cache too', 'handler', 'handler too'])
    assert.equal(await informer.whenSynced(signal), true, 'once more, without a turn')
    await end()
  }
})
