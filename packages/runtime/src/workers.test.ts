import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { WorkClock, testClock } from './testing/index.ts'
import { runWorkers } from './workers.ts'
import { WorkQueue } from './workqueue/queue.ts'

function working(count: number, work: (key: string) => Promise<void> | void, lookMs = 0) {
  const inner = testClock()
  const clock = new WorkClock(inner, lookMs)
  const logger = new RecordingLogger()
  const queue = new WorkQueue({ clock })
  const stop = new AbortController()
  stop.signal.addEventListener('abort', () => queue.shutDown())
  const { signal } = stop
  let ended = false
  const running = runWorkers({
    count,
    clock,
    logger,
    signal,
    queue,
    work: ({ key }) => work(key),
  }).then(() => (ended = true))
  return { inner, clock, logger, queue, stop, running, ended: () => ended }
}

test('work that throws is logged, its key is given back, and the worker goes on after a second', async () => {
  const worked: string[] = []
  const { inner, logger, queue, stop, running } = working(1, (key) => {
    worked.push(`${key} ${inner.monotonicMs()}`)
    if (worked.length === 1) throw new Error('a defect')
  })
  queue.add('a')
  queue.add('b')
  await inner.advance(500)
  queue.add('a')
  await inner.advance(1_500)
  assert.deepEqual(worked, ['a 0', 'b 1000', 'a 1000'])
  assert.deepEqual(logger.messages(), ['A worker failed'])
  stop.abort()
  await running
})

test('a worker that failed does not wait out its second when it is stopped', async () => {
  const { inner, queue, stop, running, ended } = working(1, () => {
    throw new Error('a defect')
  })
  queue.add('a')
  await inner.advance(500)
  stop.abort()
  await inner.advance(0)
  assert.ok(ended())
  await running
})

test('a key that is added while it is worked on comes again when it was given back', async () => {
  const work = Promise.withResolvers<void>()
  const worked: string[] = []
  const { inner, queue, stop, running } = working(2, (key) => {
    worked.push(key)
    return work.promise
  })
  queue.add('a')
  await inner.advance(0)
  queue.add('a')
  await inner.advance(0)
  assert.deepEqual(worked, ['a'])
  work.resolve()
  await inner.advance(0)
  assert.deepEqual(worked, ['a', 'a'])
  stop.abort()
  await running
})

test('the first item after a while is followed by a turn for others: what came of its writes is read before the next', async () => {
  const seen: string[] = []
  const { inner, queue, stop, running } = working(1, (key) => {
    seen.push(key)
    inner.after(0, () => seen.push(`after ${key}`))
  })
  await inner.advance(1_000)
  for (const key of ['a', 'b', 'c']) queue.add(key)
  await inner.advance(0)
  assert.deepEqual(seen, ['a', 'after a', 'b', 'c', 'after b', 'after c'])
  stop.abort()
  await running
})

test('all workers are waited for after the signal, and what is queued is handed out first', async () => {
  const works = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const worked: string[] = []
  const { inner, queue, stop, running, ended } = working(2, async (key) => {
    worked.push(key)
    await works[worked.length - 1]?.promise
  })
  for (const key of ['a', 'b', 'c']) queue.add(key)
  await inner.advance(0)
  stop.abort()
  works[0]!.resolve()
  await inner.advance(0)
  assert.deepEqual(worked, ['a', 'b', 'c'])
  assert.equal(ended(), false)
  works[1]!.resolve()
  await running
})

for (const count of [1, 20]) {
  test(`workers whose work waits for nothing give up their turn every 10 ms, all of them together: ${count}`, async () => {
    const world = working(count, () => world.clock.work(0.5))
    const { inner, clock, queue, stop, running } = world
    const sockets: number[] = []
    for (let number = 0; number < 1_000; number++) queue.add(String(number))
    // As sockets have it: behind all timers that are due.
    const poll = (): void => {
      sockets.push(clock.monotonicMs())
      if (queue.length > 0) inner.after(0, poll)
    }
    inner.after(0, poll)
    await inner.advance(0)
    assert.equal(queue.length, 0)
    assert.ok(clock.longestTurnMs <= 10 + 0.5 * count, `${clock.longestTurnMs} ms`)
    const waits = sockets.slice(1).map((ms, index) => ms - sockets[index]!)
    assert.ok(Math.max(...waits) <= 20 + count, String(waits))
    stop.abort()
    await running
  })
}
