import type { KubernetesObject } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import type { IndexFunction, Lister } from '../informer.ts'
import { ObjectTable } from './object-table.ts'

/** The index by metadata.namespace that every informer has. */
export const NAMESPACE_INDEX = 'namespace'

/** Most index values have one object: a set is made for the second. */
type Bucket<T> = T | Set<T>

type Buckets<T> = Map<string, Bucket<T>>

interface Index<T extends KubernetesObject> {
  readonly valuesOf: IndexFunction<T>
  buckets: Buckets<T>
}

type Change<T> = readonly [before: T | undefined, after: T | undefined]

/** Of the work of a list: between two pauses it is a fraction of a millisecond. */
const OBJECTS_PER_PAUSE = 64
/** What a single step may move in each index. */
const MOST_CHANGES_AT_ONCE = 1_000

/**
 * Objects by key, found by index values too. Keeps the objects it is given, never copies: they are shared with everybody.
 * An index function that throws is a defect of its author and is not caught.
 * Contract: docs/behaviour/runtime/informers.md, Store and indexes.
 */
export class Store<T extends KubernetesObject> implements Lister<T> {
  #objects = new ObjectTable<T>()
  readonly #indexes = new Map<string, Index<T>>()
  #resourceVersion = ''

  /** resourceVersion of the last event, list or bookmark taken in; empty before the first. */
  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get size(): number {
    return this.#objects.size
  }

