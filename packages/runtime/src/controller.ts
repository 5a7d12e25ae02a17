/** What a controller is to the manager that runs it, and what the manager hands to it. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Client, RestMapper } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import type { Reconcile } from './effects.ts'
import type { PerformOutside } from './effects-interpreter.ts'
import type { DeletedFinalStateUnknown, InformerFactory, Informer } from './informer.ts'
import type { EventRecorder } from './events/event-recorder.ts'
import type { Expectations } from './expectations.ts'
import type { StaleSyncMetric } from './stale-cache-guard.ts'
import type { RateLimiter } from './workqueue/rate-limiter.ts'
import type { Reason } from './workqueue/reasons.ts'

export type { Reason } from './workqueue/reasons.ts'

/** A running loop: resolves when it has stopped, after `signal` aborted. */
export interface RunnableController {
  run(signal: AbortSignal): Promise<void>
  /** Pages of the manager's HTTPS port: `path` follows `/debug/controllers/<name>`. Undefined: there is no such page. */
  debug?(path: string, query: URLSearchParams): DebugPage | undefined
}

/** What a debug handler answers. */
export interface DebugPage {
  /** Media type: `text/vnd.graphviz`. */
  readonly contentType: string
  readonly body: string
}

/** Everything a controller may use. Nothing else exists for it. */
export interface ControllerContext<Configuration = unknown> {
  /** The canonical name, `deployment-controller`. */
  readonly name: string
  /** With this controller's identity and its own rate limit. */
  readonly client: Client
  readonly informers: InformerFactory
  /** For who reads metadata only: PartialObjectMetadata, or whole objects where `informers` has them anyway. */
  readonly metadataInformers: InformerFactory
  /** Which resources serve which kinds: one for all controllers, with the manager's identity. */
  readonly mapper: RestMapper
  /** Events under this source component. */
  recorder(component: string): EventRecorder
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly configuration: Configuration
  /** Resolves once both factories were started; only after it may a controller ask for further informers. */
  readonly informersStarted: Promise<void>
  /** Told of every reconcile, for `why`, the dashboard and recordings. */
  readonly trace?: ReconcileTrace
}

/** What a manager knows of a controller before it is built: names, gates, identity, and how to make it. */
export interface ControllerDescriptor<Configuration = unknown> {
  /** Canonical name: flags, logs, health checks. */
  readonly name: string
  readonly aliases: readonly string[]
  readonly enabledByDefault: boolean
  /** Feature gates that must be on, else the controller is skipped. */
  readonly featureGates?: readonly string[]
  /** The service account in kube-system whose identity it has, and its user agent suffix. */
  readonly serviceAccount: string
  /** Acts as the manager itself under its own user agent, also where controllers have accounts of their own. Default: false. */
  readonly usesRootClient?: boolean
  /**
   * Whoever makes a namespace waits for what it writes: it is built before the others, its caches are filled before theirs, and its
   * credentials are asked for meanwhile. So is who asks for resyncs of one of these caches: they are to be known before it is filled.
   * Default: false.
   */
  readonly isWaitedFor?: boolean
  /** Multiples of the manager's client QPS and burst. Default 1. */
  readonly clientRate?: { readonly qpsFactor: number; readonly burstFactor: number }
  /** Registers handlers and indexes; starts nothing. Undefined: the configuration leaves it nothing to do. */
  build(
    context: ControllerContext<Configuration>,
  ): RunnableController | undefined | Promise<RunnableController | undefined>
}

/** A key, or a key to be added after a while. */
export type QueueKey = string | { readonly key: string; readonly afterMs: number }

/** Maps what happened to objects of one type to the keys that must be looked at. Pure but for expectations. */
export interface Watch<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType<T>
  /** Watches the objects' metadata only (`metadataInformers`). */
  readonly metadataOnly?: boolean
  /** Asks for cached objects to be sent again as updates, this often. Default: the informer factory's period. */
  readonly resyncPeriodMs?: number
  onAdd?(object: T): Iterable<QueueKey>
  onUpdate?(previous: T, current: T): Iterable<QueueKey>
  /** The last known object; a tombstone only where even that is unknown. */
  onDelete?(object: T | DeletedFinalStateUnknown<T>): Iterable<QueueKey>
}

/** A controller of the common form: one queue of keys, cached observation, rules as a generator. */
export interface KeyedController<Observed> {
  /** The `name` label of workqueue metrics. Absent: a queue without metrics. */
  readonly queueName?: string
  readonly workers: number
  /** The source component of events. Default: the controller's name. */
  readonly eventComponent?: string
  readonly rateLimiter?: RateLimiter
  /** Keys are dropped after so many requeues; absent: never. */
  readonly maxRetries?: number
  readonly watches: readonly Watch[]
  /** Gathers what the rules need from the caches, and judges nothing. Undefined: the object is gone. */
  observe(key: string): Observed | undefined
  reconcile(observed: Observed): Reconcile
  /** The object of this key is gone: drop what was remembered about it. */
  forget?(key: string): void
  /** Lowered by the shell for writes that failed. */
  readonly expectations?: Expectations
  /** For rules that ask which resource serves a kind. */
  readonly mapper?: RestMapper
  /** For rules that call what is not the API server. */
  readonly outside?: PerformOutside
  /** Informers whose sync is awaited besides those of `watches`. */
  readonly alsoAwait?: readonly Informer<KubernetesObject>[]
  /** The run rejects when caches are not filled by then. Absent: it waits for as long as it takes. */
  readonly cacheSyncTimeoutMs?: number
  /** Reads its own writes: types of objects this controller writes for a key (shared-controller-utils, stale-cache guard). */
  readonly staleGuard?: {
    /** Informers that must have seen what this process last created, updated or patched of their type for the key. */
    readonly informers: readonly Informer<KubernetesObject>[]
    /** Deletions count too, where the server answers with the object. */
    readonly deletions?: boolean
    /** uid of the owner under this key: a write for another uid replaces the record. */
    ownerUid(observed: Observed): string
    readonly metric?: StaleSyncMetric
  }
  /**
   * Of owners of very many objects: how many of them the sync took into account. Their key rests for up to a quarter of a second
   * after a sync that wrote its status and nothing else (status-pace.ts). Absent: no key rests.
   */
  countedObjects?(observed: Observed): number
  /**
   * They rest also after a sync that wrote nothing. For owners whose objects come and go together: where one waits for another, each
   * would wait for the rest too. Default false.
   */
  readonly restsWithoutWrites?: boolean
}

/** Told of each step of each reconcile, for tests, printing and records. */
export interface ReconcileTrace {
  started(controller: string, key: string, reasons: readonly Reason[]): void
  effect(controller: string, key: string, effect: unknown, outcome: unknown): void
  finished(controller: string, key: string, verdict: unknown): void
}
