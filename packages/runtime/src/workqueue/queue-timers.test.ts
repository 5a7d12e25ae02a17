/** What the queues that delay keys ask of the clock. Contract: docs/behaviour/runtime/workqueue.md, Delaying queue. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '@gyropilot/foundation'
import { testClock } from '../testing/index.ts'
import { DelayingQueue } from './delaying-queue.ts'
import { PriorityQueue } from './priority-queue.ts'

/** Counts timers that were asked for, and those that are left. */
function countingClock() {
  const inner = testClock()
  const pending = new Set<object>()
  const count = {
    asked: 0,
    get left() {
      return pending.size
    },
  }
  const clock: Clock = {
    nowMs: () => inner.nowMs(),
    monotonicMs: () => inner.monotonicMs(),
    turnMs: () => inner.turnMs(),
    after(delayMs, callback) {
      count.asked++
      const timer = inner.after(delayMs, () => {
        pending.delete(timer)
        callback()
      })
      pending.add(timer)
      return {
        cancel() {
          pending.delete(timer)
          timer.cancel()
        },
      }
    },
  }
  return { inner, clock, count }
}

for (const Queue of [DelayingQueue, PriorityQueue]) {
  test(`one timer is enough for all delayed keys, and a new one for a key that is due sooner: ${Queue.name}`, async () => {
    const { inner, clock, count } = countingClock()
    const queue = new Queue({ clock })
    for (const key of ['a', 'b', 'c']) queue.addAfter(key, 100)
    assert.deepEqual([count.asked, count.left], [1, 1])
    queue.addAfter('d', 50)
    assert.deepEqual([count.asked, count.left], [2, 1])
    await inner.advance(50)
    assert.equal(queue.take()?.key, 'd')
    assert.deepEqual([count.asked, count.left], [3, 1])
    queue.shutDown()
    assert.equal(count.left, 0)
  })
}
