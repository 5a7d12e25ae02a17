/** One run of a manager, from options to its end. Contract: docs/behaviour/runtime/manager.md, Startup sequence. */
import {
  TransportPool,
  anonymousConfig,
  loadManagerConfig,
  serverBackoffFrom,
} from '@gyropilot/client'
import type { RestConfig, Transport } from '@gyropilot/client'
import { PrometheusRegistry, silentMetrics, uuid } from '@gyropilot/foundation'
import type { MetricsRegistry } from '@gyropilot/foundation'
import { EventBroadcaster, LeaseCandidate, informerSwitches } from '@gyropilot/runtime'
import type { InformerSwitches } from '@gyropilot/runtime'
import type { AppWorld } from './app-world.ts'
import { registerBinaryMetrics } from './metrics/binary-metrics.ts'
import { clientBuilder } from './identities/client-builder.ts'
import { DueFirst } from './identities/due-first.ts'
import type { ClientBuilder, ClientRate } from './identities/client-builder.ts'
import { TOKEN_CONTROLLER } from './controller-names.ts'
import { candidateVersions } from './election/candidate-versions.ts'
import { createElection } from './election/election.ts'
import type { Election, ElectionOptions } from './election/election.ts'
import { fencedTransport } from './election/fenced-transport.ts'
import { loadLeaderMigration, lockOf } from './election/leader-migration.ts'
import type { LeaderMigration } from './election/leader-migration.ts'
import { loggingRecorder } from './logging-recorder.ts'
import { metricFilters } from './metrics/metric-manifest.ts'
import { filteredMetrics } from './metrics/metric-filters.ts'
import type { MetricFilters } from './metrics/metric-filters.ts'
import { compatibilityVersions, validateServing } from './options/options.ts'
import type { Options } from './options/options.ts'
import type { Descriptors, Prepared, Program } from './program.ts'
import { runControllers } from './run-controllers.ts'
import { ServiceAccountTransports } from './identities/service-account-clients.ts'
import { HealthChecks } from './serving/health.ts'
import type { DebugHandler } from './serving/routes.ts'
import { managerPages } from './manager-pages.ts'
import { withinShutdownTimeout } from './shutdown.ts'

/** A request of the elector may take half of the time in which it must renew, and at least this. */
const LEAST_ELECTION_TIMEOUT_MS = 1_000

/** Resolves when the run has ended in order; rejects with the error that ends the process. */
export async function runApp(
  program: Program,
  options: Options,
  world: AppWorld,
  signal: AbortSignal,
): Promise<void> {
  const { host, logger } = world
  const filters = await metricFilters(options, host)
  const prepared = await program.prepare(options, world)
  const config = await loadManagerConfig(
    { kubeconfig: options.text('kubeconfig'), master: options.text('master') },
    host,
    logger,
  )
  const isMigrating = options.flag('leader-elect') && options.flag('enable-leader-migration')
  const migration = isMigrating
    ? await loadLeaderMigration(options.text('leader-migration-config'), host)
    : undefined
  validateServing(options)
  const app = new App({
    program,
    prepared,
    options,
    world,
    // The server is near, or as fast as it should be: what packing saves on the way it costs both ends.
    config: { ...config, disableCompression: true },
    migration,
    filters,
  })
  const lifetime = new AbortController()
  const close = await app.startServing(lifetime.signal)
  try {
    await app.run(signal)
  } finally {
    lifetime.abort()
    close()
    await app.close()
  }
}

interface AppParts {
  readonly program: Program
  readonly prepared: Prepared
  readonly options: Options
  readonly world: AppWorld
  readonly config: RestConfig
  readonly migration: LeaderMigration | undefined
  readonly filters: MetricFilters
}

class App {
  readonly #program: Program
  readonly #prepared: Prepared
  readonly #options: Options
  readonly #world: AppWorld
  readonly #config: RestConfig
  readonly #migration: LeaderMigration | undefined
  readonly #pool: TransportPool
  readonly #order: DueFirst
  readonly #metrics: MetricsRegistry
  readonly #slis: MetricsRegistry
  readonly #health: HealthChecks
  readonly #debugHandlers = new Map<string, DebugHandler>()
  readonly #events: EventBroadcaster[] = []

