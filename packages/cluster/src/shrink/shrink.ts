/** From a run that failed to the few faults and operations that it takes to fail in the same way. */
import type { Schedule } from '../faults/schedule.ts'
import { inOnesStead } from './in-ones-stead.ts'
import type { Violation } from '../checkers/violation.ts'
import { simulate } from '../simulate.ts'
import type { SimulationOutcome, SimulationRun } from '../simulate.ts'
import { minimized } from './delta-debugging.ts'

/** How long shrinking may take. */
export interface ShrinkOptions {
  /** Runs to spend. Default 100. */
  readonly mostReplays?: number
  readonly onReplay?: (done: number, entries: number) => void
}

/** The smallest run found that fails still. */
export interface ShrunkRun {
  /** Played with the same seed it fails again. */
  readonly schedule: Schedule
  readonly violations: readonly Violation[]
  /** The last lines of the history of the shrunk run. */
  readonly history: readonly string[]
  readonly historyHash: string
  readonly replays: number
  /** Nothing can be left out. False: the replays were used up before that was known. */
  readonly isMinimal: boolean
}

/** Undefined when the schedule of the run, played again, does not fail by the same checker: then the seed is all there is. */
export async function shrink(
  run: SimulationRun,
  failed: SimulationOutcome,
  { mostReplays = 100, onReplay }: ShrinkOptions = {},
): Promise<ShrunkRun | undefined> {
  const [first] = failed.violations
  if (first === undefined || mostReplays < 1) return undefined
  const { checker } = first
  let replays = 0
  let smallest: SimulationOutcome | undefined
  const fails = async (schedule: Schedule): Promise<boolean> => {
    const outcome = await simulate({ ...run, schedule, stopAt: checker })
    replays++
    onReplay?.(replays, schedule.length)
    const isFailure = outcome.violations.some((violation) => violation.checker === checker)
    if (isFailure) smallest = outcome
    return isFailure
  }
  // What came after the fact did not cause it.
  const before = failed.schedule.filter(({ atMs }) => atMs <= first.atMs)
  if (!(await fails(before))) return undefined
  let found = await minimized(before, fails, mostReplays - 1)
  while (found.isMinimal) {
    const simpler = await firstOf(inOnesStead(found.items), fails, () => mostReplays - replays)
    if (simpler === undefined) break
    found = await minimized(simpler, fails, mostReplays - replays)
  }
  const { items, isMinimal } = found
  return {
    schedule: items,
    violations: smallest!.violations,
    history: smallest!.history,
    historyHash: smallest!.historyHash,
    replays,
    isMinimal,
  }
}

async function firstOf(
  candidates: Iterable<Schedule>,
  fails: (schedule: Schedule) => Promise<boolean>,
  replaysLeft: () => number,
): Promise<Schedule | undefined> {
  for (const candidate of candidates) {
    if (replaysLeft() === 0) return undefined
    if (await fails(candidate)) return candidate
  }
  return undefined
}
