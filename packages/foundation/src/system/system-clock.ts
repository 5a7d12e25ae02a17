import type { Clock, Timer } from '../clock.ts'

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** The machine's clock. Made once in a binary and handed down. Pending timers keep the process alive. */
export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now()
  }

  monotonicMs(): number {
    return performance.now()
  }

  after(delayMs: number, callback: () => void): Timer {
    // setTimeout wraps beyond 2^31-1 ms: long waits go in legs.
    let handle: NodeJS.Timeout
    const arm = (remainingMs: number): void => {
      handle =
        remainingMs > LONGEST_TIMEOUT_MS
          ? setTimeout(() => arm(remainingMs - LONGEST_TIMEOUT_MS), LONGEST_TIMEOUT_MS)
          : setTimeout(callback, Math.max(0, remainingMs))
    }
    arm(delayMs)
    return { cancel: () => clearTimeout(handle) }
  }
}
