import { settle } from '../system/settle.ts'
import { VirtualClock } from '../virtual-clock.ts'

/** A VirtualClock that stands at 2026-01-01T00:00:00Z unless told otherwise and settles by a turn of the event loop. */
export function virtualClock(startMs?: number): VirtualClock {
  return new VirtualClock(startMs === undefined ? { settle } : { settle, startMs })
}
