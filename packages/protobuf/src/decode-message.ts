/** From the bytes of a message to the JSON object that a client would have sent instead. */
import { setOwn } from '@gyropilot/api'
import { schemaNamed } from '@gyropilot/api/schema'
import { DEEPEST_NESTING } from '@gyropilot/schema/body-refusals'
import { planOf, type FieldPlan, type MessagePlan, type ValuePlan } from './message-plan.ts'
import { eachField, expectWireType, wrongWireType } from './special-messages.ts'
import { LENGTH_DELIMITED, ProtobufError, VARINT, WireReader } from './wire.ts'

type JsonObject = Record<string, unknown>

/**
 * Fields that the bytes leave out are absent, zeros that they contain are kept: decoding by the kind's schema knows which of
 * them are written. Unknown field numbers are skipped. Throws ProtobufError.
 */
export function decodeMessage(bytes: Uint8Array, plan: MessagePlan): JsonObject {
  const target: JsonObject = {}
  readMessage(new WireReader(bytes), plan, target, 0)
  return target
}

/** A message that comes twice is merged, as the format asks. */
function readMessage(
  reader: WireReader,
  plan: MessagePlan,
  target: JsonObject,
  depth: number,
): JsonObject {
  if (depth > DEEPEST_NESTING) throw new ProtobufError('exceeded max depth')
  while (!reader.atEnd) {
    reader.readTag(plan.goName)
    const field = plan.fields.get(reader.fieldNumber)
    if (field === undefined) reader.skip()
    else readField(reader, field, target, depth)
  }
  return target
}

function readField(reader: WireReader, field: FieldPlan, target: JsonObject, depth: number): void {
  const { name, goName, shape, value } = field
  switch (shape) {
    case 'single':
      target[name] = readValue(reader, value, goName, target[name], depth + 1)
      return
    case 'list':
      readListItems(reader, value, goName, (target[name] ??= []) as unknown[], depth + 2)
      return
    case 'map':
      expectWireType(reader, LENGTH_DELIMITED, goName)
      readMapEntry(reader.message(), value, goName, (target[name] ??= {}) as JsonObject, depth + 2)
      return
    case 'embedded':
      expectWireType(reader, LENGTH_DELIMITED, goName)
      if (value.kind === 'message') readMessage(reader.message(), value.plan(), target, depth)
  }
}

function readValue(
  reader: WireReader,
  value: ValuePlan,
  goName: string,
  previous: unknown,
  depth: number,
): unknown {
  if (value.kind === 'scalar') {
    expectWireType(reader, value.wireType, goName)
    return value.read(reader)
  }
  expectWireType(reader, LENGTH_DELIMITED, goName)
  return readFromMessage(reader.message(), value, goName, previous, depth)
}

type MessageValue = Exclude<ValuePlan, { kind: 'scalar' }>

function readFromMessage(
  reader: WireReader,
  value: MessageValue,
  goName: string,
  previous: unknown,
  depth: number,
): unknown {
  switch (value.kind) {
    case 'special':
      return value.read(reader)
    case 'message':
      return readMessage(reader, value.plan(), (previous ?? {}) as JsonObject, depth)
    case 'schema-or':
      return readSchemaOr(reader, value.other, depth)
    case 'wrapped-list': {
      const items: unknown[] = []
      eachField(reader, goName, (fieldNumber) => {
        if (fieldNumber !== 1) return false
        readListItems(reader, value.items, goName, items, depth + 1)
        return true
      })
      return items
    }
  }
}

/** One item, or numbers packed together. */
function readListItems(
  reader: WireReader,
  value: ValuePlan,
  goName: string,
  items: unknown[],
  depth: number,
): void {
  const packed =
    value.kind === 'scalar' &&
    value.wireType !== LENGTH_DELIMITED &&
    reader.wireType === LENGTH_DELIMITED
  if (!packed) {
    items.push(readValue(reader, value, goName, undefined, depth))
    return
  }
  const numbers = reader.message()
  while (!numbers.atEnd) items.push(value.read(numbers))
}

/** {1: key, 2: value}, read as that whatever their tags say of wire types. An absent half is the empty key or the zero of the value. */
function readMapEntry(
  reader: WireReader,
  value: ValuePlan,
  goName: string,
  map: JsonObject,
  depth: number,
): void {
  let key = ''
  let content: unknown
  while (!reader.atEnd) {
    reader.readUncheckedTag()
    if (reader.fieldNumber === 1) key = reader.string()
    else if (reader.fieldNumber !== 2) reader.skip()
    else if (value.kind === 'scalar') content = value.read(reader)
    else content = readFromMessage(reader.message(), value, goName, undefined, depth)
  }
  content ??= zeroOf(value, goName, depth)
  setOwn(map, key, content)
}

const NO_BYTES = new Uint8Array(0)

function zeroOf(value: ValuePlan, goName: string, depth: number): unknown {
  if (value.kind === 'scalar') return value.zero
  return readFromMessage(new WireReader(NO_BYTES), value, goName, undefined, depth)
}

/** {1: schema, 2: its alternative}, and for booleans {1: boolean, 2: schema}. */
function readSchemaOr(
  reader: WireReader,
  other: 'array' | 'boolean' | 'strings',
  depth: number,
): unknown {
  const plan = planOf(schemaNamed('apiextensions-v1.JSONSchemaProps')!)
  const schemaNumber = other === 'boolean' ? 2 : 1
  let allowed = false
  let schema: unknown
  const list: unknown[] = []
  eachField(reader, 'JSONSchemaProps', (fieldNumber) => {
    const { wireType } = reader
    if (fieldNumber > 2) return false
    if (wireType !== (other === 'boolean' && fieldNumber === 1 ? VARINT : LENGTH_DELIMITED))
      throw wrongWireType(wireType, fieldNumber === schemaNumber ? 'Schema' : 'Allows')
    if (fieldNumber === schemaNumber)
      schema = readMessage(reader.message(), plan, (schema ?? {}) as JsonObject, depth)
    else if (other === 'boolean') allowed = reader.bool()
    else if (other === 'array') list.push(readMessage(reader.message(), plan, {}, depth + 1))
    else list.push(reader.string())
    return true
  })
  if (other === 'boolean') return schema ?? allowed
  return list.length > 0 ? list : (schema ?? null)
}
