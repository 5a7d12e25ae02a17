/** Lists in a strategic merge patch. Contract: docs/behaviour/api-server/patch-and-apply.md, Strategic merge patch. */
import { goFormat, goTypeName } from '../values/go-format.ts'
import { type JsonObject, isObject, own } from '../values/json-objects.ts'
import { PATCH, withoutDirectives } from './strategic-merge-directives.ts'
import {
  StrategicMergeError,
  mustBeMap,
  mustHaveKey,
  unknownPatchType,
} from './strategic-merge-error.ts'
import { type ItemIdentity, agreesWithOrder, orderMerged } from './strategic-merge-order.ts'

type List = readonly unknown[]

/** Lays a change over the item that it is about. */
export type MergeItems = (item: JsonObject, change: JsonObject) => JsonObject

interface ListRules {
  readonly mergeKey: string | undefined
  /** Else a list takes the place of another. */
  readonly isMerged: boolean
  readonly mergeItems: MergeItems
}

/** Throws StrategicMergeError. */
export function mergedList(
  current: List,
  changes: List,
  mergeKey: string | undefined,
  mergeItems: MergeItems,
): unknown[] {
  if (current.length === 0 && changes.length === 0) return []
  if (itemType([current, changes]) !== MAP) {
    const merged = [...new Set([...current, ...changes])]
    return orderMerged(merged, changes, current, identityBy(undefined))
  }
  if (mergeKey === undefined)
    throw new StrategicMergeError('cannot merge lists without merge key for struct')
  const { kept, items } = applyListDirectives(current, changes as readonly JsonObject[], mergeKey)
  // In place of all that was there they are not merged with each other either.
  if (kept === undefined) return items.map((item) => mustHaveKey(item, mergeKey))
  const merged = [...kept]
  for (const item of items) {
    const value = mustHaveKey(item, mergeKey)[mergeKey]
    const at = merged.findIndex((candidate) => isObject(candidate) && candidate[mergeKey] === value)
    if (at === -1) merged.push(item)
    else merged[at] = mergeItems(merged[at] as JsonObject, item)
  }
  // Items of the object that have none spoil the order.
  for (const item of merged) mustHaveKey(item, mergeKey)
  return orderMerged(merged, items, kept, identityBy(mergeKey))
}

/** What `$deleteFromPrimitiveList` leaves. Throws StrategicMergeError. */
export function deletedFrom(
  current: List,
  values: List,
  mergeKey: string | undefined,
  mergeItems: MergeItems,
): unknown[] {
  if (current.length === 0 && values.length === 0) return []
  // Maps are no scalars: they are merged.
  if (itemType([current, values]) === MAP) return mergedList(current, values, mergeKey, mergeItems)
  return current.filter((item) => !values.includes(item))
}

/** Undefined: there is no list to order. Throws StrategicMergeError. */
export function mergedInOrder(
  current: List | undefined,
  changes: List | undefined,
  order: List,
  { mergeKey, isMerged, mergeItems }: ListRules,
): unknown[] | undefined {
  if (changes !== undefined) mustAgree(changes, order, mergeKey)
  const merged =
    current === undefined || changes === undefined
      ? (current ?? (withoutDirectives(changes) as List | undefined))
      : isMerged
        ? mergedList(current, changes, mergeKey, mergeItems)
        : changes
  if (merged === undefined) return undefined
  if (mergeKey !== undefined) for (const item of merged) mustHaveKey(item, mergeKey)
  if (mergeKey !== undefined) for (const item of merged) mustBeFindable(item, order, mergeKey)
  const type = itemType([current ?? [], changes ?? []])
  if (mergeKey !== undefined) for (const item of order) mustHaveKey(item, mergeKey)
  // Nothing is left of a list of maps without a key: its order is looked at all the same.
  else if (type === MAP && merged.length === 0)
    for (const item of [...order, ...(current ?? [])]) mustHaveKey(item, '')
  return orderMerged(merged, order, current ?? [], identityBy(mergeKey))
}

/** The order is looked through until the item is found. */
function mustBeFindable(item: unknown, order: List, mergeKey: string): void {
  const key = keyBy(mergeKey)(item)
  for (const [index, place] of order.entries()) {
    if (!isObject(place)) throw new StrategicMergeError(`value for key ${index} is not a map`)
    if (own(place, mergeKey) === key) return
  }
}

function mustAgree(changes: List, order: List, mergeKey: string | undefined): void {
  if (changes.length === 0 || order.length === 0) return
  const kept =
    mergeKey === undefined
      ? changes
      : changes.filter((item) => own(mustBeMap(item), PATCH) !== 'delete')
  if (agreesWithOrder(kept, order, keyBy(mergeKey), isDirective)) return
  throw new StrategicMergeError(
    `The order in patch list:\n${goFormat(changes)}\n doesn't match $setElementOrder list:\n${goFormat(order)}\n`,
  )
}

const isDirective = (item: unknown): boolean => isObject(item) && Object.hasOwn(item, PATCH)

const MAP = goTypeName({})

/** The one Go type that all items have. Throws StrategicMergeError. */
function itemType(lists: readonly List[]): string {
  let type: string | undefined
  for (const item of lists.flat(1)) {
    const own = goTypeName(item)
    if (type === undefined && Array.isArray(item))
      throw new StrategicMergeError('lists of lists are not supported')
    if (type !== undefined && type !== own)
      throw new StrategicMergeError(`list element types are not identical: ${goFormat(lists)}`)
    type = own
  }
  if (type === undefined) throw new StrategicMergeError('no elements in any of the given slices')
  return type
}

/** Takes `$patch` items out of a list: what stays of the current list (undefined: it is replaced), and what is still to be merged into it. */
function applyListDirectives(
  current: List,
  changes: readonly JsonObject[],
  mergeKey: string,
): { readonly kept: List | undefined; readonly items: readonly JsonObject[] } {
  const items: JsonObject[] = []
  let kept = current
  let replaced = false
  for (const item of changes) {
    const directive = own(item, PATCH)
    if (directive === undefined) items.push(item)
    else if (directive === 'delete') {
      const key = mustHaveKey(item, mergeKey)[mergeKey]
      kept = kept.filter((candidate) => !(isObject(candidate) && candidate[mergeKey] === key))
    } else if (directive === 'replace') replaced = true
    else if (directive === 'merge')
      throw new StrategicMergeError('merging lists cannot yet be specified in the patch')
    else throw unknownPatchType(directive, item)
  }
  return { kept: replaced ? undefined : kept, items }
}

function identityBy(mergeKey: string | undefined): ItemIdentity {
  return (item) => (mergeKey !== undefined && isObject(item) ? item[mergeKey] : item)
}

/** Throws StrategicMergeError for what has no key. */
function keyBy(mergeKey: string | undefined): ItemIdentity {
  return (item) => (mergeKey === undefined ? item : mustHaveKey(item, mergeKey)[mergeKey])
}
