/**
 * What controllers see of informers: handlers, listers, and whether the cache is filled. Implementations: SharedInformer.
 * Contract: docs/behaviour/runtime/informers.md.
 */
import { keyOf } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'

/** A deletion whose last state was missed: the object is the last one the cache knew. */
export class DeletedFinalStateUnknown<T extends KubernetesObject = KubernetesObject> {
  readonly key: string
  readonly object: T | undefined

  constructor(key: string, object: T | undefined) {
    this.key = key
    this.object = object
  }
}

/** The key of what a handler is told of, also where its last state is not known. */
export function keyOfDeleted(deleted: KubernetesObject | DeletedFinalStateUnknown): string {
  return deleted instanceof DeletedFinalStateUnknown ? deleted.key : keyOf(deleted)
}

/** The last state that the cache knew. */
export function lastStateOf<T extends KubernetesObject>(
  deleted: T | DeletedFinalStateUnknown<T>,
): T | undefined {
  return deleted instanceof DeletedFinalStateUnknown ? deleted.object : deleted
}

/**
 * One call at a time, in the order of the cache; missing functions ignore their notifications. See HandlerDelivery for
 * errors and promises.
 */
export interface EventHandler<T extends KubernetesObject> {
  onAdd?(object: T, isInInitialList: boolean): void
  /** Also for resyncs (equal resourceVersion) and for re-creations that were seen as one change (different uid). */
  onUpdate?(previous: T, current: T): void
  onDelete?(object: T | DeletedFinalStateUnknown<T>): void
}

/** One handler at one informer. */
export interface HandlerRegistration {
  /** The informer's first list is in and this handler was given all of it. */
  hasSynced(): boolean
  /** Resolves when `hasSynced` holds, or false when `signal` aborts first. */
  whenSynced(signal: AbortSignal): Promise<boolean>
  /** Undelivered notifications are dropped. */
  remove(): void
}

/** 0 to n values under which an object is found. Must not throw. */
export type IndexFunction<T extends KubernetesObject> = (object: T) => readonly string[]

/** A read-only view of a cache. Objects are shared: never edit them. Lists are snapshots in no particular order. */
export interface Lister<T extends KubernetesObject> {
  get(namespace: string | undefined, name: string): T | undefined
  getByKey(key: string): T | undefined
  /** Objects of a namespace, or all of them. */
  list(namespace?: string): readonly T[]
  /** How many `list` would answer. */
  count(namespace?: string): number
  byIndex(index: string, value: string): readonly T[]
}

/** One collection of the server kept as a cache in this process, and who is told of its changes. */
export interface Informer<T extends KubernetesObject> {
  readonly type: ResourceType<T>
  readonly lister: Lister<T>
  addHandler(
    handler: EventHandler<T>,
    options?: { readonly resyncPeriodMs?: number },
  ): HandlerRegistration
  /** Allowed with data present. Throws on a name that exists with another function. */
  addIndex(name: string, index: IndexFunction<T>): void
  /** The first list is in the cache. Says nothing of handlers: ask their registrations. */
  hasSynced(): boolean
  /** Resolves when `hasSynced` holds, or false when `signal` aborts first. */
  whenSynced(signal: AbortSignal): Promise<boolean>
  /** resourceVersion of the last event, list or bookmark that the cache took in; empty before the first. */
  lastSyncResourceVersion(): string
}

/** The informers of a process: one per type. */
export interface InformerFactory {
  /** The one informer of this type in the process; started by the next `start`. */
  informer<T extends KubernetesObject>(type: ResourceType<T>): Informer<T>
  /** Starts what was requested and is not yet running. Does not block; call again after requesting more. */
  start(signal: AbortSignal): void
  /** Resolves when all started informers are filled, or false when `signal` aborts first. */
  waitForCacheSync(signal: AbortSignal): Promise<boolean>
  /** Resolves when all informers have stopped. Nothing can be started afterwards. */
  shutdown(): Promise<void>
}
