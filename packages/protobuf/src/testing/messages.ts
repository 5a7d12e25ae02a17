/** Writes messages for tests: the wire format by hand, and objects by the schema of their kind. */
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'
import { fieldNumbers } from '../message-plan.ts'

const VARINT = 0
const FIXED64 = 1
const LENGTH_DELIMITED = 2

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    const bits = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest === 0n ? bits : bits | 0x80)
  } while (rest !== 0n)
  return Buffer.from(bytes)
}

export function tag(fieldNumber: number, wireType: number): Buffer {
  return varint((BigInt(fieldNumber) << 3n) | BigInt(wireType))
}

export function numberField(fieldNumber: number, value: number | bigint): Buffer {
  return Buffer.concat([tag(fieldNumber, VARINT), varint(value)])
}

/** A text, bytes or a message: what it is made of. */
export function field(fieldNumber: number, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  return Buffer.concat([tag(fieldNumber, LENGTH_DELIMITED), varint(content.length), content])
}

interface EnvelopeParts {
  readonly apiVersion?: string
  readonly kind?: string
  readonly raw?: Uint8Array
  readonly contentType?: string
}

export function envelope({ apiVersion, kind, raw, contentType }: EnvelopeParts): Buffer {
  const typeMeta = [
    ...(apiVersion === undefined ? [] : [field(1, apiVersion)]),
    ...(kind === undefined ? [] : [field(2, kind)]),
  ]
  return Buffer.concat([
    Buffer.from('k8s\0'),
    field(1, ...typeMeta),
    ...(raw === undefined ? [] : [field(2, raw)]),
    field(3, ''),
    field(4, contentType ?? ''),
  ])
}

type JsonObject = Readonly<Record<string, unknown>>

export function encodeObject(schema: ObjectSchema, value: JsonObject): Buffer {
  return encodeFields(schema.name, schema, value)
}

function encodeFields(message: string, schema: ObjectSchema, value: JsonObject): Buffer {
  const parts: Buffer[] = []
  for (const [name, number] of Object.entries(fieldNumbers[message] ?? {})) {
    if (name.startsWith('...'))
      parts.push(field(number, encodeFields(name.slice(3), schema, value)))
    else if (value[name] !== undefined)
      parts.push(encodeField(number, schema.properties.get(name)!, value[name]))
  }
  return Buffer.concat(parts)
}

function encodeField(number: number, schema: FieldSchema, value: unknown): Buffer {
  if (schema.type === 'array')
    return Buffer.concat(
      (value as unknown[]).map((item) => encodeField(number, schema.items!, item)),
    )
  if (schema.type !== 'map') return encodeValue(number, schema, value)
  const entries = Object.entries(value as JsonObject).map(([key, content]) => {
    const { values } = schema
    const list = values!.type === 'array'
    return field(
      number,
      field(1, key),
      list ? field(2, encodeField(1, values!, content)) : encodeField(2, values!, content),
    )
  })
  return Buffer.concat(entries)
}

function encodeValue(number: number, schema: FieldSchema, value: unknown): Buffer {
  switch (schema.type) {
    case 'int32':
    case 'int64':
      return numberField(number, value as number)
    case 'boolean':
      return numberField(number, value === true ? 1 : 0)
    case 'double': {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(value as number)
      return Buffer.concat([tag(number, FIXED64), bytes])
    }
    case 'string':
      return field(number, value as string)
    case 'bytes':
      return field(number, Buffer.from(value as string, 'base64'))
    case 'object':
      return field(number, encodeObject(schema.schema!, value as JsonObject))
    case 'quantity':
      return field(number, field(1, value as string))
    case 'int-or-string':
      return typeof value === 'string'
        ? field(number, numberField(1, 1), numberField(2, 0), field(3, value))
        : field(number, numberField(1, 0), numberField(2, value as number), field(3, ''))
    case 'time':
    case 'microtime': {
      const ms = Date.parse(value as string)
      const nanos = Number((value as string).split('.')[1]?.slice(0, 6) ?? 0) * 1000
      return field(number, numberField(1, Math.floor(ms / 1000)), numberField(2, nanos))
    }
    default:
      return field(number, field(1, JSON.stringify(value)))
  }
}
