/**
 * Messages of Kubernetes that are single values in JSON: quantities, times, int-or-strings, raw JSON.
 * Contract: docs/behaviour/api-server/requests.md, Content negotiation.
 */
import { parseQuantity } from '@gyropilot/api'
import { parseExact } from '@gyropilot/foundation/exact-json'
import { goJsonError } from '@gyropilot/schema/go-json-error'
import { checkNesting } from '@gyropilot/schema/body-refusals'
import { LENGTH_DELIMITED, ProtobufError, VARINT, type WireReader } from './wire.ts'

/** Seconds of 0000-01-01T00:00:00Z and 10000-01-01T00:00:00Z: RFC 3339 has four digits for the year. */
const FIRST_SECOND = -62_167_219_200
const PAST_LAST_SECOND = 253_402_300_800
const NANOS_PER_SECOND = 1_000_000_000

export function wrongWireType(wireType: number, field: string): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${wireType} for field ${field}`)
}

export function expectWireType(reader: WireReader, wanted: number, field: string): void {
  if (reader.wireType !== wanted) throw wrongWireType(reader.wireType, field)
}

/** Calls `read` for each field of the message; false skips the field. */
export function eachField(
  reader: WireReader,
  message: string,
  read: (fieldNumber: number) => boolean,
): void {
  while (!reader.atEnd) {
    reader.readTag(message)
    if (!read(reader.fieldNumber)) reader.skip()
  }
}

/** {1: text}. The text is checked with the object, where spaces around it are trimmed, as in JSON: a message may have none. */
export function readQuantity(reader: WireReader): string {
  let text = '0'
  eachField(reader, 'Quantity', (fieldNumber) => {
    if (fieldNumber !== 1) return false
    expectWireType(reader, LENGTH_DELIMITED, 'String_')
    text = reader.string()
    return true
  })
  if (text !== text.trim()) throw new ProtobufError(refusalOf(text))
  return text
}

function refusalOf(quantity: string): string {
  try {
    parseQuantity(quantity)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`spaces around ${quantity} are taken`)
}

/** {1: type, 0 for a number; 2: number; 3: text} */
export function readIntOrString(reader: WireReader): number | string {
  let isText = false
  let number = 0
  let text = ''
  eachField(reader, 'IntOrString', (fieldNumber) => {
    if (fieldNumber === 1) {
      expectWireType(reader, VARINT, 'Type')
      isText = reader.int64() !== 0
    } else if (fieldNumber === 2) {
      expectWireType(reader, VARINT, 'IntVal')
      number = reader.int32()
    } else if (fieldNumber === 3) {
      expectWireType(reader, LENGTH_DELIMITED, 'StrVal')
      text = reader.string()
    } else return false
    return true
  })
  return isText ? text : number
}

/** {1: seconds, 2: nanoseconds}, empty for no time. Only MicroTime keeps fractions. */
function readTimestamp(reader: WireReader, fractionDigits: number): string | null {
  let seconds = 0
  let nanos = 0
  if (reader.atEnd) return null
  eachField(reader, 'Timestamp', (fieldNumber) => {
    if (fieldNumber === 1) {
      expectWireType(reader, VARINT, 'Seconds')
      seconds = Number(reader.int64())
    } else if (fieldNumber === 2) {
      expectWireType(reader, VARINT, 'Nanos')
      nanos = reader.int32()
    } else return false
    return true
  })
  if (fractionDigits === 0) nanos = 0
  seconds += Math.floor(nanos / NANOS_PER_SECOND)
  nanos -= Math.floor(nanos / NANOS_PER_SECOND) * NANOS_PER_SECOND
  if (seconds < FIRST_SECOND || seconds >= PAST_LAST_SECOND)
    throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]')
  const wholeSeconds = new Date(seconds * 1000).toISOString().slice(0, 19)
  if (fractionDigits === 0) return `${wholeSeconds}Z`
  return `${wholeSeconds}.${`${nanos}`.padStart(9, '0').slice(0, fractionDigits)}Z`
}

export function readTime(reader: WireReader): string | null {
  return readTimestamp(reader, 0)
}

export function readMicroTime(reader: WireReader): string | null {
  return readTimestamp(reader, 6)
}

/** {1: bytes of a JSON document}: FieldsV1, RawExtension and JSON. */
export function readRawJson(reader: WireReader): unknown {
  let raw = ''
  eachField(reader, 'RawExtension', (fieldNumber) => {
    if (fieldNumber !== 1) return false
    expectWireType(reader, LENGTH_DELIMITED, 'Raw')
    raw = reader.string()
    return true
  })
  return raw === '' ? null : parseRawJson(raw)
}

function parseRawJson(text: string): unknown {
  checkNesting(text)
  try {
    return parseExact(text)
  } catch {
    throw new ProtobufError(`json parse error: ${goJsonError(text)}`)
  }
}
