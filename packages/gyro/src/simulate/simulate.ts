/** `gyro simulate`: runs, prints what happened, and ends with 1 when something was not as it must be. */
import { scaled, scenarios, shrink, simulate } from '@gyropilot/cluster'
import type { Progress, Scenario, SimulationRun } from '@gyropilot/cluster'
import { SystemRandom, integerBetween } from '@gyropilot/foundation'
import { exploreAll } from './explore.ts'
import { helpText } from './help.ts'
import { INTERRUPTED, runText, summary, totalText } from './outcome-report.ts'
import type { FinishedRun } from './outcome-report.ts'
import { progressLine } from './progress.ts'
import type { ProgressLine } from './progress.ts'
import { scenarioNamed, scenariosNamed } from './scenario-file.ts'
import { readSchedule } from './schedule-argument.ts'
import { simulateOptions } from './simulate-options.ts'
import type { SimulateOptions } from './simulate-options.ts'

export async function simulateCommand(args: readonly string[]): Promise<void> {
  const options = simulateOptions(args)
  if (options.help) {
    process.stdout.write(helpText(process.stdout.columns ?? 100))
    return
  }
  const progress = progressLine(process.stderr, process.env['TERM'] === 'dumb')
  const { scenario } = options
  const seed = options.seed || String(integerBetween(new SystemRandom(), 1, 1_000_000_000))
  const failed = options.explore
    ? await exploreAll(
        { ...options, seed },
        scenario === '' ? scenarios : await scenariosNamed(scenario),
        progress,
      )
    : await runAll(
        { ...options, seed },
        scenario === '' ? undefined : await scenarioNamed(scenario),
        progress,
      )
  process.exitCode = failed ? 1 : 0
}

async function runAll(
  options: SimulateOptions,
  scenario: Scenario | undefined,
  progress: ProgressLine,
): Promise<boolean> {
  const schedule = options.schedule === '' ? undefined : readSchedule(options.schedule)
  const finished: FinishedRun[] = []
  const { minutes, nodes, managers, cloud, podGroups, faults, intensity } = options
  const onInterrupt = (): void => {
    progress.clear()
    if (finished.length > 0) printTotal(finished, options)
    process.stderr.write(`gyro: interrupted in run ${finished.length + 1} of ${options.seeds}\n`)
    process.exit(INTERRUPTED)
  }
  process.once('SIGINT', onInterrupt)
  for (let index = 1; index <= options.seeds; index++) {
    const seed = index === 1 ? options.seed : `${options.seed}-${index}`
    const run: SimulationRun = {
      seed,
      minutes,
      nodes,
      managers,
      ...(cloud ? { cloud } : {}),
      ...(podGroups ? { podGroups } : {}),
      pauseMs: options.pause * 1_000,
      rates: scaled(intensity, faults),
      ...(scenario === undefined ? {} : { scenario }),
      ...(schedule === undefined ? {} : { schedule }),
    }
    const result = await runOnce(run, options, progress, (now) =>
      progressText(seed, options, index, now),
    )
    progress.clear()
    finished.push(result)
    if (options.output === 'text')
      process.stdout.write(runText(result, options, process.stdout.columns ?? 100))
  }
  process.off('SIGINT', onInterrupt)
  if (options.output === 'json' || finished.length > 1) printTotal(finished, options)
  return finished.some(({ violations }) => violations.length > 0)
}

function printTotal(finished: readonly FinishedRun[], options: SimulateOptions): void {
  process.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify(summary(finished, options))}\n`
      : totalText(finished, options),
  )
}

/** A run, and when it fails, what it takes to fail. */
async function runOnce(
  run: SimulationRun,
  { shrink: mostReplays, schedule }: SimulateOptions,
  progress: ProgressLine,
  text: (now: Progress) => string,
): Promise<FinishedRun> {
  const startMs = performance.now()
  const outcome = await simulate({ ...run, onProgress: (now) => progress.show(text(now)) })
  const realMs = performance.now() - startMs
  if (outcome.violations.length === 0 || mostReplays === 0 || schedule !== '')
    return { ...outcome, realMs }
  const entries = outcome.schedule.length
  const shrunk = await shrink(run, outcome, {
    mostReplays,
    onReplay: (done, tried) =>
      progress.show(
        `seed ${run.seed}: failed, shrinking: replay ${done} with ${tried} of ${entries} entries`,
      ),
  })
  return { ...outcome, realMs, ...(shrunk === undefined ? {} : { shrunk }) }
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
