import { groupResourceOf, keyOf, resources, splitKey, standardEvaluators } from '@gyropilot/api'
import type { KubernetesObject, Pod, ResourceQuota, ResourceType } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import {
  InterruptedByShutdown,
  RateLimitingQueue,
  interpret,
  runWorkers,
  keyOfDeleted,
} from '@gyropilot/runtime'
import type {
  ControllerContext,
  EventHandler,
  HandlerRegistration,
  Informer,
  QueueItem,
  Reason,
  RunnableController,
  Verdict,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { EventQueue } from '../monitor-support/event-queue.ts'
import { Monitors } from '../monitor-support/monitors.ts'
import { PRIMARY_QUEUE, PRIORITY_QUEUE, RESOURCE_CHANGES_QUEUE } from './config.ts'
import { Countables, notSynced } from './countables.ts'
import { DiscoverySync } from './discovery-sync.ts'
import { PauseGate } from './pause-gate.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedQuota } from './reconcile.ts'
import { isCountedAnew, queueOfAdded, queueOfUpdated, quotasOfChange } from './watches.ts'
import type { QueueOfQuota } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

/** Something of a namespace may use less, or other things, than before. */
interface ResourceChange {
  readonly type: ResourceType
  readonly namespace: string
  readonly reason: Reason | undefined
}

/** Usage of these depends on more than their metadata. */
const READ_IN_FULL: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'persistentvolumeclaims',
  'resourceclaims.resource.k8s.io',
])

/**
 * Two queues of quotas, and one of what happened to the objects that they count. Monitors fill the latter, one worker turns
 * it into quotas, and their workers count from caches and write.
 * Contract: docs/behaviour/controllers/resourcequota-controller.md.
 */
export class ResourceQuotaController implements RunnableController {
  readonly #context: Context
  readonly #queues: Readonly<Record<QueueOfQuota, RateLimitingQueue>>
  readonly #changes: EventQueue<ResourceChange>
  readonly #quotas: Informer<ResourceQuota>
  readonly #registration: HandlerRegistration
  readonly #countables: Countables
  readonly #facts: ObservedQuota['facts']
  readonly #monitors: Monitors
  readonly #gate = new PauseGate()

  constructor(context: Context) {
    const { clock, metrics, informers, metadataInformers, configuration } = context
    this.#context = context
    this.#queues = {
      priority: new RateLimitingQueue({ clock, metrics, name: PRIORITY_QUEUE }),
      primary: new RateLimitingQueue({ clock, metrics, name: PRIMARY_QUEUE }),
    }
    this.#changes = new EventQueue({ clock, metrics, name: RESOURCE_CHANGES_QUEUE })
    const extendedResources = featureEnabled(configuration, 'DRAExtendedResource')
    this.#countables = new Countables(standardEvaluators({ extendedResources }))
    this.#facts = factsOf(context, extendedResources)
    this.#quotas = informers.informer(resources.resourcequotas)
    // Quotas are counted again by a timer of their own.
    this.#registration = this.#quotas.addHandler(this.#quotaEvents(), { resyncPeriodMs: 0 })
    this.#monitors = new Monitors({
      informer: (type) => this.#informerOf(type),
      start(signal) {
        informers.start(signal)
        metadataInformers.start(signal)
      },
      handler: (type) => this.#objectEvents(type),
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#context
    const queues = [this.#changes, this.#queues.priority, this.#queues.primary]
    const stop = (): void => queues.forEach((queue) => queue.shutDown())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    await this.#context.informersStarted
    const parts = { client, clock, logger, monitors: this.#monitors, gate: this.#gate }
    await Promise.all([
      runWorkers({
        count: 1,
        clock,
        signal,
        logger,
        queue: this.#changes,
        work: ({ event }) => this.#takeIn(event),
      }),
      new DiscoverySync(parts).run(signal),
      this.#count(signal),
    ])
    this.#registration.remove()
  }

  /** Counts once everything that can be counted is known. */
  async #count(signal: AbortSignal): Promise<void> {
    const synced = await Promise.all([
      this.#registration.whenSynced(signal),
      this.#monitors.whenFirstSynced(signal),
    ])
    if (!synced.every((done) => done)) return
    const { clock, logger, configuration } = this.#context
    const { concurrentResourceQuotaSyncs: count } = configuration.resourceQuota
    const workers = Object.values(this.#queues).map((queue) =>
      runWorkers({
        count,
        clock,
        signal,
        logger,
        queue,
        work: (item) => this.#gate.pass(() => this.#process(item, queue, signal)),
      }),
    )
    await Promise.all([...workers, this.#recalculate(signal)])
  }

  /** At once and then every period: some usage ends without an event, as that of pods past their grace. */
  async #recalculate(signal: AbortSignal): Promise<void> {
    const { clock, configuration } = this.#context
    const { resourceQuotaSyncPeriodMs } = configuration.resourceQuota
    if (resourceQuotaSyncPeriodMs <= 0) return
    while (!signal.aborted) {
      for (const quota of this.#quotas.lister.list())
        this.#queues.primary.add(keyOf(quota), this.#reason('resync'))
      await sleep(clock, resourceQuotaSyncPeriodMs, signal).catch(() => {})
    }
  }

  async #process(item: QueueItem, queue: RateLimitingQueue, signal: AbortSignal): Promise<void> {
    const { trace, name, logger } = this.#context
    const { key } = item
    if (signal.aborted) return
    trace?.started(name, key, item.reasons)
    const verdict = await this.#sync(key, signal).catch((error: unknown): Verdict | undefined =>
      error instanceof InterruptedByShutdown || signal.aborted ? undefined : { error },
    )
    trace?.finished(name, key, verdict ?? { interrupted: true })
    if (verdict?.error === undefined) {
      queue.forget(key)
      return
    }
    logger.error(verdict.error, 'Error syncing resource quota, will retry', { key })
    queue.addRateLimited(key, this.#reason('retry'))
  }

  async #sync(key: string, signal: AbortSignal): Promise<Verdict> {
    const { client, clock, trace, name } = this.#context
    // 1.
    const observed = this.#observe(key)
    if (observed === undefined) return {}
    const verdict = await interpret(reconcile(observed), {
      client,
      clock,
      signal,
      recordEvent() {},
      onEffect: trace && ((effect, outcome) => trace.effect(name, key, effect, outcome)),
    })
    return verdict ?? {}
  }

