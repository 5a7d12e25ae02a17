/** Contract: docs/behaviour/runtime/custom-controllers.md, Manager. */
import { RestMapper } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { silentLogger, silentMetrics, sleep } from '@gyropilot/foundation'
import { controllerErrors } from '../builder/errors.ts'
import { EventBroadcaster } from '../events/event-broadcaster.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import { CachedClient } from '../object-cache/cached-client.ts'
import { namingKinds } from '../object-cache/naming-kind.ts'
import type { CachedClientOptions } from '../object-cache/cached-client.ts'
import { ObjectCache } from '../object-cache/object-cache.ts'
import type { ObjectCacheOptions } from '../object-cache/cache-options.ts'
import type { LeaderElector } from '../leader-election/leader-elector.ts'
import { HealthChecks } from './health-checks.ts'
import type { HealthCheck, HttpAnswer } from './health-checks.ts'
import { electorFor } from './leader-election.ts'
import type { LeaderElectionOptions } from './leader-election.ts'
import { RunnableGroup } from './runnable.ts'
import type { Runnable } from './runnable.ts'

const DEFAULT_GRACEFUL_SHUTDOWN_MS = 30_000

/** Client, clock and random source are needed. */
export interface ControllerManagerOptions {
  /** Talks to the API server; best without a rate limit of its own (`qps: -1`). */
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  /** Default: silent. */
  readonly logger?: Logger
  /** Default: none. */
  readonly metrics?: MetricsRegistry
  readonly cache?: Omit<ObjectCacheOptions, 'client' | 'clock' | 'random' | 'logger'>
  readonly reads?: Omit<CachedClientOptions, 'cache' | 'live'>
  /** Default: none, everything runs. */
  readonly leaderElection?: LeaderElectionOptions
  /** How long a stop waits for what runs. Default 30 s; 0: not at all; negative: for ever. */
  readonly gracefulShutdownTimeoutMs?: number
  /** Listeners that call `handle`: started first, stopped last. */
  readonly servers?: readonly Pick<Runnable, 'start'>[]
}

/**
 * Runs controllers: servers, webhooks, caches, what needs no leadership, warm-up, and with leadership the rest, in this
 * order; and ends them in the reverse one. One start per manager.
 */
export class ControllerManager {
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly cache: ObjectCache
  /** Reads from the caches, writes to the API server. */
  readonly client: Client
  /** Reads from the API server too. */
  readonly live: Client
  /** From kinds to resources, for types known by name only. One for all controllers: discovery is read once. */
  readonly mapper: RestMapper
  /** Resolves when this process leads, or at the start where nobody is elected. */
  readonly elected: Promise<void>
  readonly #options: ControllerManagerOptions
  readonly #events: EventBroadcaster
  readonly #health = new HealthChecks()
  readonly #readiness = new HealthChecks()
  readonly #failure = Promise.withResolvers<never>()
  readonly #servers: RunnableGroup
  readonly #webhooks: RunnableGroup
  readonly #caches: RunnableGroup
  readonly #always: RunnableGroup
  readonly #warmups: RunnableGroup
  readonly #leaders: RunnableGroup
  #setElected = (): void => {}
  #elector: LeaderElector | undefined
  #leadershipLost = false
  #started = false

