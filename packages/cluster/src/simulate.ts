/** One long run: a random user, random faults, and a judgement at the end. */
import { Watchdog } from './checkers/watchdog.ts'
import type { RestOptions } from './checkers/watchdog.ts'
import type { Violation } from './checkers/violation.ts'
import { RandomFaults } from './faults/random-faults.ts'
import type { FaultRates } from './faults/rates.ts'
import { RandomUser } from './model/random-user.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { createCluster } from './simulated/simulated-cluster.ts'
import type { SimulatedCluster } from './simulated/simulated-cluster.ts'

export interface SimulationRun {
  readonly seed: string
  /** How long the user works and things go wrong, in virtual minutes. */
  readonly minutes: number
  readonly rates: FaultRates
  /** Default 3. */
  readonly nodes?: number
  /** Default 2. */
  readonly managers?: number
  /** Played once in the place of the random user; the rest of the time only passes. */
  readonly scenario?: Scenario
  readonly rest?: RestOptions
  readonly keepHistory?: boolean
  /** Once, before anything happens. */
  readonly onStart?: (cluster: SimulatedCluster) => void
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly virtualMs: number
  readonly phase: 'working' | 'coming to rest'
  readonly writes: number
  readonly faults: number
  readonly violations: number
}

export interface SimulationOutcome {
  readonly seed: string
  readonly historyHash: string
  readonly virtualMs: number
  readonly writes: number
  readonly faults: Readonly<Record<string, number>>
  readonly operations: Readonly<Record<string, number>>
  readonly violations: readonly Violation[]
  /** The last lines of the history, or all of them when they are kept. */
  readonly history: readonly string[]
}

/** The same request, the same outcome. */
export async function simulate(run: SimulationRun): Promise<SimulationOutcome> {
  const { seed, minutes, rates, nodes = 3, managers = 2, keepHistory = false, onProgress } = run
  const cluster = await createCluster({ seed, nodes, managers, keepHistory })
  run.onStart?.(cluster)
  const watchdog = new Watchdog(cluster)
  await run.scenario?.prepare?.(cluster)
  const faults = new RandomFaults(cluster, rates)
  const user = new RandomUser(cluster)
  const tell = (phase: Progress['phase']): void =>
    onProgress?.({
      virtualMs: cluster.virtualMs,
      phase,
      writes: watchdog.writes,
      faults: watchdog.faultCount,
      violations: watchdog.violations.length,
    })
  faults.start()
  if (run.scenario === undefined) await user.work(minutes * 60_000, () => tell('working'))
  else await playUntil(run.scenario, cluster, minutes * 60_000, watchdog)
  faults.stop()
  await user.tidyUp()
  tell('coming to rest')
  await watchdog.judge(run.rest)
  for (const problem of run.scenario?.ends?.(cluster) ?? []) watchdog.report('scenario', problem)
  return {
    seed,
    historyHash: cluster.historyHash,
    virtualMs: cluster.virtualMs,
    writes: watchdog.writes,
    faults: Object.fromEntries([...watchdog.faults].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    operations: Object.fromEntries([...user.done].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    violations: watchdog.violations,
    history: cluster.history.lines,
  }
}

/** A user who expects something of a cluster waits long enough for it, also under faults. */
async function playUntil(
  scenario: Scenario,
  cluster: SimulatedCluster,
  forMs: number,
  watchdog: Watchdog,
): Promise<void> {
  const untilMs = cluster.virtualMs + forMs
  try {
    await scenario.play(cluster)
  } catch (error) {
    watchdog.report('scenario', String(error))
  }
  await cluster.advance(Math.max(0, untilMs - cluster.virtualMs))
}
