/** `gyro kubeconfig`: the way to a cluster that runs, on stdout or merged into what kubectl reads. */
import { readFileSync } from 'node:fs'
import { SystemClock, fileProblem } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { helpPage } from '../flag-help.ts'
import { flagsOf } from '../flags.ts'
import { ClusterRegistry } from '../running/registry.ts'
import type { RunningCluster } from '../running/running-cluster.ts'
import { theOne } from '../running/which.ts'
import { kubeconfigFlags, kubeconfigHelp } from './kubeconfig-flags.ts'
import { mergeInto, mergeTarget, takeOut } from './merge.ts'

export async function kubeconfigCommand(args: readonly string[]): Promise<void> {
  const { values } = flagsOf(kubeconfigFlags, args, 'gyro kubeconfig', invalid)
  if (values.get('help') === true) {
    process.stdout.write(helpPage(kubeconfigHelp, kubeconfigFlags, process.stdout.columns ?? 100))
    return
  }
  const registry = ClusterRegistry.ofUser()
  const cluster = theOne(registry.running(), registry.left(), {
    folder: process.cwd(),
    processId: values.get('process') as number,
  })
  if (cluster.dataDir === undefined) {
    throw gyroErrors.make(
      'KUBECONFIG_NOT_OURS',
      `process ${cluster.processId} has joined ${cluster.server}: use the kubeconfig that it was given`,
    )
  }
  const text = textOf(cluster)
  if (values.get('merge') === true) await merge(cluster, registry)
  else process.stdout.write(text)
}

async function merge(cluster: RunningCluster, registry: ClusterRegistry): Promise<void> {
  const clock = new SystemClock()
  const target = mergeTarget(cluster.kubeconfig)
  await mergeInto(target, cluster, clock)
  // One at a time is remembered: the cluster takes its entries out when it ends.
  if (cluster.merged !== undefined && cluster.merged !== target)
    await takeOut(cluster.merged, cluster, clock)
  registry.write({ ...cluster, merged: target })
  process.stdout.write(`kubectl uses context ${cluster.name} now, by ${target}\n`)
}

function textOf({ kubeconfig }: RunningCluster): string {
  try {
    return readFileSync(kubeconfig, 'utf8')
  } catch (error) {
    throw gyroErrors.make(
      'KUBECONFIG_NOT_OURS',
      `cannot read the kubeconfig of the cluster: ${fileProblem(error)}: start it again`,
      { cause: error },
    )
  }
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('KUBECONFIG_FLAG_INVALID', message, { cause })
}
