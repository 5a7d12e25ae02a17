/**
 * Small worlds, exhaustively: a scenario is played once undisturbed, then once more for every write with a crash there, every
 * event with that event lost, every read with that read stale.
 */
import { Watchdog } from '../checkers/watchdog.ts'
import type { RestOptions } from '../checkers/watchdog.ts'
import type { Violation } from '../checkers/violation.ts'
import { noFaults } from '../faults/injector.ts'
import { OneShotFault } from '../faults/one-shot.ts'
import type { OneShot, Stage } from '../faults/one-shot.ts'
import { strike } from '../faults/world-fault.ts'
import { clusterOf } from '../scenarios/scenario.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { createCluster } from '../simulated/simulated-cluster.ts'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'

const MANAGER = 'controller-manager-1'
/** Longer than a scenario's step: what happens meanwhile is never seen as events. */
const GAP_MS = 15_000

/** One thing that goes wrong at one position of a run; everything else goes well. */
export type Disturbance =
  | 'crash before write'
  | 'crash after write'
  | 'write refused'
  | 'write applied, answer lost'
  | 'event lost'
  | 'event late'
  | 'read stale'

/** All that an exploration does, in its order. */
export const DISTURBANCES: readonly Disturbance[] = [
  'crash before write',
  'crash after write',
  'write refused',
  'write applied, answer lost',
  'event lost',
  'event late',
  'read stale',
]

/** How far an exploration goes. */
export interface ExploreOptions {
  readonly seed: string
  readonly disturbances?: readonly Disturbance[]
  /** One schedule only: of `disturbances`, the one at this position. */
  readonly position?: number
  /** Every n-th position only. Default 1: all. */
  readonly stride?: number
  readonly rest?: RestOptions
  readonly onRun?: (done: number, total: number) => void
}

/** A disturbance that a scenario did not survive. */
export interface ScheduleFailure {
  readonly disturbance: Disturbance
  readonly position: number
  /** What stands at the position in the undisturbed run. */
  readonly place: string
  readonly violations: readonly Violation[]
  /** The last lines of the history. */
  readonly history: readonly string[]
}

/** What an exploration of one scenario came to. */
export interface ScenarioReport {
  readonly scenario: string
  readonly controllers: readonly string[]
  readonly seed: string
  readonly positions: Readonly<Record<Stage, number>>
  readonly schedules: number
  /** Schedules whose course came out so that the position was never reached. */
  readonly unreached: number
  readonly virtualMs: number
  /** Of the undisturbed run. */
  readonly baseline: readonly Violation[]
  readonly failures: readonly ScheduleFailure[]
}

interface Run {
  readonly cluster: SimulatedCluster
  readonly fault: OneShotFault
  /** By the name of their rate: how often. */
  readonly faults: ReadonlyMap<string, number>
  readonly violations: readonly Violation[]
}

/** Plays a scenario once undisturbed, and then once for each disturbance at each position of that run. */
export async function explore(
  scenario: Scenario,
  options: ExploreOptions,
): Promise<ScenarioReport> {
  const places: Record<Stage, string[]> = { write: [], read: [], event: [] }
  const { seed, stride = 1, disturbances = DISTURBANCES, rest, onRun } = options
  const baseline = await playOnce(scenario, seed, undefined, rest, (stage, position, text) => {
    places[stage][position] = text
  })
  const positions = { ...baseline.fault.counts }
  const failures: ScheduleFailure[] = []
  let virtualMs = baseline.cluster.virtualMs
  let unreached = 0
  const schedules = disturbances.flatMap((disturbance) => {
    const count = positions[stageOf(disturbance)]
    const chosen: { disturbance: Disturbance; position: number }[] = []
    if (options.position !== undefined) return [{ disturbance, position: options.position }]
    for (let position = 0; position < count; position += stride)
      chosen.push({ disturbance, position })
    return chosen
  })
  for (const [index, { disturbance, position }] of schedules.entries()) {
    onRun?.(index, schedules.length)
    const run = await playOnce(scenario, seed, shotOf(disturbance, position), rest)
    virtualMs += run.cluster.virtualMs
    if (!run.fault.fired) unreached++
    if (run.violations.length === 0) continue
    const place = places[stageOf(disturbance)][position] ?? ''
    const history = run.cluster.history.lines
    failures.push({ disturbance, position, place, violations: run.violations, history })
  }
  const { name, controllers } = scenario
  return {
    scenario: name,
    controllers,
    seed,
    positions,
    schedules: schedules.length,
    unreached,
    virtualMs,
    baseline: baseline.violations,
    failures,
  }
}

/** One run with at most one fault. For trying a single schedule again. */
export async function playOnce(
  scenario: Scenario,
  seed: string,
  shot: OneShot | undefined,
  rest?: RestOptions,
  onPosition?: (stage: Stage, position: number, text: string) => void,
  keepHistory = false,
): Promise<Run> {
  const cluster = await createCluster({ ...clusterOf(scenario), seed, keepHistory })
  const watchdog = new Watchdog(cluster)
  await scenario.prepare?.(cluster)
  await cluster.advance(5_000)
  const fault = new OneShotFault({
    process: scenario.subject ?? MANAGER,
    strike: (world) => strike(cluster, world),
    revision: () => cluster.store.revision,
    ...(shot === undefined ? {} : { shot }),
    ...(onPosition === undefined ? {} : { onPosition }),
  })
  cluster.injector = fault
  try {
    await scenario.play(cluster)
  } catch (error) {
    watchdog.report('scenario', String(error))
  }
  cluster.injector = noFaults
  await watchdog.judge(rest)
  for (const problem of scenario.ends?.(cluster) ?? []) watchdog.report('scenario', problem)
  return { cluster, fault, faults: watchdog.faults, violations: watchdog.violations }
}

function stageOf(disturbance: Disturbance): Stage {
  if (disturbance.startsWith('event')) return 'event'
  return disturbance === 'read stale' ? 'read' : 'write'
}

/** The fault that a disturbance is. */
export function shotOf(disturbance: Disturbance, position: number): OneShot {
  switch (disturbance) {
    case 'crash before write':
      return { stage: 'write', position, fault: { kind: 'crash', when: 'before' } }
    case 'crash after write':
      return { stage: 'write', position, fault: { kind: 'crash', when: 'after' } }
    case 'write refused':
      return { stage: 'write', position, fault: { kind: 'refusal', code: 500 } }
    case 'write applied, answer lost':
      return { stage: 'write', position, fault: { kind: 'reset', applied: true } }
    case 'event lost':
      return { stage: 'event', position, fault: { kind: 'gap', forMs: GAP_MS } }
    case 'event late':
      return { stage: 'event', position, fault: { kind: 'delay', byMs: GAP_MS } }
    case 'read stale':
      return { stage: 'read', position, fault: { kind: 'stale', behind: 1 } }
  }
}
