/** One run of kube-controller-manager, from options to exit code. Contract: docs/behaviour/runtime/manager.md, Startup sequence. */
import { TransportPool, anonymousConfig, loadManagerConfig } from '@gyropilot/client'
import type { Client, RestConfig } from '@gyropilot/client'
import { controllers } from '@gyropilot/controllers'
import { PrometheusRegistry, errorText, uuid } from '@gyropilot/foundation'
import type {
  Clock,
  HostEnvironment,
  Logger,
  MetricsRegistry,
  RandomSource,
} from '@gyropilot/foundation'
import {
  EventBroadcaster,
  LeaderElectionHealthCheck,
  LeaderElector,
  LeaseLock,
} from '@gyropilot/runtime'
import { clientBuilder } from './client-builder.ts'
import type { ClientBuilder } from './client-builder.ts'
import { controllersConfiguration } from './controllers-configuration.ts'
import { managerErrors } from './errors.ts'
import type { Options } from './options.ts'
import { runControllers } from './run-controllers.ts'
import { ServiceAccountTransports } from './service-account-clients.ts'
import { DelegatedAuth } from './serving/delegated-auth.ts'
import type { IncomingRequest } from './serving/delegated-auth.ts'
import { HealthChecks } from './serving/health.ts'
import { serve } from './serving/routes.ts'
import type { Answer } from './serving/routes.ts'

/** How long past its lease a holder that does not renew still counts as healthy. */
const ELECTION_TOLERANCE_MS = 20_000
const PROGRAM = 'kube-controller-manager'

export interface AppWorld {
  readonly host: HostEnvironment
  readonly hostname: string
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly platform: { readonly os: string; readonly arch: string }
  readonly version: string
  readonly commit: string
  /** Opens the HTTPS port; returns how to close it. */
  serve(
    answer: (request: IncomingRequest) => Promise<Answer>,
    clientAuthorityPem: string | undefined,
  ): Promise<() => void>
}

/** Resolves when the run has ended in order; rejects with the error that ends the process. */
export async function runApp(
  options: Options,
  world: AppWorld,
  signal: AbortSignal,
): Promise<void> {
  const { host, logger } = world
  const config = await loadManagerConfig(
    { kubeconfig: options.text('kubeconfig'), master: options.text('master') },
    host,
    logger,
  )
  const app = new App(options, world, config)
  const close = await app.startServing()
  try {
    await app.run(signal)
  } finally {
    close()
    await app.close()
  }
}

class App {
  readonly #options: Options
  readonly #world: AppWorld
  readonly #config: RestConfig
  readonly #pool: TransportPool
  readonly #metrics: MetricsRegistry = new PrometheusRegistry()
  readonly #health = new HealthChecks()
  readonly #rootClients: ClientBuilder

  constructor(options: Options, world: AppWorld, config: RestConfig) {
    const { host, clock, logger } = world
    this.#options = options
    this.#world = world
    this.#config = config
    this.#pool = new TransportPool({ host, clock, logger, metrics: this.#metrics })
    this.#rootClients = this.#builder(config, '')
  }

