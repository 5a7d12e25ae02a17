import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '@gyropilot/runtime/testing'
import { EvictionTimers } from './eviction-timers.ts'

function timing() {
  const clock = testClock()
  const timers = new EvictionTimers(clock)
  const begun: string[] = []
  const ends: (() => void)[] = []
  /** Work that ends when the test says so. */
  const work = (name: string) => (): Promise<void> => {
    begun.push(name)
    return new Promise((resolve) => ends.push(resolve))
  }
  return { clock, timers, begun, work, end: () => ends.shift()!() }
}

test('without a delay it goes at once, else when that is over', async () => {
  const { clock, timers, begun, work } = timing()
  timers.start('a', '1', 0, work('a'))
  assert.deepEqual([begun, timers.pendingUid('a')], [['a'], undefined])
  timers.start('b', '2', 100, work('b'))
  assert.equal(timers.pendingUid('b'), '2')
  await clock.advance(99)
  assert.deepEqual(begun, ['a'])
  await clock.advance(1)
  assert.deepEqual([begun, timers.pendingUid('b')], [['a', 'b'], undefined])
})

test('a pod that waits or goes is not started again; another of its name takes the place of one that waits', async () => {
  const { clock, timers, begun, work } = timing()
  timers.start('a', '1', 100, work('first'))
  timers.start('a', '1', 0, work('again'))
  assert.deepEqual(begun, [])
  timers.start('a', '2', 50, work('other'))
  assert.equal(timers.pendingUid('a'), '2')
  await clock.advance(200)
  timers.start('a', '2', 0, work('again'))
  assert.deepEqual(begun, ['other'])
})

test('when it has gone the name is free again, unless another one has it by then', async () => {
  const { clock, timers, begun, work, end } = timing()
  timers.start('a', '1', 0, work('one'))
  end()
  await clock.advance(0)
  timers.start('a', '1', 0, work('two'))
  assert.deepEqual(begun, ['one', 'two'])
  timers.start('a', '2', 100, work('three'))
  end()
  await clock.advance(0)
  assert.equal(timers.pendingUid('a'), '2')
})

test('what waits can be cancelled, once; what goes cannot', async () => {
  const { clock, timers, begun, work } = timing()
  timers.start('a', '1', 100, work('a'))
  assert.deepEqual(
    [timers.cancel('a'), timers.cancel('a'), timers.cancel('b')],
    [true, false, false],
  )
  await clock.advance(100)
  timers.start('b', '2', 0, work('b'))
  assert.equal(timers.cancel('b'), false)
  assert.deepEqual(begun, ['b'])
})

test('at the end what waits is cancelled, what goes is waited for, and nothing is started any more', async () => {
  const { clock, timers, begun, work, end } = timing()
  timers.start('goes', '1', 0, work('goes'))
  timers.start('waits', '2', 100, work('waits'))
  let isOver = false
  const over = timers.shutDown().then(() => (isOver = true))
  timers.start('late', '3', 0, work('late'))
  await clock.advance(200)
  assert.deepEqual([begun, isOver], [['goes'], false])
  end()
  await over
})
