/** `gyro simulate`: runs, prints what happened, and ends with 1 when something was not as it must be. */
import { createHash } from 'node:crypto'
import { DISTURBANCES, explore, scaled, scenarios, simulate } from '@gyropilot/cluster'
import type {
  Progress,
  Scenario,
  ScenarioReport,
  SimulationOutcome,
  Violation,
} from '@gyropilot/cluster'
import { SystemRandom, integerBetween } from '@gyropilot/foundation'
import { helpText } from './help.ts'
import { progressLine } from './progress.ts'
import type { ProgressLine } from './progress.ts'
import { scenariosNamed } from './scenario-file.ts'
import { simulateOptions } from './simulate-options.ts'
import type { SimulateOptions } from './simulate-options.ts'

const SHOWN_HISTORY = 30

interface TimedOutcome extends SimulationOutcome {
  readonly realMs: number
}

export async function simulateCommand(args: readonly string[]): Promise<void> {
  const options = simulateOptions(args)
  if (options.help) {
    process.stdout.write(helpText(process.stdout.columns ?? 100))
    return
  }
  const progress = progressLine(process.stderr)
  const chosen = options.scenario === '' ? scenarios : await scenariosNamed(options.scenario)
  const seed = options.seed || String(integerBetween(new SystemRandom(), 1, 1_000_000_000))
  const failed = options.explore
    ? await exploreAll({ ...options, seed }, chosen, progress)
    : await runAll({ ...options, seed }, options.scenario === '' ? undefined : chosen[0], progress)
  process.exitCode = failed ? 1 : 0
}

async function runAll(
  options: SimulateOptions,
  scenario: Scenario | undefined,
  progress: ProgressLine,
): Promise<boolean> {
  const outcomes: TimedOutcome[] = []
  for (let index = 1; index <= options.seeds; index++) {
    const seed = index === 1 ? options.seed : `${options.seed}-${index}`
    const startMs = performance.now()
    const { minutes, nodes, managers, faults, intensity } = options
    const outcome = await simulate({
      seed,
      minutes,
      nodes,
      managers,
      rates: scaled(intensity, faults),
      ...(scenario === undefined ? {} : { scenario }),
      onProgress: (now) => progress.show(progressText(seed, options, index, now)),
    })
    progress.clear()
    const timed = { ...outcome, realMs: performance.now() - startMs }
    outcomes.push(timed)
    if (options.output === 'text') process.stdout.write(outcomeText(timed, options))
  }
  if (options.output === 'json') process.stdout.write(`${JSON.stringify(summary(outcomes))}\n`)
  else if (outcomes.length > 1) process.stdout.write(totalText(outcomes))
  return outcomes.some(({ violations }) => violations.length > 0)
}

function progressText(
  seed: string,
  { seeds, minutes }: SimulateOptions,
  index: number,
  now: Progress,
): string {
  const run = seeds > 1 ? `run ${index} of ${seeds}, ` : ''
  const time = `${(now.virtualMs / 60_000).toFixed(1)} of ${minutes} virtual minutes`
  return `${run}seed ${seed}: ${now.phase}, ${time}, ${now.writes} writes, ${now.faults} faults, ${now.violations} violations`
}

function outcomeText(outcome: TimedOutcome, options: SimulateOptions): string {
  const { seed, historyHash, virtualMs, realMs, writes, faults, operations, violations } = outcome
  const lines = [
    `seed ${seed}: ${violations.length === 0 ? 'as it must be' : `${violations.length} violations`}`,
    `  history   ${historyHash}`,
    `  time      ${(virtualMs / 60_000).toFixed(1)} virtual minutes in ${(realMs / 1000).toFixed(1)} s: ${Math.round(virtualMs / realMs)} times real time`,
    `  user      ${counts(operations) || 'a scenario'}`,
    `  faults    ${counts(faults) || 'none'}`,
    `  writes    ${writes}`,
  ]
  if (violations.length > 0) {
    lines.push('', ...violations.map(violationText), '', 'the last of the history:')
    lines.push(...outcome.history.slice(-SHOWN_HISTORY).map((line) => `  ${line.slice(0, 160)}`))
    lines.push('', `play it again: ${replayLine(seed, options)}`)
  }
  return `${lines.join('\n')}\n`
}

