import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaNamed, schemaOf, type FieldSchema, type ObjectSchema } from '@gyropilot/api/schema'
import { createTestServer } from '../testing/test-server.ts'
import { resourceTable } from '@gyropilot/api'
import { envelope } from './fixtures.ts'
import type { ServerRequestBody } from '../http/exchange.ts'
import { decodeObject } from '../schema/index.ts'
import { presenceOf } from '../schema/go-facts.ts'
import { decodeMessage } from './decode-message.ts'
import { fieldNumbers, planOf } from './message-plan.ts'
/**
 * Objects that kube-apiserver 1.36 answered, as messages and as JSON: encoded by the same Go types that clients encode
 * with. `value` without uid, creationTimestamp and managedFields: each answer was to a dry run of its own.
 */
import recorded from './recorded-answers.json' with { type: 'json' }
import { LENGTH_DELIMITED, WireReader } from './wire.ts'

interface Recorded {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Base64. */
  readonly body: string
  readonly value: Readonly<Record<string, unknown>>
}

const answers = recorded as readonly unknown[] as readonly Recorded[]

function decoded(answer: Recorded): Record<string, unknown> {
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

test('every recorded object is taken as bytes as it is taken as JSON', async () => {
  const { server, request } = await createTestServer()
  await request('POST', '/api/v1/namespaces', { metadata: { name: 'srv-a' } })
  await request('POST', '/api/v1/namespaces/srv-a/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const send = async (
    path: string,
    type: string,
    body: ServerRequestBody,
  ): Promise<readonly unknown[]> => {
    const headers = { authorization: 'Bearer test-token', 'content-type': type }
    const answer = await server.handle({ method: 'POST', path, headers, body })
    assert.ok(answer.body.kind === 'value')
    const { metadata, status, ...rest } = answer.body.value as {
      metadata?: object
      status?: object
    }
    const {
      uid: _uid,
      managedFields: _fields,
      ...kept
    } = (metadata ?? {}) as Record<string, unknown>
    // The labels of jobs repeat the uid, which chance makes.
    const text = JSON.stringify([rest, kept, { ...status, token: '' }])
    return [answer.status, ...JSON.parse(text.replace(UIDS, 'uid'))]
  }
  let created = 0
  for (const answer of answers) {
    const { group, version, kind, value, body } = answer
    const resource = resourceTable.find(
      (one) => one.group === group && one.version === version && one.kind === kind,
    )
    if (resource === undefined || !resource.verbs.includes('create')) continue
    const apiVersion = group === '' ? version : `${group}/${version}`
    const prefix = group === '' ? '/api/v1' : `/apis/${apiVersion}`
    const { namespace = 'srv-a' } = (value['metadata'] ?? {}) as { namespace?: string }
    const scope = resource.namespaced ? `/namespaces/${namespace}` : ''
    const path = `${prefix}${scope}/${resource.resource}?dryRun=All`
    const asJson = await send(path, 'application/json', { json: { apiVersion, kind, ...value } })
    const raw = Buffer.from(body, 'base64')
    const bytes = envelope({ apiVersion, kind, raw })
    const asBytes = await send(path, 'application/vnd.kubernetes.protobuf', { bytes })
    assert.deepEqual(asBytes, asJson, `${kind} ${JSON.stringify(value)}`)
    assert.notEqual(asBytes[0], 500, JSON.stringify(asBytes))
    if (asBytes[0] === 201) created++
  }
  assert.ok(created > 90, `${created} were created`)
})

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

const UIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
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
