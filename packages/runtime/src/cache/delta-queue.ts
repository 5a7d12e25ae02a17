import type { KubernetesObject } from '@gyropilot/api'
import { Fifo } from '@gyropilot/foundation'
import type { ObjectTable } from './object-table.ts'

/** What happened to one object, or to the whole cache. */
type Delta<T extends KubernetesObject> = ObjectDelta<T> | WholeDelta<T>

/** `key` is the object's; a deletion carries the last state that the server sent. */
export interface ObjectDelta<T extends KubernetesObject> {
  readonly type: 'Added' | 'Updated' | 'Deleted'
  readonly key: string
  readonly object: T
}

export type WholeDelta<T extends KubernetesObject> =
  | {
      readonly type: 'ReplacedAll'
      readonly objects: ObjectTable<T>
      readonly resourceVersion: string
    }
  | { readonly type: 'SyncAll' }
  | { readonly type: 'Bookmark'; readonly resourceVersion: string }

/** More would keep handlers waiting for long; the store takes in one batch at a time. */
export const MAX_BATCH_SIZE = 1_000

/**
 * Deltas in strict order of arrival, uncompressed: two updates of an object are two deltas. A list is one delta.
 * Contract: docs/behaviour/runtime/informers.md, Queue (RealFIFO, atomic).
 */
export class DeltaQueue<T extends KubernetesObject> {
  readonly #deltas = new Fifo<Delta<T>>()
  #receivedAny = false
  #initialListTakenIn = false
  #awaitsInitialList = false

  get size(): number {
    return this.#deltas.size
  }

  /** Something arrived and, if that was a list, it was handled. */
  hasSynced(): boolean {
    return this.#initialListTakenIn || (this.#receivedAny && !this.#awaitsInitialList)
  }

  add(type: ObjectDelta<T>['type'], key: string, object: T): void {
    this.#deltas.push({ type, key, object })
    this.#receivedAny = true
  }

  replaceAll(objects: ObjectTable<T>, resourceVersion: string): void {
    this.#deltas.push({ type: 'ReplacedAll', objects, resourceVersion })
    if (!this.#receivedAny) this.#awaitsInitialList = true
    this.#receivedAny = true
  }

  resync(): void {
    this.#deltas.push({ type: 'SyncAll' })
  }

  bookmark(resourceVersion: string): void {
    this.#deltas.push({ type: 'Bookmark', resourceVersion })
  }

  /**
   * The next deltas to handle together: consecutive deltas of different objects, or one that concerns the whole cache.
   * Empty when nothing is queued. Whoever takes a ReplacedAll calls `replaceTakenIn` when the store has it.
   */
  takeBatch(): readonly ObjectDelta<T>[] | WholeDelta<T> {
    const batch: ObjectDelta<T>[] = []
    // One delta needs no set, and most come alone.
    const keys = this.#deltas.size > 1 ? new Set<string>() : undefined
    for (let next = this.#deltas.peek(); next !== undefined; next = this.#deltas.peek()) {
      if (!('key' in next)) {
        if (batch.length > 0) return batch
        this.#deltas.shift()
        return next
      }
      if (batch.length === MAX_BATCH_SIZE || keys?.has(next.key)) return batch
      this.#deltas.shift()
      keys?.add(next.key)
      batch.push(next)
    }
    return batch
  }

  replaceTakenIn(): void {
    this.#initialListTakenIn = true
  }
}
