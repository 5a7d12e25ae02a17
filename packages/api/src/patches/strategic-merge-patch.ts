/**
 * Strategic merge patch: merges maps and lists as the schema of the kind tells.
 * Contract: docs/behaviour/api-server/patch-and-apply.md, Strategic merge patch.
 */
import { type JsonObject, isObject, jsonTypeName, own, setOwn } from '../values/json-objects.ts'
import type { FieldSchema, ObjectSchema } from '../schema.ts'
import {
  DELETE_PREFIX,
  ORDER_PREFIX,
  PATCH,
  RETAIN_KEYS,
  dropNulls,
  withoutDirectives,
} from './strategic-merge-directives.ts'
import {
  StrategicMergeError,
  mustBeList,
  unknownField,
  unknownPatchType,
} from './strategic-merge-error.ts'
import { deletedFrom, mergedInOrder, mergedList } from './strategic-merge-lists.ts'
import type { MergeItems } from './strategic-merge-lists.ts'

export { StrategicMergeError } from './strategic-merge-error.ts'

/** What is known of the fields below: of a struct by name, of a map one schema for all, of free-form values nothing. */
type Fields = Pick<FieldSchema, 'schema' | 'values'> | undefined

/** Throws StrategicMergeError. A null patch changes nothing. Neither argument is changed; untouched parts are shared. */
export function applyStrategicMergePatch(
  original: object,
  patch: unknown,
  schema: ObjectSchema,
): JsonObject {
  return mergeStrategically(original, patch, schema).merged
}

/** `left`: what the patch still says when it has been applied, without the directives that were followed. Else as above. */
export function mergeStrategically(
  original: object,
  patch: unknown,
  schema: ObjectSchema,
): { readonly merged: JsonObject; readonly left: unknown } {
  const target = original as JsonObject
  if (patch === null || patch === undefined) return { merged: target, left: patch }
  if (!isObject(patch)) {
    const type = jsonTypeName(patch)
    throw new StrategicMergeError(
      `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
      true,
    )
  }
  const left = copyOf(patch)
  return { merged: mergeMap(target, left, { schema }), left }
}

function fieldOf(fields: Fields, key: string): FieldSchema | undefined {
  return fields?.schema === undefined ? fields?.values : fields.schema.properties.get(key)
}

/** Uses the patch up as it goes. */
function mergeMap(original: JsonObject, patch: JsonObject, fields: Fields): JsonObject {
  const directive = own(patch, PATCH)
  if (directive === 'replace') {
    // Taken as it is, with its nulls and directives.
    delete patch[PATCH]
    return patch
  }
  if (directive === 'delete') return {}
  if (directive !== undefined) throw unknownPatchType(directive, patch)
  const result = retainKeys({ ...original }, patch)
  for (const key of Object.keys(patch)) {
    if (key.startsWith(ORDER_PREFIX)) mergeOrderedList(result, patch, key, fields)
  }
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    const isDeleteList = key.startsWith(DELETE_PREFIX)
    const target = isDeleteList ? key.slice(DELETE_PREFIX.length) : key
    if (value === null) delete result[target]
    else if (isDeleteList) deleteFromList(result, target, value, fields)
    else mergeField(result, key, value, fields)
  }
  return result
}

function mergeField(result: JsonObject, key: string, value: unknown, fields: Fields): void {
  const current = own(result, key)
  const field = fieldOf(fields, key)
  if (isObject(current) && isObject(value)) {
    const replaced = field?.patchStrategy?.includes('replace') === true
    const merged = replaced ? value : mergeMap(current, value, field)
    // An emptied map is no different from an absent one; a struct stays, with nothing in it.
    if (own(value, PATCH) === 'delete' && field?.type === 'map') delete result[key]
    else setOwn(result, key, merged)
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const isMerged = field?.patchStrategy?.includes('merge') === true
    // One that takes the place of another is taken as it is, with its nulls and directives.
    const list = isMerged ? mergedList(current, value, field.patchMergeKey, itemsOf(field)) : value
    setOwn(result, key, list)
  } else {
    dropNulls(value)
    // There is nothing the directive could work on.
    if (isObject(value) && Object.hasOwn(value, PATCH)) delete result[key]
    else setOwn(result, key, withoutDirectives(value))
  }
}

/** How two items of a list that are the same one become one. */
function itemsOf(field: FieldSchema | undefined): MergeItems {
  return (item, change) => mergeMap(item, change, field?.items)
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
  const order = mustBeList(patch[directive])
  delete patch[directive]
  const key = directive.slice(ORDER_PREFIX.length)
  const current = Object.hasOwn(result, key) ? mustBeList(result[key]) : undefined
  const changes = Object.hasOwn(patch, key) ? mustBeList(patch[key]) : undefined
  const field = fieldOf(fields, key)
  if (field === undefined && fields?.schema !== undefined)
    throw unknownField(fields.schema.name, key)
  if (fields?.schema === undefined && fields?.values !== undefined)
    throw new StrategicMergeError(
      'merging an object in json but data type is not struct, instead is: map',
    )
  if (field !== undefined && field.items === undefined && field.type !== 'object')
    throw new StrategicMergeError('expected slice or array type, but got: struct')
  const merged = mergedInOrder(current, changes, order, {
    mergeKey: field?.patchMergeKey,
    isMerged: field?.patchStrategy?.includes('merge') === true,
    mergeItems: itemsOf(field),
  })
  delete patch[key]
  if (merged !== undefined) setOwn(result, key, merged)
}

function deleteFromList(result: JsonObject, key: string, values: unknown, fields: Fields): void {
  const current = own(result, key)
  if (!Array.isArray(current) || !Array.isArray(values)) return
  const field = fieldOf(fields, key)
  setOwn(result, key, deletedFrom(current, values, field?.patchMergeKey, itemsOf(field)))
}

function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const [key, field] of Object.entries(value)) setOwn(copy, key, copyOf(field))
  return copy as T
}
