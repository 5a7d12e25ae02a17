/** `gyro down`: ends clusters of `gyro up`, and clears away after those that were killed. */
import { SystemClock, errorText, formatGoDuration, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { helpPage } from '../flag-help.ts'
import { flagsOf } from '../flags.ts'
import { forgetLeft, leave } from '../running/leave.ts'
import { ClusterRegistry, isRunning } from '../running/registry.ts'
import type { RunningCluster } from '../running/running-cluster.ts'
import { meant, noneText, several } from '../running/which.ts'
import { downFlags, downHelp } from './down-flags.ts'

const PAUSE_MS = 25

export async function downCommand(args: readonly string[]): Promise<void> {
  const { values } = flagsOf(downFlags, args, 'gyro down', invalid)
  if (values.get('help') === true) {
    process.stdout.write(helpPage(downHelp, downFlags, process.stdout.columns ?? 100))
    return
  }
  const timeoutMs = values.get('timeout') as number
  if (timeoutMs < 0) throw invalid(`--timeout=${formatGoDuration(timeoutMs)} is negative`)
  const clock = new SystemClock()
  const registry = ClusterRegistry.ofUser()
  const all = values.get('all') as boolean
  const wish = { folder: process.cwd(), processId: values.get('process') as number, all }
  const left = meant(await forgetLeft(registry, clock), wish)
  for (const cluster of left) say(`${nameOf(cluster)} had ended already: cleared away`)
  const clusters = registry.running()
  const chosen = meant(clusters, wish)
  if (chosen.length > 1 && !all) throw several(chosen, wish)
  if (chosen.length === 0 && left.length === 0) say(noneText(clusters, wish))
  for (const cluster of chosen) await stop(cluster, registry, clock, timeoutMs)
}

async function stop(
  cluster: RunningCluster,
  registry: ClusterRegistry,
  clock: Clock,
  timeoutMs: number,
): Promise<void> {
  terminate(cluster)
  const untilMs = clock.monotonicMs() + timeoutMs
  while (isRunning(cluster)) {
    if (clock.monotonicMs() >= untilMs)
      throw notStopped(cluster, `does not end within ${formatGoDuration(timeoutMs)}`)
    await sleep(clock, PAUSE_MS)
  }
  // It has done so itself, unless somebody killed it meanwhile.
  const rest = registry.of(cluster.processId)
  if (rest !== undefined && !isRunning(rest)) await leave(rest, registry, clock)
  say(`${nameOf(cluster)} has ended`)
}

function terminate(cluster: RunningCluster): void {
  // Asked as late as can be: numbers of processes are given again.
  if (!isRunning(cluster)) return
  try {
    process.kill(cluster.processId, 'SIGTERM')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return
    throw notStopped(cluster, `cannot be told to end: ${errorText(error)}`)
  }
}

function notStopped({ processId, log }: RunningCluster, why: string): Error {
  const look = log === undefined ? '' : `look into ${log}, or `
  return gyroErrors.make(
    'CLUSTER_NOT_STOPPED',
    `process ${processId} ${why}: ${look}end it with kill -9 ${processId}`,
  )
}

function nameOf({ folder, processId }: RunningCluster): string {
  return `the cluster of ${folder} (process ${processId})`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('DOWN_FLAG_INVALID', message, { cause })
}
