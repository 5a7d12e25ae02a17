/**
 * Turns a JSON value into an object of a kind as kube-apiserver would store it: checked, unknown fields dropped and
 * reported, values in canonical form, empty optional fields left out, fields that are always written filled in.
 * A struct is compiled once, when first met. Contract: docs/behaviour/api-server/requests.md, Decoding.
 */
import { schemaNamed, schemaOf } from '@gyropilot/api/schema'
import { roundQuantityToMilli, setOwn } from '@gyropilot/api'
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'
import type { Draft } from './objects.ts'
import {
  jsonKind,
  ConversionError,
  DecodeError,
  TypeMismatchError,
  scalarDecoders,
  wantsInteger,
} from './decode-scalars.ts'
import { forEachMember, mismatchOf, report, spellingOf } from './decode-walk.ts'
import type { Walk } from './decode-walk.ts'
import { presenceOf } from './go/go-facts.ts'
import { bareStructName, elementTypeOf, goTypeOf } from './go/go-types.ts'
import { rememberEmpty, passEmpties } from './given-value.ts'
import type { DocumentNotes } from './json/json.ts'

const NO_NOTES: DocumentNotes = { occurrences: undefined }

type Decoder = (value: unknown, walk: Walk) => unknown

interface FieldPlan {
  readonly name: string
  readonly decode: Decoder
  /** The value left out when the field is `plain`. */
  readonly isEmpty: ((value: unknown) => boolean) | undefined
  readonly isStruct: boolean
}

interface StructPlan {
  readonly name: string
  readonly fields: Map<string, FieldPlan>
  /** Fields that are written when they are absent. */
  readonly always: readonly { readonly name: string; readonly zero: () => unknown }[]
}

const plans = new Map<string, StructPlan>()

function planOf(schema: ObjectSchema): StructPlan {
  const known = plans.get(schema.name)
  if (known !== undefined) return known
  const fields = new Map<string, FieldPlan>()
  const always: { name: string; zero: () => unknown }[] = []
  const plan: StructPlan = { name: schema.name, fields, always }
  // Known before its fields are compiled, because JSONSchemaProps contains itself.
  plans.set(schema.name, plan)
  for (const [name, field] of schema.properties) {
    const required = schema.required.includes(name)
    const presence = presenceOf(schema.name, name, field, required)
    fields.set(name, {
      name,
      decode: decoderOf(schema.name, goTypeOf(schema.name, name, field), field),
      isEmpty: presence === 'plain' ? isEmptyValue : undefined,
      isStruct: field.type === 'object',
    })
    if (presence === 'always') {
      const isPointer = field.type === 'object' || (field.type === 'quantity' && !required)
      const isNull = isPointer && field.default === undefined
      always.push({ name, zero: isNull ? () => null : zeroOf(field) })
    }
  }
  return plan
}

function isEmptyValue(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true
  if (typeof value !== 'object' || value === null) return value === undefined || value === null
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

function zeroOf(field: FieldSchema): () => unknown {
  if (field.type === 'object') return () => zeroStruct(field.schema!)
  if (field.type === 'quantity') return () => '0'
  if (field.type === 'int-or-string') return () => 0
  const value = field.default ?? null
  return () => value
}

function zeroStruct(schema: ObjectSchema): Draft {
  const zero: Draft = {}
  for (const { name, zero: make } of planOf(schema).always) zero[name] = make()
  return zero
}

/** `goType`: what decode errors call the field's type. */
function ownMismatch({ message, mismatch }: DecodeError): DecodeError {
  return new DecodeError(message, mismatch && { ...mismatch, readsItself: true })
}

function decoderOf(struct: string, goType: string, field: FieldSchema): Decoder {
  switch (field.type) {
    case 'object': {
      const { schema } = field
      let plan: StructPlan | undefined
      return (value, walk) => {
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          throw mismatchOf(walk, goType, false, undefined, true)(value)
        return decodeStruct((plan ??= planOf(schema!)), value as Draft, walk)
      }
    }
    case 'array':
      return arrayDecoder(struct, goType, field)
    case 'map':
      return mapDecoder(struct, goType, field)
    case 'json-schema-or-array':
      return schemaOrArray
    case 'json-schema-or-boolean':
      return schemaOrBoolean
    case 'json-schema-or-string-array':
      return (value, walk) => (Array.isArray(value) ? value : nestedSchema(value, walk))
    case 'raw':
      // Some of these are structs without fields, which have a name.
      return goType === 'raw' ? (value) => value : emptyStructDecoder(goType)
    default: {
      const decode = scalarDecoders[field.type]
      if (decode === undefined) return (value) => value
      const integer = wantsInteger(field.type)
      const asWritten = integer || field.type === 'quantity'
      const endsAtOnce = OWN_DECODERS.has(field.type)
      return (value, walk) => {
        const spelling = asWritten ? spellingOf(walk) : undefined
        // Go reads neither `3.0` nor `3e0` into an integer, and a quantity keeps its exponent.
        if (spelling !== undefined && integer) {
          const mismatch = mismatchOf(walk, goType, integer, `number ${spelling}`)(value)
          throw endsAtOnce ? ownMismatch(mismatch) : mismatch
        }
        return decode(spelling ?? value, (wrong, type) => {
          const mismatch = mismatchOf(walk, type ?? goType, integer)(wrong)
          return endsAtOnce ? ownMismatch(mismatch) : mismatch
        })
      }
    }
  }
}

function emptyStructDecoder(goType: string): Decoder {
  return (value, walk) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw mismatchOf(walk, goType, false, undefined, true)(value)
    return value
  }
}

