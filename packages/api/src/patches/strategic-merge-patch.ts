/**
 * Strategic merge patch: merges maps and lists as the schema of the kind tells.
 * Contract: docs/behaviour/api-server/patch-and-apply.md, Strategic merge patch.
 */
import { goFormat, goTypeName } from '../values/go-format.ts'
import { type JsonObject, isObject, jsonTypeName, own, setOwn } from '../values/json-objects.ts'
import type { FieldSchema, ObjectSchema } from '../schema.ts'
import { type ItemIdentity, agreesWithOrder, orderMerged } from './strategic-merge-order.ts'

/** `badRequest`: the server answers 400; otherwise the text comes with 500. */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError'
  readonly badRequest: boolean

  constructor(message: string, badRequest = false) {
    super(message)
    this.badRequest = badRequest
  }
}

const PATCH = '$patch'
const RETAIN_KEYS = '$retainKeys'
const ORDER_PREFIX = '$setElementOrder/'
const DELETE_PREFIX = '$deleteFromPrimitiveList/'

/** What is known of the fields below: of a struct by name, of a map one schema for all, of free-form values nothing. */
type Fields = Pick<FieldSchema, 'schema' | 'values'> | undefined

/** Throws StrategicMergeError. A null patch changes nothing. Neither argument is changed; untouched parts are shared. */
export function applyStrategicMergePatch(
  original: object,
  patch: unknown,
  schema: ObjectSchema,
): JsonObject {
  const target = original as JsonObject
  if (patch === null || patch === undefined) return target
  if (!isObject(patch)) {
    const type = jsonTypeName(patch)
    throw new StrategicMergeError(
      `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
      true,
    )
  }
  return mergeMap(target, patch, { schema })
}

function fieldOf(fields: Fields, key: string): FieldSchema | undefined {
  return fields?.schema === undefined ? fields?.values : fields.schema.properties.get(key)
}

function mergeMap(original: JsonObject, patch: JsonObject, fields: Fields): JsonObject {
  const directive = own(patch, PATCH)
  if (directive === 'replace') return clean(without(patch, PATCH))
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'merge') throw unknownPatchType(directive, patch)
  const rest = without(patch, PATCH)
  const result = retainKeys({ ...original }, rest)
  for (const key of Object.keys(rest)) {
    if (key.startsWith(ORDER_PREFIX)) mergeOrderedList(result, rest, key, fields)
  }
  for (const [key, value] of Object.entries(rest)) {
    if (value === undefined) continue
    if (key.startsWith(DELETE_PREFIX))
      deleteFromPrimitiveList(result, key.slice(DELETE_PREFIX.length), value)
    else if (value === null) delete result[key]
    else mergeField(result, key, value, fields)
  }
  return result
}

function mergeField(result: JsonObject, key: string, value: unknown, fields: Fields): void {
  const current = own(result, key)
  const field = fieldOf(fields, key)
  if (isObject(current) && isObject(value)) {
    const replaced = field?.patchStrategy?.includes('replace') === true
    const merged = replaced ? clean(value) : mergeMap(current, value, field)
    // An emptied map is no different from an absent one; a struct stays, with nothing in it.
    if (own(value, PATCH) === 'delete' && field?.type === 'map') delete result[key]
    else setOwn(result, key, merged)
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setOwn(result, key, mergeList(current, value, field))
  } else if (isObject(value) && Object.hasOwn(value, PATCH)) {
    // There is nothing the directive could work on.
    delete result[key]
  } else {
    setOwn(result, key, clean(value))
  }
}

/** Drops the keys that $retainKeys does not list, and takes the directive out of the patch. */
function retainKeys(result: JsonObject, patch: JsonObject): JsonObject {
  const retained = own(patch, RETAIN_KEYS)
  if (retained === undefined) return result
  delete patch[RETAIN_KEYS]
  const malformed = new StrategicMergeError('invalid patch format of retainKeys', true)
  if (!Array.isArray(retained)) throw malformed
  for (const [key, value] of Object.entries(patch)) {
    const exempt = value === null || key.startsWith(DELETE_PREFIX) || key.startsWith(ORDER_PREFIX)
    if (!exempt && !retained.includes(key)) throw malformed
  }
  for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key]
  return result
}

/** Handles `$setElementOrder/<key>` together with the list of the patch, and takes both out of the patch. */
function mergeOrderedList(
  result: JsonObject,
  patch: JsonObject,
  directive: string,
  fields: Fields,
): void {
  const order = patch[directive]
  delete patch[directive]
  const key = directive.slice(ORDER_PREFIX.length)
  const current = own(result, key)
  const changes = own(patch, key)
  for (const list of [order, current ?? [], changes ?? []]) {
    if (!Array.isArray(list)) {
      throw new StrategicMergeError(`expected a []interface {}, but received a ${goTypeName(list)}`)
    }
  }
  // Null deletes the list, whatever order was asked for.
  if (changes === null || !Array.isArray(order)) return
  const field = fieldOf(fields, key)
  const identity = identityBy(field?.patchMergeKey)
  if (Array.isArray(changes)) {
    const kept = changes.filter((item) => !(isObject(item) && item[PATCH] === 'delete'))
    if (field?.patchMergeKey !== undefined)
      for (const item of kept) mustHaveKey(item, field.patchMergeKey)
    if (!agreesWithOrder(kept, order, identity)) {
      throw new StrategicMergeError(
        `The order in patch list:\n${goFormat(changes)}\n doesn't match $setElementOrder list:\n${goFormat(order)}\n`,
      )
    }
  }
  delete patch[key]
  const merged = mergeForOrder(current, changes, field)
  if (merged === undefined) return
  setOwn(result, key, orderMerged(merged, order, Array.isArray(current) ? current : [], identity))
}

