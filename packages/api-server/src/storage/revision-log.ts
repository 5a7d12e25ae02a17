import type { KubernetesObject } from '@gyropilot/api'
import { SharedSubtrees } from '@gyropilot/api'
import { deepFreeze, type Clock } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { forgetEncoding } from './encoding.ts'
import { History, LoggedEvent } from './history.ts'
import { PastStates } from './past-states.ts'
import { SortedEntries } from './sorted-entries.ts'
import type {
  Store,
  StoreEvent,
  StoreKey,
  StoreScan,
  StoreSnapshot,
  StoreWatch,
  StoredEntry,
  WatchPin,
} from './store.ts'
import { Watchers, concerns } from './watchers.ts'

/** Where writes are made durable. Called before the write is visible to anybody; what it throws undoes the write. */
export interface Journal {
  write(
    collection: string,
    key: string,
    revision: number,
    object: Stored | undefined,
    writtenAtMs: number,
  ): void
  close(): void
}

/** What a journal had on disk. */
export interface InitialState {
  readonly revision: number
  readonly entries: Iterable<StoredEntry & { readonly collection: string }>
}

type Listener = (event: StoreEvent) => void

interface Collection {
  readonly entries: SortedEntries
  readonly history: History
  readonly pasts: PastStates
  readonly watchers: Watchers
}

/** The store: current entries, recent events and watchers in memory; durable through a journal when there is one. */
export class RevisionLog implements Store {
  readonly #clock: Clock
  readonly #journal: Journal | undefined
  readonly #collections = new Map<string, Collection>()
  readonly #commitListeners = new Set<Listener>()
  /** Events that were committed by a listener of an earlier event: they wait, so that everybody sees revisions in order. */
  readonly #undelivered: LoggedEvent[] = []
  /** Of all that is stored: pods of one Deployment differ in a few texts. */
  readonly #subtrees = new SharedSubtrees()
  #delivering = false
  #revision: number
  #floor: number
  /** Lists below are expired. */
  #compacted = 0

  constructor(clock: Clock, journal?: Journal, initial?: InitialState) {
    this.#clock = clock
    this.#journal = journal
    this.#revision = initial?.revision ?? 0
    this.#floor = this.#revision
    for (const entry of initial?.entries ?? []) {
      const { collection, key, object, revision, writtenAtMs } = entry
      this.#subtrees.take(object as KubernetesObject)
      this.#collection(collection).entries.set({
        key,
        object: deepFreeze(object),
        revision,
        writtenAtMs,
      })
    }
  }

  get revision(): number {
    return this.#revision
  }

  get(key: StoreKey): StoredEntry | undefined {
    return this.#collections.get(key.collection)?.entries.get(key.key)
  }

  count(collection: string): number {
    return this.#collections.get(collection)?.entries.size ?? 0
  }

  collections(): readonly string[] {
    return [...this.#collections]
      .filter(([, { entries }]) => entries.size > 0)
      .map(([name]) => name)
  }

  oldestRevision(collection: string): number {
    return Math.max(this.#floor, this.#collections.get(collection)?.history.floor ?? 0)
  }

  commit(
    { collection: name, key }: StoreKey,
    build: (revision: number) => Stored | undefined,
  ): StoreEvent {
    const collection = this.#collection(name)
    const before = collection.entries.get(key)
    const revision = this.#revision + 1
    const built = build(revision)
    if (built === undefined && before === undefined)
      throw new Error(`deletion of ${name} ${key}, which does not exist`)
    const writtenAtMs = this.#clock.nowMs()
    const object = built ?? withRevision(before!.object, revision)
    this.#subtrees.take(object as KubernetesObject, before?.object as KubernetesObject | undefined)
    deepFreeze(object)
    this.#journal?.write(name, key, revision, built === undefined ? undefined : object, writtenAtMs)
    this.#revision = revision
    const entry: StoredEntry | undefined =
      built === undefined ? undefined : { key, object, revision, writtenAtMs }
    if (entry === undefined) collection.entries.delete(key)
    else collection.entries.set(entry)
    if (before !== undefined) forgetEncoding(before.object)
    const event = new LoggedEvent({ collection: name, revision, object, entry, before })
    collection.history.append(event, this.#clock.monotonicMs())
    this.#deliver(event)
    return event
  }

  list(name: string, prefix: string, revision?: number): StoreSnapshot | 'expired' {
    if (revision === undefined || revision === this.#revision) {
      const entries = this.#collections.get(name)?.entries.range(prefix) ?? []
      return { revision: this.#revision, entries }
    }
    const scan = this.scan(name, prefix, prefix, revision)
    return scan === 'expired' ? scan : { revision, entries: [...scan.entries] }
  }

  scan(
    name: string,
    prefix: string,
    start: string,
    revision: number = this.#revision,
  ): StoreScan | 'expired' {
    if (revision > this.#revision)
      throw new Error(`revision ${revision} is in the future (${this.#revision})`)
    if (revision < Math.max(this.#compacted, this.oldestRevision(name))) return 'expired'
    const collection = this.#collections.get(name)
    if (collection === undefined) return { revision, entries: [], count: () => 0 }
    const { entries, pasts } = collection
    const state = revision === this.#revision ? entries : pasts.at(revision)
    return {
      revision,
      entries: state.from(start, prefix),
      count: () => state.countFrom(start, prefix),
    }
  }

  watch(
    name: string,
    prefix: string,
    revision: number,
    listener: Listener,
    only?: WatchPin,
  ): StoreWatch | 'expired' {
    if (revision < this.oldestRevision(name)) return 'expired'
    const collection = this.#collection(name)
    // A listener may commit while it is shown the past: what it commits is past too until it has registered.
    // Events that are still being delivered to others are past as well.
    let seen = revision
    while (seen < this.#revision) {
      const now = this.#revision
      for (const event of collection.history.after(seen))
        if (event.key.startsWith(prefix) && (only === undefined || concerns(event, only)))
          listener(event)
      seen = now
    }
    const stop = collection.watchers.add(
      prefix,
      (event) => {
        if (event.revision > seen) listener(event)
      },
      only,
    )
    return { stop }
  }

  onCommit(listener: Listener): StoreWatch {
    const registered: Listener = (event) => listener(event)
    this.#commitListeners.add(registered)
    return { stop: () => void this.#commitListeners.delete(registered) }
  }

  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, Math.min(revision, this.#revision))
    for (const { pasts } of this.#collections.values()) pasts.forgetBelow(this.#compacted)
  }

  forget(revision: number): void {
    this.compact(revision)
    this.#floor = Math.max(this.#floor, Math.min(revision, this.#revision))
    for (const { history } of this.#collections.values()) history.compact(this.#floor)
  }

  close(): void {
    this.#journal?.close()
  }

  #collection(name: string): Collection {
    let collection = this.#collections.get(name)
    if (collection === undefined) {
      const entries = new SortedEntries()
      const history = new History(this.#floor)
      const pasts = new PastStates(entries, history)
      collection = { entries, history, pasts, watchers: new Watchers() }
      this.#collections.set(name, collection)
    }
    return collection
  }

  #deliver(event: LoggedEvent): void {
    this.#undelivered.push(event)
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (
        let next = this.#undelivered.shift();
        next !== undefined;
        next = this.#undelivered.shift()
      ) {
        this.#collection(next.collection).watchers.notify(next)
        for (const listener of this.#commitListeners) listener(next)
      }
    } finally {
      this.#delivering = false
    }
  }
}

/** The same object with another resourceVersion. */
export function withRevision(object: Stored, revision: number): Stored {
  return { ...object, metadata: { ...object['metadata'], resourceVersion: String(revision) } }
}
