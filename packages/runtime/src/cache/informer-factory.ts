import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { SharedSubtrees, apiVersionOf, groupResourceOf } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import type { InformerFactory } from '../informer.ts'
import { informerMetrics } from './informer-metrics.ts'
import type { SpecTextOf } from './known-specs.ts'
import { MutationDetector } from './mutation-detector.ts'
import type { FirstList } from './reflector/reflector.ts'
import { SharedInformer } from './shared-informer.ts'
import type { Transform } from './transform.ts'

/** What all informers of the factory have in common. From the environment: `informerSwitches`. */
export interface InformerFactoryOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** One namespace only. Default: all. */
  readonly namespace?: string
  readonly labelSelector?: string
  /** For all types, or by type. */
  readonly fieldSelector?: string | ((type: ResourceType) => string | undefined)
  /** Objects are reduced to their metadata by the server. */
  readonly metadataOnly?: boolean
  /** Default 0: no resync. Asked once per informer. */
  readonly resyncMs?: (type: ResourceType) => number
  /** In the place of dropping metadata.managedFields. */
  readonly transform?: Transform<KubernetesObject>
  /** What takes off objects of a type what nobody in this process reads; undefined: nothing. Not together with a transform. */
  readonly trimOf?: (
    type: ResourceType,
  ) => ((object: KubernetesObject) => KubernetesObject) | undefined
  /** By type: see SharedInformerOptions. */
  readonly specTextOf?: (type: ResourceType) => SpecTextOf | undefined
  readonly onWatchError?: (type: ResourceType, error: unknown) => void
  /** Stream initial lists. Default true. */
  readonly watchList?: boolean
  /** What first lists ask for, where lists are not streamed. Default `any`. */
  readonly firstList?: FirstList
  readonly pageSize?: number
  /** Told of edits of cached objects (MutationDetector). Absent: nobody looks. */
  readonly onAltered?: (error: Error) => void
  /** Compares each streamed list with an ordinary one, and is told of a difference. Costs a request; for tests. */
  readonly onInconsistentList?: (error: Error) => void
  /** With a name, informers report informer_* metrics under it: all of them, or those that `shows` says yes to. */
  readonly metrics?: {
    readonly registry: MetricsRegistry
    readonly name: string
    readonly shows?: (type: ResourceType) => boolean
  }
}

/**
 * One informer per group, version and resource: built-in types, custom ones and, with `metadataOnly`, anything's metadata.
 * Contract: docs/behaviour/runtime/informers.md, Factories.
 */
export class SharedInformerFactory implements InformerFactory {
  readonly #options: InformerFactoryOptions
  readonly #informers = new Map<string, SharedInformer<KubernetesObject>>()
  readonly #running = new Map<SharedInformer<KubernetesObject>, Promise<void>>()
  readonly #subtrees = new SharedSubtrees()
  #shutDown = false

  constructor(options: InformerFactoryOptions) {
    this.#options = options
  }

  informer<T extends KubernetesObject>(type: ResourceType<T>): SharedInformer<T> {
    const id = idOf(type)
    let informer = this.#informers.get(id)
    if (informer === undefined) {
      informer = this.#build(type)
      this.#informers.set(id, informer)
    }
    return informer as unknown as SharedInformer<T>
  }

  /** Somebody asked for this informer before. */
  has(type: ResourceType): boolean {
    return this.#informers.has(idOf(type))
  }

  start(signal: AbortSignal): void {
    if (this.#shutDown) return
    for (const informer of this.#informers.values()) {
      if (!this.#running.has(informer)) this.#running.set(informer, informer.run(signal))
    }
  }

  /** As `waitForCacheSync`, and which types are filled. */
  async syncedTypes(signal: AbortSignal): Promise<ReadonlyMap<ResourceType, boolean>> {
    const started = [...this.#running.keys()]
    const synced = await Promise.all(started.map((informer) => informer.whenSynced(signal)))
    return new Map(started.map((informer, index) => [informer.type, synced[index]!]))
  }

  async waitForCacheSync(signal: AbortSignal): Promise<boolean> {
    const synced = await this.syncedTypes(signal)
    return [...synced.values()].every((done) => done)
  }

  async shutdown(): Promise<void> {
    this.#shutDown = true
    await Promise.all(this.#running.values())
  }

  #build(type: ResourceType): SharedInformer<KubernetesObject> {
    const {
      random,
      metrics,
      resyncMs,
      onWatchError,
      onAltered,
      fieldSelector,
      trimOf,
      specTextOf,
      ...options
    } = this.#options
    const name = groupResourceOf(type)
    const fields = typeof fieldSelector === 'function' ? fieldSelector(type) : fieldSelector
    const isShown = metrics !== undefined && metrics.shows?.(type) !== false
    return new SharedInformer<KubernetesObject>({
      ...options,
      ...(fields === undefined ? {} : { fieldSelector: fields }),
      type,
      trim: trimOf?.(type),
      specTextOf: specTextOf?.(type),
      subtrees: this.#subtrees,
      random: random.fork(`reflector/${name}`),
      defaultResyncMs: resyncMs?.(type) ?? 0,
      onWatchError: onWatchError && ((error) => onWatchError(type, error)),
      mutationDetector:
        onAltered && new MutationDetector({ clock: options.clock, name, onAltered }),
      metrics: isShown ? informerMetrics(metrics.registry, metrics.name, type) : undefined,
    })
  }
}

function idOf(type: ResourceType): string {
  return `${apiVersionOf(type)}/${type.resource}`
}
