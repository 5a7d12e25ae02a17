import { hashOfText, mixedHash } from '@gyropilot/foundation'
import type { KubernetesObject } from '../object.ts'

type Container = Record<string, unknown> | unknown[]

const FEWEST_SLOTS = 1 << 10
const MOST_SLOTS = 1 << 16
/** V8 keeps one copy of parsed strings up to this length by itself. */
const LONGEST_SINGLE_STRING = 9
/** Longer ones would make what the tables can hold on to hard to bound. */
const LONGEST_SHARED_STRING = 4_096
/** No kind comes near; it keeps objects made to hurt from exhausting the stack. */
const DEEPEST = 64
const PRIME = 0x01000193
/** Unique by their meaning, or dropped from the cache: looking for equal ones would be in vain. */
const UNSHARED_METADATA: ReadonlySet<string> = new Set([
  'name',
  'uid',
  'resourceVersion',
  'managedFields',
])

/**
 * Makes equal parts of objects one part: containers of pods of one Deployment, labels, tolerations, node names. Two parts
 * are equal when they have the same keys in the same order and equal values, so that nothing can be told from one but its
 * identity. Tables are of bounded size and forget: equal parts may then exist twice, never wrongly once. Cost per object is
 * linear in its size. Measurements and what was ruled out: docs/decisions/0009-shared-subtrees.md.
 */
export class SharedSubtrees {
  readonly #strings = new SlotTable<string>()
  readonly #containers = new SlotTable<Container>()
  /** Hashes of containers that were met once: only what is met again enters the table. */
  readonly #metOnce = new HashSlots()
  /** Second result of #shareContainer. */
  #hash = 0

  /**
   * Changes `object` in place, which must therefore be the caller's alone but for frozen parts: those stay as they are and
   * may stand for later ones. `previous` is an object whose parts are likely to be equal, usually the state before; `taken` a field
   * whose parts were taken with another object before.
   */
  take(object: KubernetesObject, previous?: KubernetesObject, taken?: string): void {
    if (Object.isFrozen(object)) return
    const { metadata } = object
    this.#takeFields(object as Record<string, unknown>, previous as never, undefined, taken)
    if (isContainer(metadata) && !Object.isFrozen(metadata))
      this.#takeFields(metadata as never, previous?.metadata as never, UNSHARED_METADATA)
  }

  #takeFields(
    fields: Record<string, unknown>,
    previous: Record<string, unknown> | undefined,
    unshared: ReadonlySet<string> | undefined,
    taken?: string,
  ): void {
    for (const key in fields) {
      if (unshared === undefined && key === 'metadata') continue
      const value = fields[key]
      const before = previous?.[key]
      if (unshared?.has(key)) {
        // What remembers the object by its name or uid holds those of the first state, which would else be kept besides these.
        if (before === value) fields[key] = before
        continue
      }
      if (key === taken) {
        if (isContainer(before) && hasSameParts(before, value as Container)) fields[key] = before
        continue
      }
      const shared = before !== undefined && isEqual(value, before, 0) ? before : this.share(value)
      fields[key] = shared
    }
  }

  /** The value that stands for all that equal this one; a container is changed as the parts of an object are. */
  share(value: unknown): unknown {
    if (typeof value === 'string') return this.#shareString(value)
    return isContainer(value) ? this.#shareContainer(value, 0) : value
  }

  #shareString(value: string): string {
    if (value.length <= LONGEST_SINGLE_STRING || value.length > LONGEST_SHARED_STRING) return value
    const hash = hashOfText(value)
    const known = this.#strings.at(hash)
    if (known === value) return known
    this.#strings.put(hash, value)
    return value
  }

  /** Leaves the hash in #hash. Strings inside are looked for only when the container itself is new. */
  #shareContainer(value: Container, depth: number): Container {
    const isList = Array.isArray(value)
    const hash = isList ? this.#shareItems(value, depth) : this.#shareMembers(value, depth)
    this.#hash = hash
    const known = this.#containers.at(hash)
    if (known !== undefined && hasSameParts(known, value)) return known
    if (Object.isFrozen(value)) {
      // Its parts are its own: in the place of one that shares its parts it would keep later ones from being shared.
      if (known !== undefined) return value
    } else if (isList) this.#shareItemStrings(value)
    else this.#shareMemberStrings(value)
    if (this.#metOnce.meets(hash)) this.#containers.put(hash, value)
    return value
  }

  #shareItems(items: unknown[], depth: number): number {
    // Asked only where something is to be put in: it is a call into the runtime, and most containers keep what they have.
    let isFrozen: boolean | undefined
    let hash = items.length
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (isContainer(item) && depth < DEEPEST) {
        const shared = this.#shareContainer(item, depth + 1)
        if (shared !== item && !(isFrozen ??= Object.isFrozen(items))) items[i] = shared
        hash = Math.imul(hash ^ this.#hash, PRIME)
      } else {
        hash = Math.imul(hash ^ leafHash(item), PRIME)
      }
    }
    return mixedHash(hash)
  }

  #shareMembers(members: Record<string, unknown>, depth: number): number {
    let isFrozen: boolean | undefined
    let hash = 0x811c9dc5
    for (const key in members) {
      const member = members[key]
      if (isContainer(member) && depth < DEEPEST) {
        const shared = this.#shareContainer(member, depth + 1)
        if (shared !== member && !(isFrozen ??= Object.isFrozen(members))) members[key] = shared
        hash = Math.imul(hash ^ this.#hash ^ key.length, PRIME)
      } else {
        hash = Math.imul(hash ^ leafHash(member) ^ key.length, PRIME)
      }
    }
    return mixedHash(hash)
  }

  #shareItemStrings(items: unknown[]): void {
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (typeof item === 'string') items[i] = this.#shareString(item)
    }
  }

  #shareMemberStrings(members: Record<string, unknown>): void {
    for (const key in members) {
      const member = members[key]
      if (typeof member === 'string' && member.length > LONGEST_SINGLE_STRING)
        members[key] = this.#shareString(member)
    }
  }
}

