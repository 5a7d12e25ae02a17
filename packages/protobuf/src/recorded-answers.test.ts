import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaNamed, schemaOf, type FieldSchema, type ObjectSchema } from '@gyropilot/api/schema'
import { decodeObject } from '@gyropilot/schema'
import { presenceOf } from '@gyropilot/schema/go-facts'
import { decodeMessage } from './decode-message.ts'
import { fieldNumbers, planOf } from './message-plan.ts'
import { recordedAnswers as answers, type RecordedAnswer } from './testing/recorded-answers.ts'
import { LENGTH_DELIMITED, WireReader } from './wire.ts'

function decoded(answer: RecordedAnswer): Record<string, unknown> {
  const schema = schemaOf(answer.group, answer.version, answer.kind)!
  const message = decodeMessage(Buffer.from(answer.body, 'base64'), planOf(schema))
  const { object, problems } = decodeObject(answer, message)!
  assert.deepEqual(problems, [])
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
  const {
    uid: _uid,
    creationTimestamp: _created,
    managedFields: _fields,
    ...metadata
  } = rest['metadata'] as Record<string, unknown>
  // Templates of claims travel without their type, which defaulting fills in.
  for (const claim of rest['spec']?.volumeClaimTemplates ?? [])
    Object.assign(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' })
  return 'metadata' in answer.value ? { ...rest, metadata } : rest
}

for (const [index, answer] of answers.entries()) {
  test(`${answer.kind} ${index}: the bytes that Go makes say what its JSON says`, () => {
    assert.deepEqual(decoded(answer), answer.value)
  })
}

test('nearly every message of the API is among the recorded ones', () => {
  const { messages } = facts()
  assert.ok(messages.size >= 465, `${messages.size} messages`)
})

/** Go writes plain numbers, texts and booleans always, zeros too; pointers only when they are set. */
test('what Go leaves out of its bytes is a pointer here, in every message', () => {
  const { absent } = facts()
  const wrong = [...absent].filter((key) => {
    const [message, name] = key.split('\t') as [string, string]
    const schema = schemaNamed(message)!
    const field = schema.properties.get(name)!
    const presence = presenceOf(message, name, field, schema.required.includes(name))
    return SCALARS.includes(field.type) && presence === 'plain'
  })
  assert.deepEqual(wrong, [])
})

const SCALARS: readonly FieldSchema['type'][] = ['string', 'int32', 'int64', 'double', 'boolean']

interface Facts {
  readonly messages: Set<string>
  /** `message TAB field`: single values that a recorded message did not contain. */
  readonly absent: Set<string>
}

function facts(): Facts {
  const found: Facts = { messages: new Set(), absent: new Set() }
  for (const answer of answers) {
    const schema = schemaOf(answer.group, answer.version, answer.kind)!
    collect(schema.name, schema, new WireReader(Buffer.from(answer.body, 'base64')), found)
  }
  return found
}

function collect(message: string, schema: ObjectSchema, reader: WireReader, found: Facts): void {
  found.messages.add(message)
  const names = new Map(
    Object.entries(fieldNumbers[message] ?? {}).map(([name, number]) => [number, name]),
  )
  const present = new Set<string>()
  while (!reader.atEnd) {
    reader.readTag(message)
    const name = names.get(reader.fieldNumber)
    if (name !== undefined) present.add(name)
    const field = name === undefined ? undefined : schema.properties.get(name)
    if (name?.startsWith('...')) collect(name.slice(3), schema, reader.message(), found)
    else if (field === undefined || reader.wireType !== LENGTH_DELIMITED) reader.skip()
    else collectValue(field, reader.message(), found)
  }
  for (const [name, field] of schema.properties) {
    const single = field.type !== 'array' && field.type !== 'map'
    if (single && fieldNumbers[message]?.[name] !== undefined && !present.has(name))
      found.absent.add(`${schema.name}\t${name}`)
  }
}

function collectValue(field: FieldSchema, reader: WireReader, found: Facts): void {
  if (field.type === 'object') collect(field.schema!.name, field.schema!, reader, found)
  else if (field.type === 'array') collectValue(field.items!, reader, found)
  else if (field.type === 'map') {
    while (!reader.atEnd) {
      reader.readTag('entry')
      if (reader.fieldNumber === 2 && reader.wireType === LENGTH_DELIMITED)
        collectValue(field.values!, reader.message(), found)
      else reader.skip()
    }
  }
}
