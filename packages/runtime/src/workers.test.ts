import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { testClock } from './testing/index.ts'
import { runWorkers } from './workers.ts'

test('a worker that ends or fails is started again after a second, until the signal aborts', async () => {
  const clock = testClock()
  const logger = new RecordingLogger()
  const stop = new AbortController()
  const startsMs: number[] = []
  const running = runWorkers({
    count: 1,
    clock,
    logger,
    signal: stop.signal,
    async work() {
      startsMs.push(clock.monotonicMs())
      if (startsMs.length === 1) throw new Error('a defect')
    },
  })
  const firstMs = clock.monotonicMs()
  await clock.advance(2_000)
  assert.deepEqual(
    startsMs.map((ms) => ms - firstMs),
    [0, 1_000, 2_000],
  )
  assert.deepEqual(logger.messages(), ['A worker failed'])
  stop.abort()
  await running
})

test('all workers are waited for after the signal', async () => {
  const stop = new AbortController()
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const waiting = [...ends]
  let ended = false
  const running = runWorkers({
    count: 2,
    clock: testClock(),
    logger: new RecordingLogger(),
    signal: stop.signal,
    work: () => waiting.shift()!.promise,
  }).then(() => (ended = true))
  stop.abort()
  ends[0]!.resolve()
  await testClock().advance(0)
  assert.equal(ended, false)
  ends[1]!.resolve()
  await running
})
