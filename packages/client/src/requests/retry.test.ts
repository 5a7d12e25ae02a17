import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RandomSource } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { WaitTimeoutError, backoffStep, exponentialBackoff, retryOnConflict } from './retry.ts'
import type { Backoff } from './retry.ts'
import { StatusError } from '../answers/status-error.ts'

const half: RandomSource = { next: () => 0.5, fork: () => half }
const conflict = (): StatusError =>
  new StatusError({ kind: 'Status', apiVersion: 'v1', reason: 'Conflict', code: 409 })

test('Given conflicts for all steps, then the conflict is returned.', async () => {
  const clock = virtualClock(0)
  let calls = 0
  const result = retryOnConflict({ clock, random: half }, async () => {
    calls++
    throw conflict()
  }).catch((error: unknown) => error)
  await clock.advance(1000)
  assert.ok((await result) instanceof StatusError)
  assert.equal(calls, 5)
})

test('only conflicts are retried, and the value of the first success is returned', async () => {
  const clock = virtualClock(0)
  let calls = 0
  const result = retryOnConflict({ clock, random: half }, async () => {
    if (++calls < 3) throw conflict()
    return 'done'
  })
  await clock.advance(21)
  assert.equal(await result, 'done')
  await assert.rejects(
    retryOnConflict({ clock, random: half }, async () => {
      throw new Error('other')
    }),
    /other/,
  )
})

const steps = (backoff: Backoff, count: number): number[] => {
  const delays: number[] = []
  for (let i = 0, current = backoff; i < count; i++) {
    const { delayMs, next } = backoffStep(current, half)
    delays.push(delayMs)
    current = next
  }
  return delays
}

test('Given duration, factor, jitter, steps, cap, then Step returns the values of the rule and condition calls ≤ steps.', async () => {
  const base = { durationMs: 1000, factor: 2, jitter: 0, steps: 3 }
  assert.deepEqual(steps(base, 5), [1000, 2000, 4000, 8000, 8000])
  assert.deepEqual(steps({ ...base, factor: 0 }, 3), [1000, 1000, 1000])
  assert.deepEqual(steps({ ...base, jitter: 1, steps: 0 }, 2), [1500, 1500])
  assert.deepEqual(steps({ ...base, steps: 10, capMs: 3000 }, 5), [1000, 2000, 3000, 3000, 3000])

  const clock = virtualClock(0)
  let calls = 0
  const waiting = exponentialBackoff(
    { clock, random: half },
    { ...base, steps: 10, capMs: 3000 },
    () => {
      calls++
      return false
    },
  ).catch((error: unknown) => error)
  await clock.advance(60_000)
  const error = await waiting
  assert.ok(error instanceof WaitTimeoutError)
  assert.equal(error.message, 'timed out waiting for the condition')
  // 1 s, then 2 s reaches the cap: that wait happens and nothing is tried after it.
  assert.equal(calls, 2)
})