function mergeForOrder(
  current: unknown,
  changes: unknown,
  field: FieldSchema | undefined,
): unknown[] | undefined {
  if (Array.isArray(current))
    return Array.isArray(changes) ? mergeList(current, changes, field) : current
  return Array.isArray(changes) ? (clean(changes) as unknown[]) : undefined
}

function deleteFromPrimitiveList(result: JsonObject, key: string, values: unknown): void {
  const current = own(result, key)
  if (!Array.isArray(current) || !Array.isArray(values)) return
  setOwn(
    result,
    key,
    current.filter((item) => !values.includes(item)),
  )
}

function mergeList(
  current: readonly unknown[],
  changes: readonly unknown[],
  field: FieldSchema | undefined,
): unknown[] {
  if (field?.patchStrategy?.includes('merge') !== true) return clean(changes) as unknown[]
  if (current.length === 0 && changes.length === 0) return []
  const mergeKey = field.patchMergeKey
  if (mergeKey === undefined) {
    const merged = [...new Set([...current, ...changes])]
    return orderMerged(merged, changes, current, identityBy(undefined))
  }
  const { kept, items } = applyListDirectives(current, changes, mergeKey)
  const merged = [...kept]
  for (const item of items) {
    const key = mustHaveKey(item, mergeKey)[mergeKey]
    const at = merged.findIndex((candidate) => isObject(candidate) && candidate[mergeKey] === key)
    if (at === -1) merged.push(clean(item))
    else merged[at] = mergeMap(merged[at] as JsonObject, item as JsonObject, field.items)
  }
  return orderMerged(merged, items, kept, identityBy(mergeKey))
}

/** Takes `$patch` items out of a list: what stays of the current list, and what is still to be merged into it. */
function applyListDirectives(
  current: readonly unknown[],
  changes: readonly unknown[],
  mergeKey: string,
): { readonly kept: readonly unknown[]; readonly items: readonly unknown[] } {
  const items: unknown[] = []
  let kept = current
  let replaced = false
  for (const item of changes) {
    const directive = isObject(item) ? own(item, PATCH) : undefined
    if (directive === undefined) {
      items.push(item)
    } else if (directive === 'delete') {
      const key = mustHaveKey(item, mergeKey)[mergeKey]
      kept = kept.filter((candidate) => !(isObject(candidate) && candidate[mergeKey] === key))
    } else if (directive === 'replace') {
      replaced = true
    } else if (directive === 'merge') {
      throw new StrategicMergeError('merging lists cannot yet be specified in the patch')
    } else {
      throw unknownPatchType(directive, item)
    }
  }
  return { kept: replaced ? [] : kept, items }
}

function identityBy(mergeKey: string | undefined): ItemIdentity {
  return (item) => (mergeKey !== undefined && isObject(item) ? item[mergeKey] : item)
}

function mustHaveKey(item: unknown, mergeKey: string): JsonObject {
  if (!isObject(item)) {
    throw new StrategicMergeError(
      `expected a map[string]interface {}, but received a ${goTypeName(item)}`,
    )
  }
  if (!Object.hasOwn(item, mergeKey)) {
    throw new StrategicMergeError(
      `map: ${goFormat(item)} does not contain declared merge key: ${mergeKey}`,
    )
  }
  return item
}

function unknownPatchType(directive: unknown, map: unknown): StrategicMergeError {
  return new StrategicMergeError(
    `unknown patch type: ${goFormat(directive)} in map: ${goFormat(map)}`,
  )
}

function without(object: JsonObject, key: string): JsonObject {
  const copy = { ...object }
  delete copy[key]
  return copy
}

/** A value of the patch that meets nothing on the server: without its nulls and directives. */
function clean<T>(value: T): T {
  if (Array.isArray(value)) {
    const items = value.filter((item) => !(isObject(item) && Object.hasOwn(item, PATCH)))
    return items.map(clean) as T
  }
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [key, field] of Object.entries(value)) {
    if (field === null || field === undefined || isDirective(key)) continue
    if (isObject(field) && Object.hasOwn(field, PATCH)) continue
    setOwn(result, key, clean(field))
  }
  return result as T
}

function isDirective(key: string): boolean {
  return (
    key === PATCH ||
    key === RETAIN_KEYS ||
    key.startsWith(ORDER_PREFIX) ||
    key.startsWith(DELETE_PREFIX)
  )
}
