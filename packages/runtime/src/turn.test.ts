import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkClock, testClock } from './testing/index.ts'
import { inTurns, yieldIfLong } from './turn.ts'

test('a turn is given up when it has gone on for 10 ms, and there is time in the next', async () => {
  const inner = testClock()
  const clock = new WorkClock(inner)
  clock.work(9.9)
  assert.equal(yieldIfLong(clock), undefined)
  clock.work(0.1)
  const yielding = yieldIfLong(clock)
  assert.ok(yielding)
  await inner.advance(0)
  await yielding
  assert.equal(yieldIfLong(clock), undefined)
})

test('time that passed without work is no reason to give the turn up', async () => {
  const inner = testClock()
  const clock = new WorkClock(inner)
  await inner.advance(60_000)
  assert.equal(yieldIfLong(clock), undefined)
})

/** `count` loops that wait for the next turn, each with `pieces` of 4 ms to do; answers in which order they worked. */
async function loopsSideBySide(count: number, pieces: number) {
  const inner = testClock()
  const clock = new WorkClock(inner)
  const worked: number[] = []
  clock.work(10)
  const loop = async (number: number): Promise<void> => {
    for (let piece = 0; piece < pieces; piece++) {
      await yieldIfLong(clock)
      clock.work(4)
      worked.push(number)
    }
  }
  const all = Promise.all(Array.from({ length: count }, (_, number) => loop(number)))
  clock.longestTurnMs = 0
  await inner.advance(0)
  await all
  return { worked, longestTurnMs: clock.longestTurnMs }
}

test('loops that were woken do not take the same turn one after the other: it ends with the piece that takes it beyond 10 ms', async () => {
  const { worked, longestTurnMs } = await loopsSideBySide(20, 10)
  assert.equal(worked.length, 200)
  assert.equal(longestTurnMs, 12)
})

test('loops go on in the order in which they gave the turn up, and none is left behind', async () => {
  const { worked } = await loopsSideBySide(10, 30)
  const did = new Map<number, number>()
  for (const number of worked) {
    did.set(number, (did.get(number) ?? 0) + 1)
    const least = Math.min(...Array.from({ length: 10 }, (_, at) => did.get(at) ?? 0))
    assert.ok(did.get(number)! - least <= 4, `${number} is ahead`)
  }
})

test('loops of different clocks wait for their own', async () => {
  const one = testClock()
  const other = testClock()
  const busy = new WorkClock(one)
  busy.work(20)
  const yielding = yieldIfLong(busy)!
  let isOver = false
  void yielding.then(() => (isOver = true))
  await other.advance(1_000)
  assert.ok(!isOver)
  assert.equal(yieldIfLong(new WorkClock(other)), undefined)
  await one.advance(0)
  await yielding
})

test('items are worked on in order, in as many turns as it takes, with a look at the time after 64 of them', async () => {
  const inner = testClock()
  const clock = new WorkClock(inner)
  const items = Array.from({ length: 200 }, (_, index) => index)
  const worked: number[] = []
  const before: number[] = []
  const look = (): void => {
    before.push(worked.length)
    if (worked.length < items.length) inner.after(0, look)
  }
  inner.after(0, look)
  const working = inTurns(clock, items, (item) => {
    clock.work(0.5)
    worked.push(item)
  })
  await inner.advance(0)
  await working
  assert.deepEqual(worked, items)
  assert.deepEqual([...new Set(before)], [64, 128, 192, 200])
})

test('few items, and those whose work takes no time, are worked on at once', async () => {
  const clock = testClock()
  const worked: number[] = []
  await inTurns(clock, [1, 2, 3], (item) => void worked.push(item))
  await inTurns(clock, Array.from({ length: 500 }).keys(), (item) => void worked.push(item))
  assert.equal(worked.length, 503)
})
