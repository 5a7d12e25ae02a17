import { VirtualClock, settle } from '@gyropilot/foundation'

/** A virtual clock for tests: `await clock.advance(0)` lets everything that is ready run dry. Starts 2026-01-01T00:00:00Z. */
export function testClock(startMs?: number): VirtualClock {
  return new VirtualClock({ startMs, settle })
}
