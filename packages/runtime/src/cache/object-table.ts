import type { KubernetesObject } from '@gyropilot/api'
import { deepEqual, keyOf } from '@gyropilot/api'
import { TextTable } from '@gyropilot/foundation'

/**
 * Objects by namespace and name; the namespace of cluster-scoped ones is empty. Two levels of maps cost about 100 bytes per object
 * less than one map by `namespace/name` and an index by namespace: the names are those in the objects, and no key is kept.
 */
export class ObjectTable<T extends KubernetesObject> {
  readonly #namespaces = new Map<string, TextTable<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(namespace: string, name: string): T | undefined {
    return this.#namespaces.get(namespace)?.get(name)
  }

  /** By `namespace/name`, or by the name alone. */
  getByKey(key: string): T | undefined {
    return this.get(namespaceIn(key), nameIn(key))
  }

  /** The object of the same namespace and name. */
  counterpartOf(object: T): T | undefined {
    return this.get(object.metadata?.namespace ?? '', object.metadata?.name ?? '')
  }

  /** Adds or replaces; what was in its place is answered. */
  set(object: T): T | undefined {
    const namespace = object.metadata?.namespace ?? ''
    let objects = this.#namespaces.get(namespace)
    if (objects === undefined) {
      objects = new TextTable<T>(nameOf)
      this.#namespaces.set(namespace, objects)
    }
    const previous = objects.set(object)
    if (previous === undefined) this.#size++
    return previous
  }

  /** Takes the object out and answers it. */
  delete(key: string): T | undefined {
    const namespace = namespaceIn(key)
    const objects = this.#namespaces.get(namespace)
    const previous = objects?.delete(nameIn(key))
    if (objects === undefined || previous === undefined) return undefined
    if (objects.size === 0) this.#namespaces.delete(namespace)
    this.#size--
    return previous
  }

  namespaces(): readonly string[] {
    return [...this.#namespaces.keys()]
  }

  countIn(namespace: string): number {
    return this.#namespaces.get(namespace)?.size ?? 0
  }

  inNamespace(namespace: string): readonly T[] {
    return this.#namespaces.get(namespace)?.list() ?? []
  }

  list(): readonly T[] {
    const all: T[] = []
    for (const objects of this.#namespaces.values())
      for (const object of objects.list()) all.push(object)
    return all
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const objects of this.#namespaces.values()) yield* objects.values()
  }
}

/** The server has not changed the object in between: not even a deletion and a namesake can have the same uid. */
export function isSameState(a: KubernetesObject, b: KubernetesObject): boolean {
  const { uid, resourceVersion } = a.metadata ?? {}
  if (!uid || !resourceVersion) return false
  return uid === b.metadata?.uid && resourceVersion === b.metadata.resourceVersion
}

/** What tells two collections apart, for a message; undefined when they are the same. */
export function differenceOf<T extends KubernetesObject>(
  streamed: ObjectTable<T>,
  listed: ObjectTable<T>,
): string | undefined {
  for (const object of listed) {
    const other = streamed.counterpartOf(object)
    if (other === undefined) return `${keyOf(object)} was not streamed`
    if (!deepEqual(other, object)) return `${keyOf(object)} was streamed in another state`
  }
  for (const object of streamed)
    if (listed.counterpartOf(object) === undefined) return `${keyOf(object)} is not in the list`
  return undefined
}

function nameOf(object: KubernetesObject): string {
  return object.metadata?.name ?? ''
}

function namespaceIn(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')))
}

function nameIn(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}
