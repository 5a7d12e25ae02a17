/** What the processes of a simulated cluster run. */
import type { Client } from '@gyropilot/client'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { uuid } from '@gyropilot/foundation'
import type { Logger, MetricsRegistry } from '@gyropilot/foundation'
import { fencedTransport } from '@gyropilot/manager'
import { LeaderElector, LeaseCandidate, LeaseLock } from '@gyropilot/runtime'
import type { ReconcileTrace } from '@gyropilot/runtime'
import type {
  SharedLoads,
  SimulatedKubelet,
  SimulatedNodeConfiguration,
  VolumeData,
} from '@gyropilot/nodes'
import type { UserInfo } from '@gyropilot/api-server'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { ADMINISTRATOR, CONTROLLER_MANAGER } from '../identities.ts'
import { partClient } from '../part-client.ts'
import { Parts } from '../parts.ts'
import type { RunningPart } from '../parts.ts'
import { clusterCidr } from '../pod-ranges.ts'
import { seenBy } from './cloud.ts'
import { connectionOf } from './connections.ts'
import type { Network } from './network.ts'
import type { Incarnation, Program } from './process.ts'

export const MANAGER_LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' } as const
const CLOUD_LEASE = { namespace: 'kube-system', name: 'cloud-controller-manager' } as const
const LEASE_DURATION_MS = 15_000
const RENEW_DEADLINE_MS = 10_000
const RETRY_PERIOD_MS = 2_000

export interface ProgramWorld {
  readonly network: Network
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly trace?: ReconcileTrace
  /** What answers for a node while its process runs, by name. */
  readonly kubelets: Map<string, () => SimulatedKubelet | undefined>
  /** Of all nodes: each knows its own pods alone. */
  readonly loads: SharedLoads
  /** Storage outlives the processes of nodes and driver. */
  readonly volumeData: VolumeData
  readonly configuration: Partial<ControllersConfiguration>
}

/** `x.y.z`, as a candidate of a coordinated election tells them. */
export interface ManagerVersions {
  readonly binaryVersion: string
  readonly emulationVersion: string
}

/** A manager that works while it leads. */
interface Elected {
  readonly lease: { readonly namespace: string; readonly name: string }
  /** Who contends. */
  readonly user: UserInfo
  start(parts: Parts, life: Incarnation): RunningPart
}

/** kube-controller-manager. With `versions` the server chooses the leader. */
export function managerProgram(
  world: ProgramWorld,
  items: readonly string[],
  versions?: ManagerVersions,
): Program {
  const elected: Elected = {
    lease: MANAGER_LEASE,
    user: CONTROLLER_MANAGER,
    start: (parts) => parts.startControllerManager(items),
  }
  return electedProgram(world, elected, versions)
}

/** cloud-controller-manager. */
export function cloudManagerProgram(world: ProgramWorld, provider: CloudProvider): Program {
  return electedProgram(world, {
    lease: CLOUD_LEASE,
    user: ADMINISTRATOR,
    start: (parts, life) =>
      parts.startCloudControllerManager(seenBy(life, provider), {
        clusterCidr: clusterCidr('ipv4'),
      }),
  })
}

/** With leader election: it ends when it loses its lease, as the real one exits. */
function electedProgram(
  world: ProgramWorld,
  elected: Elected,
  versions?: ManagerVersions,
): Program {
  return async (life) => {
    const { network, logger, metrics, trace, configuration } = world
    const identity = `${life.process}_${uuid(life.random)}`
    life.identity = identity
    life.leaseName = elected.lease.name
    let elector: LeaderElector | undefined
    const fence = () => elector?.holdsLease ?? false
    const connection = connectionOf(network, life, (transport) => fencedTransport(transport, fence))
    const { clock, random } = life
    const options = {
      connection,
      clock,
      random,
      logger,
      metrics,
      ...(trace === undefined ? {} : { trace }),
      configuration,
    }
    const failed = Promise.withResolvers<never>()
    const client = electionClient(world, life, elected)
    if (versions !== undefined) announce(world, life, client, versions)
    elector = electorOf(world, life, client, elected, versions !== undefined, async (term) => {
      const parts = new Parts(options)
      term.addEventListener('abort', () => void parts.stop(), { once: true })
      await elected.start(parts, life).ended.catch(failed.reject)
    })
    await Promise.race([elector.run(life.signal), failed.promise])
  }
}

function electorOf(
  { logger }: ProgramWorld,
  { clock, random, identity }: Incarnation,
  client: Client,
  { lease }: Elected,
  coordinated: boolean,
  lead: (term: AbortSignal) => Promise<void>,
): LeaderElector {
  return new LeaderElector({
    lock: new LeaseLock({ client, ...lease, identity }),
    leaseDurationMs: LEASE_DURATION_MS,
    renewDeadlineMs: RENEW_DEADLINE_MS,
    retryPeriodMs: RETRY_PERIOD_MS,
    callbacks: { onStartedLeading: lead, onStoppedLeading() {} },
    clock,
    random: random.fork('leader-election'),
    logger,
    name: lease.name,
    coordinated,
  })
}

function announce(
  { logger, metrics }: ProgramWorld,
  { clock, random, identity, signal }: Incarnation,
  client: Client,
  versions: ManagerVersions,
): void {
  const { namespace, name: leaseName } = MANAGER_LEASE
  const candidate = new LeaseCandidate({
    client,
    clock,
    random: random.fork('lease-candidate'),
    logger,
    metrics,
    namespace,
    leaseName,
    identity,
    ...versions,
  })
  void candidate.run(signal)
}

function electionClient(
  { network, logger, metrics }: ProgramWorld,
  life: Incarnation,
  { lease, user }: Elected,
): Client {
  return partClient({
    transport: network.transport({ life, name: 'leader-election', user }),
    clock: life.clock,
    logger,
    metrics,
    host: 'simulated',
    userAgent: `${lease.name}/leader-election`,
  })
}

export function schedulerProgram(world: ProgramWorld): Program {
  return (life) => runPart(world, life, (parts) => parts.startScheduler())
}

export function storageProgram(world: ProgramWorld, onReady: () => void): Program {
  return (life) =>
    runPart(world, life, (parts) => {
      const running = parts.startStorage()
      void running.ready.then(onReady)
      return running
    })
}

export function nodeProgram(
  world: ProgramWorld,
  nodes: readonly SimulatedNodeConfiguration[],
  onReady: () => void,
): Program {
  return (life) =>
    runPart(world, life, (parts) => {
      const kubeletOf = (name: string) => (life.signal.aborted ? undefined : parts.kubeletOf(name))
      for (const { name } of nodes) world.kubelets.set(name, () => kubeletOf(name))
      const running = parts.startNodes(nodes)
      void running.ready.then(onReady)
      return running
    })
}

async function runPart(
  { network, logger, metrics, kubelets, loads, volumeData, configuration }: ProgramWorld,
  life: Incarnation,
  start: (parts: Parts) => { readonly ended: Promise<void> },
): Promise<void> {
  const { clock, random, signal } = life
  const connection = connectionOf(network, life)
  const kubeletOf = (name: string) => kubelets.get(name)?.()
  const { featureGates = {} } = configuration
  const shared = { kubeletOf, loads, volumeData, featureGates }
  const parts = new Parts({ connection, clock, random, logger, metrics, ...shared })
  signal.addEventListener('abort', () => void parts.stop(), { once: true })
  await start(parts).ended
}
