import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../testing/index.ts'
import {
  BucketRateLimiter,
  ExponentialRateLimiter,
  FastSlowRateLimiter,
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
  defaultControllerRateLimiter,
  defaultItemRateLimiter,
  fixedRateLimiter,
} from './rate-limiters.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { RateLimitingQueue } from './rate-limiting-queue.ts'

const times = (limiter: RateLimiter, count: number, key = 'x') =>
  Array.from({ length: count }, () => limiter.whenMs(key))

test('Given base 1 ms and max 1 s, when When is called, then 1, 2, 4, 8, 16 ms; after Forget 1 ms again; keys independent.', () => {
  const limiter = new ExponentialRateLimiter(1, 1_000)
  assert.deepEqual(times(limiter, 5), [1, 2, 4, 8, 16])
  assert.equal(limiter.requeues('x'), 5)
  assert.equal(limiter.whenMs('y'), 1)
  limiter.forget('x')
  assert.equal(limiter.requeues('x'), 0)
  assert.equal(limiter.whenMs('x'), 1)
  assert.equal(limiter.whenMs('y'), 2)
})

test('Given 1000 calls without Forget, then max and never a negative delay.', () => {
  const delays = times(new ExponentialRateLimiter(5, 1000_000), 2_000)
  assert.ok(delays.every((ms) => ms >= 5 && ms <= 1000_000))
  assert.equal(delays.at(-1), 1000_000)
})

test("the controllers' backoff of one key is 5 ms doubling to 1000 s", async () => {
  const clock = testClock()
  const limiter = defaultControllerRateLimiter(clock)
  const delays = times(limiter, 19)
  assert.deepEqual(delays.slice(0, 3), [5, 10, 20])
  assert.equal(delays[17], 655_360)
  assert.equal(delays[18], 1000_000)
})

test('Given fast-slow 5 ms/10 s/3, then three fast, then slow.', () => {
  const limiter = new FastSlowRateLimiter(5, 10_000, 3)
  assert.deepEqual(times(limiter, 5), [5, 5, 5, 10_000, 10_000])
  assert.equal(limiter.requeues('x'), 5)
  limiter.forget('x')
  assert.equal(limiter.whenMs('x'), 5)
})

test('Given max-of, then the larger delay counts and all members counted.', () => {
  const fastSlow = new FastSlowRateLimiter(5, 3_000, 3)
  const exponential = new ExponentialRateLimiter(1, 1_000)
  const limiter = new MaxOfRateLimiter(fastSlow, exponential)
  assert.deepEqual(times(limiter, 4), [5, 5, 5, 3_000])
  assert.equal(exponential.requeues('x'), 4)
  assert.equal(limiter.requeues('x'), 4)
  limiter.forget('x')
  assert.equal(fastSlow.requeues('x') + exponential.requeues('x'), 0)
})

test('Given cap 500 s around a limiter that returns up to 1000 s, then 500 s; NumRequeues is the inner one.', () => {
  const inner = new ExponentialRateLimiter(1_000, 1000_000)
  const limiter = new WithMaxWaitRateLimiter(inner, 500_000)
  assert.equal(times(limiter, 20).at(-1), 500_000)
  assert.equal(limiter.requeues('x'), 20)
  limiter.forget('x')
  assert.equal(inner.requeues('x'), 0)
})

test('a bucket is shared by all keys, never refuses, and refills up to its burst', async () => {
  const clock = testClock()
  const limiter = new BucketRateLimiter(clock, 10, 100)
  for (let i = 0; i < 100; i++) assert.equal(limiter.whenMs(`key-${i}`), 0)
  assert.deepEqual(times(limiter, 3), [100, 200, 300])
  await clock.advance(1_000)
  assert.deepEqual(times(limiter, 8), [0, 0, 0, 0, 0, 0, 0, 100])
  await clock.advance(3600_000)
  assert.equal(times(limiter, 101).at(-1), 100, 'no more than the burst')
  assert.equal(limiter.requeues(), 0)
})

test('a reservation is spent even when the exponential delay is larger', () => {
  const clock = testClock()
  const bucket = new BucketRateLimiter(clock, 10, 1)
  const limiter = new MaxOfRateLimiter(new ExponentialRateLimiter(60_000, 60_000), bucket)
  assert.equal(limiter.whenMs('x'), 60_000)
  assert.equal(bucket.whenMs('y'), 100)
})

test('a fixed limiter always waits the same and always counts one', () => {
  const limiter = fixedRateLimiter(15_000)
  assert.deepEqual(times(limiter, 3), [15_000, 15_000, 15_000])
  assert.equal(limiter.requeues('x'), 1)
})

test('Given AddRateLimited three times, then NumRequeues 3, Forget gives 0.', async () => {
  const clock = testClock()
  const queue = new RateLimitingQueue({ clock })
  for (let i = 0; i < 3; i++) queue.addRateLimited('x')
  assert.equal(queue.requeues('x'), 3)
  queue.forget('x')
  assert.equal(queue.requeues('x'), 0)
  await clock.advance(5)
  assert.equal(queue.length, 1, 'forgetting takes nothing out')
})

test('over all keys controllers have 10 a second with a burst of 100', () => {
  const limiter = defaultControllerRateLimiter(testClock())
  const waits = Array.from({ length: 102 }, (_, i) => limiter.whenMs(`key-${i}`))
  assert.ok(waits.slice(0, 100).every((ms) => ms === 5))
  assert.deepEqual(waits.slice(100), [100, 200])
})

test('the default of a single item is 1 ms doubling to 1000 s', () => {
  const waits = times(defaultItemRateLimiter(), 21)
  assert.deepEqual([...waits.slice(0, 3), waits.at(-1)], [1, 2, 4, 1000_000])
})
