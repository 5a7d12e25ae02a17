import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RandomSource } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { WaitTimeoutError } from './requests/retry.ts'
import { ResettingBackoff, jittered, poll, until } from './wait.ts'

const half: RandomSource = { next: () => 0.5, fork: () => half }

test('the jitter helper takes a factor of 0 or less as 1', () => {
  assert.equal(jittered({ random: half }, 100, 0.5), 125)
  assert.equal(jittered({ random: half }, 100, 0), 150)
})

test('until waits after the end of the work, and ends with the signal', async () => {
  const clock = virtualClock(0)
  const controller = new AbortController()
  const starts: number[] = []
  const running = until({ clock, random: half, signal: controller.signal }, 100, async () => {
    starts.push(clock.nowMs())
    await new Promise<void>((resolve) => void clock.after(30, resolve))
  })
  await clock.advance(300)
  controller.abort()
  await running
  assert.deepEqual(starts, [0, 130, 260])
})

test('poll waits first unless told otherwise', async () => {
  const clock = virtualClock(0)
  for (const immediate of [false, true]) {
    const startMs = clock.nowMs()
    const asked: number[] = []
    const polling = poll(
      { clock, random: half },
      { intervalMs: 10, timeoutMs: 0, immediate },
      () => {
        asked.push(clock.nowMs() - startMs)
        return asked.length === 3
      },
    )
    await clock.advance(50)
    await polling
    assert.deepEqual(asked, immediate ? [0, 10, 20] : [10, 20, 30])
  }
})

test('the timeout of poll also aborts the signal that the condition has', async () => {
  const clock = virtualClock(0)
  let seen: AbortSignal | undefined
  const polling = poll({ clock, random: half }, { intervalMs: 10, timeoutMs: 25 }, (signal) => {
    seen = signal
    return false
  }).catch((error: unknown) => error)
  await clock.advance(100)
  assert.ok((await polling) instanceof WaitTimeoutError)
  assert.equal(seen?.aborted, true)
})

test('an abort by the caller is not a timeout', async () => {
  const clock = virtualClock(0)
  const controller = new AbortController()
  const polling = poll(
    { clock, random: half, signal: controller.signal },
    { intervalMs: 10, timeoutMs: 25 },
    () => false,
  )
  controller.abort('stop')
  await assert.rejects(polling, (reason) => reason === 'stop')
})

test('a resetting back-off starts over by the time since it last started, not since it was used', async () => {
  const clock = virtualClock(0)
  const backoff = new ResettingBackoff(
    { clock, random: half },
    { durationMs: 1, factor: 2, jitter: 0, steps: 9 },
    100,
  )
  const delays: number[] = []
  for (let i = 0; i < 6; i++) {
    delays.push(backoff.nextDelayMs())
    await clock.advance(30)
  }
  assert.deepEqual(delays, [1, 2, 4, 8, 1, 2])
})
