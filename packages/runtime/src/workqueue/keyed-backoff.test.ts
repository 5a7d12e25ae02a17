import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { testClock } from '../testing/index.ts'
import { KeyedBackoff } from './keyed-backoff.ts'

test('Given repeated failures, then backoff doubles to the cap; quiet for more than 2 × max, then starts again.', async () => {
  const clock = testClock()
  const backoff = new KeyedBackoff(clock, 1_000, 50_000)
  const seen: number[] = []
  for (let i = 0; i < 8; i++) {
    backoff.next('x')
    seen.push(backoff.currentMs('x'))
    await clock.advance(1_000)
  }
  assert.deepEqual(seen, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000, 50_000])
  await clock.advance(99_000)
  backoff.next('x')
  assert.equal(backoff.currentMs('x'), 50_000, 'after exactly 2 × max it still counts')
  await clock.advance(100_001)
  backoff.next('x')
  assert.equal(backoff.currentMs('x'), 1_000)
})

test('an id is in backoff until its wait has passed since the last failure', async () => {
  const clock = testClock()
  const backoff = new KeyedBackoff(clock, 1_000, 50_000)
  assert.equal(backoff.isInBackoff('x'), false)
  backoff.next('x')
  await clock.advance(999)
  assert.equal(backoff.isInBackoff('x'), true)
  await clock.advance(1)
  assert.equal(backoff.isInBackoff('x'), false)
})

test('entries are removed by garbage collection and reset only', async () => {
  const clock = testClock()
  const backoff = new KeyedBackoff(clock, 1_000, 2_000)
  backoff.next('x')
  backoff.next('y')
  await clock.advance(4_000)
  backoff.collectGarbage()
  assert.equal(backoff.currentMs('x'), 1_000)
  backoff.reset('y')
  assert.equal(backoff.currentMs('y'), 0)
  await clock.advance(1)
  backoff.collectGarbage()
  assert.equal(backoff.currentMs('x'), 0)
})

test('jitter adds up to factor times the wait', () => {
  const backoff = new KeyedBackoff(testClock(), 1_000, 50_000, {
    random: new SeededRandom('j'),
    factor: 0.5,
  })
  const waits = Array.from({ length: 50 }, (_, i) => {
    backoff.next(`id-${i}`)
    return backoff.currentMs(`id-${i}`)
  })
  assert.ok(waits.every((ms) => ms >= 1_000 && ms < 1_500))
  assert.ok(new Set(waits).size > 40)
})

test('jitter is a share of the first wait, and of each one before it is doubled', () => {
  const random: RandomSource = { next: () => 0.5, fork: () => random }
  const backoff = new KeyedBackoff(testClock(), 1_000, 50_000, { random, factor: 0.2 })
  const waits = [1, 2].map(() => {
    backoff.next('x')
    return backoff.currentMs('x')
  })
  assert.deepEqual(waits, [1_100, 2_310])
})
