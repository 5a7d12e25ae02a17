import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { virtualClock } from '@gyropilot/foundation/testing'
import { TokenBucket, noRateLimit, rateLimiterFor } from './rate-limit.ts'

test('Given qps 1 burst 3, then three at once and the fourth not.', async () => {
  const clock = virtualClock()
  const bucket = new TokenBucket({ qps: 1, burst: 3, clock })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.tryAccept()),
    [true, true, true, false],
  )
  await clock.advance(1000)
  assert.equal(bucket.tryAccept(), true)
  assert.equal(bucket.tryAccept(), false)
})

test('waiters are served in their order, one per 1/qps, and the bucket never holds more than burst', async () => {
  const clock = virtualClock(0)
  const bucket = new TokenBucket({ qps: 10, burst: 2, clock })
  await clock.advance(60_000)
  const served: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    void Promise.resolve(bucket.wait()).then(() => served.push(`${name}@${clock.nowMs() - 60_000}`))
  }
  await clock.advance(1000)
  assert.deepEqual(served, ['a@0', 'b@0', 'c@100', 'd@200', 'e@300'])
})

test('what was used comes back at qps a second', async () => {
  const clock = virtualClock(0)
  const bucket = new TokenBucket({ qps: 10, burst: 2, clock })
  assert.deepEqual([bucket.wait(), bucket.wait()], [0, 0])
  await clock.advance(100)
  assert.equal(bucket.wait(), 0)
  const controller = new AbortController()
  const waiting = bucket.wait(controller.signal) as Promise<number>
  await clock.advance(50)
  controller.abort()
  await assert.rejects(waiting)
  // Half of a token came meanwhile, and who gave up has used none.
  assert.equal(bucket.tryAccept(), false)
  await clock.advance(50)
  assert.deepEqual([bucket.tryAccept(), bucket.tryAccept()], [true, false])
})

test('a waiter that gives up gives its token back', async () => {
  const clock = virtualClock()
  const bucket = new TokenBucket({ qps: 1, burst: 1, clock })
  assert.equal(bucket.wait(), 0)
  const controller = new AbortController()
  const waiting = bucket.wait(controller.signal) as Promise<number>
  controller.abort('enough')
  await assert.rejects(waiting, (reason) => reason === 'enough')
  await clock.advance(1000)
  assert.equal(bucket.wait(), 0)
})

test('negative qps is no limit, 0 the default of 5 and 10, positive qps needs a burst', async () => {
  const clock = virtualClock()
  assert.equal(rateLimiterFor(clock, -1), noRateLimit)
  const standard = rateLimiterFor(clock)
  for (let i = 0; i < 10; i++) assert.equal(standard.wait(), 0)
  const next = standard.wait()
  await clock.advance(200)
  assert.equal(await next, 200)
  assert.equal(rateLimiterFor(clock, 0.5, 1).wait(), 0)
  assert.throws(
    () => rateLimiterFor(clock, 0.5, 0),
    (error) =>
      error instanceof GyropilotError &&
      error.code === 'RATE_LIMIT_INVALID' &&
      error.message ===
        'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0',
  )
})