/**
 * Hashes alone. Most caches of a process have few parts, and a table for the most is a quarter of a megabyte; sparse, because what is
 * forgotten is met for the first time once more.
 */
class HashSlots {
  #hashes = new Int32Array(MOST_SLOTS / 8)
  #met = 0

  /** Whether it was met before; it has been met from now on. */
  meets(hash: number): boolean {
    if (this.#met * 8 > this.#hashes.length && this.#hashes.length < MOST_SLOTS) this.#grow()
    const place = hash & (this.#hashes.length - 1)
    if (this.#hashes[place] === hash) return true
    this.#hashes[place] = hash
    this.#met++
    return false
  }

  #grow(): void {
    const hashes = this.#hashes
    this.#hashes = new Int32Array(MOST_SLOTS)
    for (const hash of hashes) if (hash !== 0) this.#hashes[hash & (MOST_SLOTS - 1)] = hash
  }
}

/** One place per hash: what comes later takes it. Grows while it is more than half full, up to a bound. */
class SlotTable<V> {
  #slots = emptySlots<V>(FEWEST_SLOTS)
  #hashes = new Int32Array(FEWEST_SLOTS)
  #used = 0

  at(hash: number): V | undefined {
    const place = hash & (this.#slots.length - 1)
    return this.#hashes[place] === hash ? this.#slots[place] : undefined
  }

  put(hash: number, value: V): void {
    if (this.#used * 2 > this.#slots.length && this.#slots.length < MOST_SLOTS) this.#grow()
    const place = hash & (this.#slots.length - 1)
    if (this.#slots[place] === undefined) this.#used++
    this.#slots[place] = value
    this.#hashes[place] = hash
  }

  #grow(): void {
    const slots = this.#slots
    const hashes = this.#hashes
    this.#slots = emptySlots(slots.length * 4)
    this.#hashes = new Int32Array(slots.length * 4)
    this.#used = 0
    for (let i = 0; i < slots.length; i++) {
      if (slots[i] !== undefined) this.put(hashes[i]!, slots[i]!)
    }
  }
}

function emptySlots<V>(count: number): (V | undefined)[] {
  return Array.from({ length: count }, () => undefined)
}

function leafHash(value: unknown): number {
  if (typeof value === 'string') return hashOfText(value)
  if (typeof value === 'number') return value | 0
  return value === true ? 1 : 2
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** Same keys in the same order, and the very same values: those were shared before. */
function hasSameParts(a: Container, b: Container): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
    return true
  }
  const keys = Object.keys(a)
  const otherKeys = Object.keys(b)
  if (keys.length !== otherKeys.length) return false
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (key !== otherKeys[i] || !Object.is(a[key], b[key])) return false
  }
  return true
}

/** Deeply equal, key order included: what stands for the other must be written as the other would be. */
function isEqual(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true
  if (!isContainer(a) || !isContainer(b) || depth > DEEPEST) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!isEqual(a[i], b[i], depth + 1)) return false
    return true
  }
  const keys = Object.keys(a)
  const otherKeys = Object.keys(b)
  if (keys.length !== otherKeys.length) return false
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (key !== otherKeys[i] || !isEqual(a[key], b[key], depth + 1)) return false
  }
  return true
}
