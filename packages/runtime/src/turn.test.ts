import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkClock, testClock } from './testing/index.ts'
import { Turn, inTurns } from './turn.ts'

test('a turn is given up after 10 ms, and a new one starts then', async () => {
  const clock = testClock()
  const turn = new Turn(clock)
  await clock.advance(9)
  assert.equal(turn.yieldIfLong(), undefined)
  await clock.advance(1)
  const yielding = turn.yieldIfLong()
  assert.ok(yielding)
  await clock.advance(0)
  await yielding
  assert.equal(turn.yieldIfLong(), undefined)
})

test('who asks while the turn is being given up waits for the same', async () => {
  const clock = testClock()
  const turn = new Turn(clock)
  await clock.advance(10)
  const yielding = turn.yieldIfLong()
  assert.ok(yielding)
  assert.equal(turn.yieldIfLong(), yielding)
  await clock.advance(0)
  await yielding
  await clock.advance(10)
  assert.notEqual(turn.yieldIfLong(), yielding)
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