  constructor(options: ControllerManagerOptions) {
    const { client, clock, random, logger = silentLogger, metrics = silentMetrics } = options
    this.#options = options
    this.clock = clock
    this.random = random
    this.logger = logger
    this.metrics = metrics
    this.live = namingKinds(client)
    this.mapper = new RestMapper({ client, clock })
    this.cache = new ObjectCache({ ...options.cache, client, clock, random, logger })
    this.client = new CachedClient({ ...options.reads, cache: this.cache, live: client })
    this.#events = new EventBroadcaster({ client, clock, random: random.fork('events'), logger })
    this.elected = new Promise((resolve) => (this.#setElected = resolve))
    const fail = (error: unknown): void => this.#failure.reject(error)
    this.#servers = new RunnableGroup(fail)
    this.#webhooks = new RunnableGroup(fail)
    this.#caches = new RunnableGroup(fail)
    this.#always = new RunnableGroup(fail)
    this.#warmups = new RunnableGroup(fail, async (runnable, signal) => runnable.warmup?.(signal))
    this.#leaders = new RunnableGroup(fail)
    for (const server of options.servers ?? []) this.#servers.add(server)
  }

  /** At any time; after the start it begins at once, or with leadership. */
  add(runnable: Runnable): void {
    if (runnable.needLeaderElection === false) {
      this.#always.add(runnable)
      return
    }
    this.#warmups.add(runnable)
    this.#leaders.add(runnable)
  }

  addWebhook(runnable: Pick<Runnable, 'start'>): void {
    this.#webhooks.add(runnable)
  }

  recorder(component: string): EventRecorder {
    return this.#events.recorder(component)
  }

  /** Nobody is elected, or the lease would still be this process's if its last renewal had taken effect when it was sent. */
  holdsLease(): boolean {
    return this.#options.leaderElection === undefined || (this.#elector?.holdsLease ?? false)
  }

  addHealthCheck(name: string, check: HealthCheck): void {
    this.#health.add(name, check)
  }

  addReadyCheck(name: string, check: HealthCheck): void {
    this.#readiness.add(name, check)
  }

  /** What a server answers to a GET of `/healthz`, `/readyz` and `/metrics`. Undefined: not found. */
  async handle(target: string): Promise<HttpAnswer | undefined> {
    // A path that begins with two slashes names no host.
    const url = URL.parse(target.startsWith('/') ? `http://manager${target}` : target)
    if (url === null) return undefined
    const { pathname, searchParams } = url
    if (pathname === '/metrics') {
      const body = this.metrics.expose()
      return { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body }
    }
    const [, root, path = ''] = /^\/(healthz|readyz)(\/.*)?$/.exec(pathname) ?? []
    if (root === undefined) return undefined
    return (root === 'healthz' ? this.#health : this.#readiness).answer(path, searchParams)
  }

  /**
   * Resolves after `signal` aborted and everything has ended. Rejects when something that runs fails, when leadership is
   * lost (the process must end then), or when the stop takes longer than it may.
   */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#started) throw controllerErrors.make('MANAGER_STARTED', 'manager already started')
    this.#started = true
    const election = new AbortController()
    let elected: Promise<void> = Promise.resolve()
    let failure: unknown
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
    const onAbort = (): void => stop()
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) stop()
    try {
      const ending = Promise.race([stopped, this.#failure.promise])
      if (!signal.aborted) {
        await Promise.race([this.#startUnelected(signal), ending])
        if (!signal.aborted) elected = this.#elect(election.signal)
      }
      await ending
    } catch (error) {
      failure = error
      this.logger.error(error, 'The manager ends because of an error')
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
    try {
      await this.#stop(election, elected)
    } catch (error) {
      failure ??= error
    }
    if (failure !== undefined) throw failure
  }

  async #startUnelected(signal: AbortSignal): Promise<void> {
    this.#servers.start()
    this.#webhooks.start()
    this.#caches.add(this.cache)
    this.#caches.start()
    // The group starts its members in a turn of their own.
    await Promise.resolve()
    await this.cache.waitForCacheSync(signal)
    this.#always.start()
    this.#warmups.start()
  }

  async #elect(signal: AbortSignal): Promise<void> {
    const { leaderElection } = this.#options
    const lead = (): void => {
      this.#leaders.start()
      this.#setElected()
    }
    if (leaderElection === undefined) {
      lead()
      return
    }
    try {
      this.#elector = electorFor(leaderElection, this, {
        onStartedLeading: async (term) => {
          lead()
          await new Promise((resolve) => term.addEventListener('abort', resolve, { once: true }))
          await this.#leaders.stop()
        },
        onStoppedLeading() {},
      })
      await this.#elector.run(signal)
    } catch (error) {
      this.#failure.reject(error)
      return
    }
    if (signal.aborted) return
    this.#leadershipLost = true
    this.#failure.reject(controllerErrors.make('LEADER_ELECTION_LOST', 'leader election lost'))
  }

  /** The leader's work first, and the lease after it; servers last, so that probes answer for as long as something runs. */
  async #stop(election: AbortController, elected: Promise<void>): Promise<void> {
    const inOrder = async (): Promise<void> => {
      await this.#leaders.stop()
      election.abort()
      await elected
      await this.#warmups.stop()
      await this.#always.stop()
      await this.#caches.stop()
      await this.#webhooks.stop()
      await this.#events.shutdown()
      await this.#servers.stop()
    }
    const graceMs = this.#options.gracefulShutdownTimeoutMs ?? DEFAULT_GRACEFUL_SHUTDOWN_MS
    // Somebody else may lead already: whoever is told to wait for ever does not wait then.
    if (graceMs === 0 || this.#leadershipLost) {
      this.#stopAll(election)
      return
    }
    if (graceMs < 0) return inOrder()
    const timer = new AbortController()
    const ended = await Promise.race([
      inOrder().then(() => true),
      sleep(this.clock, graceMs, timer.signal).catch(() => {}),
    ])
    timer.abort()
    if (ended === true) return
    this.#stopAll(election)
    throw controllerErrors.make(
      'SHUTDOWN_INCOMPLETE',
      `failed waiting for all runnables to end within grace period of ${graceMs / 1000}s: context deadline exceeded`,
    )
  }

  /** Tells everything to end and waits for nothing. */
  #stopAll(election: AbortController): void {
    election.abort()
    const groups = [
      this.#leaders,
      this.#warmups,
      this.#always,
      this.#caches,
      this.#webhooks,
      this.#servers,
    ]
    for (const group of groups) void group.stop()
    void this.#events.shutdown()
  }
}
