import { placeKey } from '../faults/schedule.ts'
import type { Schedule, ScheduleEntry } from '../faults/schedule.ts'

/**
 * The schedules with one fault less in which a later fault strikes in the stead of an earlier one of the same place. Leaving the
 * earlier out is not enough: a write that it undid is then not written again, and the later fault waits for it in vain.
 */
export function* inOnesStead(schedule: Schedule): Iterable<Schedule> {
  for (const [index, later] of schedule.entries()) {
    for (const earlier of schedule.slice(0, index)) {
      const moved = movedTo(earlier, later)
      if (moved === undefined) continue
      yield schedule.flatMap((entry) =>
        entry === earlier ? [moved] : entry === later ? [] : [entry],
      )
    }
  }
}

function movedTo(earlier: ScheduleEntry, later: ScheduleEntry): ScheduleEntry | undefined {
  if ('request' in earlier && 'request' in later) {
    const isSamePlace = placeKey(earlier.request) === placeKey(later.request)
    return isSamePlace ? { ...earlier, fault: later.fault } : undefined
  }
  if ('event' in earlier && 'event' in later) {
    const isSamePlace = placeKey(earlier.event) === placeKey(later.event)
    return isSamePlace ? { ...earlier, fault: later.fault } : undefined
  }
  return undefined
}
