/**
 * Time, handed in. A component never asks the machine what time it is: it asks the Clock it was given, so that a whole
 * cluster can run on virtual time. Wall time and elapsed time are apart on purpose, because wall clocks jump.
 */

/** A pending call. Cancelling it after it fired, or twice, does nothing. */
export interface Timer {
  cancel(): void
}

/**
 * How long a turn may go on (`turnMs`) before what can wait waits for the next one: long enough to be worth a timer, short enough
 * that a lease is renewed and a socket read in between.
 */
export const TURN_MS = 10

/**
 * From here on timers that are due in the turn wait, too, and the next turn begins with one request (`TurnGate`). Work takes so long
 * at once only while V8 marks a large heap, thirty times as long as otherwise; before it, more and shorter turns would cost more than
 * they are worth.
 */
export const LONG_TURN_MS = 25

/** Time as it is handed in: a real clock in programs, a virtual one in tests and simulations. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch: for timestamps on objects and comparisons with them. May jump. */
  nowMs(): number
  /** Elapsed milliseconds from an arbitrary start, never going back: for durations, deadlines and lease checks. */
  monotonicMs(): number
  /**
   * How long the present turn of the event loop goes on, from the first time that somebody asked in it: while it does, no timer
   * fires and no socket is read. Work takes no time on a virtual clock: 0.
   */
  turnMs(): number
  /** Calls `callback` once after `delayMs` (values below 0 count as 0), never before they have passed and never before returning. */
  after(delayMs: number, callback: () => void): Timer
}

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const onAbort = (): void => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/**
 * Calls `callback` every `periodMs`, the first time after one period. A slow callback delays the next, they never pile up. One that
 * throws, throws into the clock, and is called again all the same.
 */
export function every(clock: Clock, periodMs: number, callback: () => void): Timer {
  let timer = clock.after(periodMs, tick)
  let cancelled = false
  function tick(): void {
    try {
      callback()
    } finally {
      if (!cancelled) timer = clock.after(periodMs, tick)
    }
  }
  return {
    cancel(): void {
      cancelled = true
      timer.cancel()
    },
  }
}

let lastSecond = NaN
let lastTime = ''

/** RFC 3339 in whole seconds, the form of metav1.Time: `2026-01-01T00:00:00Z`. Within one second it is the same text, kept once. */
export function formatTime(timeMs: number): string {
  const second = Math.floor(timeMs / 1000)
  if (second !== lastSecond) {
    // Parsed from itself, because a slice would keep the longer text alive.
    lastTime = JSON.parse(`"${new Date(second * 1000).toISOString().slice(0, 19)}Z"`)
    lastSecond = second
  }
  return lastTime
}

/** RFC 3339 with microseconds, the form of metav1.MicroTime: `2026-01-01T00:00:00.123000Z`. */
export function formatMicroTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000Z')
}
