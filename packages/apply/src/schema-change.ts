/**
 * Field sets that were made under another schema. Custom resources change theirs: what was owned part by part and is
 * atomic now is owned as a whole by everybody who owned a part.
 */
import { EMPTY, isEmpty } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { withFields } from './managers.ts'
import type { Owners } from './managers.ts'
import type { MergeType } from './merge-type.ts'

/** Edits `owners` in place. */
export function adaptToSchema(owners: Owners, type: MergeType): void {
  for (const [identity, owner] of owners) {
    const fields = adapted(owner.fields, type)
    if (fields !== owner.fields) owners.set(identity, withFields(owner, fields))
  }
}

/** The same set when nothing in it is below an atomic value. */
function adapted(fields: FieldSet, type: MergeType): FieldSet {
  let result: Record<string, FieldSet> | undefined
  for (const element in fields) {
    const node = fields[element]!
    if (element === '.' || isEmpty(node)) continue
    const below = element.startsWith('f:')
      ? (type.map?.fields.get(element.slice(2))?.type ?? type.map?.values)
      : type.list?.items
    if (below === undefined) continue
    const next = isAtomic(below) ? EMPTY : adapted(node, below)
    if (next === node) continue
    result ??= { ...fields }
    result[element] = next
  }
  return result ?? fields
}

/** Types that may be anything are left alone: only the value could tell. */
function isAtomic({ scalar, map, list }: MergeType): boolean {
  if (scalar !== undefined) return false
  return map?.atomic === true || list?.ownership === 'atomic'
}