function violationText({ atMs, checker, message }: Violation): string {
  return `  at ${(atMs / 1000).toFixed(3)} s  ${checker}: ${message}`
}

function replayLine(seed: string, options: SimulateOptions): string {
  const { minutes, faults, intensity, nodes, managers, scenario } = options
  const flags = [
    `--seed ${seed}`,
    `--minutes ${minutes}`,
    `--faults ${faults.join(',') || 'none'}`,
    `--intensity ${intensity}`,
    `--nodes ${nodes}`,
    `--managers ${managers}`,
    ...(scenario === '' ? [] : [`--scenario '${scenario}'`]),
  ]
  return `gyro simulate ${flags.join(' ')}`
}

function counts(of: Readonly<Record<string, number>>): string {
  return Object.entries(of)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function totalText(outcomes: readonly TimedOutcome[]): string {
  const total = summary(outcomes)
  return `${outcomes.length} runs: ${(total.virtualSeconds / 3600).toFixed(1)} virtual hours in ${total.realSeconds} s, ${total.writes} writes, ${total.violations.length} violations\n`
}

/** One run as it is; of several the sums, with each run beside them. */
function summary(outcomes: readonly TimedOutcome[]) {
  const [first] = outcomes
  const runs = outcomes.map((outcome) => ({
    seed: outcome.seed,
    historyHash: outcome.historyHash,
    virtualSeconds: seconds(outcome.virtualMs),
    realSeconds: seconds(outcome.realMs),
    writes: outcome.writes,
    faults: outcome.faults,
    violations: outcome.violations,
  }))
  const single = runs[0]!
  if (first === undefined || runs.length === 1) return { ...single, operations: first?.operations }
  const faults: Record<string, number> = {}
  for (const run of runs)
    for (const [kind, count] of Object.entries(run.faults))
      faults[kind] = (faults[kind] ?? 0) + count
  const hash = createHash('sha256')
  for (const run of runs) hash.update(run.historyHash)
  return {
    seed: first.seed,
    historyHash: hash.digest('hex'),
    virtualSeconds: sum(runs, 'virtualSeconds'),
    realSeconds: sum(runs, 'realSeconds'),
    writes: sum(runs, 'writes'),
    faults,
    violations: runs.flatMap(({ seed, violations }) =>
      violations.map((violation) => ({ seed, ...violation })),
    ),
    runs,
  }
}

function sum<K extends string>(runs: readonly Readonly<Record<K, number>>[], field: K): number {
  return Math.round(runs.reduce((total, run) => total + run[field], 0) * 1000) / 1000
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000
}

async function exploreAll(
  { seed, stride, output }: SimulateOptions,
  chosen: readonly Scenario[],
  progress: ProgressLine,
): Promise<boolean> {
  const reports: ScenarioReport[] = []
  for (const scenario of chosen) {
    const report = await explore(scenario, {
      seed,
      stride,
      onRun: (done, total) => progress.show(`${scenario.name}: schedule ${done} of ${total}`),
    })
    progress.clear()
    reports.push(report)
    if (output === 'text') process.stdout.write(reportText(report))
  }
  const failures = reports.reduce(
    (total, { failures: own, baseline }) => total + own.length + baseline.length,
    0,
  )
  if (output === 'json')
    process.stdout.write(
      `${JSON.stringify({ seed, stride, disturbances: DISTURBANCES, reports, violations: failures })}\n`,
    )
  return failures > 0
}

function reportText(report: ScenarioReport): string {
  const { scenario, positions, schedules, failures, baseline } = report
  const lines = [
    `${failures.length + baseline.length === 0 ? 'pass' : 'FAIL'}  ${scenario}: ${schedules} schedules over ${positions.write} writes, ${positions.event} events, ${positions.read} reads`,
    ...baseline.map((violation) => `  undisturbed ${violationText(violation)}`),
  ]
  for (const { disturbance, position, place, violations } of failures) {
    lines.push(`  ${disturbance} ${position} (${place})`)
    lines.push(...violations.map((violation) => `  ${violationText(violation)}`))
  }
  return `${lines.join('\n')}\n`
}
