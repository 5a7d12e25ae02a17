/** The parts of a cluster beside its API server. */
import type { ClusterCertificates } from '@gyropilot/api-server'
import { clusterCidr, givesPodRanges, simulatedNodes } from '@gyropilot/cluster/live'
import type { Parts, RunningPart } from '@gyropilot/cluster/live'
import { SystemHost, fileProblem } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { cloudProviders } from './cloud/providers.ts'
import { removeFormerLease } from './former-lease.ts'
import { writeManagerKeys } from './files/manager-keys.ts'
import { startManagers } from './manager-processes.ts'
import type { ManagerProcesses } from './manager-processes.ts'
import { takesFirstTaints, takingPods } from './nodes.ts'
import type { UpOptions } from './up-options.ts'
import type { World } from './world.ts'

/** Starts what was asked for; resolves when all of it does its work. */
export async function startParts(
  options: UpOptions,
  world: World,
  parts: Pick<
    Parts,
    | 'client'
    | 'kubeletOf'
    | 'startControllerManager'
    | 'startCloudControllerManager'
    | 'startScheduler'
    | 'startNodes'
    | 'startStorage'
  >,
  kubeconfig: string,
  certificates?: ClusterCertificates,
): Promise<ManagerProcesses | undefined> {
  const { components, controllers, election, family, featureGates, managers, nodes, verbosity } =
    options
  const ready: Promise<void>[] = []
  let processes: ManagerProcesses | undefined
  if (components.has('controller-manager') && !areElected(options)) {
    ready.push(parts.startControllerManager(controllers).ready)
    // Nobody waits for it: it may take as long as the lease, and fails where the cluster has ended before.
    removeFormerLease(parts.client(), world.clock).catch((error: unknown) =>
      world.logger.verbosity(2).info('The lease of former managers stays', { error }),
    )
  } else if (components.has('controller-manager')) {
    const { terminal } = world
    processes = startManagers({
      count: managers,
      election,
      kubeconfig,
      ...(certificates !== undefined && { keys: writeManagerKeys(kubeconfig, certificates) }),
      controllers,
      featureGates,
      family,
      verbosity,
      terminal,
    })
  }
  if (components.has('scheduler')) ready.push(parts.startScheduler().ready)
  if (components.has('storage')) ready.push(parts.startStorage().ready)
  const hasCloud = options.cloud !== ''
  if (hasCloud) ready.push((await startCloud(options, world, parts)).ready)
  if (components.has('nodes')) {
    const withPodRanges = !components.has('controller-manager') || !givesPodRanges(controllers)
    ready.push(parts.startNodes(simulatedNodes(nodes, { withPodRanges, family, hasCloud })).ready)
  }
  await Promise.all(ready)
  const areFreed = components.has('controller-manager') && takesFirstTaints(controllers)
  if (components.has('nodes') && managers === 1 && areFreed)
    await takingPods(parts.client(), world.clock)
  return processes
}

/** One that has the cluster for itself needs no lease. A cluster that is joined may have a leader, whose work must not be done twice. */
function areElected({ components, managers }: Pick<UpOptions, 'components' | 'managers'>): boolean {
  return managers > 1 || !components.has('api-server')
}

/** The loops of the cloud: in this process, however many other managers there are. */
async function startCloud(
  { cloud, cloudConfig, family }: UpOptions,
  { clock, random, logger }: World,
  parts: Pick<Parts, 'client' | 'kubeletOf' | 'startCloudControllerManager'>,
): Promise<RunningPart> {
  const provider = await cloudProviders(parts).create(cloud, {
    config: cloudConfig === '' ? undefined : await cloudConfigText(cloudConfig),
    clock,
    random: random.fork(`cloud-provider/${cloud}`),
    logger: logger.named('cloud-provider'),
  })
  return parts.startCloudControllerManager(provider, { clusterCidr: clusterCidr(family) })
}

async function cloudConfigText(path: string): Promise<string> {
  try {
    return await new SystemHost().readTextFile(path)
  } catch (error) {
    const message = `cannot read --cloud-config: ${fileProblem(error)}`
    throw gyroErrors.make('UP_FLAG_INVALID', message, { cause: error })
  }
}

/** As the banner names them. */
export function partsText({ components, managers, nodes, cloud }: UpOptions): readonly string[] {
  const extra = cloud === '' ? [] : [`cloud-controller-manager (${cloud})`]
  return [...partTexts({ components, managers, nodes }), ...extra]
}

function partTexts({
  components,
  managers,
  nodes,
}: Pick<UpOptions, 'components' | 'managers' | 'nodes'>): readonly string[] {
  return [...components].map((component) => {
    if (component === 'nodes') return `${nodes} simulated ${nodes === 1 ? 'node' : 'nodes'}`
    if (component === 'storage') return 'storage driver'
    return component === 'controller-manager' && managers > 1
      ? `${managers} controller-managers`
      : component
  })
}
