/** Contract: docs/behaviour/runtime/custom-controllers.md, Builder and Reconciler. */
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { anySignal, uuid, withDeadline } from '@gyropilot/foundation'
import type { EventRecorder } from '../events/event-recorder.ts'
import { fencedClient } from '../leader-election/fenced-client.ts'
import { withSignal } from '../object-cache/cached-client.ts'
import { runWorkers } from '../workers.ts'
import type { PrioritizedItem } from '../workqueue/priority-queue.ts'
import { limitsOf } from './controller-options.ts'
import type { ControllerOptions, LoopLimits } from './controller-options.ts'
import { controllerErrors } from './errors.ts'
import { reconcileMetrics } from './reconcile-metrics.ts'
import type { ReconcileMetrics, ResultLabel } from './reconcile-metrics.ts'
import { PanicError, isPanic, isTerminal } from './reconciler.ts'
import type { Reconciler, Result } from './reconciler.ts'
import { requestOfKey } from './request.ts'
import type { Request } from './request.ts'
import { keyQueue } from './request-queue.ts'
import type { KeyQueue } from './request-queue.ts'
import type { Source } from './sources.ts'

/** What the loop runs in; a ControllerManager gives it. */
export interface ControllerEnvironment {
  readonly client: Client
  readonly live: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  recorder(component: string): EventRecorder
  /** Whether those that need leadership may write now. Absent: they may. */
  holdsLease?(): boolean
}

/** What a controller is: its name, where its keys come from, and the reconciler. */
export interface ControllerDefinition {
  /** Label of metrics and queue, source component of events. */
  readonly name: string
  readonly group?: string
  readonly kind?: string
  readonly sources: readonly Source[]
  readonly reconciler: Reconciler
  readonly options?: ControllerOptions
}

/** Sources, one queue, and workers that hand each key to the reconciler. */
export class ReconcileLoop {
  readonly name: string
  readonly needLeaderElection: boolean
  readonly #definition: ControllerDefinition
  readonly #options: ControllerOptions
  readonly #environment: ControllerEnvironment
  readonly #client: Client
  readonly #live: Client
  readonly #logger: Logger
  readonly #metrics: ReconcileMetrics
  readonly #random: RandomSource
  readonly #events: EventRecorder
  readonly #queue: KeyQueue
  readonly #limits: LoopLimits
  #sourcesStarted: Promise<void> | undefined

