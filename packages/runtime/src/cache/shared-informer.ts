import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { SharedSubtrees, groupResourceOf, keyOf } from '@gyropilot/api'
import type { Logger } from '@gyropilot/foundation'
import { inTurns, nextTurn, yieldIfLong } from '../turn.ts'
import type {
  EventHandler,
  HandlerRegistration,
  IndexFunction,
  Informer,
  Lister,
} from '../informer.ts'
import { DeltaQueue } from './delta-queue.ts'
import type { ObjectDelta, WholeDelta } from './delta-queue.ts'
import { HandlerDelivery } from './handler-delivery.ts'
import { Latch } from './latch.ts'
import {
  isResync,
  newObjects,
  notificationsOfList,
  notificationsOfResync,
} from './notifications.ts'
import type { Notification } from './notifications.ts'
import { ObjectTable, differenceOf, isSameState } from './object-table.ts'
import { Reflector } from './reflector/reflector.ts'
import type { ReflectorSink } from './reflector/reflector.ts'
import { ResyncSchedule } from './resync-schedule.ts'
import type { ResyncMember } from './resync-schedule.ts'
import type { SharedInformerOptions } from './shared-informer-options.ts'
import { Store } from './store.ts'
import { KnownSpecs } from './known-specs.ts'
import { dropManagedFields, lean, shapeOf, withKind } from './transform.ts'
import type { Transform } from './transform.ts'

/** Objects that somebody can look at one by one in some milliseconds. */
const LARGE_CACHE = 5_000

interface Handler<T extends KubernetesObject> {
  readonly delivery: HandlerDelivery<T>
  readonly resync: ResyncMember
}

/**
 * One ordered local copy of a collection, and any number of handlers that are told of its changes. New, started, stopped;
 * never restarted. A notification is sent after the cache changed; the cache may be newer by the time it arrives.
 * Contract: docs/behaviour/runtime/informers.md.
 */
export class SharedInformer<T extends KubernetesObject> implements Informer<T> {
  readonly type: ResourceType<T>
  readonly lister: Lister<T>
  readonly #options: SharedInformerOptions<T>
  readonly #logger: Logger
  readonly #store = new Store<T>()
  readonly #queue = new DeltaQueue<T>()
  readonly #handlers = new Set<Handler<T>>()
  readonly #resyncs: ResyncSchedule
  readonly #synced = new Latch()
  #transform: Transform<T>
  readonly #subtrees: SharedSubtrees
  readonly #specs: KnownSpecs | undefined
  #hasTransform: boolean
  #onWatchError: ((error: unknown) => void) | undefined
  #state: 'new' | 'started' | 'stopped' = 'new'
  #reflector: Reflector<T> | undefined
  #drainScheduled = false
  /** A list is being taken in over more than one turn. */
  #draining: Promise<void> | undefined

  constructor(options: SharedInformerOptions<T>) {
    this.type = options.type
    this.lister = this.#store
    this.#options = options
    this.#logger = options.logger.with({ resource: groupResourceOf(options.type) })
    const shape = shapeOf(options.type)
    const { transform } = options
    this.#transform = transform
      ? (object) => transform(withKind(object, shape))
      : (object) => lean(object, shape)
    this.#hasTransform = transform !== undefined
    this.#subtrees = options.subtrees ?? new SharedSubtrees()
    if (options.specTextOf !== undefined)
      this.#specs = new KnownSpecs(options.specTextOf, (value) => this.#subtrees.share(value))
    this.#onWatchError = options.onWatchError
    this.#resyncs = new ResyncSchedule(options.clock, this.#logger, options.defaultResyncMs ?? 0)
    options.metrics?.observe(() => ({
      queued: this.#queue.size,
      resourceVersion: this.#store.resourceVersion,
    }))
  }

  hasSynced(): boolean {
    return this.#synced.isOpen
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    return this.#opened(this.#synced, signal)
  }

  /** Who waited for a large cache begins with a long look at it: they go on one after the other, in as many turns as it takes. */
  async #opened(latch: Latch, signal: AbortSignal): Promise<boolean> {
    const waited = !latch.isOpen
    const opened = await latch.opened(signal)
    if (waited && opened && this.#store.count() >= LARGE_CACHE) await nextTurn(this.#options.clock)
    return opened
  }

  lastSyncResourceVersion(): string {
    return this.#store.resourceVersion
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.#state === 'stopped')
      throw new Error('index was not added: the informer has stopped already')
    this.#store.addIndexes({ [name]: index })
  }

  setTransform(transform: Transform<T>): void {
    this.#refuseWhenStarted()
    const shape = shapeOf(this.type)
    this.#transform = (object) => transform(withKind(object, shape))
    this.#hasTransform = true
  }

