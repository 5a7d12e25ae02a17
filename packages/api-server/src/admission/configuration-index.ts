/** Configurations of policies and webhooks as every request asks for them: listed once, and again after one of them changed. */
import type { Stored } from '../registry/kind-rules.ts'
import type { Store } from '../storage/store.ts'

export class ConfigurationIndex {
  readonly #store: Store
  readonly #collection: string
  #objects: readonly Stored[] | undefined
  #follows = false

  constructor(store: Store, collection: string) {
    this.#store = store
    this.#collection = collection
  }

  /** By name. */
  all(): readonly Stored[] {
    if (this.#objects !== undefined) return this.#objects
    const snapshot = this.#store.list(this.#collection, '')
    const objects = snapshot === 'expired' ? [] : snapshot.entries.map(({ object }) => object)
    this.#follow()
    this.#objects = objects
    return objects
  }

  #follow(): void {
    if (this.#follows) return
    this.#follows = true
    this.#store.onCommit(({ collection }) => {
      if (collection === this.#collection) this.#objects = undefined
    })
  }
}