/** Go reads these schemas with a decoder of their own: what they do not know is dropped there without a word. */
function nestedSchema(value: unknown, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const plan = planOf(schemaNamed('apiextensions-v1.JSONSchemaProps')!)
  const inner: Walk = { ...walk, problems: new Set(), mismatches: [] }
  const decoded = decodeStruct(plan, value as Draft, inner)
  refuseMismatch(inner)
  return decoded
}

/** Types that decode themselves in Go: what is wrong with one ends it all. */
const OWN_DECODERS: ReadonlySet<string> = new Set([
  'quantity',
  'time',
  'microtime',
  'int-or-string',
])

function refuseMismatch({ mismatches }: Walk): void {
  const [first] = mismatches
  if (first !== undefined) throw new DecodeError(first.message, first.mismatch)
}

/** Undefined for a value of a wrong type, which is remembered. */
function decodeMember(decode: Decoder, value: unknown, step: string | number, walk: Walk): unknown {
  const { path, structs, mismatches } = walk
  const depth = path.length
  const structDepth = structs.length
  path.push(step)
  try {
    return decode(value, walk)
  } catch (error) {
    if (!(error instanceof TypeMismatchError)) throw error
    if (mismatches.length === 0) mismatches.push(error)
    structs.length = structDepth
    return undefined
  } finally {
    path.length = depth
  }
}

function schemaOrArray(value: unknown, walk: Walk): unknown {
  if (!Array.isArray(value)) return nestedSchema(value, walk)
  if (value.length === 0) return undefined
  return value.map((item: unknown) => {
    const schema = nestedSchema(item ?? {}, walk)
    if (schema === undefined)
      throw ownMismatch(mismatchOf(walk, 'v1.JSONSchemaProps', false, undefined, true)(item))
    return schema
  })
}

function schemaOrBoolean(value: unknown, walk: Walk): unknown {
  const decoded = typeof value === 'boolean' ? value : nestedSchema(value, walk)
  if (decoded === undefined) throw new DecodeError('boolean or JSON schema expected')
  return decoded
}

/** What Go's decoder leaves for null inside lists and maps. */
function zeroElement(field: FieldSchema): () => unknown {
  if (field.type === 'string' || field.type === 'bytes') return () => ''
  if (field.type === 'int32' || field.type === 'int64' || field.type === 'double') return () => 0
  if (field.type === 'boolean') return () => false
  return zeroOf(field)
}

function arrayDecoder(struct: string, goType: string, field: FieldSchema): Decoder {
  const items = field.items!
  const decode = decoderOf(struct, elementTypeOf(goType, items), items)
  const zero = zeroElement(items)
  return (value, walk) => {
    if (!Array.isArray(value)) throw mismatchOf(walk, goType, false)(value)
    // Of the length that it has: one that grows from nothing keeps room for sixteen more as long as it is stored.
    return value.map((item: unknown, index) =>
      item === null ? zero() : decodeMember(decode, item, index, walk),
    )
  }
}

/** Maps know all keys. */
const isAnyKey = (): boolean => true

