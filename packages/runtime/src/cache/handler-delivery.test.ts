import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { WorkClock, testClock } from '../testing/index.ts'
import type { EventHandler } from '../informer.ts'
import { pod } from './fixtures.ts'
import { HandlerDelivery } from './handler-delivery.ts'
import { Latch } from './latch.ts'

const update = { kind: 'update', previous: pod('a'), object: pod('a') } as const
const SLOW = 'A slow event handler has a long buffer'

function delivering(handler: EventHandler<Pod>, lookMs = 0) {
  const inner = testClock()
  const clock = new WorkClock(inner, lookMs)
  const logger = new RecordingLogger()
  const informerSynced = new Latch()
  const delivery = new HandlerDelivery<Pod>({ handler, clock, logger, informerSynced })
  const notify = (times: number): void => {
    for (let told = 0; told < times; told++) delivery.notify([update])
  }
  return { inner, clock, logger, informerSynced, delivery, notify }
}

test('what comes after the stop is not delivered', async () => {
  let told = 0
  const { delivery, inner, notify } = delivering({ onUpdate: () => void told++ })
  delivery.stop()
  notify(1)
  await inner.advance(0)
  assert.equal(told, 0)
})

test('only the adds of the initial list are waited for', async () => {
  const { delivery, inner, informerSynced, notify } = delivering({})
  notify(3)
  await inner.advance(0)
  informerSynced.open()
  delivery.checkSynced()
  assert.equal(delivery.synced.isOpen, true)
})

test('few notifications need no look at the time', async () => {
  const { clock, inner, notify } = delivering({}, 1)
  notify(63)
  await inner.advance(0)
  assert.equal(clock.longestTurnMs, 0)
})

test('with many notifications the turn is counted from its beginning', async () => {
  let told = 0
  const { clock, inner, notify } = delivering({
    onUpdate() {
      clock.work(1)
      if (++told === 1) notify(10)
    },
  })
  notify(64)
  await inner.advance(0)
  assert.equal(told, 74)
  assert.equal(clock.longestTurnMs, 64)
})

test('a handler is slow that takes more than 100 ms while more than 1024 wait', async () => {
  for (const [tookMs, slow] of [
    [0, 0],
    [100, 0],
    [101, 1],
  ] as const) {
    const { clock, inner, logger, notify } = delivering({ onUpdate: () => clock.work(tookMs) })
    await inner.advance(60_000)
    // 1,025 wait behind the first, 1,024 behind the second.
    notify(1_026)
    await inner.advance(0)
    const told = logger.messages().filter((message) => message === SLOW)
    assert.equal(told.length, slow, `${tookMs} ms`)
  }
})

test('who waited for a latch listens no longer when it has opened', async () => {
  const latch = new Latch()
  const { signal } = new AbortController()
  const opened = latch.opened(signal)
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  latch.open()
  assert.equal(await opened, true)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})
