import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../testing/index.ts'
import { DelayingQueue } from './delaying-queue.ts'
import { WorkQueue } from './queue.ts'
import { MAX_REASONS_PER_KEY } from './reasons.ts'

const queue = () => new WorkQueue({ clock: testClock() })
const turn = () => testClock().advance(0)

test('Given many producers and workers, when each item is added many times, then no item is at two workers at once and all finish.', async () => {
  const of = queue()
  const processing = new Set<string>()
  const finished = new Set<string>()
  const workers = Array.from({ length: 10 }, async () => {
    for (let item = await of.get(); item !== undefined; item = await of.get()) {
      assert.ok(!processing.has(item.key))
      processing.add(item.key)
      await turn()
      processing.delete(item.key)
      finished.add(item.key)
      of.done(item.key)
    }
  })
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 50; i++) of.add(`item-${i}`)
    if (round % 3 === 0) await turn()
  }
  of.shutDown()
  await Promise.all(workers)
  assert.equal(finished.size, 50)
})

test('Given x is processing, when x is added twice, then after Done x is handed out exactly once more.', async () => {
  const of = queue()
  of.add('x')
  assert.equal((await of.get())?.key, 'x')
  of.add('x')
  of.add('x')
  assert.equal(of.take(), undefined)
  of.done('x')
  assert.equal(of.take()?.key, 'x')
  of.done('x')
  assert.equal(of.take(), undefined)
})

test('Given x is queued, when added again, then Len stays 1.', () => {
  const of = queue()
  of.add('x')
  of.add('x')
  assert.equal(of.length, 1)
})

test('Given x is processing, when added several times, then Len stays 0 until Done, then 1.', () => {
  const of = queue()
  of.add('x')
  of.take()
  of.add('x')
  of.add('x')
  assert.equal(of.length, 0)
  of.done('x')
  assert.equal(of.length, 1)
})

test('Given queued items, when ShutDown, then they are still handed out and then Get reports shutdown.', async () => {
  const of = queue()
  of.add('a')
  of.add('b')
  of.shutDown()
  of.add('c')
  assert.equal((await of.get())?.key, 'a')
  assert.equal((await of.get())?.key, 'b')
  assert.equal(await of.get(), undefined)
})

test('a waiting Get is woken by ShutDown', async () => {
  const of = queue()
  const waiting = of.get()
  of.shutDown()
  assert.equal(await waiting, undefined)
})

test('an item made dirty while processing is processed once more after ShutDown', async () => {
  const of = queue()
  of.add('x')
  of.take()
  of.add('x')
  of.shutDown()
  of.done('x')
  assert.equal((await of.get())?.key, 'x')
})

async function drained(of: WorkQueue): Promise<{ ended: boolean }> {
  const state = { ended: false }
  void of.shutDownWithDrain().then(() => (state.ended = true))
  await turn()
  return state
}

test('Given an item in processing, when ShutDownWithDrain, then it blocks until Done.', async () => {
  const of = queue()
  of.add('x')
  of.take()
  const drain = await drained(of)
  assert.equal(drain.ended, false)
  of.done('x')
  await turn()
  assert.equal(drain.ended, true)
})

test('a drain waits for every item in processing, not for the first of them', async () => {
  const of = queue()
  of.add('x')
  of.add('y')
  of.take()
  of.take()
  const drain = await drained(of)
  of.done('x')
  await turn()
  assert.equal(drain.ended, false)
  of.done('y')
  await turn()
  assert.equal(drain.ended, true)
})

test('after a shutdown no timer of a delayed item is left, which would keep the process alive', () => {
  for (const end of ['shutDown', 'shutDownWithDrain'] as const) {
    const clock = testClock()
    let running = 0
    const counting = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after(delayMs: number, call: () => void) {
        running++
        const timer = clock.after(delayMs, call)
        return {
          cancel() {
            running--
            timer.cancel()
          },
        }
      },
    }
    const of = new DelayingQueue({ clock: counting as never })
    of.addAfter('x', 60_000)
    assert.equal(running, 1)
    void of[end]()
    assert.equal(running, 0)
  }
})

test('Given a blocked drain, when ShutDown, then the drain call returns.', async () => {
  const of = queue()
  of.add('x')
  of.take()
  const drain = await drained(of)
  of.shutDown()
  await turn()
  assert.equal(drain.ended, true)
})

test('Given a dirty item in processing at drain time, then it is processed again before the drain ends.', async () => {
  const of = queue()
  of.add('x')
  of.take()
  of.add('x')
  const drain = await drained(of)
  of.done('x')
  await turn()
  assert.equal(drain.ended, false)
  assert.equal(of.take()?.key, 'x')
  of.done('x')
  await turn()
  assert.equal(drain.ended, true)
})

test('both shutdowns may be repeated, and a drain without work ends at once', async () => {
  const of = queue()
  assert.equal((await drained(of)).ended, true)
  of.shutDown()
  of.shutDown()
  assert.equal((await drained(of)).ended, true)
})

test('reasons of a key are kept once each, only so many, and handed out with it', () => {
  const of = queue()
  of.add('x', { cause: 'add', object: 'pods a/b' })
  of.add('x', { cause: 'add', object: 'pods a/b' })
  of.add('x', { cause: 'update', object: 'pods a/b' })
  assert.deepEqual(of.take()?.reasons, [
    { cause: 'add', object: 'pods a/b' },
    { cause: 'update', object: 'pods a/b' },
  ])
  for (let i = 0; i < 100; i++) of.add('x', { cause: 'add', object: `pods a/${i}` })
  of.done('x')
  assert.equal(of.take()?.reasons.length, MAX_REASONS_PER_KEY)
})

