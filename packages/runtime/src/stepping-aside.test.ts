import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, integerBetween, sleep } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { SteppingAside } from './stepping-aside.ts'
import { testClock } from './testing/index.ts'
import { runWorkers } from './workers.ts'
import { WorkQueue } from './workqueue/queue.ts'

const STEP_MS = 10

interface Working {
  /** Of the answer that each key's work waits for. */
  readonly answerMs?: number | (() => number)
  /** The answer of this key is a failure, and its work throws after it. */
  readonly fails?: string
}

/** Workers whose work on each key notes when it begins, waits for an answer aside, and notes when it goes on. */
function working(count: number, { answerMs = 0, fails }: Working = {}) {
  const clock = testClock()
  const queue = new WorkQueue({ clock })
  const aside = new SteppingAside(queue, count)
  const given: string[] = []
  const done = queue.done.bind(queue)
  queue.done = (key) => {
    given.push(key)
    done(key)
  }
  const stop = new AbortController()
  stop.signal.addEventListener('abort', () => queue.shutDown())
  const logger = new RecordingLogger()
  const worked: string[] = []
  const most = { underWay: 0, awaited: 0 }
  let underWay = 0
  let awaited = 0
  const step = async (name: string): Promise<void> => {
    worked.push(name)
    most.underWay = Math.max(most.underWay, ++underWay)
    await sleep(clock, STEP_MS)
    underWay--
  }
  const answerOf = async (key: string): Promise<void> => {
    most.awaited = Math.max(most.awaited, ++awaited)
    const takesMs = typeof answerMs === 'number' ? answerMs : answerMs()
    if (takesMs > 0) await sleep(clock, takesMs)
    awaited--
    if (fails === key) throw new Error('no answer')
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
        await stepAside(answerOf(item.key))
        if (fails === item.key) throw new Error('a defect')
        await step(`${item.key}'`)
      }),
  })
  const add = (...keys: string[]): void => keys.forEach((key) => queue.add(key))
  const now = () => ({ underWay, awaited, ready: queue.length })
  return { clock, add, stop, logger, running, worked, most, given, now }
}

test('work goes on when its answer has come and all that was ready then has begun, in the order of the answers', async () => {
  const { clock, add, worked, stop, running, most, given } = working(2)
  add('a', 'b', 'c', 'd', 'e')
  await clock.advance(100)
  assert.deepEqual(worked, ['a', 'b', 'c', 'd', 'e', "a'", "b'", "c'", "d'", "e'"])
  assert.equal(most.underWay, 2)
  assert.deepEqual(given, ['a', 'b', 'c', 'd', 'e'], 'each key is given back once, at the end')
  stop.abort()
  await running
})

test('its worker takes the next key while the answer is awaited: three answers more for each worker', async () => {
  const { clock, add, worked, stop, running, most } = working(2, { answerMs: 1_000 })
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`)
  add(...keys)
  await clock.advance(100)
  assert.deepEqual(worked, keys.slice(0, 8))
  await clock.advance(20_000)
  assert.deepEqual(worked.slice(0, 20), keys)
  assert.deepEqual(worked.slice(20).toSorted(), keys.map((key) => `${key}'`).toSorted())
  assert.deepEqual(most, { underWay: 2, awaited: 8 })
  stop.abort()
  await running
})

test('an answer that comes while the workers wait for keys has a worker at once, and so has a key', async () => {
  const { clock, add, worked, stop, running } = working(1, { answerMs: 50 })
  add('a', 'b')
  await clock.advance(59)
  assert.deepEqual(worked, ['a', 'b'])
  await clock.advance(1)
  assert.deepEqual(worked, ['a', 'b', "a'"])
  await clock.advance(10)
  assert.deepEqual(worked, ['a', 'b', "a'", "b'"])
  add('c', 'd', 'e')
  await clock.advance(32)
  assert.deepEqual(worked.slice(4), ['c', 'd', 'e'])
  stop.abort()
  await clock.advance(1_000)
  await running
  assert.equal(worked.length, 10)
})

test('a key that comes while the workers have nothing but answers to wait for is begun at once', async () => {
  const { clock, add, worked, stop, running } = working(2, { answerMs: 1_000 })
  add('a', 'b', 'c', 'd')
  await clock.advance(500)
  add('late')
  await clock.advance(1)
  assert.equal(worked.at(-1), 'late')
  await clock.advance(5_000)
  assert.equal(worked.length, 10)
  stop.abort()
  await running
})

test('many keys that come at once while answers are awaited have all workers', async () => {
  const { clock, add, worked, stop, running, most } = working(4, { answerMs: 1_000 })
  add('a', 'b')
  await clock.advance(500)
  add('c', 'd', 'e', 'f')
  await clock.advance(1)
  assert.deepEqual(worked.slice(2), ['c', 'd', 'e', 'f'])
  await clock.advance(5_000)
  assert.deepEqual([worked.length, most.underWay], [12, 4])
  stop.abort()
  await running
})

