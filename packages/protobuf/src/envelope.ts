/**
 * Protobuf bodies: four bytes, then message Unknown {1: {1: apiVersion, 2: kind}, 2: object, 3: encoding, 4: content type}. Contract: docs/behaviour/api-server/requests.md, Content negotiation.
 */
import { schemaNamed, schemaOf, type ObjectSchema } from '@gyropilot/api/schema'
import { badRequest } from '@gyropilot/schema/api-error'
import { excerpt, unrecognized } from '@gyropilot/schema/body-refusals'
import { decodeMessage } from './decode-message.ts'
import { planOf } from './message-plan.ts'
import { eachField, expectWireType } from './special-messages.ts'
import { LENGTH_DELIMITED, ProtobufError, WireReader } from './wire.ts'

const PREFIX_LENGTH = 4
const OPTIONS = 'DeleteOptions'
const NO_BYTES = new Uint8Array(0)
const NOT_MARSHALABLE =
  'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message'

/** The kind that the endpoint takes: what a body without kind and apiVersion is. */
export interface ExpectedMessage {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What is wrong with a body that nothing is made of, and its first bytes, as an error. */
export type EnvelopeRefusal = (why: string, shown: string) => Error

interface Envelope {
  apiVersion: string
  kind: string
  raw: Uint8Array
}

/**
 * The body as the equal JSON body would be, kind and apiVersion included. Bytes start with the prefix. The object is a message
 * whatever the envelope says of its content type. Throws 400.
 */
export function decodeProtobufBody(
  bytes: Uint8Array,
  expected: ExpectedMessage,
  refuse: EnvelopeRefusal = (why, shown) => unrecognized(expected.kind, why, shown),
): unknown {
  const envelope = readEnvelope(bytes, refuse)
  const header = headerOf(envelope)
  const { group, version, kind } = kindOf(envelope, expected)
  const isOptions = expected.kind === OPTIONS
  // Which kind options are comes before what is in them.
  const schema = isOptions && kind !== OPTIONS ? undefined : messageSchema(group, version, kind)
  const handled = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: `
  if (schema !== undefined) {
    try {
      return { ...header, ...decodeMessage(envelope.raw, planOf(schema)) }
    } catch (error) {
      if (!(error instanceof ProtobufError)) throw error
      throw badRequest(isOptions ? error.message : `${handled}${error.message}`)
    }
  }
  const { group: ownGroup, version: ownVersion, kind: ownKind } = expected
  if (
    messageSchema(ownGroup, ownVersion, ownKind) === undefined &&
    kind === ownKind &&
    group === ownGroup
  )
    throw badRequest(`${handled}${NOT_MARSHALABLE}`)
  // Another kind than the endpoint's: the check of the header refuses it in its own words.
  return header
}

function readEnvelope(bytes: Uint8Array, refuse: EnvelopeRefusal): Envelope {
  const envelope: Envelope = { apiVersion: '', kind: '', raw: NO_BYTES }
  const reader = new WireReader(bytes, PREFIX_LENGTH)
  if (reader.atEnd) throw refuse('empty body', excerpt(bytes))
  try {
    eachField(reader, 'Unknown', (fieldNumber) => {
      if (fieldNumber < 1 || fieldNumber > 4) return false
      expectWireType(reader, LENGTH_DELIMITED, UNKNOWN_FIELDS[fieldNumber - 1]!)
      if (fieldNumber === 1) readTypeMeta(reader.message(), envelope)
      else if (fieldNumber === 2) envelope.raw = reader.bytes()
      else reader.skip()
      return true
    })
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    throw refuse(error.message, excerpt(bytes))
  }
  return { ...envelope, apiVersion: asVersion(envelope.apiVersion) }
}

/** Where it names no version it names none at all, and the kind stays. */
function asVersion(apiVersion: string): string {
  const parts = apiVersion.split('/')
  if (parts.length > 2 || parts.at(-1) === '') return ''
  return parts[0] === '' ? parts[1]! : apiVersion
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
  if (kind === OPTIONS) return schemaNamed('meta-v1.DeleteOptions')
  // Still taken in the version that is not served any more, whose message is the same.
  if (kind === 'Eviction' && group === 'policy' && version === 'v1beta1')
    return schemaNamed('policy-v1.Eviction')
  return schemaOf(group, version, kind)
}
