/** One long run: a random user, random faults, and a judgement at the end. */
import { byString, every } from '@gyropilot/foundation'
import type { EndStateRule } from './checkers/end-state.ts'
import { Watchdog } from './checkers/watchdog.ts'
import type { RestOptions } from './checkers/watchdog.ts'
import type { Violation } from './checkers/violation.ts'
import { RandomFaults } from './faults/random-faults.ts'
import type { FaultRates } from './faults/rates.ts'
import { isFault, isOperation } from './faults/schedule.ts'
import type { Schedule } from './faults/schedule.ts'
import { ScheduledFaults } from './faults/scheduled-faults.ts'
import { RandomUser } from './model/random-user.ts'
import { GANG_GATES, POD_GROUPS_SERVED, SHARED_CLAIM_GATES } from './scenarios/pod-groups.ts'
import { clusterOf } from './scenarios/scenario.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { createCluster } from './simulated/simulated-cluster.ts'
import type { SimulatedCluster } from './simulated/simulated-cluster.ts'

/** Virtual time between two reports of progress while nobody does anything. */
const PROGRESS_EVERY_MS = 10_000

/** What `simulate` plays. */
export interface SimulationRun {
  readonly seed: string
  /** How long the user works and things go wrong, in virtual minutes. */
  readonly minutes: number
  readonly rates: FaultRates
  /** Default 3. */
  readonly nodes?: number
  /** Default 2. */
  readonly managers?: number
  /** There is a cloud, which fails now and then too. Default: as `scenario` has it. */
  readonly cloud?: boolean
  /** Mean pause of the random user between two operations. Default 5 s. */
  readonly pauseMs?: number
  /** PodGroups are served, and share claims for devices with their pods: an alpha gate. Default false. */
  readonly podGroups?: boolean
  /** Played once in the place of the random user; the rest of the time only passes. */
  readonly scenario?: Scenario
  /** In the place of random faults and a random user: exactly this. */
  readonly schedule?: Schedule
  /** Ends the run as soon as this checker finds something. */
  readonly stopAt?: string
  readonly rest?: RestOptions
  /** By name: what must hold at the end besides `endStateRules`. */
  readonly rules?: Readonly<Record<string, EndStateRule>>
  readonly keepHistory?: boolean
  /** Once, before anything happens. */
  readonly onStart?: (cluster: SimulatedCluster) => void
  readonly onProgress?: (progress: Progress) => void
}

/** How far a simulation is. */
export interface Progress {
  readonly virtualMs: number
  readonly phase: 'working' | 'coming to rest'
  readonly writes: number
  readonly faults: number
  readonly violations: number
}

/** What a simulation came to. Without violations, it went well. */
export interface SimulationOutcome {
  readonly seed: string
  readonly historyHash: string
  readonly virtualMs: number
  readonly writes: number
  readonly faults: Readonly<Record<string, number>>
  readonly operations: Readonly<Record<string, number>>
  readonly violations: readonly Violation[]
  /** What went wrong and what the user did: played again with the same seed it is the same run. */
  readonly schedule: Schedule
  /** The last lines of the history, or all of them when they are kept. */
  readonly history: readonly string[]
}

/** The same request, the same outcome. */
export async function simulate(run: SimulationRun): Promise<SimulationOutcome> {
  const { seed, minutes, nodes = 3, managers = 2, keepHistory = false, onProgress } = run
  const { scenario } = run
  const cluster = await createCluster({
    ...(scenario && clusterOf(scenario)),
    ...(run.podGroups && {
      runtimeConfig: POD_GROUPS_SERVED,
      featureGates: { ...SHARED_CLAIM_GATES, ...GANG_GATES },
    }),
    seed,
    nodes,
    managers,
    cloud: run.cloud ?? scenario?.cloud,
    keepHistory,
  })
  run.onStart?.(cluster)
  const watchdog = new Watchdog(cluster)
  await scenario?.prepare?.(cluster)
  const faults = faultsOf(run, cluster)
  const isOver = (): boolean => watchdog.violations.some(({ checker }) => checker === run.stopAt)
  const user = new RandomUser(cluster, { isOver, meanPauseMs: run.pauseMs })
  let phase: Progress['phase'] = 'working'
  const tell = (): void => {
    onProgress?.({
      virtualMs: cluster.virtualMs,
      phase,
      writes: watchdog.writes,
      faults: watchdog.faultCount,
      violations: watchdog.violations.length,
    })
  }
  const ticks = every(cluster.clock, PROGRESS_EVERY_MS, tell)
  faults.start()
  const forMs = minutes * 60_000
  if (scenario !== undefined) await playUntil(scenario, cluster, forMs, watchdog)
  else if (run.schedule === undefined) await user.work(forMs)
  else await user.follow(run.schedule.filter(isOperation), forMs)
  faults.stop()
  if (!isOver()) {
    await user.tidyUp()
    phase = 'coming to rest'
    await watchdog.judge(run.rest, run.rules)
    for (const problem of scenario?.ends?.(cluster) ?? []) watchdog.report('scenario', problem)
  }
  ticks.cancel()
  return {
    seed,
    historyHash: cluster.historyHash,
    virtualMs: cluster.virtualMs,
    writes: watchdog.writes,
    faults: Object.fromEntries([...watchdog.faults].toSorted(byString(([kind]) => kind))),
    operations: Object.fromEntries([...user.done].toSorted(byString(([operation]) => operation))),
    violations: watchdog.violations,
    schedule: [...faults.schedule, ...user.schedule].toSorted((a, b) => a.atMs - b.atMs),
    history: cluster.history.lines,
  }
}

function faultsOf(
  { rates, schedule }: SimulationRun,
  cluster: SimulatedCluster,
): RandomFaults | ScheduledFaults {
  if (schedule === undefined) return new RandomFaults(cluster, rates)
  return new ScheduledFaults(cluster, schedule.filter(isFault))
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
