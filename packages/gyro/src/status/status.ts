/** `gyro status`: which clusters of `gyro up` run, and how they are. */
import { SystemClock } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { helpPage } from '../flag-help.ts'
import { flagsOf } from '../flags.ts'
import { residentBytes } from '../running/process-identity.ts'
import { ClusterRegistry } from '../running/registry.ts'
import { withoutToken } from '../running/running-cluster.ts'
import { meant, none } from '../running/which.ts'
import { inside } from './inside.ts'
import { statusFlags, statusHelp } from './status-flags.ts'
import { statusText } from './status-text.ts'
import type { ClusterStatus } from './status-text.ts'

export async function statusCommand(args: readonly string[]): Promise<void> {
  const { values } = flagsOf(statusFlags, args, 'gyro status', invalid)
  if (values.get('help') === true) {
    process.stdout.write(helpPage(statusHelp, statusFlags, process.stdout.columns ?? 100))
    return
  }
  const output = String(values.get('output'))
  const registry = ClusterRegistry.ofUser()
  const clusters = registry.running()
  const wish = {
    folder: process.cwd(),
    processId: values.get('process') as number,
    all: values.get('all') as boolean,
  }
  const chosen = meant(clusters, wish)
  if (chosen.length === 0 && output === 'text') throw none(clusters, registry.left(), wish)
  const clock = new SystemClock()
  const statuses: readonly ClusterStatus[] = await Promise.all(
    chosen.map(async (cluster) => ({
      ...withoutToken(cluster),
      memoryBytes: residentBytes(cluster.processId),
      ...(await inside(cluster, clock)),
    })),
  )
  process.stdout.write(
    output === 'json'
      ? `${JSON.stringify({ clusters: statuses }, null, 2)}\n`
      : statuses.map((one) => statusText(one, clock.nowMs())).join('\n'),
  )
  if (chosen.length === 0) process.exitCode = 1
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('STATUS_FLAG_INVALID', message, { cause })
}
