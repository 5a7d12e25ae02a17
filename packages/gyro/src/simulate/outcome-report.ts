/** What is printed of runs. */
import { createHash } from 'node:crypto'
import { entryText } from '@gyropilot/cluster'
import type { Schedule, ShrunkRun, SimulationOutcome, Violation } from '@gyropilot/cluster'
import { wrapped } from '../flag-help.ts'
import type { SimulateOptions } from './simulate-options.ts'

export interface FinishedRun extends SimulationOutcome {
  readonly realMs: number
  readonly shrunk?: ShrunkRun
}

/** As a shell reports a process that ended on SIGINT. */
export const INTERRUPTED = 130
const SHOWN_HISTORY = 30
/** A schedule of more entries is no line that anybody pastes. */
const MOST_ENTRIES_ON_A_LINE = 30

/** `columns` is the width of the terminal. */
export function runText(run: FinishedRun, options: SimulateOptions, columns: number): string {
  const { seed, historyHash, virtualMs, realMs, writes, faults, operations, violations } = run
  const beside = (text: string): string => wrapped(text, ' '.repeat(12), columns)
  const lines = [
    `seed ${seed}: ${violations.length === 0 ? 'as it must be' : counted(violations.length, 'violation')}`,
    `  history   ${historyHash}`,
    `  time      ${(virtualMs / 60_000).toFixed(1)} virtual minutes in ${(realMs / 1000).toFixed(1)} s: ${Math.round(virtualMs / realMs)} times real time`,
    `  user      ${beside(counts(operations) || 'a scenario')}`,
    `  faults    ${beside(counts(faults) || 'none')}`,
    `  writes    ${writes}`,
  ]
  if (violations.length > 0) lines.push('', ...failureLines(run, options))
  return `${lines.join('\n')}\n`
}

/** The shrunk run speaks for itself: its history is the one to read. */
function failureLines(run: FinishedRun, options: SimulateOptions): readonly string[] {
  const { violations, shrunk, seed } = run
  const history = (shrunk ?? run).history
    .filter((line) => !/\/leases|leases\.coordination|[?&]watch=true/.test(line))
    .slice(-SHOWN_HISTORY)
  return [
    ...violations.map(violationText),
    '',
    ...(shrunk === undefined ? [] : shrunkLines(shrunk, run, options)),
    `the last of ${shrunk === undefined ? 'the' : 'that'} history, without heartbeats:`,
    ...history.map((line) => `  ${line.slice(0, 160)}`),
    '',
    `play it again: ${replayLine(seed, options)}`,
  ]
}

function shrunkLines(
  shrunk: ShrunkRun,
  { seed, schedule }: FinishedRun,
  options: SimulateOptions,
): readonly string[] {
  const size = `${counted(shrunk.schedule.length, 'entry', 'entries')} of ${schedule.length}`
  const certainty = shrunk.isMinimal ? 'none can be left out' : 'perhaps not all are needed'
  const line = shrunkReplayLine(seed, shrunk.schedule, options)
  return [
    `it takes ${size} (${certainty}; ${counted(shrunk.replays, 'replay')}):`,
    ...shrunk.schedule.map((entry) => `  ${entryText(entry)}`),
    ...(line === undefined ? [] : ['', `play only that: ${line}`]),
    '',
  ]
}

export function violationText({ atMs, checker, message }: Violation): string {
  return `  at ${(atMs / 1000).toFixed(3)} s  ${checker}: ${message}`
}

function replayLine(seed: string, options: SimulateOptions): string {
  const { minutes, faults, intensity, nodes, managers, cloud, podGroups, pause, scenario } = options
  const flags = [
    `--seed ${quoted(seed)}`,
    `--minutes ${minutes}`,
    `--faults ${faults.join(',') || 'none'}`,
    `--intensity ${intensity}`,
    `--nodes ${nodes}`,
    `--managers ${managers}`,
    ...(cloud ? ['--cloud'] : []),
    ...(podGroups ? ['--pod-groups'] : []),
    ...(pause === 5 ? [] : [`--pause ${pause}`]),
    ...(scenario === '' ? [] : [`--scenario ${quoted(scenario)}`]),
  ]
  return `gyro simulate ${flags.join(' ')}`
}

/** Undefined when it would be too long to paste. */
function shrunkReplayLine(
  seed: string,
  schedule: Schedule,
  { minutes, nodes, managers, cloud, podGroups, scenario }: SimulateOptions,
): string | undefined {
  if (schedule.length > MOST_ENTRIES_ON_A_LINE) return undefined
  const flags = [
    `--seed ${quoted(seed)}`,
    `--minutes ${minutes}`,
    `--nodes ${nodes}`,
    `--managers ${managers}`,
    ...(cloud ? ['--cloud'] : []),
    ...(podGroups ? ['--pod-groups'] : []),
    ...(scenario === '' ? [] : [`--scenario ${quoted(scenario)}`]),
    `--schedule ${quoted(JSON.stringify(schedule))}`,
  ]
  return `gyro simulate ${flags.join(' ')}`
}

/** One word of a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w.,:/@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

function counts(of: Readonly<Record<string, number>>): string {
  return Object.entries(of)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

export function totalText(outcomes: readonly FinishedRun[], options: SimulateOptions): string {
  const total = summary(outcomes, options)
  return `${counted(outcomes.length, 'run')}: ${(total.virtualSeconds / 3600).toFixed(1)} virtual hours in ${total.realSeconds.toFixed(1)} s, ${total.writes} writes, ${counted(total.violations.length, 'violation')}\n`
}

/** One run as it is; of several the sums, with each run beside them. */
export function summary(outcomes: readonly FinishedRun[], options: SimulateOptions) {
  const [first] = outcomes
  const runs = outcomes.map((outcome) => ({
    seed: outcome.seed,
    historyHash: outcome.historyHash,
    virtualSeconds: seconds(outcome.virtualMs),
    realSeconds: seconds(outcome.realMs),
    writes: outcome.writes,
    faults: outcome.faults,
    violations: outcome.violations,
    ...(outcome.shrunk === undefined
      ? {}
      : { shrunk: shrunkSummary(outcome.seed, outcome.shrunk, options) }),
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

function shrunkSummary(
  seed: string,
  { schedule, violations, historyHash, replays, isMinimal }: ShrunkRun,
  options: SimulateOptions,
) {
  const replay = shrunkReplayLine(seed, schedule, options)
  return { schedule, violations, historyHash, replays, isMinimal, replay }
}

function sum<K extends string>(runs: readonly Readonly<Record<K, number>>[], field: K): number {
  return Math.round(runs.reduce((total, run) => total + run[field], 0) * 1000) / 1000
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000
}
