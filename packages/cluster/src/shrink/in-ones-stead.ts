import { deepEqual } from '@gyropilot/api'
import { placeKey } from '../faults/schedule.ts'
import type { Schedule, ScheduleEntry } from '../faults/schedule.ts'

/**
 * The schedules with one fault less in which a later fault strikes in the stead of an earlier one of the same place. Leaving the
 * earlier out is not enough: a write that it undid is then not written again, and the later fault waits for it in vain. Where they
 * struck different requests of their bursts, the later one is tried at its own and at the earlier one's.
 */
export function* inOnesStead(schedule: Schedule): Iterable<Schedule> {
  for (const [index, later] of schedule.entries()) {
    for (const earlier of schedule.slice(0, index)) {
      for (const moved of movedTo(earlier, later)) {
        yield schedule.flatMap((entry) =>
          entry === earlier ? [moved] : entry === later ? [] : [entry],
        )
      }
    }
  }
}

function movedTo(earlier: ScheduleEntry, later: ScheduleEntry): readonly ScheduleEntry[] {
  if ('request' in earlier && 'request' in later) {
    if (placeKey(earlier.request) !== placeKey(later.request)) return []
    const { ordinal, fault } = later
    return othersThan(earlier, [
      { ...earlier, ordinal, fault },
      { ...earlier, fault },
    ])
  }
  if ('event' in earlier && 'event' in later) {
    if (placeKey(earlier.event) !== placeKey(later.event)) return []
    const { ordinal, fault } = later
    return othersThan(earlier, [
      { ...earlier, ordinal, fault },
      { ...earlier, fault },
    ])
  }
  return []
}

/** Each once, and not the earlier entry itself: that would be the later one left out, which was tried. */
function othersThan(
  earlier: ScheduleEntry,
  moved: readonly [ScheduleEntry, ScheduleEntry],
): readonly ScheduleEntry[] {
  const [atItsOwn, atTheEarliers] = moved
  const both = deepEqual(atItsOwn, atTheEarliers) ? [atItsOwn] : moved
  return both.filter((entry) => !deepEqual(entry, earlier))
}
