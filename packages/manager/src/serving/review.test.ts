/** Contract: docs/behaviour/runtime/manager.md, Serving, Authorization: review clients. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '@gyropilot/client'
import { silentMetrics } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { statusError, testClock } from '@gyropilot/runtime/testing'
import { AuthMetrics } from './auth-metrics.ts'
import { review } from './review.ts'

/** Draws one number for ever. */
function drawing(number: number): RandomSource {
  const random: RandomSource = { next: () => number, fork: () => random }
  return random
}

/** When the cluster was asked, and what came of it. */
async function reviewed(answer: (signal: AbortSignal) => Promise<unknown>, drawn = 0) {
  const clock = testClock()
  const startMs = clock.monotonicMs()
  const askedMs: number[] = []
  const client = {
    raw: ({ signal }: { signal: AbortSignal }) => {
      askedMs.push(clock.monotonicMs() - startMs)
      return answer(signal)
    },
  } as unknown as Client
  const metrics = new AuthMetrics(clock, silentMetrics)
  const world = { clock, random: drawing(drawn), metrics }
  const request = { purpose: 'authz', path: '/', json: {} } as const
  const answered = review(world, client, request).then(
    () => 'answered',
    (error: Error) => error.message,
  )
  let endMs = -1
  void answered.then(() => (endMs = clock.monotonicMs() - startMs))
  await clock.advance(60_000)
  return { askedMs, outcome: await answered, endMs }
}

const refusing = (code: number) => () => Promise.reject(statusError(code, '', `code ${code}`))

for (const code of [429, 500, 504])
  test(`a review that ends with ${code} is tried five times, half a second apart and half as much more each time`, async () => {
    const { askedMs, outcome } = await reviewed(refusing(code))
    assert.deepEqual(askedMs, [0, 500, 1_250, 2_375, 4_062.5])
    assert.equal(outcome, `code ${code}`)
  })

test('the waits are up to a fifth longer by chance', async () => {
  const { askedMs } = await reviewed(refusing(500), 0.5)
  assert.deepEqual(askedMs.slice(0, 3), [0, 550, 1_375])
})

for (const code of [401, 403, 409, 503])
  test(`a review that ends with ${code} is not tried again`, async () => {
    const { askedMs } = await reviewed(refusing(code))
    assert.deepEqual(askedMs, [0])
  })

test('a review without an answer ends after ten seconds', async () => {
  const { askedMs, endMs } = await reviewed(
    (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      ),
  )
  assert.deepEqual([askedMs, endMs], [[0], 10_000])
})
