/** Objects as the scheduler is about to write them: they count before the server tells of them. */
import type { KubernetesObject } from '@gyropilot/api'
import { compareResourceVersions } from '@gyropilot/runtime'

export class AssumedObjects<T extends KubernetesObject> {
  readonly #assumed = new Map<string, T>()
  readonly #keyOf: (object: T) => string

  constructor(keyOf: (object: T) => string) {
    this.#keyOf = keyOf
  }

  assume(object: T): void {
    this.#assumed.set(this.#keyOf(object), object)
  }

  /** It will not be written. */
  forget(object: T): void {
    this.#assumed.delete(this.#keyOf(object))
  }

  /** What a cache has, unless what is assumed is as new. */
  over(cached: T | undefined): T | undefined {
    if (cached === undefined || this.#assumed.size === 0) return cached
    const key = this.#keyOf(cached)
    const assumed = this.#assumed.get(key)
    if (assumed === undefined) return cached
    const { resourceVersion: ours = '' } = assumed.metadata ?? {}
    const { resourceVersion: theirs = '' } = cached.metadata ?? {}
    const isSame = assumed.metadata?.uid === cached.metadata?.uid
    if (isSame && compareResourceVersions(ours, theirs) >= 0) return assumed
    this.#assumed.delete(key)
    return cached
  }
}
