/**
 * How the fields of a message become members of a JSON object. Names and types come from the schema of the kind, field
 * numbers from `field-numbers.json`; a message is compiled when first met.
 */
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'
import numbers from './field-numbers.json' with { type: 'json' }
import {
  readIntOrString,
  readMicroTime,
  readQuantity,
  readRawJson,
  readTime,
} from './special-messages.ts'
import { FIXED64, LENGTH_DELIMITED, VARINT, type WireReader } from './wire.ts'
import type { WireWriter } from './wire-writer.ts'
import { writeIntOrString, writeQuantity, writeRawJson, writeTime } from './write-special.ts'

/**
 * By schema name: JSON name -> field number. `...core-v1.VolumeSource` is a message whose fields are members of the JSON
 * object itself: an embedded struct of Go.
 */
type FieldNumbers = Readonly<Record<string, Readonly<Record<string, number>>>>

export const fieldNumbers: FieldNumbers = numbers

/** How a value stands in the bytes. */
export type ValuePlan =
  | {
      readonly kind: 'scalar'
      readonly wireType: number
      readonly zero: unknown
      /** Of texts that stand for bytes. */
      readonly encoding?: 'base64'
      read(reader: WireReader): unknown
    }
  /** A message of its own that is a single value in JSON; empty bytes give its zero. */
  | {
      readonly kind: 'special'
      read(reader: WireReader): unknown
      write(writer: WireWriter, value: unknown): void
    }
  | { readonly kind: 'message'; readonly plan: () => MessagePlan }
  /** A schema or something else. */
  | { readonly kind: 'schema-or'; readonly other: 'array' | 'boolean' | 'strings' }
  /** A list inside a message, field 1: the values of the maps called `extra`. */
  | { readonly kind: 'wrapped-list'; readonly items: ValuePlan }

export interface FieldPlan {
  readonly name: string
  /** As wire errors print it, acronyms aside. */
  readonly goName: string
  readonly shape: 'single' | 'list' | 'map' | 'embedded'
  readonly value: ValuePlan
}

export interface MessagePlan {
  /** As wire errors print it. */
  readonly goName: string
  readonly fields: ReadonlyMap<number, FieldPlan>
}

const EMBEDDED = '...'
/** Objects without members: messages without fields, where the schema says no more than `raw`. */
const EMPTY_MESSAGES = new Set(['apiextensions-v1.CustomResourceSubresources.status'])
const EMPTY_MESSAGE: ValuePlan = { kind: 'special', read: () => ({}), write() {} }
const plans = new Map<string, MessagePlan>()

export function planOf(schema: ObjectSchema): MessagePlan {
  let plan = plans.get(schema.name)
  if (plan === undefined) {
    plan = compile(schema.name, schema.properties)
    plans.set(schema.name, plan)
  }
  return plan
}

/** `properties` are those of the JSON object: for embedded messages the ones of the object around them. */
function compile(message: string, properties: ObjectSchema['properties']): MessagePlan {
  const fields = new Map<number, FieldPlan>()
  for (const [name, number] of Object.entries(fieldNumbers[message] ?? {})) {
    if (name.startsWith(EMBEDDED)) {
      const embedded = name.slice(EMBEDDED.length)
      const plan = compile(embedded, properties)
      const value: ValuePlan = { kind: 'message', plan: () => plan }
      fields.set(number, { name, goName: bareName(embedded), shape: 'embedded', value })
      continue
    }
    // A table may know fields that this version of the API has dropped: they are skipped as unknown ones are.
    const field = properties.get(name)
    if (field === undefined) continue
    const plan = fieldPlan(name, field)
    const isEmpty = EMPTY_MESSAGES.has(`${message}.${name}`)
    fields.set(number, isEmpty ? { ...plan, value: EMPTY_MESSAGE } : plan)
  }
  return { goName: bareName(message), fields }
}

function bareName(schemaName: string): string {
  return schemaName.slice(schemaName.indexOf('.') + 1)
}

function fieldPlan(name: string, field: FieldSchema): FieldPlan {
  const goName = name === 'metadata' ? 'ObjectMeta' : `${name[0]!.toUpperCase()}${name.slice(1)}`
  if (field.type === 'array') return { name, goName, shape: 'list', value: valuePlan(field.items!) }
  if (field.type !== 'map') return { name, goName, shape: 'single', value: valuePlan(field) }
  const values = field.values!
  const value: ValuePlan =
    values.type === 'array'
      ? { kind: 'wrapped-list', items: valuePlan(values.items!) }
      : valuePlan(values)
  return { name, goName, shape: 'map', value }
}

const SCALARS: Partial<Record<FieldSchema['type'], ValuePlan>> = {
  int32: { kind: 'scalar', wireType: VARINT, zero: 0, read: (reader) => reader.int32() },
  int64: { kind: 'scalar', wireType: VARINT, zero: 0, read: (reader) => reader.int64() },
  boolean: { kind: 'scalar', wireType: VARINT, zero: false, read: (reader) => reader.bool() },
  double: { kind: 'scalar', wireType: FIXED64, zero: 0, read: (reader) => reader.double() },
  string: {
    kind: 'scalar',
    wireType: LENGTH_DELIMITED,
    zero: '',
    read: (reader) => reader.string(),
  },
  bytes: {
    kind: 'scalar',
    wireType: LENGTH_DELIMITED,
    zero: '',
    encoding: 'base64',
    read: (reader) => Buffer.from(reader.bytes()).toString('base64'),
  },
  quantity: { kind: 'special', read: readQuantity, write: writeQuantity },
  'int-or-string': { kind: 'special', read: readIntOrString, write: writeIntOrString },
  time: { kind: 'special', read: readTime, write: writeTime },
  microtime: { kind: 'special', read: readMicroTime, write: writeTime },
  'fields-v1': { kind: 'special', read: readRawJson, write: writeRawJson },
  raw: { kind: 'special', read: readRawJson, write: writeRawJson },
  json: { kind: 'special', read: readRawJson, write: writeRawJson },
  'json-schema-or-array': { kind: 'schema-or', other: 'array' },
  'json-schema-or-boolean': { kind: 'schema-or', other: 'boolean' },
  'json-schema-or-string-array': { kind: 'schema-or', other: 'strings' },
}

/** How a single value of the type stands in the bytes. */
export function valuePlan(field: FieldSchema): ValuePlan {
  if (field.type === 'object') return { kind: 'message', plan: () => planOf(field.schema!) }
  const plan = SCALARS[field.type]
  if (plan === undefined) throw new Error(`no protobuf form for fields of type ${field.type}`)
  return plan
}
