/**
 * Protobuf bodies: four bytes, then message Unknown {1: {1: apiVersion, 2: kind}, 2: object, 3: encoding, 4: content type of
 * the object}. Contract: docs/behaviour/api-server/requests.md, Content negotiation.
 */
import { schemaNamed, schemaOf, type ObjectSchema } from '@gyropilot/api/schema'
import { badRequest } from '@gyropilot/schema/api-error'
import { excerpt, unrecognized } from '@gyropilot/schema/body-refusals'
import { decodeMessage } from './decode-message.ts'
import { planOf } from './message-plan.ts'
import { eachField, expectWireType, parseRawJson } from './special-messages.ts'
import { LENGTH_DELIMITED, ProtobufError, WireReader } from './wire.ts'

const PREFIX_LENGTH = 4
const NO_BYTES = new Uint8Array(0)
const NOT_MARSHALABLE =
  'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message'

/** The kind that the endpoint takes: what a body without kind and apiVersion is. */
export interface ExpectedMessage {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface Envelope {
  apiVersion: string
  kind: string
  raw: Uint8Array
  contentType: string
}

/** The body as the equal JSON body would be, kind and apiVersion included. Bytes start with the prefix. Throws 400. */
export function decodeProtobufBody(bytes: Uint8Array, expected: ExpectedMessage): unknown {
  const envelope = readEnvelope(bytes, expected)
  const header = headerOf(envelope)
  const { group, version, kind } = kindOf(envelope, expected)
  try {
    if (envelope.contentType.startsWith('application/json'))
      return withHeader(header, parseRawJson(Buffer.from(envelope.raw).toString('utf8')))
    const schema = messageSchema(group, version, kind)
    if (schema !== undefined) return { ...header, ...decodeMessage(envelope.raw, planOf(schema)) }
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    throw badRequest(`${handled(kind, version, expected)}: ${error.message}`)
  }
  if (kind === expected.kind && group === expected.group)
    throw badRequest(`${handled(kind, version, expected)}: ${NOT_MARSHALABLE}`)
  // Another kind than the endpoint's: the check of the header refuses it in its own words.
  return header
}

function handled(kind: string, version: string, expected: ExpectedMessage): string {
  return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}`
}

function readEnvelope(bytes: Uint8Array, expected: ExpectedMessage): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: NO_BYTES, contentType: '' }
  const reader = new WireReader(bytes, PREFIX_LENGTH)
  try {
    eachField(reader, 'Unknown', (fieldNumber) => {
      if (fieldNumber < 1 || fieldNumber > 4) return false
      expectWireType(reader, LENGTH_DELIMITED, UNKNOWN_FIELDS[fieldNumber - 1]!)
      if (fieldNumber === 1) readTypeMeta(reader.message(), envelope)
      else if (fieldNumber === 2) envelope.raw = reader.bytes()
      else if (fieldNumber === 3) reader.skip()
      else envelope.contentType = reader.string()
      return true
    })
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    throw unrecognized(expected.kind, error.message, excerpt(bytes))
  }
  return envelope
}

const UNKNOWN_FIELDS = ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType'] as const

function readTypeMeta(reader: WireReader, envelope: Envelope): void {
  eachField(reader, 'TypeMeta', (fieldNumber) => {
    if (fieldNumber !== 1 && fieldNumber !== 2) return false
    expectWireType(reader, LENGTH_DELIMITED, fieldNumber === 1 ? 'APIVersion' : 'Kind')
    if (fieldNumber === 1) envelope.apiVersion = reader.string()
    else envelope.kind = reader.string()
    return true
  })
}

function headerOf({ apiVersion, kind }: Envelope): Record<string, string> {
  return { ...(apiVersion === '' ? {} : { apiVersion }), ...(kind === '' ? {} : { kind }) }
}

function withHeader(header: Record<string, string>, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { ...header, ...value } : value
}

function kindOf({ apiVersion, kind }: Envelope, expected: ExpectedMessage): ExpectedMessage {
  const slash = apiVersion.indexOf('/')
  const own =
    apiVersion === ''
      ? { group: expected.group, version: expected.version }
      : { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) }
  return { ...own, kind: kind === '' ? expected.kind : kind }
}

/** Options are one message in every group. */
function messageSchema(group: string, version: string, kind: string): ObjectSchema | undefined {
  if (kind === 'DeleteOptions') return schemaNamed('meta-v1.DeleteOptions')
  return schemaOf(group, version, kind)
}
