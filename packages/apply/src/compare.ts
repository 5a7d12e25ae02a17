/**
 * The paths in which two states of an object differ, by the granularity of their type: what an update is taken to have
 * changed. Contract: docs/behaviour/api-server/patch-and-apply.md, Which fields does a writer own.
 */
import { givenValue } from '@gyropilot/schema/decode'
import { givesEmpty } from '@gyropilot/schema/given-value'
import { checkObject } from './configuration-check.ts'
import { Comparison, rootPath } from './comparison.ts'
import type { MetPaths } from './comparison.ts'
import { EMPTY, isMember } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { indexItems } from './list-items.ts'
import { shapeFor } from './merge-type.ts'
import type { ListShape, MapShape, MergeType } from './merge-type.ts'
import { deepEqual, own } from '@gyropilot/api'

/** Parts of an object that a comparison leaves out. */
export interface FieldFilter {
  readonly ignored?: FieldSet
}

type Json = Record<string, unknown>

export function compare(
  type: MergeType,
  before: unknown,
  after: unknown,
  filter: FieldFilter = {},
): Comparison {
  const walker = new CompareWalker()
  walker.compareRoot(type, before, after, filter)
  return Comparison.of(walker)
}

/** Within the items of a list taken as a whole, what was given empty is another value than none, as upstream compares them. */
function hasItemsGivenEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => givesEmpty(item))
  return Object.values(value).some(hasItemsGivenEmpty)
}

class CompareWalker implements MetPaths {
  readonly added: number[] = []
  readonly modified: number[] = []
  readonly removed: number[] = []
  isPartial = false
  readonly #root = rootPath()
  #path = this.#root

  compareRoot(type: MergeType, before: unknown, after: unknown, filter: FieldFilter): void {
    this.#compare(type, before, after, filter.ignored ?? EMPTY)
  }

  /** `undefined` is absent; an explicit null is a value. */
  #compare(type: MergeType, before: unknown, after: unknown, ignored: FieldSet): void {
    if (before === after) return
    const shapeBefore = shapeFor(type, before)
    const shapeAfter = shapeFor(type, after)
    let leaf: boolean
    if (after === undefined) leaf = this.#compareAs(shapeBefore, before, after, ignored)
    else if (before === undefined || shapeBefore === shapeAfter)
      leaf = this.#compareAs(shapeAfter, before, after, ignored)
    else {
      // The value changed its form (map to list, say), so its old parts go and its new parts come.
      this.#compareAs(shapeBefore, before, after, ignored)
      leaf = this.#compareAs(shapeAfter, before, after, ignored)
    }
    if (leaf || this.#path === this.#root) return
    if (before === undefined) this.added.push(this.#path.number)
    else if (after === undefined) this.removed.push(this.#path.number)
  }

  /** True when the value was taken as a whole. */
  #compareAs(type: MergeType, before: unknown, after: unknown, ignored: FieldSet): boolean {
    if (type.map !== undefined) {
      const left = asMap(before)
      const right = asMap(after)
      if (type.map.atomic || (isEmptyMap(left) && isEmptyMap(right)))
        return this.#leaf(before, after)
      this.#compareMaps(type.map, left, right, ignored)
      return false
    }
    if (type.list !== undefined && type.scalar === undefined) {
      const left = asList(before)
      const right = asList(after)
      const empty = (left?.length ?? 0) === 0 && (right?.length ?? 0) === 0
      if (type.list.ownership === 'atomic' || empty) return this.#leaf(before, after)
      this.#compareLists(type.list, left ?? [], right ?? [])
      return false
    }
    return this.#leaf(before, after)
  }

  #leaf(before: unknown, after: unknown): true {
    if (before === undefined) this.added.push(this.#path.number)
    else if (after === undefined) this.removed.push(this.#path.number)
    else if (!deepEqual(before, after) || hasItemsGivenEmpty(after))
      this.modified.push(this.#path.number)
    return true
  }

  #compareMaps(
    map: MapShape,
    before: Json | undefined,
    after: Json | undefined,
    ignored: FieldSet,
  ): void {
    for (const name in before)
      this.#compareField(map, name, before[name], asSent(after, name), ignored)
    for (const name in after) {
      if (before === undefined || own(before, name) === undefined)
        this.#compareField(map, name, undefined, asSent(after, name), ignored)
    }
  }

  #compareField(
    map: MapShape,
    name: string,
    before: unknown,
    after: unknown,
    ignored: FieldSet,
  ): void {
    if (before === after) return
    const field = map.fields.get(name)
    const type = field?.type ?? map.values
    if (type === undefined) return
    const element = field?.element ?? `f:${name}`
    const below = ignored[element]
    if (below !== undefined && isMember(below)) {
      // It is recorded nowhere, but only an object whose every part can be named is recorded. In a spec every key is written.
      if (element === 'f:status' && checkObject(type, after).length > 0) this.isPartial = true
      return
    }
    const above = this.#path
    this.#path = above.below(element)
    this.#compare(type, before, after, below ?? EMPTY)
    this.#path = above
  }

  #compareLists(list: ListShape, before: readonly unknown[], after: readonly unknown[]): void {
    const nameless = (): void => void (this.isPartial = true)
    const left = indexItems(list, before, nameless)
    const right = indexItems(list, after, nameless)
    for (const [element, items] of left)
      this.#compareItems(list, element, items, right.get(element) ?? [])
    for (const [element, items] of right) {
      if (!left.has(element)) this.#compareItems(list, element, [], items)
    }
  }

  #compareItems(
    list: ListShape,
    element: string,
    before: readonly unknown[],
    after: readonly unknown[],
  ): void {
    const above = this.#path
    this.#path = above.below(element)
    if (before.length <= 1 && after.length <= 1)
      this.#compare(list.items, before[0], after[0], EMPTY)
    else if (before.length > 1 && after.length > 1) {
      // Items under the same key cannot be told apart, so together they are one value.
      if (!deepEqual(before, after)) this.modified.push(this.#path.number)
    } else if (after.length > 1) {
      if (before.length === 1) this.#compare(list.items, before[0], undefined, EMPTY)
      const set = before.length === 1 ? this.modified : this.added
      set.push(this.#path.number)
    } else {
      if (after.length === 1) this.#compare(list.items, undefined, after[0], EMPTY)
      const set = after.length === 1 ? this.modified : this.removed
      set.push(this.#path.number)
    }
    this.#path = above
  }
}

/** Lists that are always written are stored as null when they are empty, but who sends `[]` has said something. */
function asSent(object: Json | undefined, name: string): unknown {
  const value = object && own(object, name)
  return value === null ? givenValue(object, name) : value
}

function asMap(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : undefined
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function isEmptyMap(value: Json | undefined): boolean {
  for (const key in value) if (value[key] !== undefined) return false
  return true
}
