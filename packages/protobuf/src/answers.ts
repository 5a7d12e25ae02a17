/**
 * Answers in protobuf: objects and lists in the envelope that `envelope.ts` reads, events of a watch in frames.
 * Contract: docs/behaviour/api-server/requests.md, Content negotiation.
 */
import { schemaNamed, schemaOf } from '@gyropilot/api/schema'
import { discoveryPlan, metadataPlan } from './messages-without-schema.ts'
import { fieldNumbers, planOf, type MessagePlan } from './message-plan.ts'
import { encodeMessage, writeMembers } from './encode-message.ts'
import { LENGTH_DELIMITED } from './wire.ts'
import { WireWriter } from './wire-writer.ts'

/** `k8s` and a zero. */
const PREFIX = Uint8Array.from([0x6b, 0x38, 0x73, 0])
const META_GROUP = 'meta.k8s.io'
/** Of documents of discovery, the plain and the aggregated ones. */
const DISCOVERY_GROUPS: ReadonlySet<string> = new Set(['', 'apidiscovery.k8s.io'])

/** What the server answers in JSON, with kind and apiVersion. */
export type AnsweredObject = Readonly<Record<string, unknown>>

/** Whether there is a message for objects of the kind. Custom resources have none. */
export function hasMessage(apiVersion: string, kind: string): boolean {
  return planOfKind(apiVersion, kind) !== undefined
}

/** The message of an object: that which was kept, else the one that is made. */
export type KeptMessage = (object: AnsweredObject, make: () => Uint8Array) => Uint8Array

/** `kept` is asked for the message of the object, or of each that a list holds. Throws for kinds without a message. */
export function encodeAnswer(object: AnsweredObject, kept?: KeptMessage): Uint8Array {
  const writer = new WireWriter()
  writeEnvelope(writer, object, kept)
  return writer.finish()
}

/** One event of a watch: four bytes of length, then message WatchEvent {1: type, 2: {1: object in its envelope}}. */
export function encodeEventFrame(
  type: string,
  object: AnsweredObject,
  kept?: KeptMessage,
): Uint8Array {
  const writer = new WireWriter()
  writer.messageField(2, () => {
    writer.messageField(1, () => writeEnvelope(writer, object, kept))
  })
  writer.stringField(1, type)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(writer.length)
  writer.raw(length)
  return writer.finish()
}

function writeEnvelope(
  writer: WireWriter,
  object: AnsweredObject,
  kept: KeptMessage | undefined,
): void {
  const apiVersion = String(object['apiVersion'] ?? '')
  const kind = String(object['kind'] ?? '')
  const plan = planOfKind(apiVersion, kind)
  if (plan === undefined) throw new Error(`no message for ${apiVersion} ${kind}`)
  writer.stringField(4, '')
  writer.stringField(3, '')
  if (kept === undefined) writer.messageField(2, () => writeMembers(writer, object, plan))
  else writer.messageField(2, () => writeKept(writer, object, plan, kept))
  writer.messageField(1, () => {
    writer.stringField(2, kind)
    writer.stringField(1, apiVersion)
  })
  writer.raw(PREFIX)
}

/** Items are the last field of every list. */
const ITEMS_FIELD = 2

function writeKept(
  writer: WireWriter,
  object: AnsweredObject,
  plan: MessagePlan,
  kept: KeptMessage,
): void {
  const items = plan.fields.get(ITEMS_FIELD)
  if (items?.name !== 'items' || items.value.kind !== 'message') {
    writer.raw(kept(object, () => encodeMessage(object, plan)))
    return
  }
  const itemPlan = items.value.plan()
  const { items: values, ...head } = object
  for (const item of ((values ?? []) as readonly AnsweredObject[]).toReversed()) {
    writer.bytes(kept(item, () => encodeMessage(item, itemPlan)))
    writer.tag(ITEMS_FIELD, LENGTH_DELIMITED)
  }
  writeMembers(writer, head, plan)
}

function planOfKind(apiVersion: string, kind: string): MessagePlan | undefined {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const version = apiVersion.slice(slash + 1)
  if (group === META_GROUP) return metadataPlan(version, kind)
  if (apiVersion === 'v1' && kind === 'Status') return planOf(schemaNamed('meta-v1.Status')!)
  const document = DISCOVERY_GROUPS.has(group) ? discoveryPlan(kind) : undefined
  if (document !== undefined) return document
  const schema = schemaOf(group, version, kind)
  return schema === undefined || fieldNumbers[schema.name] === undefined
    ? undefined
    : planOf(schema)
}
