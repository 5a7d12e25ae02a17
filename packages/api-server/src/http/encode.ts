/** JSON, YAML and protobuf on the wire. Contract: docs/behaviour/api-server/requests.md, "Response (Accept)". */
import type { Stored } from '@gyropilot/schema/objects'
import { encodedItem, encodedMessage, encodedObject } from '../storage/encoding.ts'
import type { AnswerBody } from './answer.ts'
import { protobufAnswers } from '@gyropilot/protobuf'
import type { AnsweredObject, ProtobufAnswers } from '@gyropilot/protobuf'
import { PROTOBUF } from './negotiation.ts'
import type { MediaType } from './negotiation.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

type Encodable = Extract<AnswerBody, { kind: 'object' | 'list' }>
type EncodableObject = Extract<AnswerBody, { kind: 'object' }>

/** Lists are sent in pieces of about this size, so that no list exists as one string. */
const CHUNK_CHARACTERS = 262_144

/**
 * The whole answer as one text of ASCII characters, whose bytes are its characters; undefined when it has others or is written another
 * way. Node sends head and body as one text then, which costs a sixth less of its time than bytes of their own.
 */
export function asciiBody(
  body: EncodableObject,
  mediaType: MediaType,
  pretty: boolean,
): string | undefined {
  if (mediaType !== 'application/json' || pretty) return undefined
  const text = `${objectText(body)}\n`
  return Buffer.byteLength(text) === text.length ? text : undefined
}

function objectText({ value, stored }: EncodableObject): string {
  return stored === true ? encodedObject(value as Stored) : stringifyExact(value)
}

/** The text of an answer in pieces. Compact JSON ends with a newline, indented JSON does not. */
export async function encodeBody(
  body: Encodable,
  mediaType: MediaType,
  pretty: boolean,
): Promise<Uint8Array[]> {
  if (mediaType === 'application/json' && !pretty) {
    if (body.kind === 'list') return encodeList(body)
    return [Buffer.from(`${objectText(body)}\n`)]
  }
  if (mediaType === PROTOBUF) {
    const { encodeAnswer } = await protobufAnswers()
    const value = body.kind === 'object' ? body.value : { ...body.head, items: body.items }
    return [encodeAnswer(value as AnsweredObject, encodedMessage)]
  }
  const value =
    body.kind === 'object'
      ? body.value
      : {
          ...body.head,
          items: body.items.map((item) => (body.selfDescribing ? item : withoutType(item))),
        }
  return [Buffer.from(await encodeValue(value, mediaType, pretty))]
}

async function encodeValue(
  value: unknown,
  mediaType: 'application/json' | 'application/yaml',
  pretty: boolean,
): Promise<string> {
  if (mediaType === 'application/yaml') {
    const { formatYaml } = await import('@gyropilot/foundation/yaml-text')
    return formatYaml(value)
  }
  return pretty ? stringifyExact(value, 2) : `${stringifyExact(value)}\n`
}

function encodeList({
  head,
  items,
  selfDescribing,
}: Extract<AnswerBody, { kind: 'list' }>): Buffer[] {
  const encode = selfDescribing ? encodedObject : encodedItem
  const chunks: Buffer[] = []
  let parts: string[] = [`${JSON.stringify(head).slice(0, -1)},"items":[`]
  let characters = 0
  for (let i = 0; i < items.length; i++) {
    const json = encode(items[i]!)
    parts.push(i === 0 ? '' : ',', json)
    characters += json.length
    if (characters < CHUNK_CHARACTERS) continue
    chunks.push(Buffer.from(parts.join('')))
    parts = []
    characters = 0
  }
  parts.push(']}\n')
  chunks.push(Buffer.from(parts.join('')))
  return chunks
}

function withoutType(item: Stored): Stored {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = item
  return rest
}

/** The last line that was encoded: one event goes to all its watchers in one turn, and they share its bytes. */
let lastType = ''
let lastObject: unknown
let lastLine: Buffer | undefined

/** What carries the events of a watch: type, the object, and what is shown of it. */
export type EventEncoder = (type: string, object: Stored, shown: unknown) => Uint8Array

/** The last frame, as the last line. */
let lastFrameType = ''
let lastFramed: unknown
let lastFrame: Uint8Array | undefined

/** Frames of protobuf instead of lines of JSON. */
export function protobufEvents({ encodeEventFrame }: ProtobufAnswers): EventEncoder {
  return (type, object, shown) => {
    if (shown === lastFramed && type === lastFrameType && lastFrame !== undefined) return lastFrame
    const isKept = type !== 'DELETED' && shown === object
    lastFrame = encodeEventFrame(type, shown as AnsweredObject, isKept ? encodedMessage : undefined)
    lastFrameType = type
    lastFramed = shown
    return lastFrame
  }
}

/** Bytes of the length that stands before a frame. */
const LENGTH_BYTES = 4

/** Where each event is a message of its own, nothing tells its length. */
export function protobufMessages(answers: ProtobufAnswers): EventEncoder {
  const frame = protobufEvents(answers)
  return (type, object, shown) => frame(type, object, shown).subarray(LENGTH_BYTES)
}

/** One line of a watch. */
export function encodeEvent(type: string, object: Stored, shown: unknown): Uint8Array {
  if (shown === lastObject && type === lastType && lastLine !== undefined) return lastLine
  // The last state of what is gone is for this line alone.
  const isKept = type !== 'DELETED' && shown === object && Object.isFrozen(object)
  const json = isKept ? encodedObject(object) : stringifyExact(shown)
  const line = Buffer.from(`{"type":"${type}","object":${json}}\n`)
  lastType = type
  lastObject = shown
  lastLine = line
  return line
}
