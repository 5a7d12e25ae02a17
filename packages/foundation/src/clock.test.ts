import assert from 'node:assert/strict'
import { test } from 'node:test'
import { every, formatMicroTime, formatTime, sleep } from './clock.ts'
import { virtualClock } from './testing/index.ts'

test('timers fire in order of their due time, ties in order of creation, each at its own time', async () => {
  const clock = virtualClock(0)
  const seen: string[] = []
  const at = (name: string, delayMs: number): void =>
    void clock.after(delayMs, () => seen.push(`${name}@${clock.nowMs()}`))
  at('c', 30)
  at('a', 10)
  at('b1', 20)
  at('b2', 20)
  at('past', -5)
  await clock.advance(25)
  assert.deepEqual(seen, ['past@0', 'a@10', 'b1@20', 'b2@20'])
  assert.equal(clock.nowMs(), 25)
})

test('promises run dry between timers, so work a timer starts sees the right time', async () => {
  const clock = virtualClock(0)
  const seen: number[] = []
  const work = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await sleep(clock, 10)
      seen.push(clock.nowMs())
    }
  }
  const done = work()
  await clock.advance(100)
  await done
  assert.deepEqual(seen, [10, 20, 30])
})

test('a cancelled timer does not fire, and cancelling again is nothing', async () => {
  const clock = virtualClock()
  let fired = false
  const timer = clock.after(10, () => (fired = true))
  timer.cancel()
  timer.cancel()
  await clock.advance(20)
  assert.equal(fired, false)
})

test('wall time may jump without timers or elapsed time noticing', async () => {
  const clock = virtualClock(0)
  let fired = false
  clock.after(100, () => (fired = true))
  clock.jumpWallTime(1_000_000)
  assert.equal(clock.nowMs(), 1_000_000)
  assert.equal(clock.monotonicMs(), 0)
  await clock.advance(99)
  assert.equal(fired, false)
})

test('what is to be done every so often goes on after a call that threw', async () => {
  const clock = virtualClock(0)
  let count = 0
  const timer = every(clock, 10, () => {
    count++
    if (count === 1) throw new Error('once')
  })
  await assert.rejects(clock.advance(10), /once/)
  await clock.advance(20)
  assert.equal(count, 3)
  timer.cancel()
})

test('advanceUntil stops at the timer that made it true, or at the limit', async () => {
  const clock = virtualClock(0)
  let count = 0
  every(clock, 10, () => count++)
  assert.equal(await clock.advanceUntil(() => count === 3, 1000), true)
  assert.equal(clock.nowMs(), 30)
  assert.equal(await clock.advanceUntil(() => false, 25), false)
  assert.equal(clock.nowMs(), 55)
})

test('sleep rejects with the reason as soon as the signal aborts', async () => {
  const clock = virtualClock()
  const controller = new AbortController()
  const sleeping = sleep(clock, 1000, controller.signal)
  controller.abort('stop')
  await assert.rejects(sleeping, (reason) => reason === 'stop')
  await assert.rejects(sleep(clock, 1, controller.signal), (reason) => reason === 'stop')
})

test('every stops when cancelled, also from within', async () => {
  const clock = virtualClock()
  let count = 0
  const timer = every(clock, 10, () => {
    if (++count === 2) timer.cancel()
  })
  await clock.advance(100)
  assert.equal(count, 2)
})

test('times have the forms of metav1.Time and MicroTime', () => {
  assert.equal(formatTime(Date.UTC(2026, 0, 1, 0, 0, 0, 999)), '2026-01-01T00:00:00Z')
  assert.equal(formatMicroTime(Date.UTC(2026, 0, 1, 0, 0, 0, 123)), '2026-01-01T00:00:00.123000Z')
})
