/** Contract: docs/behaviour/runtime/custom-controllers.md, Client and cache. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf } from '@gyropilot/api'
import { anySignal } from '@gyropilot/foundation'
import { controllerErrors } from '../builder/errors.ts'
import type { Runnable } from '../controller-manager/runnable.ts'
import type { IndexFunction, InformerFactory } from '../informer.ts'
import { scopesOf } from './cache-options.ts'
import type { ObjectCacheOptions } from './cache-options.ts'
import { TypeCache } from './type-cache.ts'

/**
 * Caches of kinds, each started by the first who watches or reads it. Reading needs the right to list and watch the kind in
 * the namespaces of its scope. One of another cluster can be added to a manager.
 */
export class ObjectCache implements InformerFactory, Runnable {
  readonly needLeaderElection = false
  readonly #options: ObjectCacheOptions
  readonly #types = new Map<string, TypeCache<KubernetesObject>>()
  readonly #running = new Map<TypeCache<KubernetesObject>, Promise<void>>()
  #signal: AbortSignal | undefined

  constructor(options: ObjectCacheOptions) {
    this.#options = options
  }

  /** The informer of the kind; it runs from now on, or from the start of the cache. */
  informer<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: { readonly metadataOnly?: boolean } = {},
  ): TypeCache<T> {
    const metadataOnly = options.metadataOnly ?? false
    const id = idOf(type, metadataOnly)
    let cache = this.#types.get(id)
    if (cache === undefined) {
      cache = new TypeCache<KubernetesObject>(
        type,
        metadataOnly,
        scopesOf(this.#options, type),
        this.#options,
      )
      this.#types.set(id, cache)
      this.#run(cache)
    }
    return cache as unknown as TypeCache<T>
  }

  /** Starts what was asked for; what is asked for later starts at once. Resolves when all have stopped, after `signal` aborted. */
  async start(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    for (const cache of this.#types.values()) this.#run(cache)
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    await this.shutdown()
  }

  async waitForCacheSync(signal: AbortSignal): Promise<boolean> {
    const running = [...this.#running.keys()]
    const synced = await Promise.all(running.map((cache) => cache.whenSynced(signal)))
    return synced.every((done) => done)
  }

  /** Resolves when all informers have stopped. */
  async shutdown(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /**
   * Makes `field` usable in field selectors of cached lists, with the values that `valuesOf` answers. Before the start, or
   * at any later time.
   */
  indexField<T extends KubernetesObject>(
    type: ResourceType<T>,
    field: string,
    valuesOf: IndexFunction<T>,
  ): void {
    this.informer(type).addFieldIndex(field, valuesOf)
  }

  /**
   * The cache of the kind once it is filled; starts it where nobody has. Rejects with CACHE_SYNC_FAILED when a signal ends the wait,
   * and with KIND_NOT_SERVED as soon as the server says that it has no such kind.
   */
  async filled<T extends KubernetesObject>(
    type: ResourceType<T>,
    options: { readonly metadataOnly?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<TypeCache<T>> {
    const running = this.#signal
    if (running === undefined) {
      throw controllerErrors.make(
        'CACHE_READ_REFUSED',
        'the cache is not started, can not read objects',
      )
    }
    const known = this.#types.has(idOf(type, options.metadataOnly ?? false))
    if (!known && this.#options.failOnMissingInformer) {
      throw controllerErrors.make('CACHE_READ_REFUSED', `${type.kind} is not cached`)
    }
    const cache = this.informer(type, options)
    if (cache.hasSynced()) return cache
    // Of a cache that has stopped nothing is filled any more.
    using either = anySignal([options.signal, running])
    if (await cache.whenFilled(either.signal)) return cache
    throw controllerErrors.make(
      'CACHE_SYNC_FAILED',
      `Timeout: failed waiting for ${type.kind} Informer to sync`,
      { cause: either.signal.reason },
    )
  }

  #run(cache: TypeCache<KubernetesObject>): void {
    if (this.#signal === undefined || this.#running.has(cache)) return
    this.#running.set(cache, cache.run(this.#signal))
  }
}

function idOf(type: ResourceType, metadataOnly: boolean): string {
  return `${apiVersionOf(type)}/${type.resource}${metadataOnly ? ' metadata' : ''}`
}
