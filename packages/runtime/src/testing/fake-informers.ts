import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, keyOf } from '@gyropilot/api'
import { deepFreeze } from '@gyropilot/foundation'
import { Store } from '../cache/store.ts'
import { keyOfDeleted } from '../informer.ts'
import type { DeletedFinalStateUnknown } from '../informer.ts'
import type {
  EventHandler,
  HandlerRegistration,
  IndexFunction,
  Informer,
  InformerFactory,
  Lister,
} from '../informer.ts'

/** Caches filled by hand and handlers fired by hand, at once and in the caller's turn; what a handler throws reaches the test. */
export interface FakeInformers extends InformerFactory {
  informer<T extends KubernetesObject>(type: ResourceType<T>): FakeInformer<T>
  /** Puts objects into the caches of their kinds; no handler is told. */
  fill(...objects: readonly KubernetesObject[]): void
  /** Puts an object into the cache and tells handlers: of an update where the key was known, else of an add. */
  apply<T extends KubernetesObject>(type: ResourceType<T>, object: T): void
  /** Takes an object out of the cache and tells handlers; a tombstone is handed on as it is. */
  remove<T extends KubernetesObject>(
    type: ResourceType<T>,
    deleted: T | DeletedFinalStateUnknown<T>,
  ): void
}

/**
 * Informers for tests of `observe` and of watches. An object belongs to a type by its apiVersion and kind. They are synced
 * from the start; nothing runs. What is put in is frozen to its depth: rules that edit an object of a cache fail here.
 */
export function fakeInformers(objects: readonly KubernetesObject[] = []): FakeInformers {
  const known: KubernetesObject[] = [...objects]
  const informers = new Map<string, FakeInformer<KubernetesObject>>()

  const informerOf = <T extends KubernetesObject>(type: ResourceType<T>): FakeInformer<T> => {
    const id = `${apiVersionOf(type)}/${type.kind}`
    let informer = informers.get(id)
    if (informer === undefined) {
      informer = new FakeInformer<KubernetesObject>(type)
      for (const object of known) if (belongsTo(object, type)) informer.fill(object)
      informers.set(id, informer)
    }
    return informer as unknown as FakeInformer<T>
  }

  return {
    informer: informerOf,
    start() {},
    waitForCacheSync: async () => true,
    shutdown: async () => {},
    fill(...more) {
      known.push(...more)
      for (const informer of informers.values()) {
        for (const object of more) if (belongsTo(object, informer.type)) informer.fill(object)
      }
    },
    apply: (type, object) => informerOf(type).apply(object),
    remove: (type, deleted) => informerOf(type).remove(deleted),
  }
}

function belongsTo(object: KubernetesObject, type: ResourceType): boolean {
  return object.kind === type.kind && object.apiVersion === apiVersionOf(type)
}

/** An informer whose cache the test fills. Handlers hear of each change at once. */
export class FakeInformer<T extends KubernetesObject> implements Informer<T> {
  readonly type: ResourceType<T>
  readonly lister: Lister<T>
  readonly #store = new Store<T>()
  readonly #handlers = new Set<EventHandler<T>>()

  constructor(type: ResourceType<T>) {
    this.type = type
    this.lister = this.#store
  }

  /** As upstream, a handler is first told of what is there. */
  addHandler(handler: EventHandler<T>): HandlerRegistration {
    this.#handlers.add(handler)
    for (const object of this.#store.list()) handler.onAdd?.(object, true)
    return {
      hasSynced: () => true,
      whenSynced: async () => true,
      remove: () => void this.#handlers.delete(handler),
    }
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    this.#store.addIndexes({ [name]: index })
  }

  hasSynced(): boolean {
    return true
  }

  async whenSynced(): Promise<boolean> {
    return true
  }

  lastSyncResourceVersion(): string {
    return this.#store.resourceVersion
  }

  fill(object: T): void {
    this.#store.set(deepFreeze(object))
  }

  /** As a bookmark: the cache has come that far. */
  bookmark(resourceVersion: string): void {
    this.#store.bookmark(resourceVersion)
  }

  apply(object: T): void {
    const previous = this.#store.getByKey(keyOf(object))
    this.#store.set(deepFreeze(object))
    for (const handler of this.#handlers) {
      if (previous === undefined) handler.onAdd?.(object, false)
      else handler.onUpdate?.(previous, object)
    }
  }

  remove(deleted: T | DeletedFinalStateUnknown<T>): void {
    const key = keyOfDeleted(deleted)
    this.#store.delete(key)
    for (const handler of this.#handlers) handler.onDelete?.(deleted)
  }
}
