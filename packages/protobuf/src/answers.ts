/**
 * Answers in protobuf: objects and lists in the envelope that `envelope.ts` reads, events of a watch in frames.
 * Contract: docs/behaviour/api-server/requests.md, Content negotiation.
 */
import { schemaNamed, schemaOf } from '@gyropilot/api/schema'
import {
  fieldNumbers,
  planOf,
  type FieldPlan,
  type MessagePlan,
  type ValuePlan,
} from './message-plan.ts'
import { writeMembers } from './encode-message.ts'
import { WireWriter } from './wire-writer.ts'

/** `k8s` and a zero. */
const PREFIX = Uint8Array.from([0x6b, 0x38, 0x73, 0])
const META_GROUP = 'meta.k8s.io'

/** What the server answers in JSON, with kind and apiVersion. */
export type AnsweredObject = Readonly<Record<string, unknown>>

/** Whether there is a message for objects of the kind. Custom resources have none. */
export function hasMessage(apiVersion: string, kind: string): boolean {
  return planOfKind(apiVersion, kind) !== undefined
}

/** Throws for kinds without a message. */
export function encodeAnswer(object: AnsweredObject): Uint8Array {
  const writer = new WireWriter()
  writeEnvelope(writer, object)
  return writer.finish()
}

/** One event of a watch: four bytes of length, then message WatchEvent {1: type, 2: {1: object in its envelope}}. */
export function encodeEventFrame(type: string, object: AnsweredObject): Uint8Array {
  const writer = new WireWriter()
  writer.messageField(2, () => {
    writer.messageField(1, () => writeEnvelope(writer, object))
  })
  writer.stringField(1, type)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(writer.length)
  writer.raw(length)
  return writer.finish()
}

function writeEnvelope(writer: WireWriter, object: AnsweredObject): void {
  const apiVersion = String(object['apiVersion'] ?? '')
  const kind = String(object['kind'] ?? '')
  const plan = planOfKind(apiVersion, kind)
  if (plan === undefined) throw new Error(`no message for ${apiVersion} ${kind}`)
  writer.stringField(4, '')
  writer.stringField(3, '')
  writer.messageField(2, () => writeMembers(writer, object, plan))
  writer.messageField(1, () => {
    writer.stringField(2, kind)
    writer.stringField(1, apiVersion)
  })
  writer.raw(PREFIX)
}

function planOfKind(apiVersion: string, kind: string): MessagePlan | undefined {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  if (group === META_GROUP) return METADATA_PLANS.get(kind)
  if (apiVersion === 'v1' && kind === 'Status') return planOf(schemaNamed('meta-v1.Status')!)
  const schema = schemaOf(group, apiVersion.slice(slash + 1), kind)
  return schema === undefined || fieldNumbers[schema.name] === undefined
    ? undefined
    : planOf(schema)
}

const message = (plan: () => MessagePlan): ValuePlan => ({ kind: 'message', plan })
const field = (name: string, shape: FieldPlan['shape'], value: ValuePlan): FieldPlan => ({
  name,
  goName: name,
  shape,
  value,
})

const OBJECT_METADATA: MessagePlan = {
  goName: 'PartialObjectMetadata',
  fields: new Map([
    [
      1,
      field(
        'metadata',
        'single',
        message(() => planOf(schemaNamed('meta-v1.ObjectMeta')!)),
      ),
    ],
  ]),
}

/** Objects and lists of which only the metadata was asked for: kinds that no schema tells of. */
const METADATA_PLANS: ReadonlyMap<string, MessagePlan> = new Map([
  ['PartialObjectMetadata', OBJECT_METADATA],
  [
    'PartialObjectMetadataList',
    {
      goName: 'PartialObjectMetadataList',
      fields: new Map([
        [
          1,
          field(
            'metadata',
            'single',
            message(() => planOf(schemaNamed('meta-v1.ListMeta')!)),
          ),
        ],
        [
          2,
          field(
            'items',
            'list',
            message(() => OBJECT_METADATA),
          ),
        ],
      ]),
    },
  ],
])
