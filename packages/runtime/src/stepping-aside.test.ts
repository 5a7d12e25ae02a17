import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { SteppingAside } from './stepping-aside.ts'
import { testClock } from './testing/index.ts'
import { runWorkers } from './workers.ts'
import { WorkQueue } from './workqueue/queue.ts'

/** Workers whose work on each key notes when it begins, steps aside, and notes when it goes on. */
function working(count: number, options: { readonly fails?: string } = {}) {
  const clock = testClock()
  const queue = new WorkQueue({ clock })
  const aside = new SteppingAside(queue)
  const stop = new AbortController()
  stop.signal.addEventListener('abort', () => queue.shutDown())
  const logger = new RecordingLogger()
  const worked: string[] = []
  let underWay = 0
  let most = 0
  const step = async (name: string): Promise<void> => {
    worked.push(name)
    most = Math.max(most, ++underWay)
    await sleep(clock, 10)
    underWay--
  }
  const running = runWorkers({
    count,
    clock,
    logger,
    signal: stop.signal,
    queue: aside,
    work: (item) =>
      aside.work(item, async (stepAside) => {
        await step(item.key)
        await stepAside()
        if (options.fails === item.key) throw new Error('a defect')
        await step(`${item.key}'`)
      }),
  })
  return { clock, queue, stop, logger, running, worked, most: () => most }
}

test('work that steps aside goes on when all that was ready has begun, in its order', async () => {
  const { clock, queue, worked, stop, running, most } = working(2)
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key)
  await clock.advance(100)
  assert.deepEqual(worked, ['a', 'b', 'c', 'd', 'e', "a'", "e'", "b'", "c'", "d'"])
  assert.equal(most(), 2)
  stop.abort()
  await running
})

test('it does not wait for keys that come later', async () => {
  const { clock, queue, worked, stop, running } = working(1)
  queue.add('a')
  queue.add('b')
  await clock.advance(10)
  for (const key of ['c', 'd']) queue.add(key)
  await clock.advance(100)
  assert.deepEqual(worked, ['a', 'b', "a'", 'c', 'd', "d'", "b'", "c'"])
  stop.abort()
  await running
})

test('with nothing ready it goes on at once', async () => {
  const { clock, queue, worked, stop, running } = working(1)
  queue.add('a')
  await clock.advance(10)
  assert.deepEqual(worked, ['a', "a'"])
  await clock.advance(10)
  stop.abort()
  await running
})

test('a key that is added while its work is aside comes again after it', async () => {
  const { clock, queue, worked, stop, running } = working(1)
  queue.add('a')
  queue.add('b')
  await clock.advance(15)
  queue.add('a')
  await clock.advance(100)
  assert.deepEqual(worked, ['a', 'b', "b'", "a'", 'a', "a'"])
  stop.abort()
  await running
})

test('a stop waits for what is aside, and nothing is left of it', async () => {
  const { clock, queue, worked, stop, running } = working(2)
  for (const key of ['a', 'b', 'c']) queue.add(key)
  await clock.advance(5)
  stop.abort()
  let ended = false
  void running.then(() => (ended = true))
  await clock.advance(100)
  assert.deepEqual([worked.toSorted(), ended], [['a', "a'", 'b', "b'", 'c', "c'"], true])
})

test('what fails after it stepped aside fails its worker of then, and gives the key back', async () => {
  const { clock, queue, worked, stop, running, logger } = working(1, { fails: 'a' })
  queue.add('a')
  queue.add('b')
  await clock.advance(2_000)
  queue.add('a')
  await clock.advance(2_000)
  assert.deepEqual(worked, ['a', 'b', "b'", 'a'])
  assert.deepEqual(logger.messages(), ['A worker failed', 'A worker failed'])
  stop.abort()
  await running
})
