/**
 * A log of revisions: one counter for the whole server, every committed write takes the next value.
 * Contract: docs/behaviour/api-server/storage-and-watch.md. Implementations: memory, and node:sqlite with a data directory.
 */
import type { Stored } from '@gyropilot/schema/objects'

/** `deployments.apps` and the bytes of `namespace/name` (or `name`): the storage order. */
export interface StoreKey {
  readonly collection: string
  readonly key: string
}

export interface StoredEntry {
  readonly key: string
  /** Deeply frozen, shared with everybody who read it. */
  readonly object: Stored
  /** The revision of the write that produced this state; equals metadata.resourceVersion. */
  readonly revision: number
  /** Wall time of that write: what the lifetime of expiring objects counts from. Survives a restart. */
  readonly writtenAtMs: number
}

export interface StoreEvent {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly collection: string
  readonly key: string
  readonly revision: number
  /** The state after the event; for `deleted` the last state, with the resourceVersion of the deletion. */
  readonly object: Stored
  readonly previous?: Stored
  /** The entry that holds `object`; undefined for `deleted`. */
  readonly entry: StoredEntry | undefined
}

export interface StoreSnapshot {
  readonly revision: number
  /** In storage order. */
  readonly entries: readonly StoredEntry[]
}

/** Part of a snapshot, to be read in the turn in which it was asked for. */
export interface StoreScan {
  readonly revision: number
  /** In storage order; costs what is taken from it. */
  readonly entries: Iterable<StoredEntry>
  /** How many there are altogether. */
  count(): number
}

/**
 * Writes are decided and committed in one synchronous step, so there is no lock: what `get` returns cannot change before
 * the `commit` that follows it in the same turn. With a data directory a write is durable before `commit` returns.
 */
export interface Store {
  readonly revision: number
  get(key: StoreKey): StoredEntry | undefined
  /** Makes the next revision; `build` is given it and returns the object to store, or undefined to delete. */
  commit(key: StoreKey, build: (revision: number) => Stored | undefined): StoreEvent
  /** Entries under a prefix (`''` or `namespace/`) in storage order; at an older revision while it is kept, else 'expired'. */
  list(collection: string, prefix: string, revision?: number): StoreSnapshot | 'expired'
  /** As `list`, from the key `start` on, which begins with the prefix. */
  scan(collection: string, prefix: string, start: string, revision?: number): StoreScan | 'expired'
  /** Calls back for each event after `revision` that concerns `only`, past ones first; 'expired' when they are no longer kept. */
  watch(
    collection: string,
    prefix: string,
    revision: number,
    listener: (event: StoreEvent) => void,
    only?: WatchPin,
  ): StoreWatch | 'expired'
  /** Calls back after every commit of any collection, in revision order. */
  onCommit(listener: (event: StoreEvent) => void): StoreWatch
  /** The newest revision of the collection whose successor event may be missing: a watch may start here, not before. */
  oldestRevision(collection: string): number
  /** How many objects the collection holds. */
  count(collection: string): number
  /** Names of all collections that hold objects. */
  collections(): readonly string[]
  /** Lists below this revision are expired from now on. Watches may begin there as long as their events are kept. */
  compact(revision: number): void
  /** Forgets history up to this revision: compacts, and watches from below are expired too. */
  forget(revision: number): void
  close(): void
}

/** Events of objects that have a value in a field, or had it before. Fields of one name are read alike by everybody. */
export interface WatchPin {
  readonly field: string
  readonly value: string
  of(object: Stored): string
}

export interface StoreWatch {
  stop(): void
}
