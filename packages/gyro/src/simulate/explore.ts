/** `gyro simulate --explore`. */
import { DISTURBANCES, explore, scenarios } from '@gyropilot/cluster'
import type { Scenario, ScenarioReport, ScheduleFailure } from '@gyropilot/cluster'
import { INTERRUPTED, counted, quoted, violationText } from './outcome-report.ts'
import type { ProgressLine } from './progress.ts'
import type { SimulateOptions } from './simulate-options.ts'

const SHOWN_HISTORY = 60

export async function exploreAll(
  options: SimulateOptions,
  chosen: readonly Scenario[],
  progress: ProgressLine,
): Promise<boolean> {
  const { seed, stride, output, only } = options
  const reports: ScenarioReport[] = []
  const onInterrupt = (): void => {
    progress.clear()
    if (output === 'json') process.stdout.write(reportsText(reports, options))
    process.stderr.write(
      `gyro: interrupted in scenario ${reports.length + 1} of ${chosen.length}\n`,
    )
    process.exit(INTERRUPTED)
  }
  process.once('SIGINT', onInterrupt)
  for (const [index, scenario] of chosen.entries()) {
    const report = await explore(scenario, {
      seed,
      stride,
      ...(only === undefined ? {} : { disturbances: [only.disturbance], position: only.position }),
      onRun: (done, total) =>
        progress.show(
          `scenario ${index + 1} of ${chosen.length}, ${scenario.name}: schedule ${done + 1} of ${total}`,
        ),
    })
    progress.clear()
    reports.push(report)
    if (output === 'text') process.stdout.write(reportText(report, options))
  }
  process.off('SIGINT', onInterrupt)
  process.stdout.write(output === 'json' ? reportsText(reports, options) : totalText(reports))
  return failuresIn(reports) > 0
}

function failuresIn(reports: readonly ScenarioReport[]): number {
  return reports.reduce(
    (total, { failures, baseline }) => total + failures.length + baseline.length,
    0,
  )
}

/** One object. */
function reportsText(reports: readonly ScenarioReport[], options: SimulateOptions): string {
  const { seed, stride } = options
  const withReplay = reports.map((report) => ({
    ...report,
    failures: report.failures.map((failure) => ({
      ...failure,
      replay: replayLine(report, failure, options),
    })),
  }))
  const violations = failuresIn(reports)
  return `${JSON.stringify({ seed, stride, disturbances: DISTURBANCES, reports: withReplay, violations })}\n`
}

function totalText(reports: readonly ScenarioReport[]): string {
  if (reports.length < 2) return ''
  const schedules = reports.reduce((total, report) => total + report.schedules, 0)
  const hours = reports.reduce((total, { virtualMs }) => total + virtualMs, 0) / 3_600_000
  const failures = failuresIn(reports)
  return `${reports.length} scenarios: ${schedules} schedules, ${hours.toFixed(1)} virtual hours, ${counted(failures, 'failure')}\n`
}

function reportText(report: ScenarioReport, options: SimulateOptions): string {
  const { scenario, positions, schedules, unreached, failures, baseline } = report
  const lines = [
    `${failures.length + baseline.length === 0 ? 'pass' : 'FAIL'}  ${scenario}: ${counted(schedules, 'schedule')} over ${counted(positions.write, 'write')}, ${counted(positions.event, 'event')}, ${counted(positions.read, 'read')}${unreached === 0 ? '' : ` (${unreached} never reached)`}`,
    ...baseline.map((violation) => `  undisturbed ${violationText(violation)}`),
  ]
  for (const failure of failures) {
    const { disturbance, position, place, violations, history } = failure
    lines.push(`  ${disturbance} ${position} (${place})`)
    lines.push(...violations.map((violation) => `  ${violationText(violation)}`))
    if (options.only === undefined)
      lines.push(`    play it again: ${replayLine(report, failure, options)}`)
    else
      lines.push(
        '  the last of its history:',
        ...history.slice(-SHOWN_HISTORY).map((line) => `    ${line.slice(0, 160)}`),
      )
  }
  return `${lines.join('\n')}\n`
}

function replayLine(
  { scenario: name }: ScenarioReport,
  { disturbance, position }: ScheduleFailure,
  { seed, scenario }: SimulateOptions,
): string {
  // A file is named as it was; of built-in ones the whole name, which may be asked for by a part.
  const isBuiltIn = scenarios.some((known) => known.name === name)
  const flags = [
    `--seed ${quoted(seed)}`,
    `--scenario ${quoted(isBuiltIn ? name : scenario)}`,
    `--only ${quoted(`${disturbance} ${position}`)}`,
  ]
  return `gyro simulate --explore ${flags.join(' ')}`
}
