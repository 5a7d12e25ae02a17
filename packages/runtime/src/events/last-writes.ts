import { untilAborted, withDeadline } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

/** What is queued when a process ends has so long: no process outlives a slow server or its own rate limit for its events. */
const LAST_WRITES_MS = 500

/** Waits for `writing` that long; whether it ended. Rejects never, if `writing` does not. */
export async function lastWrites(
  writing: Promise<void> | undefined,
  clock: Clock,
): Promise<boolean> {
  if (writing === undefined) return true
  using limit = withDeadline(clock, LAST_WRITES_MS)
  return await untilAborted(
    writing.then(() => true),
    limit.signal,
  ).catch(() => false)
}