  setWatchErrorHandler(onWatchError: (error: unknown) => void): void {
    this.#refuseWhenStarted()
    this.#onWatchError = onWatchError
  }

  addHandler(
    handler: EventHandler<T>,
    options: { readonly resyncPeriodMs?: number } = {},
  ): HandlerRegistration {
    if (this.#state === 'stopped') {
      throw new Error('handler was not added to the shared informer because it has stopped already')
    }
    const requestedMs = options.resyncPeriodMs ?? this.#options.defaultResyncMs ?? 0
    const resync = this.#resyncs.join(requestedMs, this.#state === 'started')
    const delivery = new HandlerDelivery<T>({
      handler,
      clock: this.#options.clock,
      logger: this.#logger,
      informerSynced: this.#synced,
    })
    const member: Handler<T> = { delivery, resync }
    this.#handlers.add(member)
    const known = this.#store.list()
    delivery.notify(known.map((object) => ({ kind: 'add', object, isInInitialList: true })))
    delivery.checkSynced()
    return {
      hasSynced: () => delivery.synced.isOpen,
      whenSynced: (signal) => this.#opened(delivery.synced, signal),
      remove: () => this.#remove(member),
    }
  }

  /** Resolves when everything has ended after `signal` aborted. A second call does nothing. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') {
      this.#logger.info('The informer was started before; running it again is not allowed')
      return
    }
    this.#state = 'started'
    const {
      defaultResyncMs: _,
      transform: __,
      trim: ___,
      specTextOf: ____,
      mutationDetector,
      ...options
    } = this.#options
    mutationDetector?.start(signal)
    this.#reflector = new Reflector<T>({
      ...options,
      sink: this.#sink(),
      onDecoded: this.#shareSubtrees(),
      // A transform is shown the whole object.
      ...(this.#hasTransform ? {} : { decode: this.#specs ?? ('lean' as const) }),
      resync: { periodMs: this.#resyncs.checkPeriodMs, tick: () => this.#resync() },
      onWatchError: this.#onWatchError,
    })
    await this.#reflector.run(signal)
    // What is behind a list that takes its time is taken in by the same work.
    await this.#draining
    this.#state = 'stopped'
    for (const handler of this.#handlers) this.#remove(handler)
  }

  /** After a failure: asks the server again at once. Otherwise nothing. */
  tryNow(): void {
    this.#reflector?.tryNow()
  }

  #refuseWhenStarted(): void {
    if (this.#state !== 'new') throw new Error('informer has already started')
  }