  constructor({ program, prepared, options, world, config, migration, filters }: AppParts) {
    const { host, clock, logger } = world
    this.#program = program
    this.#prepared = prepared
    this.#options = options
    this.#world = world
    this.#config = config
    this.#migration = migration
    this.#metrics = filteredMetrics(new PrometheusRegistry(), filters)
    this.#slis = filteredMetrics(new PrometheusRegistry(), filters, silentMetrics)
    this.#health = new HealthChecks(this.#slis)
    this.#pool = new TransportPool({ host, clock, logger, metrics: this.#metrics })
    this.#order = new DueFirst(clock)
    world.exposeProcess?.(this.#metrics, this.#slis)
    registerBinaryMetrics(this.#metrics, world, options.gates(), compatibilityVersions(options))
  }

  async startServing(signal: AbortSignal): Promise<() => void> {
    if (this.#options.number('secure-port') === 0) return () => {}
    const pages = await managerPages(
      {
        program: this.#program,
        options: this.#options,
        world: this.#world,
        migration: this.#migration,
        health: this.#health,
        metrics: this.#metrics,
        slis: this.#slis,
        debugHandlers: this.#debugHandlers,
        client: (config, rate) =>
          this.#builder(() => this.#pool.transport(config), '', rate).client(''),
      },
      signal,
    )
    return this.#world.serve(pages)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#world
    if (this.#options.flag('leader-elect')) return this.#contend(signal)
    const timeoutMs = this.#options.number('controller-shutdown-timeout')
    const loops = this.#runControllers(this.#program.descriptors, undefined, signal)
    await withinShutdownTimeout(loops, signal, { timeoutMs, clock, logger })
  }

  async close(): Promise<void> {
    await Promise.all(this.#events.map((events) => events.shutdown()))
    await this.#pool.close()
  }

  /** Under the main lock; with leader migration also under a second one, once the token controller runs under the first. */
  async #contend(signal: AbortSignal): Promise<void> {
    const migration = this.#migration
    const identity = `${this.#world.hostname}_${uuid(this.#world.random)}`
    const under = (lock: 'main' | 'migration'): Descriptors =>
      migration === undefined
        ? this.#program.descriptors
        : this.#program.descriptors.filter(({ name }) =>
            name === TOKEN_CONTROLLER
              ? lock === 'main'
              : lockOf(migration, name, this.#program.name) === lock,
          )
    const started = Promise.withResolvers<'started'>()
    const main = this.#election(this.#options.text('leader-elect-resource-name'), identity, {
      logPrefix: '',
      run: (term, holdsLease) =>
        this.#runControllers(under('main'), holdsLease, term, () => started.resolve('started')),
    })
    const elections = [main]
    this.#health.add({
      name: 'leaderElection',
      check: () => elections.map((election) => election.check()).find(Boolean),
    })
    this.#announce(identity, signal)
    const mainRun = main.run(signal)
    if (migration === undefined) return mainRun
    const second = Promise.race([started.promise, mainRun]).then(async (what) => {
      if (what !== 'started') return
      const election = this.#election(migration.leaderName, identity, {
        logPrefix: 'migration ',
        run: (term, holdsLease) => this.#runControllers(under('migration'), holdsLease, term),
      })
      elections.push(election)
      await election.run(signal)
    })
    await Promise.all([mainRun, second])
  }

  #election(
    leaseName: string,
    identity: string,
    part: Pick<ElectionOptions, 'run' | 'logPrefix'>,
  ): Election {
    const options = this.#options
    const { clock, random, logger } = this.#world
    const renewDeadlineMs = options.number('leader-elect-renew-deadline')
    const client = this.#rootClients().client('leader-election', {
      requestTimeoutMs: Math.max(LEAST_ELECTION_TIMEOUT_MS, renewDeadlineMs / 2),
    })
    const events = new EventBroadcaster({
      client,
      clock,
      random: random.fork(`events/${leaseName}`),
      logger: logger.named('events'),
    })
    this.#events.push(events)
    return createElection({
      ...part,
      leaseName,
      leaseNamespace: options.text('leader-elect-resource-namespace'),
      identity,
      client,
      recorder: loggingRecorder(events.recorder(this.#program.name), logger),
      leaseDurationMs: options.number('leader-elect-lease-duration'),
      renewDeadlineMs,
      retryPeriodMs: options.number('leader-elect-retry-period'),
      coordinated: options.isGateOn('CoordinatedLeaderElection'),
      releasesLease: options.isGateOn('ControllerManagerReleaseLeaderElectionLockOnExit'),
      shutdownTimeoutMs: options.number('controller-shutdown-timeout'),
      clock,
      random,
      logger,
      metrics: this.#metrics,
    })
  }

  /** Where the server chooses the leader: tells it that this process can lead, for the whole of its life. */
  #announce(identity: string, signal: AbortSignal): void {
    const options = this.#options
    if (!options.isGateOn('CoordinatedLeaderElection')) return
    const { clock, random, logger, version } = this.#world
    const candidate = new LeaseCandidate({
      client: this.#rootClients().client(this.#program.name),
      clock,
      random: random.fork('lease-candidate'),
      logger: logger.named('lease-candidate'),
      metrics: this.#metrics,
      namespace: options.text('leader-elect-resource-namespace'),
      leaseName: options.text('leader-elect-resource-name'),
      identity,
      ...candidateVersions(version, options),
    })
    this.#health.add({
      name: 'informer-sync',
      check: () =>
        candidate.hasSynced ? undefined : 'the lease candidate informer has not synced',
    })
    candidate
      .run(signal)
      .catch((error: unknown) => logger.error(error, 'The lease candidate failed'))
  }

  /** `holdsLease`: writes are refused when it answers false. */
  async #runControllers(
    descriptors: Descriptors,
    holdsLease: (() => boolean) | undefined,
    signal: AbortSignal,
    onStarted?: () => void,
  ): Promise<void> {
    const options = this.#options
    const { clock, random, logger } = this.#world
    const rootClients = this.#controllerClients(holdsLease)
    await runControllers(
      {
        rootClients,
        controllerClients: options.flag('use-service-account-credentials')
          ? this.#serviceAccountClients(holdsLease, rootClients)
          : rootClients,
        descriptors,
        items: options.list('controllers'),
        program: this.#program.name,
        knownControllers: this.#program.knownControllers,
        startsOneByOne: this.#program.startsOneByOne,
        beforeControllers: this.#prepared.beforeControllers?.bind(this.#prepared),
        configuration: await this.#prepared.configuration(this.#config),
        startIntervalMs: options.number('controller-start-interval'),
        minResyncPeriodMs: options.number('min-resync-period'),
        clock,
        random: random.fork('controllers'),
        logger,
        metrics: this.#metrics,
        health: this.#health,
        debugHandlers: this.#debugHandlers,
        informers: this.#informerDetectors(),
      },
      signal,
      onStarted,
    )
  }

  #informerDetectors(): Pick<InformerSwitches, 'onAltered' | 'onInconsistentList'> {
    const { host, logger } = this.#world
    // Ends the process with a trace of the stack, as upstream's panic does.
    const crash = (error: Error): void =>
      queueMicrotask(() => {
        throw error
      })
    const { onAltered, onInconsistentList } = informerSwitches(host, crash, logger)
    return { onAltered, onInconsistentList }
  }

  /** Without an order: who leads is more urgent than anything. */
  #rootClients(): ClientBuilder {
    return this.#builder(() => this.#pool.transport(this.#config), '')
  }

  #controllerClients(holdsLease: (() => boolean) | undefined): ClientBuilder {
    return this.#builder(() => this.#controllerTransport(this.#config, holdsLease), '')
  }

  #controllerTransport(config: RestConfig, holdsLease: (() => boolean) | undefined): Transport {
    return this.#order.transport(fenced(this.#pool.transport(config), holdsLease))
  }

  #serviceAccountClients(
    holdsLease: (() => boolean) | undefined,
    rootClients: ClientBuilder,
  ): ClientBuilder {
    const { clock, logger } = this.#world
    const accounts = new ServiceAccountTransports({
      root: rootClients.client(this.#program.name),
      anonymous: this.#controllerTransport(anonymousConfig(this.#config), holdsLease),
      clock,
      logger,
    })
    const suffixPrefix = 'system:serviceaccount:kube-system:'
    return {
      ...this.#builder((account) => accounts.transport(account), suffixPrefix),
      prepare: (account) => accounts.prepare(account),
    }
  }

  #builder(
    transport: (name: string) => Transport,
    suffixPrefix: string,
    rate?: ClientRate,
  ): ClientBuilder {
    const { clock, logger, host, platform, version, commit } = this.#world
    return clientBuilder({
      transport,
      clock,
      logger,
      metrics: this.#metrics,
      host: new URL(this.#config.server).host,
      rate: rate ?? {
        qps: this.#options.number('kube-api-qps'),
        burst: this.#options.number('kube-api-burst'),
      },
      backoff: serverBackoffFrom(host),
      userAgent: { program: this.#program.name, version, commit, ...platform },
      suffixPrefix,
    })
  }
}

function fenced(transport: Transport, holdsLease: (() => boolean) | undefined): Transport {
  return holdsLease === undefined ? transport : fencedTransport(transport, holdsLease)
}