  async startServing(): Promise<() => void> {
    if (this.#options.number('secure-port') === 0) return () => {}
    const auth = await this.#delegatedAuth()
    const authority = this.#options.text('client-ca-file')
    const clientAuthorityPem =
      authority === '' ? undefined : await this.#world.host.readTextFile(authority)
    const routes = {
      auth,
      health: this.#health,
      metrics: this.#metrics,
      configz: () => Object.fromEntries(this.#options.values),
    }
    return this.#world.serve((request) => serve(request, routes), clientAuthorityPem)
  }

  async run(signal: AbortSignal): Promise<void> {
    if (!this.#options.flag('leader-elect')) return this.#runUntilStopped(signal)
    const ending = Promise.withResolvers<void>()
    const check = new LeaderElectionHealthCheck(ELECTION_TOLERANCE_MS)
    this.#health.add({ name: check.name, check: () => check.check()?.message })
    const elector = this.#elector({
      onStartedLeading: (term) =>
        this.#runControllers(term).catch((error: unknown) => ending.reject(error)),
      onStoppedLeading: () => this.#world.logger.error(undefined, 'leaderelection lost'),
    })
    check.bind(elector)
    await Promise.race([elector.run(signal), ending.promise])
    if (signal.aborted && this.#releasesLease()) return
    throw managerErrors.make('LEADER_ELECTION_LOST', 'leaderelection lost')
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  #releasesLease(): boolean {
    return this.#options.gates().get('ControllerManagerReleaseLeaderElectionLockOnExit') === true
  }

  #elector(callbacks: ConstructorParameters<typeof LeaderElector>[0]['callbacks']): LeaderElector {
    const options = this.#options
    const { clock, random, logger, hostname } = this.#world
    const client = this.#rootClients.client('leader-election')
    const name = options.text('leader-elect-resource-name')
    return new LeaderElector({
      lock: new LeaseLock({
        client,
        namespace: options.text('leader-elect-resource-namespace'),
        name,
        identity: `${hostname}_${uuid(random)}`,
        recorder: this.#events(client).recorder(PROGRAM),
      }),
      leaseDurationMs: options.number('leader-elect-lease-duration'),
      renewDeadlineMs: options.number('leader-elect-renew-deadline'),
      retryPeriodMs: options.number('leader-elect-retry-period'),
      callbacks,
      clock,
      random: random.fork('leader-election'),
      logger: logger.named('leader-election'),
      name,
      metrics: this.#metrics,
      releaseOnCancel: this.#releasesLease(),
    })
  }

  /** Without election: loops stop within the shutdown timeout, or the run fails. */
  async #runUntilStopped(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#world
    const timeoutMs = this.#options.number('controller-shutdown-timeout')
    const loops = this.#runControllers(signal)
    const overdue = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => {
      if (timeoutMs === 0) return
      for (const third of [1, 2]) {
        clock.after((timeoutMs * third) / 3, () =>
          logger.info('Still waiting for some controllers to terminate...'),
        )
      }
      clock.after(timeoutMs, () =>
        overdue.reject(
          managerErrors.make('SHUTDOWN_TIMEOUT', 'controller shutdown timeout reached'),
        ),
      )
    })
    await Promise.race([loops, overdue.promise])
  }

  async #runControllers(signal: AbortSignal): Promise<void> {
    const options = this.#options
    const { clock, random, logger } = this.#world
    await runControllers(
      {
        rootClients: this.#rootClients,
        controllerClients: options.flag('use-service-account-credentials')
          ? this.#serviceAccountClients()
          : this.#rootClients,
        descriptors: controllers,
        items: options.list('controllers'),
        configuration: controllersConfiguration(options, await this.#rootCa()),
        startIntervalMs: options.number('controller-start-interval'),
        minResyncPeriodMs: options.number('min-resync-period'),
        clock,
        random: random.fork('controllers'),
        logger,
        metrics: this.#metrics,
        health: this.#health,
      },
      signal,
    )
  }

  #events(client: Client): EventBroadcaster {
    const { clock, random, logger } = this.#world
    return new EventBroadcaster({
      client,
      clock,
      random: random.fork('events'),
      logger: logger.named('events'),
    })
  }

  #builder(config: RestConfig, suffixPrefix: string): ClientBuilder {
    return this.#builderOver(() => this.#pool.transport(config), suffixPrefix)
  }

  #builderOver(
    transport: Parameters<typeof clientBuilder>[0]['transport'],
    suffixPrefix: string,
  ): ClientBuilder {
    const { clock, logger, platform, version, commit } = this.#world
    return clientBuilder({
      transport,
      clock,
      logger,
      metrics: this.#metrics,
      host: new URL(this.#config.server).host,
      rate: {
        qps: this.#options.number('kube-api-qps'),
        burst: this.#options.number('kube-api-burst'),
      },
      userAgent: { program: PROGRAM, version, commit, ...platform },
      suffixPrefix,
    })
  }

  #serviceAccountClients(): ClientBuilder {
    const { clock, logger } = this.#world
    const accounts = new ServiceAccountTransports({
      root: this.#rootClients.client('service-accounts'),
      anonymous: this.#pool.transport(anonymousConfig(this.#config)),
      clock,
      logger,
    })
    return this.#builderOver(
      (name) => accounts.transport(name),
      'system:serviceaccount:kube-system:',
    )
  }

  /** --root-ca-file, else the CA of the kubeconfig's cluster. */
  async #rootCa(): Promise<string> {
    const { host } = this.#world
    const file = this.#options.text('root-ca-file')
    if (file !== '') {
      try {
        return await host.readTextFile(file)
      } catch (error) {
        throw managerErrors.make(
          'OPTIONS_INVALID',
          `error reading root-ca-file at ${file}: ${errorText(error)}`,
        )
      }
    }
    const { caData, caFile } = this.#config.tls
    return caData ?? (caFile === undefined ? '' : host.readTextFile(caFile))
  }

  async #delegatedAuth(): Promise<DelegatedAuth> {
    const options = this.#options
    const reviewClient = async (flag: string): Promise<Client | undefined> => {
      const kubeconfig = options.text(flag)
      if (kubeconfig === '') return undefined
      const config = await loadManagerConfig({ kubeconfig }, this.#world.host, this.#world.logger)
      return this.#builder(config, '').client('delegated-auth')
    }
    const authenticationClient = await reviewClient('authentication-kubeconfig')
    const authorizationClient = await reviewClient('authorization-kubeconfig')
    return new DelegatedAuth({
      clock: this.#world.clock,
      ...(authenticationClient === undefined ? {} : { authenticationClient }),
      ...(authorizationClient === undefined ? {} : { authorizationClient }),
      tokenCacheMs: options.number('authentication-token-webhook-cache-ttl'),
      authorizedCacheMs: options.number('authorization-webhook-cache-authorized-ttl'),
      unauthorizedCacheMs: options.number('authorization-webhook-cache-unauthorized-ttl'),
      alwaysAllowPaths: options.list('authorization-always-allow-paths'),
    })
  }
}
