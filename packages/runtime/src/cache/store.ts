import type { KubernetesObject } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import type { IndexFunction, Lister } from '../informer.ts'

/** The index by metadata.namespace that every informer has. */
export const NAMESPACE_INDEX = 'namespace'

/** Most index values have one object: a set is made for the second. */
type Bucket = string | Set<string>

interface Index<T extends KubernetesObject> {
  readonly valuesOf: IndexFunction<T>
  readonly buckets: Map<string, Bucket>
}

/**
 * Objects by key, found by index values too. Keeps the objects it is given, never copies: they are shared with everybody.
 * An index function that throws is a defect of its author and is not caught.
 * Contract: docs/behaviour/runtime/informers.md, Store and indexes.
 */
export class Store<T extends KubernetesObject> implements Lister<T> {
  #objects = new Map<string, T>()
  readonly #indexes = new Map<string, Index<T>>()
  #resourceVersion = ''

  /** resourceVersion of the last event, list or bookmark taken in; empty before the first. */
  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get size(): number {
    return this.#objects.size
  }

  /** Adds or replaces by key. */
  set(object: T, key = keyOf(object)): void {
    const previous = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) moveEntry(index, key, previous, object)
    this.#observe(object.metadata?.resourceVersion)
  }

  /** Removes the key; `resourceVersion` is that of the deletion, where it is known. */
  delete(key: string, resourceVersion?: string): void {
    const previous = this.#objects.get(key)
    if (previous !== undefined) {
      this.#objects.delete(key)
      for (const index of this.#indexes.values()) moveEntry(index, key, previous, undefined)
    }
    this.#observe(resourceVersion)
  }

  /** Puts a whole list in the place of everything, in one step. The map is the store's from now on; the old one is answered. */
  replace(objects: Map<string, T>, resourceVersion: string): ReadonlyMap<string, T> {
    const previous = this.#objects
    this.#objects = objects
    for (const index of this.#indexes.values()) {
      index.buckets.clear()
      for (const [key, object] of this.#objects) moveEntry(index, key, undefined, object)
    }
    this.#resourceVersion = resourceVersion
    return previous
  }

  /** Takes note of a resourceVersion without a change: a bookmark. */
  bookmark(resourceVersion: string): void {
    this.#observe(resourceVersion)
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name)
  }

  getByKey(key: string): T | undefined {
    return this.#objects.get(key)
  }

  list(namespace?: string): readonly T[] {
    if (namespace === undefined) return [...this.#objects.values()]
    if (this.#indexes.has(NAMESPACE_INDEX)) return this.byIndex(NAMESPACE_INDEX, namespace)
    return this.list().filter((object) => object.metadata?.namespace === namespace)
  }

  keys(): readonly string[] {
    return [...this.#objects.keys()]
  }

  /** Allowed with data present. A name that exists with another function changes nothing and throws. */
  addIndexes(indexes: Readonly<Record<string, IndexFunction<T>>>): void {
    const names = Object.keys(indexes)
    const conflicts = names.filter((name) => {
      const known = this.#indexes.get(name)
      return known !== undefined && known.valuesOf !== indexes[name]
    })
    if (conflicts.length > 0) throw new Error(`indexer conflict: [${conflicts.join(' ')}]`)
    for (const name of names) {
      if (this.#indexes.has(name)) continue
      const index: Index<T> = { valuesOf: indexes[name]!, buckets: new Map() }
      for (const [key, object] of this.#objects) moveEntry(index, key, undefined, object)
      this.#indexes.set(name, index)
    }
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#fromBuckets(this.#index(name), [value])
  }

  /** Objects that share a value of this index with `object`, each once. */
  sharingIndex(name: string, object: T): readonly T[] {
    const index = this.#index(name)
    return this.#fromBuckets(index, index.valuesOf(object))
  }

  /** Keys with exactly this value, sorted. */
  indexKeys(name: string, value: string): readonly string[] {
    return [...keysIn(this.#index(name).buckets.get(value))].sort()
  }

  /** All values that some object has now. */
  indexValues(name: string): readonly string[] {
    return [...this.#index(name).buckets.keys()]
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new Error(`Index with name ${name} does not exist`)
    return index
  }

  #fromBuckets(index: Index<T>, values: readonly string[]): readonly T[] {
    if (values.length === 1) {
      const found: T[] = []
      for (const key of keysIn(index.buckets.get(values[0]!))) found.push(this.#objects.get(key)!)
      return found
    }
    const keys = new Set<string>()
    for (const value of values) for (const key of keysIn(index.buckets.get(value))) keys.add(key)
    return [...keys].map((key) => this.#objects.get(key)!)
  }

  #observe(resourceVersion: string | undefined): void {
    if (resourceVersion) this.#resourceVersion = resourceVersion
  }
}

const NO_KEYS: readonly string[] = []

function keysIn(bucket: Bucket | undefined): Iterable<string> {
  if (bucket === undefined) return NO_KEYS
  return typeof bucket === 'string' ? [bucket] : bucket
}

function moveEntry<T extends KubernetesObject>(
  index: Index<T>,
  key: string,
  previous: T | undefined,
  current: T | undefined,
): void {
  const before = previous === undefined ? NO_KEYS : index.valuesOf(previous)
  const after = current === undefined ? NO_KEYS : index.valuesOf(current)
  if (before.length === 1 && after.length === 1 && before[0] === after[0]) return
  for (const value of before) takeOut(index.buckets, value, key)
  for (const value of after) putIn(index.buckets, value, key)
}

function putIn(buckets: Map<string, Bucket>, value: string, key: string): void {
  const bucket = buckets.get(value)
  if (bucket === undefined) buckets.set(value, key)
  else if (typeof bucket !== 'string') bucket.add(key)
  else if (bucket !== key) buckets.set(value, new Set([bucket, key]))
}

function takeOut(buckets: Map<string, Bucket>, value: string, key: string): void {
  const bucket = buckets.get(value)
  if (bucket === undefined) return
  if (typeof bucket === 'string') {
    if (bucket === key) buckets.delete(value)
    return
  }
  bucket.delete(key)
  if (bucket.size === 0) buckets.delete(value)
}

/** The function of the namespace index: one function, so that asking for the index twice is no conflict. */
export function namespaceOf(object: KubernetesObject): readonly string[] {
  return [object.metadata?.namespace ?? '']
}
