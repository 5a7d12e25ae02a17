/** JSON as values of expressions, by the types that schemas declare, and back. Converted when it is looked at. */
import { DYN, STRING, UNTYPED, isDynamic, listType, mapType } from '../checking/types.ts'
import type { CelType, ListType, MapType, ObjectField, ObjectType } from '../checking/types.ts'
import {
  formatDuration,
  formatTimestamp,
  offsetMinutesOf,
  parseDuration,
  parseTimestamp,
  utcSeconds,
  NANOS_PER_SECOND,
} from './time-text.ts'
import {
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
} from './values.ts'
import { keyCount } from './measures.ts'
import type { ListSemantics } from './list-semantics.ts'
import type { Value } from './values.ts'
import { goTypeName } from '@gyropilot/api'
import { parseGoTime } from '@gyropilot/foundation'
import { exactInteger, isInteger } from '@gyropilot/foundation/exact-json'

type JsonObject = Readonly<Record<string, unknown>>

/** Throws EvaluationError for a value that is not of its type: validation tolerates those that were stored under another schema. */
export function valueOf(json: unknown, type: CelType): Value {
  if (json === null || json === undefined) return null
  if (isDynamic(type)) {
    if ('isIntOrString' in type) checkIntOrString(json)
    return 'isUntyped' in type ? untypedValue(json) : dynamicValue(json)
  }
  switch (type.kind) {
    case 'list':
      if (Array.isArray(json)) return new JsonList(json, type)
      throw new EvaluationError(
        'invalid data, expected an array for the provided schema with type=array',
      )
    case 'map':
    case 'object':
      if (isJsonObject(json)) return objectValue(json, type)
      throw new EvaluationError(
        'invalid data, expected a map for the provided schema with type=object',
      )
    case 'int':
      if (isInteger(json)) return BigInt(json)
      throw mistyped('int', json)
    case 'double':
      if (typeof json === 'number' || typeof json === 'bigint') return Number(json)
      throw mistyped('float', json)
    case 'bool':
      if (typeof json === 'boolean') return json
      throw mistyped('bool', json)
    default:
      if (typeof json === 'string') return textValue(json, type)
      throw mistyped('string', json)
  }
}

function mistyped(expected: string, json: unknown): EvaluationError {
  return new EvaluationError(`invalid data, expected ${expected}, got ${goTypeName(json)}`)
}

/** The last one that is tried. */
const LOCAL_TIME_LAYOUT = { text: '2006-01-02T15:04:05', hasFraction: false }

function textValue(text: string, { kind }: CelType): Value {
  switch (kind) {
    case 'bytes':
      return bytesOf(text)
    case 'duration': {
      const nanos = parseDuration(text)
      if (nanos !== undefined) return new CelDuration(nanos)
      throw new EvaluationError(`Invalid duration ${text}: unable to parse ${text} as duration`)
    }
    case 'timestamp': {
      // An empty text is the epoch.
      if (text === '') return new CelTimestamp(0n)
      const nanos = parseTimestamp(text) ?? midnightOf(text)
      if (nanos !== undefined) return new CelTimestamp(nanos, offsetMinutesOf(text))
      const read = parseGoTime(text, LOCAL_TIME_LAYOUT)
      const problem = 'error' in read ? `: ${read.error}` : ''
      throw new EvaluationError(`Invalid date-time formatted string ${text}${problem}`)
    }
    default:
      return text
  }
}

/** Validation knows the standard alphabet, expressions the one that is safe in URLs: of the two signs in which they differ neither passes both. */
function bytesOf(text: string): Uint8Array {
  const foreign = text.search(/[^\w=\r\n-]/)
  // What is left over of groups of four is told by where it begins.
  const isCut = text.replaceAll(/[\r\n]/g, '').length % 4 !== 0
  if (foreign < 0 && !isCut) return Uint8Array.from(Buffer.from(text, 'base64url'))
  const at = foreign < 0 ? text.length - (text.length % 4) : foreign
  const problem = `illegal base64 data at input byte ${at}`
  throw new EvaluationError(`Invalid byte formatted string ${text}: ${problem}`)
}

function midnightOf(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return undefined
  const [year, month, day] = match.slice(1).map(Number)
  const seconds = utcSeconds(year!, month!, day!)
  return seconds === undefined ? undefined : seconds * NANOS_PER_SECOND
}

function checkIntOrString(json: unknown): void {
  if (typeof json !== 'string' && !isInteger(json))
    throw new EvaluationError(
      'invalid data, expected XIntOrString value to be either a string or integer',
    )
}

function dynamicValue(json: unknown): Value {
  switch (typeof json) {
    case 'number':
      return Number.isInteger(json) ? BigInt(json) : json
    case 'bigint':
    case 'string':
    case 'boolean':
      return json
  }
  if (json === null || json === undefined) return null
  if (Array.isArray(json)) return new JsonList(json, listType(DYN))
  return new JsonMap(json as JsonObject, mapType(STRING, DYN))
}

/** Objects have no field that can be read. */
function untypedValue(json: unknown): Value {
  if (Array.isArray(json)) return new JsonList(json, listType(UNTYPED))
  return isJsonObject(json) ? new SchemaRecord(json, NO_FIELDS) : dynamicValue(json)
}

function objectValue(json: JsonObject, type: MapType | ObjectType): CelMap {
  if (type.kind === 'map') return new JsonMap(json, type)
  return type.unnamed === undefined ? new JsonRecord(json, type) : new SchemaRecord(json, type)
}

function isJsonObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

class JsonList extends CelList {
  readonly #items: readonly unknown[]
  readonly #element: CelType
  override readonly semantics: ListSemantics
  override readonly isOfSchema: boolean

  constructor(items: readonly unknown[], type: ListType) {
    super()
    this.#items = items
    this.#element = type.element
    this.semantics = type.semantics ?? { kind: 'atomic' }
    this.isOfSchema = type.isOfSchema === true
  }

  override get length(): number {
    return this.#items.length
  }

  override at(index: number): Value {
    return valueOf(this.#items[index], this.#element)
  }
}

class JsonMap extends CelMap {
  readonly #object: JsonObject
  readonly #value: CelType
  override readonly ofSchema: JsonObject | undefined

  constructor(object: JsonObject, { value, isOfSchema }: MapType) {
    super()
    this.#object = object
    this.#value = value
    this.ofSchema = isOfSchema === true ? object : undefined
  }

  override get size(): number {
    return keyCount(this.#object)
  }

  override has(key: Value): boolean {
    if (typeof key === 'string') return Object.hasOwn(this.#object, key)
    if (this.ofSchema === undefined) return false
    throw new EvaluationError('no such overload')
  }

  override get(key: Value): Value | undefined {
    return this.has(key) ? valueOf(this.#object[key as string], this.#value) : undefined
  }

  override keys(): Iterable<Value> {
    return Object.keys(this.#object)
  }
}

/** An object with declared fields, known by their names in expressions. A field that is null is none, unless its type says so. */
class JsonRecord extends CelMap {
  readonly #object: JsonObject
  readonly #type: ObjectType

  constructor(object: JsonObject, type: ObjectType) {
    super()
    this.#object = object
    this.#type = type
  }

  override get size(): number {
    return [...this.keys()].length
  }

  override get(key: Value): Value | undefined {
    const field = typeof key === 'string' ? this.#type.fields.get(key) : undefined
    if (field === undefined || !this.#isGiven(field.jsonName)) return undefined
    return valueOf(this.#object[field.jsonName], field.type)
  }

  override *keys(): Iterable<Value> {
    for (const [name, { jsonName, isAlias }] of this.#type.fields) {
      if (isAlias !== true && this.#isGiven(jsonName)) yield name
    }
  }

  #isGiven(jsonName: string): boolean {
    const value = Object.hasOwn(this.#object, jsonName) ? this.#object[jsonName] : undefined
    return value !== undefined && (value !== null || this.#type.hasNulls === true)
  }
}

/**
 * An object as a schema describes it. Its fields are known by their JSON names, too; those that it has beside what the schema
 * declares are counted, and their keys are null.
 */
class SchemaRecord extends CelMap {
  override readonly ofSchema: JsonObject
  readonly #type: ObjectType

  constructor(object: JsonObject, type: ObjectType) {
    super()
    this.ofSchema = object
    this.#type = type
  }

  override get size(): number {
    return keyCount(this.ofSchema)
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== 'string') throw new EvaluationError('no such overload')
    const { fields, unnamed } = this.#type
    const { jsonName, type } = fields.get(key) ??
      namesOf(this.#type).get(key) ?? { jsonName: key, type: unnamed?.get(key) }
    const value = Object.hasOwn(this.ofSchema, jsonName) ? this.ofSchema[jsonName] : null
    return type === undefined || value === null ? undefined : valueOf(value, type)
  }

  override *keys(): Iterable<Value> {
    const names = namesOf(this.#type)
    for (const jsonName of Object.keys(this.ofSchema)) {
      const isUnnamed = this.#type.unnamed?.has(jsonName) === true
      yield names.get(jsonName)?.name ?? (isUnnamed ? jsonName : null)
    }
  }

  override undeclared(): readonly string[] {
    const names = namesOf(this.#type)
    const { unnamed } = this.#type
    return Object.keys(this.ofSchema).filter((name) => !names.has(name) && !unnamed?.has(name))
  }
}

type NamedField = ObjectField & { readonly name: string }

const namedFields = new WeakMap<ObjectType, ReadonlyMap<string, NamedField>>()

/** The fields by their JSON names, with the names that expressions have for them. */
function namesOf(type: ObjectType): ReadonlyMap<string, NamedField> {
  let names = namedFields.get(type)
  if (names === undefined) {
    const fields = [...type.fields].filter(([, { isAlias }]) => isAlias !== true)
    names = new Map(fields.map(([name, field]) => [field.jsonName, { ...field, name }]))
    namedFields.set(type, names)
  }
  return names
}

const NO_FIELDS: ObjectType = { kind: 'object', name: '', fields: new Map(), unnamed: new Map() }

/** As JSON, for patches. Throws EvaluationError for what JSON cannot say. */
export function jsonOf(value: Value): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return exactInteger(value)
  if (value instanceof CelUint) return exactInteger(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof CelTimestamp) return formatTimestamp(value.nanos, value.offsetMinutes)
  if (value instanceof CelDuration) return formatDuration(value.nanos)
  if (value instanceof CelList) return [...value].map(jsonOf)
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => [String(key), jsonOf(value.get(key)!)])
    return Object.fromEntries(entries)
  }
  if (value instanceof CelOptional && value.value !== undefined) return jsonOf(value.value)
  throw new EvaluationError('unsupported type conversion to JSON')
}
