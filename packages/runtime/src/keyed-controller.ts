import type { KubernetesObject } from '@gyropilot/api'
import { groupResourceOf } from '@gyropilot/api'
import type { Logger } from '@gyropilot/foundation'
import { errorText, withDeadline } from '@gyropilot/foundation'
import type {
  ControllerContext,
  KeyedController,
  QueueKey,
  Reason,
  ReconcileTrace,
  RunnableController,
  Watch,
} from './controller.ts'
import type { Verdict, Write } from './effects.ts'
import { InterruptedByShutdown, interpret } from './effects-interpreter.ts'
import type { World } from './effects-interpreter.ts'
import { EXPECTATIONS_TIMEOUT_MS } from './expectations.ts'
import { keyOfDeleted, lastStateOf } from './informer.ts'
import type { DeletedFinalStateUnknown, EventHandler, HandlerRegistration } from './informer.ts'
import { StaleCacheGuard } from './stale-cache-guard.ts'
import { StatusPace } from './status-pace.ts'
import type { SyncWrites } from './status-pace.ts'
import { SteppingAside } from './stepping-aside.ts'
import type { QueueItem } from './workqueue/queue.ts'
import { RateLimitingQueue } from './workqueue/rate-limiting-queue.ts'
import { runWorkers } from './workers.ts'

/** A keyed controller, and a way to add keys that no watch adds: timers of its own, other queues. */
export interface RunnableKeyedController extends RunnableController {
  enqueue(key: QueueKey, reason?: Reason): void
}

/**
 * The shell of the common form of controller. Handlers and indexes are registered at once; workers start when every
 * handler was given the first list. One key is never at two workers. Rules that throw are a defect: logged, and the key is
 * retried with backoff.
 * Contract: docs/behaviour/runtime/workqueue.md, Worker pattern.
 */
export function runKeyedController<Observed>(
  logic: KeyedController<Observed>,
  context: ControllerContext,
): RunnableKeyedController {
  return new KeyedControllerShell(logic, context)
}

class KeyedControllerShell<Observed> implements RunnableKeyedController {
  readonly #logic: KeyedController<Observed>
  readonly #context: ControllerContext
  readonly #logger: Logger
  readonly #queue: RateLimitingQueue
  readonly #registrations: readonly HandlerRegistration[]
  readonly #recordEvent: World['recordEvent']
  readonly #guard: StaleCacheGuard | undefined
  readonly #pace: StatusPace | undefined