  #remove(handler: Handler<T>): void {
    this.#handlers.delete(handler)
    this.#resyncs.leave(handler.resync)
    handler.delivery.stop()
  }

  /** Objects of the server's own, in one process, are left alone: they are shared with its store as they are. */
  #shareSubtrees(): (object: T) => void {
    const { trim } = this.#options
    const subtrees = this.#subtrees
    // A transform can make anything of an object: its results are not compared with.
    if (this.#hasTransform) return (object) => subtrees.take(object)
    return (object) => {
      const known = this.#store.counterpartOf(object)
      // The cached one is kept in its place.
      if (known !== undefined && isSameState(known, object)) {
        this.#specs?.passOver(object)
        return
      }
      dropManagedFields(object)
      const keep = (isSpecKept: boolean): void => {
        if (trim !== undefined) Object.assign(object, trim(object))
        subtrees.take(object, known, isSpecKept ? 'spec' : undefined)
      }
      if (this.#specs === undefined) keep(false)
      else this.#specs.takeIn(object, keep)
    }
  }

  #sink(): ReflectorSink<T> {
    const replaceAll = (objects: ObjectTable<T>, resourceVersion: string): void => {
      this.#queue.replaceAll(objects, resourceVersion)
      this.#scheduleDrain()
    }
    return {
      replaced: async (objects, resourceVersion) => {
        const table = new ObjectTable<T>()
        await inTurns(this.#options.clock, objects, (object) => table.set(this.#kept(object)))
        replaceAll(table, resourceVersion)
      },
      changed: (type, object) => {
        const kept = this.#transform(object)
        this.#queue.add(type, keyOf(kept), kept)
        this.#scheduleDrain()
      },
      bookmarked: (resourceVersion) => {
        this.#queue.bookmark(resourceVersion)
        this.#scheduleDrain()
      },
      temporary: () => {
        const table = new ObjectTable<T>()
        return {
          changed: (type, object) => {
            const kept = this.#kept(object)
            if (type === 'Deleted') table.delete(keyOf(kept))
            else table.set(kept)
          },
          differenceTo: (listed) => {
            const { trim = (object: T): T => object } = this.#options
            const other = new ObjectTable<T>()
            for (const object of listed) other.set(trim(this.#transform(object)))
            return differenceOf(table, other)
          },
          complete: (resourceVersion) => replaceAll(table, resourceVersion),
        }
      },
    }
  }

  /** What a list has of an object that did not change is the cached one: as good, and shared with all who hold it. */
  #kept(object: T): T {
    const known = this.#store.counterpartOf(object)
    return known !== undefined && isSameState(known, object) ? known : this.#transform(object)
  }

  #resync(): void {
    if (!this.#resyncs.check()) return
    this.#queue.resync()
    this.#scheduleDrain()
  }

  /** Deltas that arrive in one turn are taken in together. */
  #scheduleDrain(): void {
    if (this.#drainScheduled) return
    this.#drainScheduled = true
    queueMicrotask(() => this.#drain())
  }

  /** At once, but for lists that take more than a turn: what arrives meanwhile waits its turn behind them. */
  #drain(): void {
    this.#drainScheduled = false
    if (this.#draining !== undefined) return
    const work = this.#takeInAll()
    while (work.next().done !== true) {
      const yielding = yieldIfLong(this.#options.clock)
      if (yielding === undefined) continue
      this.#draining = this.#drainOn(work, yielding)
      return
    }
  }

  async #drainOn(work: Generator<void>, yielding: Promise<void>): Promise<void> {
    await yielding
    while (work.next().done !== true) await yieldIfLong(this.#options.clock)
    this.#draining = undefined
  }

  /** Pauses where the store and the handlers are in order. */
  *#takeInAll(): Generator<void> {
    const { metrics, clock } = this.#options
    for (;;) {
      const isInInitialList = !this.#queue.hasSynced()
      const batch = this.#queue.takeBatch()
      const startMs = metrics && clock.monotonicMs()
      if (!('length' in batch)) yield* this.#takeInWhole(batch, isInInitialList)
      else if (batch.length > 0) this.#takeIn(batch, isInInitialList)
      else break
      if (startMs !== undefined) metrics?.processed(clock.monotonicMs() - startMs)
      yield
    }
    // Nothing comes before the first list.
    if (this.#synced.isOpen) return
    this.#synced.open()
    for (const { delivery } of this.#handlers) delivery.checkSynced()
  }

  /** The store takes in the whole batch before any handler is told. */
  #takeIn(deltas: readonly ObjectDelta<T>[], isInInitialList: boolean): void {
    const notifications: Notification<T>[] = []
    for (const { type, key, object } of deltas) {
      if (type === 'Deleted') {
        this.#store.delete(key, object.metadata?.resourceVersion)
        notifications.push({ kind: 'delete', object })
      } else {
        const previous = this.#store.set(object)
        notifications.push(
          previous === undefined
            ? { kind: 'add', object, isInInitialList }
            : { kind: 'update', previous, object },
        )
      }
    }
    this.#distribute(notifications)
  }

  *#takeInWhole(delta: WholeDelta<T>, isInInitialList: boolean): Generator<void> {
    switch (delta.type) {
      case 'Bookmark':
        this.#store.bookmark(delta.resourceVersion)
        return
      case 'SyncAll': {
        // Who is due now is told of everything, whatever the next check decides in a pause.
        const due = [...this.#handlers].filter(({ resync }) => resync.receives)
        for (const notifications of notificationsOfResync(this.#store.list())) {
          for (const { delivery } of due) delivery.notify(notifications)
          yield
        }
        return
      }
      case 'ReplacedAll':
        yield* this.#replaceAll(delta.objects, delta.resourceVersion, isInInitialList)
        this.#queue.replaceTakenIn()
    }
  }

  *#replaceAll(
    objects: ObjectTable<T>,
    resourceVersion: string,
    isInInitialList: boolean,
  ): Generator<void> {
    const before = yield* this.#store.replacing(objects, resourceVersion)
    // Who joins from here on is told of what the store has now, and of nothing before.
    const handlers = [...this.#handlers]
    for (const notifications of notificationsOfList(before, objects, isInInitialList)) {
      this.#distribute(notifications, handlers)
      yield
    }
  }

  /** Only handlers that are due a resync receive one. */
  #distribute(
    notifications: readonly Notification<T>[],
    handlers: Iterable<Handler<T>> = this.#handlers,
  ): void {
    const { mutationDetector } = this.#options
    if (mutationDetector !== undefined)
      for (const object of newObjects(notifications)) mutationDetector.capture(object)
    const news = notifications.some(isResync)
      ? notifications.filter((notification) => !isResync(notification))
      : notifications
    for (const { delivery, resync } of handlers)
      delivery.notify(resync.receives ? notifications : news)
  }
}
