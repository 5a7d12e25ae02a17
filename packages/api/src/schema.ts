/**
 * The schema of every built-in kind, for code that walks objects it knows only at run time: strict decoding, defaults,
 * strategic merge, server-side apply. An entry of its own, `@gyropilot/api/schema`, because parsing it costs 3 ms and 2 MB that
 * clients and controllers need not pay; a kind is linked when first asked for.
 */
import data from './generated/schema.json' with { type: 'json' }

export type FieldType =
  | 'string'
  | 'int32'
  | 'int64'
  | 'double'
  | 'boolean'
  /** Base64 text. */
  | 'bytes'
  | 'quantity'
  | 'int-or-string'
  /** RFC 3339, whole seconds. */
  | 'time'
  /** RFC 3339 with microseconds. */
  | 'microtime'
  /** A struct; `schema` says which. */
  | 'object'
  | 'array'
  /** String keys; `values` is the schema of the values. */
  | 'map'
  /** The field sets of managedFields. */
  | 'fields-v1'
  /** An object whose fields nobody checks. */
  | 'raw'
  /** Any JSON value. */
  | 'json'
  | 'json-schema-or-array'
  | 'json-schema-or-boolean'
  | 'json-schema-or-string-array'

export type ListType = 'atomic' | 'set' | 'map'
export type MapType = 'atomic' | 'granular'
export type PatchStrategy = 'merge' | 'replace' | 'retainKeys'

export interface FieldSchema {
  readonly type: FieldType
  /** Of type `object`. */
  readonly schema?: ObjectSchema
  /** Of type `array`. */
  readonly items?: FieldSchema
  /** Of type `map`. */
  readonly values?: FieldSchema
  /** As in the OpenAPI document: the zero value for fields that are always written. Not the kind's own defaults. */
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly listType?: ListType
  /** For list type `map`. */
  readonly listMapKeys?: readonly string[]
  /** Of the field; absent is granular unless the object's own schema says otherwise. */
  readonly mapType?: MapType
  readonly patchStrategy?: readonly PatchStrategy[]
  readonly patchMergeKey?: string
}

export interface ObjectSchema {
  /** Module and type of the TypeScript interface: `core-v1.PodSpec`. */
  readonly name: string
  readonly properties: ReadonlyMap<string, FieldSchema>
  readonly required: readonly string[]
  /** `atomic`: server-side apply owns the object as a whole. */
  readonly mapType?: MapType
  readonly unions?: readonly UnionSchema[]
}

export interface UnionSchema {
  readonly discriminator?: string
  readonly 'fields-to-discriminateBy': Readonly<Record<string, string>>
}

/** The JSON file: object fields name their definition, and nothing is linked. */
interface SchemaFile {
  readonly kinds: Readonly<Record<string, string>>
  readonly definitions: Readonly<Record<string, StoredDefinition>>
}

interface StoredDefinition {
  readonly properties: Readonly<Record<string, StoredField>>
  readonly required?: readonly string[]
  readonly mapType?: MapType
  readonly unions?: readonly UnionSchema[]
}

interface StoredField extends Omit<FieldSchema, 'schema' | 'items' | 'values'> {
  readonly ref?: string
  readonly items?: StoredField
  readonly values?: StoredField
}

const file = data as unknown as SchemaFile
const linked = new Map<string, ObjectSchema>()

/** The schema of a kind, or undefined for kinds that are not built in. */
export function schemaOf(group: string, version: string, kind: string): ObjectSchema | undefined {
  const key = `${group}/${version}/${kind}`
  return Object.hasOwn(file.kinds, key) ? definition(file.kinds[key]!) : undefined
}

/** The schema of a shared type by the name of its module and interface, as `meta-v1.ObjectMeta`. */
export function schemaNamed(name: string): ObjectSchema | undefined {
  return Object.hasOwn(file.definitions, name) ? definition(name) : undefined
}

function definition(name: string): ObjectSchema {
  const known = linked.get(name)
  if (known !== undefined) return known
  const stored = file.definitions[name]!
  const properties = new Map<string, FieldSchema>()
  const { mapType, unions, required = [] } = stored
  const schema: ObjectSchema = { name, properties, required, mapType, unions }
  // Known before its fields are linked, because JSONSchemaProps contains itself.
  linked.set(name, schema)
  for (const [property, field] of Object.entries(stored.properties)) {
    properties.set(property, link(field))
  }
  return schema
}

function link(stored: StoredField): FieldSchema {
  const { ref, items, values, ...rest } = stored
  const field: { -readonly [K in keyof FieldSchema]: FieldSchema[K] } = rest
  if (ref !== undefined) field.schema = definition(ref)
  if (items !== undefined) field.items = link(items)
  if (values !== undefined) field.values = link(values)
  return field
}