  constructor(logic: KeyedController<Observed>, context: ControllerContext) {
    this.#logic = logic
    this.#context = context
    this.#logger = context.logger
    this.#queue = new RateLimitingQueue({
      clock: context.clock,
      name: logic.queueName,
      metrics: context.metrics,
      rateLimiter: logic.rateLimiter,
    })
    const recorder = context.recorder(logic.eventComponent ?? context.name)
    this.#recordEvent = (event) => recorder.record(event)
    if (logic.staleGuard !== undefined) {
      this.#guard = new StaleCacheGuard({
        ...logic.staleGuard,
        clock: context.clock,
        metrics: context.metrics,
      })
    }
    if (logic.countedObjects !== undefined)
      this.#pace = new StatusPace(context.clock, logic.expectations, logic.restsWithoutWrites)
    this.#registrations = logic.watches.map((watch) => this.#register(watch))
  }

  enqueue(key: QueueKey, reason?: Reason): void {
    if (typeof key === 'string') this.#queue.add(key, reason)
    else this.#queue.addAfter(key.key, key.afterMs, reason)
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#queue.shutDown()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      if (await this.#synced(signal)) await this.#work(signal)
    } finally {
      stop()
      for (const registration of this.#registrations) registration.remove()
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { logger, name, clock } = this.#context
    const { workers } = this.#logic
    const queue = new SteppingAside(this.#queue, workers)
    logger.verbosity(2).info('Caches are synced, starting workers', { controller: name, workers })
    await runWorkers({
      count: workers,
      clock,
      signal,
      logger,
      queue,
      work: (item) => queue.work(item, (stepAside) => this.#process(item, stepAside, signal)),
    })
    logger.verbosity(2).info('Workers have stopped', { controller: name })
  }

  async #synced(signal: AbortSignal): Promise<boolean> {
    const { alsoAwait = [], cacheSyncTimeoutMs } = this.#logic
    if (cacheSyncTimeoutMs === undefined)
      return allSynced([...this.#registrations, ...alsoAwait], signal)
    using deadline = withDeadline(this.#context.clock, cacheSyncTimeoutMs, signal)
    const synced = await allSynced([...this.#registrations, ...alsoAwait], deadline.signal)
    if (synced || signal.aborted) return synced
    throw new Error(
      `${this.#context.name}: timed out waiting for caches to sync after ${cacheSyncTimeoutMs} ms`,
    )
  }

  async #process(
    { key, reasons }: QueueItem,
    stepAside: World['stepAside'],
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return
    const trace = this.#context.trace
    trace?.started(this.#context.name, key, reasons)
    let verdict: Verdict
    try {
      verdict = await this.#reconcile(key, trace, stepAside, signal)
    } catch (error) {
      if (error instanceof InterruptedByShutdown) {
        trace?.finished(this.#context.name, key, { interrupted: true })
        return
      }
      this.#logger.error(error, 'The rules failed', { controller: this.#context.name, key })
      verdict = { error }
    }
    trace?.finished(this.#context.name, key, verdict)
    this.#conclude(key, verdict)
  }

  async #reconcile(
    key: string,
    trace: ReconcileTrace | undefined,
    stepAside: World['stepAside'],
    signal: AbortSignal,
  ): Promise<Verdict> {
    const { client, clock, name } = this.#context
    // Before its objects are gathered, which for thousands of them is work too.
    const restMs = this.#pace?.restMs(key) ?? 0
    if (restMs > 0) return { requeueAfterMs: restMs, keepsFailures: true }
    const observed = this.#logic.observe(key)
    if (observed === undefined) {
      this.#guard?.forget(key)
      this.#pace?.forget(key)
      this.#logic.forget?.(key)
      return {}
    }
    const stale = this.#guard?.check(key)
    // The watch is late, as it is every day under load: no reason to alarm anybody.
    if (stale !== undefined) return { error: stale, expected: true }
    const guard = this.#guard
    const ownerUid = this.#logic.staleGuard?.ownerUid(observed) ?? ''
    let writes: SyncWrites = 'nothing'
    const verdict = await interpret(this.#logic.reconcile(observed), {
      client,
      clock,
      recordEvent: this.#recordEvent,
      signal,
      stepAside,
      expectations: this.#logic.expectations,
      mapper: this.#logic.mapper,
      outside: this.#logic.outside,
      onWritten:
        (guard ?? this.#pace) &&
        ((write, object) => {
          if (!isOfStatus(write)) writes = 'action'
          else if (writes === 'nothing') writes = 'status'
          guard?.written(key, ownerUid, write, object)
        }),
      onRefused: guard && ((write, error) => guard.refused(key, ownerUid, write, error)),
      onEffect: trace && ((effect, outcome) => trace.effect(name, key, effect, outcome)),
    })
    if (this.#pace !== undefined && verdict?.error === undefined)
      this.#pace.synced(key, this.#logic.countedObjects!(observed), writes)
    return verdict ?? {}
  }

  #conclude(key: string, given: Verdict): void {
    const { maxRetries } = this.#logic
    const verdict = withoutNaN(given)
    if (verdict.error !== undefined) {
      if (verdict.terminal) {
        this.#logger.error(verdict.error, 'Sync failed, a retry cannot help', { key })
        return
      }
      const retries = this.#queue.requeues(key)
      if (maxRetries !== undefined && retries >= maxRetries) {
        this.#logger.error(verdict.error, 'Dropping the key out of the queue', { key, retries })
        this.#queue.forget(key)
        return
      }
      if (verdict.expected)
        this.#logger
          .verbosity(4)
          .info('Will retry', { key, retries, reason: errorText(verdict.error) })
      else this.#logger.error(verdict.error, 'Sync failed, will retry', { key, retries })
      this.#queue.addRateLimited(key, this.#traced({ cause: 'retry' }))
      return
    }
    if (!verdict.keepsFailures) this.#queue.forget(key)
    if (verdict.requeueAfterMs !== undefined) {
      this.#queue.addAfter(key, verdict.requeueAfterMs, this.#traced({ cause: 'requeue-after' }))
    }
    // What is awaited may have come and gone while the watch had a gap: then no event ever asks for another look.
    if (this.#logic.expectations?.satisfied(key) === false) {
      const afterMs = EXPECTATIONS_TIMEOUT_MS + 1
      this.#queue.addAfter(key, afterMs, this.#traced({ cause: 'requeue-after' }))
    }
  }

  /** Reasons are kept only where somebody asks for them. */
  #traced(reason: Reason): Reason | undefined {
    return this.#context.trace === undefined ? undefined : reason
  }

  #register(watch: Watch): HandlerRegistration {
    const { informers, metadataInformers } = this.#context
    const informer = (watch.metadataOnly ? metadataInformers : informers).informer(watch.type)
    const { resyncPeriodMs } = watch
    return informer.addHandler(
      this.#handlerOf(watch),
      resyncPeriodMs === undefined ? {} : { resyncPeriodMs },
    )
  }

  #handlerOf(watch: Watch): EventHandler<KubernetesObject> {
    const resource = groupResourceOf(watch.type)
    const add = (
      keys: Iterable<QueueKey>,
      cause: Reason['cause'],
      object: KubernetesObject | DeletedFinalStateUnknown,
    ): void => {
      const reason = this.#context.trace && { cause, object: `${resource} ${keyOfDeleted(object)}` }
      for (const key of keys) this.enqueue(key, reason)
    }
    const handler: EventHandler<KubernetesObject> = {}
    if (watch.onAdd) handler.onAdd = (object) => add(watch.onAdd!(object), 'add', object)
    if (watch.onUpdate) {
      handler.onUpdate = (previous, current) => {
        const isResync = previous.metadata?.resourceVersion === current.metadata?.resourceVersion
        add(watch.onUpdate!(previous, current), isResync ? 'resync' : 'update', current)
      }
    }
    if (watch.onDelete) {
      handler.onDelete = (deleted) => {
        const object = lastStateOf(deleted) ?? deleted
        add(watch.onDelete!(object), 'delete', deleted)
      }
    }
    return handler
  }
}

function isOfStatus(write: Write): boolean {
  return 'subresource' in write && write.subresource === 'status'
}

/** A wait of NaN, of a time that an object does not have, would be none: the rules would run without a pause. */
function withoutNaN(verdict: Verdict): Verdict {
  if (verdict.error !== undefined || !Number.isNaN(verdict.requeueAfterMs)) return verdict
  return { error: new Error('the rules ask for a wait that is not a number') }
}

async function allSynced(
  sources: readonly Pick<HandlerRegistration, 'whenSynced'>[],
  signal: AbortSignal,
): Promise<boolean> {
  const synced = await Promise.all(sources.map((source) => source.whenSynced(signal)))
  return synced.every((done) => done)
}
