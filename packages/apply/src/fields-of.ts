/** The paths that a configuration names: what its sender owns after an apply. */
import { FieldSetBuilder } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { elementOfItem } from './list-items.ts'
import { shapeFor } from './merge-type.ts'
import type { ListShape, MapShape, MergeType } from './merge-type.ts'

/** Leaves, items of lists, keys of maps; not the structs and maps between them. Null and empty maps are leaves. */
export function fieldsOf(type: MergeType, value: unknown): FieldSet {
  const walker = new FieldsWalker()
  walker.walk(type, value)
  return walker.fields.build()
}

class FieldsWalker {
  readonly fields = new FieldSetBuilder()
  readonly #path: string[] = []
  #depth = 0

  walk(type: MergeType, value: unknown): void {
    const shape = shapeFor(type, value)
    if (shape.map !== undefined) {
      if (shape.map.atomic) this.#insert()
      else this.#walkMap(shape.map, value)
    } else if (shape.list !== undefined && shape.scalar === undefined) {
      if (shape.list.ownership === 'atomic') this.#insert()
      else if (Array.isArray(value)) this.#walkList(shape.list, value)
    } else {
      this.#insert()
    }
  }

  #insert(): void {
    if (this.#depth > 0) this.fields.insert(this.#path, this.#depth)
  }

  #walkMap(map: MapShape, value: unknown): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const [name, child] of Object.entries(value)) {
      if (child === undefined) continue
      const field = map.fields.get(name)
      const type = field?.type ?? map.values
      if (type === undefined) continue
      this.#path[this.#depth++] = field?.element ?? `f:${name}`
      this.walk(type, child)
      if (field === undefined || isNullOrEmptyMap(child)) this.#insert()
      this.#depth--
    }
  }

  #walkList(list: ListShape, items: readonly unknown[]): void {
    const counts = new Map<string, number>()
    const elements = items.map((item) => elementOfItem(list, item))
    for (const element of elements) {
      if (typeof element === 'string') counts.set(element, (counts.get(element) ?? 0) + 1)
    }
    for (const [index, element] of elements.entries()) {
      if (typeof element !== 'string') continue
      this.#path[this.#depth++] = element
      // Items under one key are owned together, without their parts.
      if (counts.get(element) === 1) this.walk(list.items, items[index])
      this.#insert()
      this.#depth--
    }
  }
}

function isNullOrEmptyMap(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object' || Array.isArray(value)) return false
  for (const _ in value) return false
  return true
}
