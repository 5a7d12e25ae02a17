/**
 * The informer's objects with this process' own writes on top, until the informer has caught up. So a volume that was given
 * away a moment ago is not given away again.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Watches and keys.
 */
import { keyOf } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { compareResourceVersions } from '@gyropilot/runtime'
import type { Lister } from '@gyropilot/runtime'

export class OwnCache<T extends KubernetesObject> {
  readonly #lister: Lister<T>
  readonly #written = new Map<string, T>()

  constructor(lister: Lister<T>) {
    this.#lister = lister
  }

  /** What a write has answered. */
  written(object: T): void {
    const key = keyOf(object)
    const known = this.#written.get(key)
    if (known === undefined || !isOlder(object, known)) this.#written.set(key, object)
  }

  /** The newest state known of an object that the informer has not seen go. */
  get(namespace: string | undefined, name: string): T | undefined {
    const listed = this.#lister.get(namespace, name)
    return listed && this.#newest(listed)
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#lister.byIndex(index, value).map((listed) => this.#newest(listed))
  }

  /** What there is to judge under the key. Undefined: it is gone, or the informer is behind and will tell again. */
  current(key: string): T | undefined {
    const listed = this.#lister.getByKey(key)
    return listed !== undefined && this.#newest(listed) === listed ? listed : undefined
  }

  /** Answers whether the object is gone; it is not where the informer is only behind. */
  forget(key: string): boolean {
    if (this.#lister.getByKey(key) !== undefined) return false
    this.#written.delete(key)
    return true
  }

  #newest(listed: T): T {
    const key = keyOf(listed)
    const written = this.#written.get(key)
    if (written === undefined) return listed
    if (isOlder(listed, written)) return written
    this.#written.delete(key)
    return listed
  }
}

function isOlder(a: KubernetesObject, b: KubernetesObject): boolean {
  return (
    compareResourceVersions(a.metadata?.resourceVersion ?? '', b.metadata?.resourceVersion ?? '') <
    0
  )
}