const delaying = () => {
  const clock = testClock()
  return { clock, of: new DelayingQueue({ clock }) }
}

test('Given AddAfter 50 ms, when 60 ms pass, then Len is 1; not before.', async () => {
  const { clock, of } = delaying()
  of.addAfter('x', 50)
  await clock.advance(49)
  assert.equal(of.length, 0)
  await clock.advance(11)
  assert.equal(of.length, 1)
})

test('Given AddAfter 50 ms and 70 ms of one item, then one hand-out at 50 ms and none at 70 ms; given 50 ms then 30 ms, then it is due at 30 ms.', async () => {
  const { clock, of } = delaying()
  of.addAfter('x', 50)
  of.addAfter('x', 70)
  await clock.advance(50)
  assert.equal(of.take()?.key, 'x')
  of.done('x')
  await clock.advance(100)
  assert.equal(of.length, 0)
  of.addAfter('x', 50)
  of.addAfter('x', 30)
  await clock.advance(30)
  assert.equal(of.take()?.key, 'x')
  of.done('x')
  await clock.advance(100)
  assert.equal(of.length, 0)
})

test('Given a then b with AddAfter 1 s and 50 ms, then b comes first.', async () => {
  const { clock, of } = delaying()
  of.addAfter('a', 1_000)
  of.addAfter('b', 50)
  await clock.advance(50)
  assert.equal(of.take()?.key, 'b')
  assert.equal(of.length, 0)
  await clock.advance(950)
  assert.equal(of.take()?.key, 'a')
})

test('many delayed items come in the order of their times', async () => {
  const { clock, of } = delaying()
  for (const ms of [500, 100, 300, 400, 200]) of.addAfter(`at-${ms}`, ms)
  await clock.advance(1_000)
  const order = []
  for (let item = of.take(); item !== undefined; item = of.take()) order.push(item.key)
  assert.deepEqual(order, ['at-100', 'at-200', 'at-300', 'at-400', 'at-500'])
})

test('an immediate add and a waiting one of the same key are two hand-outs', async () => {
  const { clock, of } = delaying()
  of.addAfter('x', 5_000)
  of.add('x')
  assert.equal(of.take()?.key, 'x')
  of.done('x')
  await clock.advance(5_000)
  assert.equal(of.take()?.key, 'x')
})

test('a delay of zero or less is an add at once', () => {
  const { of } = delaying()
  of.addAfter('x', 0)
  of.addAfter('y', -1)
  assert.equal(of.length, 2)
})

test('a delay that is no number is an add at once, and holds up nobody', async () => {
  const { clock, of } = delaying()
  of.addAfter('x', 50)
  of.addAfter('y', NaN)
  assert.equal(of.take()?.key, 'y')
  await clock.advance(50)
  assert.equal(of.take()?.key, 'x')
})

test('delayed items are lost at shutdown, also with a drain', async () => {
  for (const how of ['shutDown', 'shutDownWithDrain'] as const) {
    const { clock, of } = delaying()
    of.addAfter('x', 50)
    void of[how]()
    await clock.advance(100)
    assert.equal(of.length, 0)
    assert.equal(await of.get(), undefined)
  }
})

test('the order is replaceable: push only for keys that are not queued, touch for adds of waiting ones, length and pop', async () => {
  const calls: string[] = []
  const stack: string[] = []
  const queue = new WorkQueue({
    clock: testClock(),
    order: {
      get length() {
        return stack.length
      },
      push(key) {
        calls.push(`push ${key}`)
        stack.push(key)
      },
      pop: () => stack.pop(),
      touch: (key) => void calls.push(`touch ${key}`),
    },
  })
  queue.add('a')
  queue.add('b')
  queue.add('a')
  assert.equal(queue.length, 2)
  assert.equal((await queue.get())?.key, 'b', 'last come, first served')
  queue.add('b')
  queue.add('b')
  assert.deepEqual(calls, ['push a', 'push b', 'touch a'], 'a key at a worker is not touched')
  queue.done('b')
  assert.deepEqual(calls.slice(3), ['push b'])
  assert.deepEqual([queue.take()?.key, queue.take()?.key, queue.take()?.key], ['b', 'a', undefined])
})

test('a waiter whose key was taken before its turn waits for the next', async () => {
  const of = queue()
  const waiting = of.get()
  await turn()
  of.add('x')
  assert.equal(of.take()?.key, 'x')
  await turn()
  of.add('y')
  assert.equal((await waiting)?.key, 'y')
})

test('keys that are due at one moment are added in the order in which they were delayed, a second delay of the same end changes nothing', async () => {
  const clock = testClock()
  const of = new DelayingQueue({ clock })
  const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
  for (const key of keys) of.addAfter(key, 10, { cause: 'retry' })
  of.addAfter('key-0', 10, { cause: 'add' })
  await clock.advance(10)
  const taken = keys.map(() => of.take()!)
  assert.deepEqual(
    taken.map(({ key }) => key),
    keys,
  )
  assert.deepEqual(taken[0]!.reasons, [{ cause: 'retry' }])
})
