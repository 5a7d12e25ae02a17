import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { ProcessClock } from './process-clock.ts'

/** A world in which nothing else happens: a timer fires where it is set. */
function emptyWorld(): Clock & { elapse(byMs: number): void } {
  let elapsedMs = 0
  return {
    monotonicMs: () => elapsedMs,
    nowMs: () => elapsedMs,
    turnMs: () => 0,
    elapse: (byMs) => void (elapsedMs += byMs),
    after(delayMs, callback) {
      elapsedMs = Math.max(elapsedMs, elapsedMs + delayMs)
      callback()
      return { cancel() {} }
    },
  }
}

test('who waits for a moment of a clock that has slept gets there, however times are rounded', () => {
  const random = new SeededRandom('rounding')
  // Divided: what the source draws has few digits, and nothing would be rounded.
  const fraction = (): number => random.next() / 3
  for (let round = 0; round < 10_000; round++) {
    const world = emptyWorld()
    const clock = new ProcessClock(world, { pass: (_, run) => run(), isGone: false })
    // The world's time is beyond a power of two and the own one is not: the own one is finer.
    world.elapse(2 ** 16 - 10_000 * fraction())
    clock.suspend()
    world.elapse(20_000 + fraction())
    clock.wake()
    const untilMs = clock.monotonicMs() + fraction()
    let waits = 0
    const wait = (): void => {
      const leftMs = untilMs - clock.monotonicMs()
      if (leftMs > 0 && ++waits < 10) clock.after(leftMs, wait)
    }
    wait()
    assert.ok(waits <= 2, `round ${round}: ${waits} waits`)
  }
})