for (const count of [1, 2, 3, 5])
  test(`when all answers have come, ${count} workers take keys again, and end`, async () => {
    const { clock, add, worked, stop, running, most } = working(count, { answerMs: 30 })
    for (let round = 0; round < 3; round++) {
      add(...Array.from({ length: round + 2 }, (_, index) => `${round}-${index}`))
      await clock.advance(1_000)
    }
    most.underWay = 0
    const keys = Array.from({ length: count }, (_, index) => `k${index}`)
    add(...keys)
    await clock.advance(1)
    assert.deepEqual([worked.slice(-count), most.underWay], [keys, count])
    await clock.advance(1_000)
    stop.abort()
    let ended = false
    void running.then(() => (ended = true))
    await clock.advance(0)
    assert.equal(ended, true)
  })

test('it does not wait for keys that come later', async () => {
  const { clock, add, worked, stop, running } = working(1)
  add('a', 'b')
  await clock.advance(10)
  add('c', 'd')
  await clock.advance(100)
  assert.deepEqual(worked, ['a', 'b', "a'", 'c', 'd', "b'", "c'", "d'"])
  stop.abort()
  await running
})

test('with nothing ready it goes on at once', async () => {
  const { clock, add, worked, stop, running } = working(1)
  add('a')
  await clock.advance(10)
  assert.deepEqual(worked, ['a', "a'"])
  await clock.advance(10)
  stop.abort()
  await running
})

test('a key that is added while its work is aside comes again after it', async () => {
  const { clock, add, worked, stop, running } = working(1, { answerMs: 5 })
  add('a', 'b')
  await clock.advance(12)
  add('a')
  await clock.advance(200)
  assert.deepEqual(
    worked.filter((name) => name.startsWith('a')),
    ['a', "a'", 'a', "a'"],
  )
  stop.abort()
  await running
})

for (const answerMs of [0, 300])
  test(`a stop waits for what is aside and for answers of ${answerMs} ms, and nothing is left of it`, async () => {
    const { clock, add, worked, stop, running } = working(2, { answerMs })
    add('a', 'b', 'c')
    await clock.advance(25)
    stop.abort()
    let ended = false
    void running.then(() => (ended = true))
    await clock.advance(answerMs)
    await clock.advance(100)
    assert.deepEqual([worked.toSorted(), ended], [['a', "a'", 'b', "b'", 'c', "c'"], true])
  })

test('what fails after it stepped aside fails its worker of then, and gives the key back', async () => {
  const { clock, add, worked, stop, running, logger } = working(1, { fails: 'a' })
  add('a', 'b')
  await clock.advance(2_000)
  add('a')
  await clock.advance(2_000)
  assert.deepEqual(worked, ['a', 'b', "b'", 'a'])
  assert.deepEqual(logger.messages(), ['A worker failed', 'A worker failed'])
  stop.abort()
  await running
})

test('whenever keys and answers come: no worker rests while a key is ready, every key is worked on once, and the end comes', async () => {
  for (let seed = 0; seed < 100; seed++) {
    const random = new SeededRandom(`stepping aside ${seed}`)
    const chance = (most: number): number => integerBetween(random, 0, most)
    const count = 1 + chance(4)
    const world = working(count, { answerMs: () => (chance(2) === 0 ? 0 : chance(80)) })
    let added = 0
    for (let moment = 0; moment < 60; moment++) {
      if (chance(3) === 0)
        world.add(...Array.from({ length: chance(count * 3) }, () => `k${added++}`))
      await world.clock.advance(chance(15))
      const { underWay, awaited, ready } = world.now()
      // Beyond three answers for each a worker waits itself.
      if (awaited === 0) world.most.awaited = 0
      const rests = ready > 0 && underWay < count && world.most.awaited <= count * 3
      assert.equal(rests, false, `seed ${seed}, moment ${moment}: ${underWay} of ${count} work`)
    }
    if (chance(1) === 0) await world.clock.advance(10_000)
    world.stop.abort()
    let ended = false
    void world.running.then(() => (ended = true))
    await world.clock.advance(10_000)
    const names = Array.from({ length: added }, (_, index) => `k${index}`)
    assert.equal(ended, true, `seed ${seed}: the workers have not ended`)
    assert.deepEqual(world.given.toSorted(), names.toSorted(), `seed ${seed}`)
    assert.equal(world.worked.length, added * 2, `seed ${seed}`)
    assert.ok(world.most.underWay <= count, `seed ${seed}: more work than workers`)
  }
})
