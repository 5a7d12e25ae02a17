import type { Lease } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { FakeServer, RecordingMetrics, testClock } from '../testing/index.ts'
import { LeaderElector } from './leader-elector.ts'
import type { LeaderElectorOptions } from './elector-options.ts'
import { LeaseLock } from './lease-lock.ts'

/** The moment at which test clocks start. */
export const NOW = '2026-01-01T00:00:00.000000Z'

/** The Lease that the electors of `world` contend for. */
export const lease = (spec: Lease['spec'], metadata: Lease['metadata'] = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-system', name: 'kcm', ...metadata },
  spec,
})

/** Waits are as long as they can be. */
export const lateRandom: RandomSource = { next: () => 0.999, fork: () => lateRandom }

/** Waits are as short as they can be. */
export const soonRandom: RandomSource = { next: () => 0, fork: () => soonRandom }

interface Setup extends Partial<Omit<LeaderElectorOptions, 'lock'>> {
  readonly identity?: string
  /** What the lock talks through. Default: the server itself. */
  readonly client?: Client
  readonly labels?: Record<string, string>
  readonly lease?: Lease
}

/** A server, a clock, and electors on them. */
export function world() {
  const server = new FakeServer()
  const clock = testClock()
  return {
    server,
    clock,
    lease: () => server.get(resources.leases, 'kube-system', 'kcm') as Lease | undefined,
    elector: (setup: Setup = {}) => electing(server, clock, setup),
  }
}

function electing(server: FakeServer, clock: ReturnType<typeof testClock>, setup: Setup) {
  const { identity = 'me', client = server, labels, lease: existing, callbacks, ...options } = setup
  if (existing !== undefined) server.put(resources.leases, existing)
  const metrics = new RecordingMetrics()
  const events: string[] = []
  const regarded: (string | undefined)[] = []
  const log: string[] = []
  const lock = new LeaseLock({
    client,
    namespace: 'kube-system',
    name: 'kcm',
    identity,
    labels,
    recorder: {
      record({ reason, type, message, regarding }) {
        events.push(`${type} ${reason} ${regarding.kind} ${message}`)
        regarded.push(regarding.metadata?.resourceVersion)
      },
    },
  })
  const elector = new LeaderElector({
    lock,
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    clock,
    random: new SeededRandom(identity),
    logger: new RecordingLogger(),
    name: 'kcm',
    metrics,
    callbacks: {
      onStartedLeading(signal) {
        log.push('started')
        signal.addEventListener('abort', () => log.push('term ended'))
      },
      onStoppedLeading: () => void log.push('stopped'),
      onNewLeader: (leader) => void log.push(`leader ${leader || '(nobody)'}`),
      ...callbacks,
    },
    ...options,
  })
  const stop = new AbortController()
  const state = { running: Promise.resolve() }
  return {
    elector,
    /** Versions of the Lease that the events are about. */
    regarded,
    lock,
    metrics,
    events,
    log,
    stop,
    run: async () => {
      state.running = elector.run(stop.signal)
      await clock.advance(0)
    },
    ended: () => state.running,
    master: () => metrics.value('leader_election_master_status', { name: 'kcm' }),
  }
}

export const verbs = (server: FakeServer): string[] => server.requests.map(({ verb }) => verb)