  #observe(key: string): ObservedQuota | undefined {
    const quota = this.#quotas.lister.getByKey(key)
    if (quota === undefined) return undefined
    const { namespace = '' } = splitKey(key)
    const names = Object.keys(quota.spec?.hard ?? {})
    return { quota, countables: this.#countables.of(names, namespace), facts: this.#facts }
  }

  #takeIn({ type, namespace, reason }: ResourceChange): void {
    const evaluator = this.#countables.evaluatorOf(type)
    if (evaluator === undefined) return
    for (const key of quotasOfChange(evaluator, this.#quotas.lister.list(namespace)))
      this.#queues.primary.add(key, reason)
  }

  #quotaEvents(): EventHandler<ResourceQuota> {
    const isCounted = (quotaName: string): boolean => this.#countables.isCounted(quotaName)
    return {
      onAdd: (quota) =>
        this.#queues[queueOfAdded(quota, isCounted)].add(keyOf(quota), this.#reason('add')),
      onUpdate: (previous, current) => {
        const queue = queueOfUpdated(previous, current, isCounted)
        if (queue !== undefined) this.#queues[queue].add(keyOf(current), this.#reason('update'))
      },
      onDelete: (deleted) => {
        const key = keyOfDeleted(deleted)
        this.#queues.primary.add(key, this.#reason('delete'))
      },
    }
  }

  #informerOf(type: ResourceType): Informer<KubernetesObject> {
    const { informers, metadataInformers } = this.#context
    const isReadInFull = READ_IN_FULL.has(groupResourceOf(type))
    const informer = (isReadInFull ? informers : metadataInformers).informer(type)
    this.#countables.add(type, informer)
    return informer
  }

  #objectEvents(type: ResourceType): EventHandler<KubernetesObject> {
    const { clock } = this.#context
    const changed = (cause: Reason['cause'], key: string): void => {
      const { namespace = '' } = splitKey(key)
      const reason = this.#reason(cause, `${groupResourceOf(type)} ${key}`)
      this.#changes.add({ type, namespace, reason })
    }
    return {
      onUpdate: (previous, current) => {
        const evaluator = this.#countables.evaluatorOf(type)
        if (evaluator && isCountedAnew(evaluator, previous, current, clock.nowMs()))
          changed('update', keyOf(current))
      },
      onDelete: (deleted) => changed('delete', keyOfDeleted(deleted)),
    }
  }

  /** Reasons are kept only where somebody asks for them. */
  #reason(cause: Reason['cause'], object?: string): Reason | undefined {
    if (this.#context.trace === undefined) return undefined
    return object === undefined ? { cause } : { cause, object }
  }
}

/** What claims are counted by besides themselves. */
function factsOf({ informers }: Context, extendedResources: boolean): ObservedQuota['facts'] {
  if (!extendedResources) return {}
  const deviceClasses = informers.informer(resources.deviceclasses)
  const pods = informers.informer(resources.pods)
  return {
    extendedResourceOf(name) {
      if (!deviceClasses.hasSynced()) throw notSynced(resources.deviceclasses)
      return deviceClasses.lister.get(undefined, name)?.spec?.extendedResourceName
    },
    pod(namespace, name): Pod | undefined {
      if (!pods.hasSynced()) throw notSynced(resources.pods)
      return pods.lister.get(namespace, name)
    },
  }
}