  constructor(definition: ControllerDefinition, environment: ControllerEnvironment) {
    const { name, group, kind, options = {} } = definition
    const { clock, metrics, logger, random } = environment
    this.name = name
    this.needLeaderElection = options.needLeaderElection ?? true
    this.#definition = definition
    this.#options = options
    this.#environment = environment
    const fenced = (client: Client): Client =>
      this.needLeaderElection && environment.holdsLease !== undefined
        ? fencedClient(client, () => environment.holdsLease!())
        : client
    this.#client = fenced(environment.client)
    this.#live = fenced(environment.live)
    this.#logger = logger.with({
      controller: name,
      ...(kind === undefined ? {} : { controllerGroup: group ?? '', controllerKind: kind }),
    })
    this.#limits = limitsOf(options)
    this.#metrics = reconcileMetrics(metrics, name, this.#limits.workerCount)
    this.#random = random.fork(`controller/${name}`)
    this.#events = environment.recorder(name)
    const { rateLimiter, usePriorityQueue = true } = options
    this.#queue = keyQueue(usePriorityQueue, { clock, name, metrics, rateLimiter })
  }

  /** Starts the sources, where the controller asks for it. */
  async warmup(signal: AbortSignal): Promise<void> {
    if (this.#options.enableWarmup) await this.#startSources(signal)
  }

  /** Resolves when all workers have ended, after `signal` aborted. Rejects when caches are not filled in time. */
  async start(signal: AbortSignal): Promise<void> {
    const crash = new AbortController()
    using stop = anySignal([signal, crash.signal])
    const shutDown = (): void => this.#queue.shutDown()
    stop.signal.addEventListener('abort', shutDown, { once: true })
    try {
      await this.#startSources(signal)
      if (signal.aborted) return
      const { workerCount } = this.#limits
      this.#logger.info('Starting workers', { workerCount })
      await runWorkers({
        count: workerCount,
        clock: this.#environment.clock,
        logger: this.#logger,
        signal: stop.signal,
        queue: this.#queue,
        work: (item) => this.#process(item, signal, (error) => crash.abort(error)),
      })
      this.#logger.info('All workers finished')
      if (crash.signal.aborted) throw crash.signal.reason
    } finally {
      shutDown()
    }
  }

  /** Once: at warm-up or at the start. */
  #startSources(signal: AbortSignal): Promise<void> {
    this.#sourcesStarted ??= this.#syncSources(signal)
    return this.#sourcesStarted
  }

  async #syncSources(signal: AbortSignal): Promise<void> {
    const { cacheSyncTimeoutMs } = this.#limits
    using deadline = withDeadline(this.#environment.clock, cacheSyncTimeoutMs, signal)
    await Promise.all(
      this.#definition.sources.map(async (source) => {
        this.#logger.info('Starting EventSource', { source: source.description })
        const synced = await untilAborted(deadline.signal, async () => {
          await source.start(this.#queue, signal, this.#logger)
          return (await source.whenSynced?.(deadline.signal)) ?? true
        })
        if (synced || signal.aborted) return
        throw controllerErrors.make(
          'CACHE_SYNC_FAILED',
          `failed to wait for ${this.name} caches to sync ${source.description}: timed out waiting for cache to be synced`,
        )
      }),
    )
  }

  async #process(
    item: PrioritizedItem,
    signal: AbortSignal,
    crash: (error: unknown) => void,
  ): Promise<void> {
    if (signal.aborted) return
    const { clock } = this.#environment
    const request = requestOfKey(item.key)
    const logger = this.#logger.with({ ...request, reconcileID: uuid(this.#random) })
    const startMs = clock.monotonicMs()
    this.#metrics.started()
    let result: Result
    try {
      result = withoutNaN((await this.#reconcile(request, logger, signal)) ?? {})
    } catch (thrown) {
      result = { error: thrown }
      if (isPanic(thrown)) {
        this.#metrics.failed('panic')
        logger.error(thrown, 'Observed a panic', {
          stack: thrown instanceof Error ? thrown.stack : undefined,
        })
        if (this.#options.recoverPanic === false) crash(thrown)
        result = { error: new PanicError(thrown) }
      }
    } finally {
      this.#metrics.ended(clock.monotonicMs() - startMs)
    }
    this.#conclude(item, result, logger, signal)
  }

  async #reconcile(request: Request, logger: Logger, signal: AbortSignal): Promise<Result | void> {
    const { clock } = this.#environment
    const { reconciliationTimeoutMs } = this.#limits
    using scope =
      reconciliationTimeoutMs === undefined
        ? anySignal([signal])
        : withDeadline(clock, reconciliationTimeoutMs, signal)
    const timedOut = (): boolean => scope.signal.aborted && !signal.aborted
    try {
      const result = await this.#definition.reconciler(request, {
        client: withSignal(this.#client, scope.signal),
        live: withSignal(this.#live, scope.signal),
        logger,
        signal: scope.signal,
        events: this.#events,
        clock,
      })
      if (result?.error !== undefined && timedOut()) this.#metrics.failed('timeout')
      return result
    } catch (error) {
      if (timedOut()) this.#metrics.failed('timeout')
      throw error
    }
  }

  #conclude(item: PrioritizedItem, result: Result, logger: Logger, signal: AbortSignal): void {
    const { error, requeueAfterMs = 0, requeue = false, priority = item.priority } = result
    if (error !== undefined) {
      this.#fail(item, { ...result, priority }, logger, signal)
      return
    }
    let label: ResultLabel = 'success'
    if (requeueAfterMs > 0) {
      label = 'requeue_after'
      this.#queue.forget(item.key)
      this.#queue.addWithOptions({ afterMs: requeueAfterMs, priority }, item.key)
    } else if (requeue) {
      label = 'requeue'
      this.#queue.addWithOptions({ rateLimited: true, priority }, item.key)
    } else {
      this.#queue.forget(item.key)
    }
    this.#metrics.concluded(label)
  }

  #fail(item: PrioritizedItem, result: Result, logger: Logger, signal: AbortSignal): void {
    const { error, requeueAfterMs = 0, requeue = false, priority } = result
    if (signal.aborted) {
      // Requests are given up with the signal: nothing is wrong with this key.
      logger.verbosity(2).info('Reconcile was interrupted by shutdown', { err: error })
      return
    }
    if (isTerminal(error)) this.#metrics.failed('terminal')
    else this.#queue.addWithOptions({ rateLimited: true, priority }, item.key)
    this.#metrics.concluded('error')
    if (requeueAfterMs > 0 || requeue) {
      logger.info(
        'Warning: Reconciler returned both a result with either RequeueAfter or Requeue set and an error. RequeueAfter and Requeue will always be ignored if there is an error.',
      )
    }
    logger.error(error, 'Reconciler error')
  }
}

/** A wait of NaN, of a time that an object does not have, would be none at all: the key would wait for its next event. */
function withoutNaN(result: Result): Result {
  if (result.error !== undefined || !Number.isNaN(result.requeueAfterMs)) return result
  return { error: new Error('the reconciler asks for a wait that is not a number') }
}

/** What `work` answers; false as soon as `signal` aborts. */
async function untilAborted(signal: AbortSignal, work: () => Promise<boolean>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const onAbort = (): void => resolve(false)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
