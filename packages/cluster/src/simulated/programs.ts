/** What the processes of a simulated cluster run. */
import { ApiClient } from '@gyropilot/client'
import { uuid } from '@gyropilot/foundation'
import type { Logger, MetricsRegistry } from '@gyropilot/foundation'
import { fencedTransport } from '@gyropilot/manager'
import { LeaderElector, LeaseLock } from '@gyropilot/runtime'
import type { ReconcileTrace } from '@gyropilot/runtime'
import type { SimulatedNodeConfiguration } from '@gyropilot/simulation'
import { CONTROLLER_MANAGER } from '../identities.ts'
import { Parts } from '../parts.ts'
import { connectionOf } from './connections.ts'
import type { Network } from './network.ts'
import type { Incarnation, Program } from './process.ts'

export const MANAGER_LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' } as const
const LEASE_DURATION_MS = 15_000
const RENEW_DEADLINE_MS = 10_000
const RETRY_PERIOD_MS = 2_000

export interface ProgramWorld {
  readonly network: Network
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly trace?: ReconcileTrace
}

/** kube-controller-manager with leader election: it ends when it loses its lease, as the real one exits. */
export function managerProgram(world: ProgramWorld, items: readonly string[]): Program {
  return async (life) => {
    const { network, logger, metrics, trace } = world
    const identity = `${life.process}_${uuid(life.random)}`
    life.identity = identity
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
    }
    const failed = Promise.withResolvers<never>()
    elector = electorOf(world, life, identity, async (term) => {
      const parts = new Parts(options)
      term.addEventListener('abort', () => void parts.stop(), { once: true })
      await parts.startControllerManager(items).ended.catch(failed.reject)
    })
    await Promise.race([elector.run(life.signal), failed.promise])
  }
}

function electorOf(
  { network, logger, metrics }: ProgramWorld,
  life: Incarnation,
  identity: string,
  lead: (term: AbortSignal) => Promise<void>,
): LeaderElector {
  const { clock, random } = life
  const name = 'leader-election'
  const client = new ApiClient({
    transport: network.transport({ life, name, user: CONTROLLER_MANAGER }),
    clock,
    logger,
    metrics,
    host: 'simulated',
    qps: -1,
    userAgent: 'kube-controller-manager/leader-election',
    onWarning: () => {},
  })
  return new LeaderElector({
    lock: new LeaseLock({ client, ...MANAGER_LEASE, identity }),
    leaseDurationMs: LEASE_DURATION_MS,
    renewDeadlineMs: RENEW_DEADLINE_MS,
    retryPeriodMs: RETRY_PERIOD_MS,
    callbacks: { onStartedLeading: lead, onStoppedLeading() {} },
    clock,
    random: random.fork(name),
    logger,
    name: MANAGER_LEASE.name,
  })
}

export function schedulerProgram(world: ProgramWorld): Program {
  return (life) => runPart(world, life, (parts) => parts.startScheduler())
}

export function nodeProgram(
  world: ProgramWorld,
  nodes: readonly SimulatedNodeConfiguration[],
  onReady: () => void,
): Program {
  return (life) =>
    runPart(world, life, (parts) => {
      const running = parts.startNodes(nodes)
      void running.ready.then(onReady)
      return running
    })
}

async function runPart(
  { network, logger, metrics }: ProgramWorld,
  life: Incarnation,
  start: (parts: Parts) => { readonly ended: Promise<void> },
): Promise<void> {
  const { clock, random, signal } = life
  const connection = connectionOf(network, life)
  const parts = new Parts({ connection, clock, random, logger, metrics })
  signal.addEventListener('abort', () => void parts.stop(), { once: true })
  await start(parts).ended
}
