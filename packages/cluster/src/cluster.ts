/**
 * A whole cluster in one process: API server, controllers, scheduler, simulated nodes, on one clock and one source of chance.
 * On the system clock it is `gyro up`; on a virtual clock it is a test.
 */
import { createApiServer } from '@gyropilot/api-server'
import type { ApiServer, ClusterCertificates, Store, UserInfo } from '@gyropilot/api-server'
import type { Client } from '@gyropilot/client'
import { controllers, defaultControllersConfiguration } from '@gyropilot/controllers'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { clientBuilder, runControllers } from '@gyropilot/manager'
import { EventBroadcaster, SharedInformerFactory } from '@gyropilot/runtime'
import type { InformerFactory, ReconcileTrace } from '@gyropilot/runtime'
import { SCHEDULER_NAME, Scheduler, SimulatedNodes } from '@gyropilot/simulation'
import type { SimulatedNodeConfiguration } from '@gyropilot/simulation'
import {
  ADMINISTRATOR,
  CONTROLLER_MANAGER,
  Identities,
  SCHEDULER,
  controllerAccount,
} from './identities.ts'
import { clientAs, transportAs } from './in-process-client.ts'
import type { Audit, InProcessClientOptions } from './in-process-client.ts'

export interface ClusterOptions {
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly store: Store
  readonly certificates: ClusterCertificates
  /** Bearer token of the administrator. Default: a random one. */
  readonly administratorToken?: string
  readonly trace?: ReconcileTrace
  /** Told of every request of the parts, not of those from outside. */
  readonly audit?: Audit
}

/** A part that runs until its cluster stops. `ready` resolves when it does its work. */
export interface RunningPart {
  readonly ready: Promise<void>
  /** Rejects when the part fails; resolves after stop. */
  readonly ended: Promise<void>
}

export class Cluster {
  readonly server: ApiServer
  readonly administratorToken: string
  readonly #options: ClusterOptions
  readonly #identities: Identities
  readonly #lifetime = new AbortController()
  readonly #parts: Promise<void>[] = []

  constructor(options: ClusterOptions) {
    const { clock, random, logger, metrics, store, certificates } = options
    this.#options = options
    this.#identities = new Identities(random.fork('identities'))
    if (options.administratorToken)
      this.#identities.tokens.set(options.administratorToken, ADMINISTRATOR)
    this.administratorToken = options.administratorToken || this.#identities.tokenOf(ADMINISTRATOR)
    this.server = createApiServer({
      clock,
      random: random.fork('api-server'),
      logger,
      metrics,
      store,
      serviceAccountKey: certificates.serviceAccountKey,
      clientAuthorityPem: certificates.authority.certificatePem,
      frontProxyAuthorityPem: certificates.frontProxyAuthority.certificatePem,
      tokens: this.#identities.tokens,
    })
  }

  /** Creates what every cluster has. Parts may be started afterwards, in any order. */
  start(): Promise<void> {
    return this.server.start()
  }

  /** Speaks as the administrator unless another user is given. */
  client(user: UserInfo = ADMINISTRATOR, program = 'gyro'): Client {
    return clientAs(this.#clientOptions(), user, program)
  }

  /** The controllers of kube-controller-manager, each under its own service account. `items` as of --controllers. */
  startControllerManager(items: readonly string[] = ['*']): RunningPart {
    const { clock, logger, metrics, certificates, trace } = this.#options
    const random = this.#options.random.fork('controller-manager')
    const agent = {
      program: 'kube-controller-manager',
      version: 'v1.36.0',
      os: 'linux',
      arch: 'amd64',
      commit: 'gyropil',
    }
    const common = {
      clock,
      logger,
      metrics,
      host: 'in-process',
      rate: { qps: -1, burst: 0 },
      userAgent: agent,
    }
    return this.#part((signal, onStarted) =>
      runControllers(
        {
          rootClients: clientBuilder({
            ...common,
            transport: () => this.#transport(CONTROLLER_MANAGER),
          }),
          controllerClients: clientBuilder({
            ...common,
            transport: (name) => this.#transport(controllerAccount(name)),
          }),
          descriptors: controllers,
          items,
          configuration: {
            ...defaultControllersConfiguration,
            rootCaPublisher: { caBundle: certificates.authority.certificatePem },
          },
          startIntervalMs: 0,
          minResyncPeriodMs: 12 * 3_600_000,
          clock,
          random,
          logger: logger.named('controller-manager'),
          metrics,
          ...(trace === undefined ? {} : { trace }),
        },
        signal,
        onStarted,
      ),
    )
  }

  startScheduler(): RunningPart {
    const { clock, random, logger } = this.#options
    const client = this.client(SCHEDULER, 'kube-scheduler')
    const informers = this.#informers(client, 'scheduler')
    const scheduler = new Scheduler({
      client,
      informers,
      clock,
      random: random.fork('scheduler'),
      logger: logger.named('scheduler'),
      recorder: this.#events(client).recorder(SCHEDULER_NAME),
    })
    return this.#part(async (signal, onStarted) => {
      informers.start(signal)
      if (!(await informers.waitForCacheSync(signal))) return
      scheduler.start(signal)
      onStarted()
      await informers.shutdown()
    })
  }

  startNodes(nodes: readonly SimulatedNodeConfiguration[]): RunningPart {
    const { clock, random, logger } = this.#options
    const client = this.client(ADMINISTRATOR, 'kubelet')
    const informers = this.#informers(client, 'nodes')
    const simulated = new SimulatedNodes({
      nodes,
      client,
      informers,
      clock,
      random: random.fork('nodes'),
      logger: logger.named('nodes'),
      recorderOf: (host) => this.#events(client, host).recorder('kubelet'),
    })
    return this.#part(async (signal, onStarted) => {
      informers.start(signal)
      if (!(await informers.waitForCacheSync(signal))) return
      await simulated.start(signal)
      onStarted()
      await informers.shutdown()
    })
  }

  /** Stops the parts, then the server. The store stays open: it belongs to the caller. */
  async stop(graceMs?: number): Promise<void> {
    this.#lifetime.abort(new Error('the cluster stops'))
    await Promise.allSettled(this.#parts)
    await this.server.stop(graceMs)
  }

  #part(run: (signal: AbortSignal, onStarted: () => void) => Promise<void>): RunningPart {
    const { signal } = this.#lifetime
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    const ended = run(signal, resolve).catch((error: unknown) => {
      if (signal.aborted) return
      reject(error)
      throw error
    })
    ready.catch(() => {})
    ended.catch(() => {})
    this.#parts.push(ended)
    return { ready, ended }
  }

  #transport(user: UserInfo) {
    return transportAs(this.server, this.#identities, user, this.#options.audit)
  }

  #informers(client: Client, name: string): InformerFactory {
    const { clock, random, logger } = this.#options
    return new SharedInformerFactory({
      client,
      clock,
      random: random.fork(`${name}/informers`),
      logger: logger.named(name),
    })
  }

  #events(client: Client, host?: string): EventBroadcaster {
    const { clock, random, logger } = this.#options
    return new EventBroadcaster({
      client,
      clock,
      random: random.fork(`events/${host ?? ''}`),
      logger: logger.named('events'),
      ...(host === undefined ? {} : { host }),
    })
  }

  #clientOptions(): InProcessClientOptions {
    const { audit, clock, logger, metrics } = this.#options
    return { server: this.server, identities: this.#identities, audit, clock, logger, metrics }
  }
}
