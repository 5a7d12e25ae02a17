/**
 * What merging and ownership must know of a type: scalar, list or map, and whether the parts of a list or map have owners
 * of their own. A type without a schema can be all three; the value decides.
 * Contract: docs/behaviour/api-server/patch-and-apply.md, Merge rules by type.
 */
import { schemaNamed, schemaOf } from '@gyropilot/api/schema'
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'

export interface MergeType {
  readonly scalar?: 'string' | 'numeric' | 'boolean' | 'untyped'
  readonly list?: ListShape
  readonly map?: MapShape
}

export interface ListShape {
  /** `atomic`: one owner for the whole. `set`: items by value. `map`: items by `keys`. */
  readonly ownership: 'atomic' | 'set' | 'map'
  /** An item may leave out all but one, also without a value in their place. */
  readonly keys: readonly string[]
  /** Values of keys that an item leaves out. */
  readonly keyDefaults: ReadonlyMap<string, unknown>
  readonly items: MergeType
}

export interface MapShape {
  readonly atomic: boolean
  readonly fields: ReadonlyMap<string, MapField>
  /** Type of the values of other keys; undefined: there are none. */
  readonly values: MergeType | undefined
}

export interface MapField {
  /** `f:<name>` */
  readonly element: string
  readonly type: MergeType
}

const NO_FIELDS: ReadonlyMap<string, MapField> = new Map()
const NO_DEFAULTS: ReadonlyMap<string, unknown> = new Map()

const STRING: MergeType = { scalar: 'string' }
const NUMERIC: MergeType = { scalar: 'numeric' }
const BOOLEAN: MergeType = { scalar: 'boolean' }
export const UNTYPED_SCALAR: MergeType = { scalar: 'untyped' }

/** Any JSON, owned as a whole: raw extensions and schema fragments in built-in kinds. */
const UNTYPED_ATOMIC: MergeType = selfDescribing(true)

/** Any JSON: maps by key, lists as a whole. Custom resources without a schema, fields kept without one. */
export const UNTYPED_GRANULAR: MergeType = selfDescribing(false)

function selfDescribing(atomic: boolean): MergeType {
  const type = { scalar: 'untyped' as const } as {
    scalar: 'untyped'
    list?: ListShape
    map?: MapShape
  }
  type.list = { ownership: 'atomic', keys: [], keyDefaults: NO_DEFAULTS, items: type }
  type.map = { atomic, fields: NO_FIELDS, values: type }
  return type
}

const kinds = new Map<string, MergeType | undefined>()

/** The merge type of a built-in kind. `apiVersion` is `apps/v1` or `v1`. */
export function mergeTypeOfKind(apiVersion: string, kind: string): MergeType | undefined {
  const key = `${apiVersion}/${kind}`
  if (!kinds.has(key)) {
    const slash = apiVersion.indexOf('/')
    const schema = schemaOf(
      slash < 0 ? '' : apiVersion.slice(0, slash),
      apiVersion.slice(slash + 1),
      kind,
    )
    kinds.set(key, schema === undefined ? undefined : mergeTypeOfSchema(schema))
  }
  return kinds.get(key)
}

/** The merge type of ObjectMeta, for the roots of custom resources and for embedded objects. */
export function metadataMergeType(): MergeType {
  return mergeTypeOfSchema(schemaNamed('meta-v1.ObjectMeta')!)
}

const granular = new WeakMap<ObjectSchema, MergeType>()
const atomic = new WeakMap<ObjectSchema, MergeType>()

function mergeTypeOfSchema(schema: ObjectSchema, mapType = schema.mapType): MergeType {
  const isAtomic = mapType === 'atomic'
  const known = isAtomic ? atomic : granular
  const existing = known.get(schema)
  if (existing !== undefined) return existing
  const fields = new Map<string, MapField>()
  // Of a struct without fields the documents tell as of one with any.
  const values = schema.properties.size === 0 ? UNTYPED_GRANULAR : undefined
  const type: MergeType = { map: { atomic: isAtomic, fields, values } }
  // Known before its fields are made: schemas contain themselves.
  known.set(schema, type)
  for (const [name, field] of schema.properties) {
    fields.set(name, { element: `f:${name}`, type: mergeTypeOfField(field) })
  }
  return type
}

function mergeTypeOfField(field: FieldSchema): MergeType {
  switch (field.type) {
    case 'string':
    case 'bytes':
      return STRING
    case 'int32':
    case 'int64':
    case 'double':
      return NUMERIC
    case 'boolean':
      return BOOLEAN
    case 'quantity':
    case 'time':
    case 'microtime':
      return UNTYPED_SCALAR
    case 'int-or-string':
      return UNTYPED_ATOMIC
    case 'object':
      return field.schema === undefined
        ? UNTYPED_ATOMIC
        : mergeTypeOfSchema(field.schema, field.mapType ?? field.schema.mapType)
    case 'map':
      return mapType(
        field.mapType === 'atomic',
        field.values === undefined ? UNTYPED_GRANULAR : mergeTypeOfField(field.values),
      )
    case 'array':
      return listType(field)
    default:
      return UNTYPED_ATOMIC
  }
}

/** A map whose keys are data. */
export function mapType(isAtomic: boolean, values: MergeType): MergeType {
  return { map: { atomic: isAtomic, fields: NO_FIELDS, values } }
}

function listType(field: FieldSchema): MergeType {
  const items = field.items === undefined ? UNTYPED_ATOMIC : mergeTypeOfField(field.items)
  const keys = field.listMapKeys ?? []
  const keyDefaults = new Map<string, unknown>()
  for (const key of keys) {
    const value = field.items?.schema?.properties.get(key)?.default
    if (value !== undefined) keyDefaults.set(key, value)
  }
  return { list: { ownership: field.listType ?? 'atomic', keys, keyDefaults, items } }
}

/**
 * The shape by which a value is read: of a type that could be several, the one that the value has. Null and absent
 * values leave the choice to the other side.
 */
export function shapeFor(type: MergeType, value: unknown): MergeType {
  if (value === undefined || value === null) return type
  if (Array.isArray(value))
    return type.list === undefined || type.map === undefined ? type : listOnly(type)
  if (typeof value === 'object')
    return type.map === undefined || type.scalar === undefined ? type : mapOnly(type)
  return type.scalar === undefined || type.map === undefined ? type : UNTYPED_SCALAR
}

const listShapes = new WeakMap<MergeType, MergeType>()
const mapShapes = new WeakMap<MergeType, MergeType>()

function listOnly(type: MergeType): MergeType {
  let shape = listShapes.get(type)
  if (shape === undefined) listShapes.set(type, (shape = { list: type.list! }))
  return shape
}

function mapOnly(type: MergeType): MergeType {
  let shape = mapShapes.get(type)
  if (shape === undefined) mapShapes.set(type, (shape = { map: type.map! }))
  return shape
}
