import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import { GraceTime } from './grace-time.ts'

const never = new AbortController().signal

async function outcome(
  graceMs: number,
  ask: (grace: GraceTime) => Promise<boolean>,
  then: (grace: GraceTime, clock: VirtualClock) => Promise<void>,
): Promise<{ readonly answer: boolean; readonly tookMs: number }> {
  const clock = new VirtualClock({ settle: macrotask })
  const grace = new GraceTime(clock, graceMs)
  const startMs = clock.monotonicMs()
  let tookMs = 0
  const asked = ask(grace).finally(() => (tookMs = clock.monotonicMs() - startMs))
  await then(grace, clock)
  await clock.advance(1_000_000)
  return { answer: await asked, tookMs }
}

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const nothing = async (): Promise<void> => {}

test('a program that ends in time is not killed', async () => {
  assert.deepEqual(await outcome(30_000, (grace) => grace.passes(5_000, never), nothing), {
    answer: true,
    tookMs: 5_000,
  })
})

test('one that does not is killed at the end of the grace time, and never within two seconds', async () => {
  assert.deepEqual(await outcome(30_000, (grace) => grace.passes(Infinity, never), nothing), {
    answer: false,
    tookMs: 30_000,
  })
  assert.deepEqual(await outcome(0, (grace) => grace.passes(Infinity, never), nothing), {
    answer: false,
    tookMs: 2_000,
  })
})

test('a shorter grace time counts from when it is told, a longer one is not heard', async () => {
  const ask = (grace: GraceTime): Promise<boolean> => grace.passes(Infinity, never)
  const shortened = await outcome(100_000, ask, async (grace, clock) => {
    await clock.advance(10_000)
    grace.shorten(15_000)
    await clock.advance(1_000)
    grace.shorten(80_000)
  })
  assert.deepEqual(shortened, { answer: false, tookMs: 25_000 })
})

test('what comes before SIGTERM is told to stop when the time is over', async () => {
  let toldToStop = false
  const act = (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        toldToStop = true
        reject(signal.reason)
      })
    })
  assert.deepEqual(await outcome(7_000, (grace) => grace.allows(act, never), nothing), {
    answer: false,
    tookMs: 7_000,
  })
  assert.ok(toldToStop)
})
