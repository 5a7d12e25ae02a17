/**
 * How long ago something was, asked of both clocks of a machine. Neither is enough for a lease: the monotonic clock of Linux
 * stands still while the machine is asleep, and the wall clock may be set at any time.
 */
import type { Clock } from '@gyropilot/foundation'

export interface Moment {
  readonly monotonicMs: number
  readonly wallMs: number
}

/** Two readings of two clocks are never quite the same. A wall clock that fell behind by more was set back. */
const TOLERANCE_MS = 1_000

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() }
}

/**
 * Whether less than `durationMs` have surely passed since. False when either clock says otherwise, and when the wall clock was
 * set back meanwhile: what the machine slept can no longer be told then.
 */
export function isWithin(since: Moment, durationMs: number, clock: Clock): boolean {
  const elapsedMs = clock.monotonicMs() - since.monotonicMs
  const wallElapsedMs = clock.nowMs() - since.wallMs
  if (wallElapsedMs < elapsedMs - TOLERANCE_MS) return false
  return Math.max(elapsedMs, wallElapsedMs) < durationMs
}
