/** From the JSON object of a kind to the bytes of its message. */
import { schemaNamed } from '@gyropilot/api/schema'
import { planOf, type FieldPlan, type MessagePlan, type ValuePlan } from './message-plan.ts'
import { FIXED64, LENGTH_DELIMITED, VARINT } from './wire.ts'
import { WireWriter } from './wire-writer.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Members that are absent or null are left out; members that no field has (kind and apiVersion among them) too. Whoever
 * decodes the bytes gets an equal object: Go also writes plain fields that are zero, which say nothing more. `object` is as
 * the server answers it in JSON.
 */
export function encodeMessage(object: JsonObject, plan: MessagePlan): Uint8Array {
  const writer = new WireWriter()
  writeMembers(writer, object, plan)
  return writer.finish()
}

/** The fields of the message without its length, last first. */
export function writeMembers(writer: WireWriter, object: JsonObject, plan: MessagePlan): void {
  for (const [fieldNumber, field] of descending(plan))
    writeField(writer, fieldNumber, field, object)
}

const sorted = new WeakMap<MessagePlan, readonly (readonly [number, FieldPlan])[]>()

function descending(plan: MessagePlan): readonly (readonly [number, FieldPlan])[] {
  let fields = sorted.get(plan)
  if (fields === undefined) {
    fields = [...plan.fields].sort(([a], [b]) => b - a)
    sorted.set(plan, fields)
  }
  return fields
}

function writeField(
  writer: WireWriter,
  fieldNumber: number,
  { name, shape, value }: FieldPlan,
  object: JsonObject,
): void {
  if (shape === 'embedded') {
    // Its members stand in the object itself. One without members of its own would be an empty message, which says nothing.
    const plan = (value as Extract<ValuePlan, { kind: 'message' }>).plan()
    if (hasMembers(object, plan))
      writer.messageField(fieldNumber, () => writeMembers(writer, object, plan))
    return
  }
  const member = Object.hasOwn(object, name) ? object[name] : undefined
  if (member === undefined || member === null) return
  if (shape === 'single') writeTagged(writer, fieldNumber, value, member)
  else if (shape === 'list')
    for (const item of (member as readonly unknown[]).toReversed())
      writeTagged(writer, fieldNumber, value, item)
  else writeMap(writer, fieldNumber, value, member as JsonObject)
}

function hasMembers(object: JsonObject, { fields }: MessagePlan): boolean {
  for (const { name, shape, value } of fields.values()) {
    // Embedded once more: the rules of a webhook inside those of a policy.
    if (shape === 'embedded') {
      if (hasMembers(object, (value as Extract<ValuePlan, { kind: 'message' }>).plan())) return true
    } else if (Object.hasOwn(object, name) && object[name] !== undefined && object[name] !== null)
      return true
  }
  return false
}

/** {1: key, 2: value} for each member, by their keys. */
function writeMap(
  writer: WireWriter,
  fieldNumber: number,
  value: ValuePlan,
  map: JsonObject,
): void {
  for (const key of Object.keys(map).sort().reverse()) {
    writer.messageField(fieldNumber, () => {
      const member = map[key]
      if (member !== null && member !== undefined) writeTagged(writer, 2, value, member)
      writer.stringField(1, key)
    })
  }
}

function writeTagged(
  writer: WireWriter,
  fieldNumber: number,
  value: ValuePlan,
  member: unknown,
): void {
  if (value.kind !== 'scalar') {
    writer.messageField(fieldNumber, () => writeMessage(writer, value, member))
    return
  }
  switch (value.wireType) {
    case VARINT:
      return writer.varintField(
        fieldNumber,
        Number.isInteger(member) ? (member as number) : asInteger(member),
      )
    case FIXED64:
      return writer.doubleField(fieldNumber, Number(member))
    default:
      if (value.encoding === 'base64') writer.bytes(Buffer.from(String(member), 'base64'))
      else writer.string(String(member))
      writer.tag(fieldNumber, LENGTH_DELIMITED)
  }
}

/** Booleans, and integers beyond what a number holds. */
function asInteger(member: unknown): number | bigint {
  return typeof member === 'bigint' ? member : Number(member)
}

function writeMessage(
  writer: WireWriter,
  value: Exclude<ValuePlan, { kind: 'scalar' }>,
  member: unknown,
): void {
  switch (value.kind) {
    case 'special':
      return value.write(writer, member)
    case 'message':
      return writeMembers(writer, (member ?? {}) as JsonObject, value.plan())
    case 'schema-or':
      return writeSchemaOr(writer, value.other, member)
    case 'wrapped-list':
      for (const item of ((member ?? []) as readonly unknown[]).toReversed())
        writeTagged(writer, 1, value.items, item)
  }
}

/** {1: schema, 2: its alternative}, and for booleans {1: boolean, 2: schema}. */
function writeSchemaOr(
  writer: WireWriter,
  other: 'array' | 'boolean' | 'strings',
  member: unknown,
): void {
  const plan = planOf(schemaNamed('apiextensions-v1.JSONSchemaProps')!)
  const schema = (fieldNumber: number, value: unknown): void =>
    writer.messageField(fieldNumber, () => writeMembers(writer, value as JsonObject, plan))
  if (other === 'boolean') {
    const isSchema = typeof member === 'object'
    if (isSchema) schema(2, member)
    // What says how the rest is judged allows it.
    writer.varintField(1, isSchema || member === true ? 1 : 0)
  } else if (!Array.isArray(member)) schema(1, member)
  else {
    for (const item of member.toReversed()) {
      if (other === 'array') schema(2, item)
      else writer.stringField(2, String(item))
    }
  }
}
