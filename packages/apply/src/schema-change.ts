/**
 * Field sets that were made under another schema. Custom resources change theirs: what was owned part by part and is
 * atomic now is owned as a whole by everybody who owned a part.
 */
import { ApiError } from '@gyropilot/schema/api-error'
import type { Stored } from '@gyropilot/schema/objects'
import { checkConfiguration, problemText } from './configuration-check.ts'
import { EMPTY, isEmpty } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import { withFields } from './managers.ts'
import type { Owners } from './managers.ts'
import type { MergeType } from './merge-type.ts'

/** The schemas that field sets may have been made under. */
interface Schemas {
  readonly type: MergeType
  /** That of another version; throws when there is none. Absent: all versions have the same. */
  inVersion?(
    apiVersion: string,
  ): { readonly type: MergeType; convert(object: Stored): Stored } | undefined
}

/**
 * Edits `owners` in place. Throws ApiError when somebody owns something in a version that is gone, or whose schema does
 * not describe the stored object.
 */
export function adaptToSchema(
  owners: Owners,
  kind: Schemas,
  apiVersion: string,
  live: Stored | undefined,
): void {
  const types = new Map([[apiVersion, kind.type]])
  for (const [identity, owner] of owners) {
    let type = types.get(owner.apiVersion)
    if (type === undefined) {
      const other = kind.inVersion?.(owner.apiVersion)
      type = other?.type ?? kind.type
      // What comes into another version may hold nothing twice.
      const problems =
        live === undefined
          ? []
          : checkConfiguration(type, other === undefined ? live : other.convert(live))
      if (problems.length > 0) throw new ApiError(500, '', problemText(problems))
      types.set(owner.apiVersion, type)
    }
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