/** Structs whose maps of quantities are rounded; those of devices and of runtime classes are not. */
const RESOURCE_LISTS = /^core-/

function mapDecoder(struct: string, goType: string, field: FieldSchema): Decoder {
  const values = field.values!
  const decode = decoderOf(struct, elementTypeOf(goType, values), values)
  const zero = zeroElement(values)
  const isResourceList = values.type === 'quantity' && RESOURCE_LISTS.test(struct)
  return (value, walk) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw mismatchOf(walk, goType, false)(value)
    const map: Draft = {}
    forEachMember(value as Draft, walk, isAnyKey, (key, member) => {
      walk.path.push(key)
      const decoded = member === null ? zero() : decode(member, walk)
      setOwn(map, key, isResourceList ? roundQuantityToMilli(decoded as string) : decoded)
      walk.path.pop()
    })
    return map
  }
}

function decodeStruct(plan: StructPlan, value: Draft, walk: Walk): Draft {
  const object: Draft = {}
  const isField = (key: string): boolean => plan.fields.has(key)
  walk.structs.push({ name: plan.name, depth: walk.path.length })
  forEachMember(value, walk, isField, (key, member) => {
    const field = plan.fields.get(key)
    if (field === undefined) {
      report(walk, 'unknown', key)
      return
    }
    if (member === null || member === undefined) return
    const decoded = decodeMember(field.decode, member, key, walk)
    if (decoded === undefined) return
    if (field.isEmpty?.(decoded)) {
      delete object[key]
      if (typeof decoded === 'object' || decoded === '') rememberEmpty(object, key, decoded)
    } else if (field.isStruct && object[key] !== undefined) Object.assign(object[key], decoded)
    else object[key] = decoded
  })
  walk.structs.pop()
  for (const { name, zero } of plan.always) if (object[name] === undefined) object[name] = zero()
  return object
}

export interface DecodedObject {
  readonly object: Draft
  /** `unknown field "spec.foo"`, `duplicate field "metadata"`, in document order, each once. */
  readonly problems: readonly string[]
}

/**
 * Decodes a value of a built-in kind; undefined when the kind is not built in. Throws DecodeError for the first field of
 * a wrong type. `kind` and `apiVersion` are written first, as the endpoint has them.
 */
export function decodeObject(
  type: { readonly group: string; readonly version: string; readonly kind: string },
  value: unknown,
  notes?: DocumentNotes,
): DecodedObject | undefined {
  const schema = schemaOf(type.group, type.version, type.kind)
  if (schema === undefined) return undefined
  const decoded = decodeWith(schema, value, notes, type.version)
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = decoded.object
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  const head: Draft = { kind: type.kind, apiVersion }
  if (metadata !== undefined) head.metadata = metadata
  passEmpties(decoded.object, head)
  return { object: Object.assign(head, rest), problems: decoded.problems }
}

/** A part of an object by the name of its type, as `core-v1.PodTemplateSpec`. */
export function decodePart(schemaName: string, value: unknown): DecodedObject {
  return decodeWith(schemaNamed(schemaName)!, value)
}

function decodeWith(
  schema: ObjectSchema,
  value: unknown,
  notes = NO_NOTES,
  sentVersion?: string,
): DecodedObject {
  const [group, ownVersion] = schema.name.slice(0, schema.name.indexOf('.')).split('-')
  const version = sentVersion ?? ownVersion!
  const walk: Walk = {
    sentAs: { group: group!, version },
    path: [],
    structs: [],
    problems: new Set(),
    root: value,
    notes,
    mismatches: [],
  }
  if (value === null || value === undefined) return { object: zeroStruct(schema), problems: [] }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new DecodeError(
      `json: cannot unmarshal ${jsonKind(value, false)} into Go value of type ${version}.${bareStructName(schema.name)}`,
    )
  }
  const object = decodeStruct(planOf(schema), value as Draft, walk)
  refuseMismatch(walk)
  return { object, problems: [...walk.problems] }
}

/** The status of an object that has just been made: only the fields that are always written. */
export function emptyStatus(type: {
  readonly group: string
  readonly version: string
  readonly kind: string
}): Draft | undefined {
  const field = schemaOf(type.group, type.version, type.kind)?.properties.get('status')
  return field?.schema === undefined || field.default === undefined
    ? undefined
    : zeroStruct(field.schema)
}

export { ConversionError, DecodeError }
export { givenValue } from './given-value.ts'