  /** Adds or replaces by namespace and name; what was in its place is answered. */
  set(object: T): T | undefined {
    const previous = this.#objects.set(object)
    for (const index of this.#indexes.values()) moveEntry(index, previous, object)
    this.#observe(object.metadata?.resourceVersion)
    return previous
  }

  /** Removes the key; `resourceVersion` is that of the deletion, where it is known. */
  delete(key: string, resourceVersion?: string): void {
    const previous = this.#objects.delete(key)
    if (previous !== undefined) {
      for (const index of this.#indexes.values()) moveEntry(index, previous, undefined)
    }
    this.#observe(resourceVersion)
  }

  /** `replacing` without pauses. */
  replace(objects: ObjectTable<T>, resourceVersion: string): ObjectTable<T> {
    return wholly(this.replacing(objects, resourceVersion))
  }

  /**
   * Puts a whole list in the place of everything, in one step behind the last pause: until then readers see what was there.
   * `set` and `delete` must wait. The table is the store's from now on; the old one is answered. What takes its time is looking
   * for differences: those alone touch the indexes, unless they are so many that new indexes are made beside the old ones.
   */
  *replacing(
    objects: ObjectTable<T>,
    resourceVersion: string,
  ): Generator<void, ObjectTable<T>, void> {
    const previous = this.#objects
    // More than are moved one by one are not remembered: of a first list it would be every object.
    const changes: Change<T>[] = []
    let changed = 0
    const note = (before: T | undefined, after: T | undefined): void => {
      if (++changed <= MOST_CHANGES_AT_ONCE) changes.push([before, after])
    }
    let looked = 0
    for (const object of objects) {
      const known = previous.counterpartOf(object)
      if (known !== object) note(known, object)
      if (++looked % OBJECTS_PER_PAUSE === 0) yield
    }
    for (const known of previous) {
      if (objects.counterpartOf(known) === undefined) note(known, undefined)
      if (++looked % OBJECTS_PER_PAUSE === 0) yield
    }
    const made = changed > MOST_CHANGES_AT_ONCE ? yield* this.#indexed(objects) : undefined
    this.#objects = objects
    for (const [name, index] of this.#indexes) {
      if (made === undefined) for (const [before, after] of changes) moveEntry(index, before, after)
      // An index that was added in one of the pauses is made here, however long it takes.
      else index.buckets = made.get(name) ?? wholly(bucketsOf(index.valuesOf, objects))
    }
    this.#resourceVersion = resourceVersion
    return previous
  }

  *#indexed(objects: ObjectTable<T>): Generator<void, Map<string, Buckets<T>>, void> {
    const made = new Map<string, Buckets<T>>()
    for (const [name, { valuesOf }] of this.#indexes)
      made.set(name, yield* bucketsOf(valuesOf, objects))
    return made
  }

  /** Takes note of a resourceVersion without a change: a bookmark. */
  bookmark(resourceVersion: string): void {
    this.#observe(resourceVersion)
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(namespace ?? '', name)
  }

  getByKey(key: string): T | undefined {
    return this.#objects.getByKey(key)
  }

  /** The cached object of the same namespace and name. */
  counterpartOf(object: T): T | undefined {
    return this.#objects.counterpartOf(object)
  }

  count(namespace?: string): number {
    return namespace === undefined ? this.#objects.size : this.#objects.countIn(namespace)
  }

  list(namespace?: string): readonly T[] {
    return namespace === undefined ? this.#objects.list() : this.#objects.inNamespace(namespace)
  }

  keys(): readonly string[] {
    return this.#objects.list().map(keyOf)
  }

  /** Allowed with data present. A name that exists with another function changes nothing and throws. */
  addIndexes(indexes: Readonly<Record<string, IndexFunction<T>>>): void {
    const names = Object.keys(indexes)
    const conflicts = names.filter((name) => {
      const known = name === NAMESPACE_INDEX ? namespaceOf : this.#indexes.get(name)?.valuesOf
      return known !== undefined && known !== indexes[name]
    })
    if (conflicts.length > 0) throw new Error(`indexer conflict: [${conflicts.join(' ')}]`)
    for (const name of names) {
      if (name === NAMESPACE_INDEX || this.#indexes.has(name)) continue
      const valuesOf = indexes[name]!
      this.#indexes.set(name, { valuesOf, buckets: wholly(bucketsOf(valuesOf, this.#objects)) })
    }
  }

  byIndex(name: string, value: string): readonly T[] {
    if (name === NAMESPACE_INDEX) return this.#objects.inNamespace(value)
    const bucket = this.#index(name).buckets.get(value)
    if (bucket === undefined) return []
    return bucket instanceof Set ? [...bucket] : [bucket]
  }

  /** Objects that share a value of this index with `object`, each once. */
  sharingIndex(name: string, object: T): readonly T[] {
    const valuesOf = name === NAMESPACE_INDEX ? namespaceOf : this.#index(name).valuesOf
    const found = new Set<T>()
    for (const value of valuesOf(object))
      for (const other of this.byIndex(name, value)) found.add(other)
    return [...found]
  }

  /** Keys with exactly this value, sorted. */
  indexKeys(name: string, value: string): readonly string[] {
    return this.byIndex(name, value).map(keyOf).sort()
  }

  /** All values that some object has now. */
  indexValues(name: string): readonly string[] {
    if (name === NAMESPACE_INDEX) return this.#objects.namespaces()
    return [...this.#index(name).buckets.keys()]
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new Error(`Index with name ${name} does not exist`)
    return index
  }

  #observe(resourceVersion: string | undefined): void {
    if (resourceVersion) this.#resourceVersion = resourceVersion
  }
}

const NO_VALUES: readonly string[] = []

/** Buckets hold the objects themselves, so that a read needs no second look-up: every change goes through here. */
/** Pauses on the way; complete when it ends. */
function* bucketsOf<T extends KubernetesObject>(
  valuesOf: IndexFunction<T>,
  objects: ObjectTable<T>,
): Generator<void, Buckets<T>, void> {
  const buckets: Buckets<T> = new Map()
  let indexed = 0
  for (const object of objects) {
    for (const value of valuesOf(object)) putIn(buckets, value, object)
    if (++indexed % OBJECTS_PER_PAUSE === 0) yield
  }
  return buckets
}

function wholly<R>(steps: Generator<void, R, void>): R {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function moveEntry<T extends KubernetesObject>(
  { valuesOf, buckets }: Index<T>,
  previous: T | undefined,
  current: T | undefined,
): void {
  const before = previous === undefined ? NO_VALUES : valuesOf(previous)
  const after = current === undefined ? NO_VALUES : valuesOf(current)
  const isSame = before.length === 1 && after.length === 1 && before[0] === after[0]
  if (isSame && buckets.get(before[0]!) === previous) {
    buckets.set(before[0]!, current!)
    return
  }
  for (const value of before) takeOut(buckets, value, previous!)
  for (const value of after) putIn(buckets, value, current!)
}

function putIn<T>(buckets: Buckets<T>, value: string, object: T): void {
  const bucket = buckets.get(value)
  if (bucket === undefined) buckets.set(value, object)
  else if (bucket instanceof Set) bucket.add(object)
  else if (bucket !== object) buckets.set(value, new Set([bucket, object]))
}

function takeOut<T>(buckets: Buckets<T>, value: string, object: T): void {
  const bucket = buckets.get(value)
  if (bucket instanceof Set) {
    bucket.delete(object)
    if (bucket.size === 0) buckets.delete(value)
  } else if (bucket === object) {
    buckets.delete(value)
  }
}

/** The function of the namespace index: one function, so that asking for the index twice is no conflict. */
export function namespaceOf(object: KubernetesObject): readonly string[] {
  return [object.metadata?.namespace ?? '']
}
