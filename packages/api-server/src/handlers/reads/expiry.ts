/** Objects with a lifetime: Events live an hour from their last write. Contract: docs/behaviour/api-server/storage-and-watch.md, "Expiring objects". */
import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import { every } from '@gyropilot/foundation'
import { loggingFailures } from '../../storage/own-writes.ts'
import type { Store, StoreKey, StoreWatch } from '../../storage/store.ts'

const SWEEP_PERIOD_MS = 30_000

interface ExpiringCollection {
  readonly collection: string
  readonly lifetimeMs: number
}

const EXPIRING_COLLECTIONS: readonly ExpiringCollection[] = [
  { collection: 'events', lifetimeMs: 3_600_000 },
]

interface Pending extends StoreKey {
  readonly revision: number
  readonly expiresAtMs: number
}

/** Deletes what has outlived its time. One lifetime per collection, so the order of writes is the order of expiry. */
export class ExpirySweeper {
  readonly #store: Store
  readonly #clock: Clock
  readonly #logger: Logger
  #pending: Pending[] = []
  #watch: StoreWatch | undefined
  #timer: Timer | undefined

  constructor(store: Store, clock: Clock, logger: Logger) {
    this.#store = store
    this.#clock = clock
    this.#logger = logger
  }

  start(collections: readonly ExpiringCollection[] = EXPIRING_COLLECTIONS): void {
    const lifetimes = new Map(
      collections.map(({ collection, lifetimeMs }) => [collection, lifetimeMs]),
    )
    for (const { collection, lifetimeMs } of collections) {
      const snapshot = this.#store.list(collection, '')
      if (snapshot === 'expired') continue
      for (const { key, revision, writtenAtMs } of snapshot.entries) {
        this.#pending.push({
          collection,
          key,
          revision,
          expiresAtMs: writtenAtMs + lifetimeMs,
        })
      }
    }
    this.#pending.sort((a, b) => a.expiresAtMs - b.expiresAtMs || a.revision - b.revision)
    this.#watch = this.#store.onCommit(({ collection, entry }) => {
      const lifetimeMs = lifetimes.get(collection)
      if (lifetimeMs === undefined || entry === undefined) return
      this.#pending.push({
        collection,
        key: entry.key,
        revision: entry.revision,
        expiresAtMs: entry.writtenAtMs + lifetimeMs,
      })
    })
    const sweep = (): void => this.#sweep()
    const failed = 'Expired objects could not be deleted, will retry'
    this.#timer = every(this.#clock, SWEEP_PERIOD_MS, loggingFailures(this.#logger, failed, sweep))
  }

  stop(): void {
    this.#watch?.stop()
    this.#timer?.cancel()
  }

  #sweep(): void {
    const nowMs = this.#clock.nowMs()
    let expired = 0
    while (expired < this.#pending.length && this.#pending[expired]!.expiresAtMs <= nowMs) {
      const { collection, key, revision } = this.#pending[expired++]!
      const storeKey = { collection, key }
      // A later write has renewed it, and waits further back.
      if (this.#store.get(storeKey)?.revision === revision)
        this.#store.commit(storeKey, () => undefined)
    }
    if (expired > 0) this.#pending = this.#pending.slice(expired)
  }
}
