import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceTable, resourceTableOnRequest, type FieldSchema } from '@gyropilot/api'
import { schemaNamed, schemaOf, type ObjectSchema } from '@gyropilot/api/schema'
import { decodeMessage } from './decode-message.ts'
import { encodeObject } from './testing/messages.ts'
import { fieldNumbers, planOf } from './message-plan.ts'

/** Fields of the schema whose number nobody could tell: they are not decoded. A new API version may add some. */
const KNOWN_GAPS: readonly string[] = []

/** Of Go's TypeMeta: they travel in the envelope. */
const TYPE_META = ['apiVersion', 'kind']

function namesOf(message: string): string[] {
  return Object.keys(fieldNumbers[message] ?? {}).flatMap((name) =>
    name.startsWith('...') ? namesOf(name.slice(3)) : [name],
  )
}

/** Every kind that a request body can be, with the subresources' own. */
const kinds = new Map<string, ObjectSchema>()
for (const { group, version, kind, subresources } of [
  ...resourceTable,
  ...resourceTableOnRequest,
]) {
  for (const one of [{ group, version, kind }, ...subresources]) {
    const schema = schemaOf(one.group, one.version, one.kind)
    if (schema !== undefined) kinds.set(`${one.group}/${one.version} ${one.kind}`, schema)
  }
}
kinds.set('DeleteOptions', schemaNamed('meta-v1.DeleteOptions')!)

function structsOf(field: FieldSchema): ObjectSchema[] {
  if (field.schema !== undefined) return [field.schema]
  return [field.items, field.values].flatMap((inner) =>
    inner === undefined ? [] : structsOf(inner),
  )
}

function reachable(): Map<string, ObjectSchema> {
  const known = new Map<string, ObjectSchema>()
  const open = [...kinds.values()]
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (known.has(schema.name)) continue
    known.set(schema.name, schema)
    for (const field of schema.properties.values()) open.push(...structsOf(field))
  }
  return known
}

test('the kinds of the resource table and of its subresources are looked at', () => {
  for (const key of ['/v1 Pod', 'policy/v1 Eviction', 'autoscaling/v1 Scale', '/v1 Binding'])
    assert.ok(kinds.has(key), key)
  assert.ok(kinds.size > 70, `${kinds.size} kinds`)
})

test('every field that the schema knows has a number or is a known gap', () => {
  const headers = new Set([...kinds.values()].map(({ name }) => name))
  const gaps: string[] = []
  for (const [message, { properties }] of reachable()) {
    const names = new Set(namesOf(message))
    for (const name of properties.keys()) {
      if (names.has(name) || (headers.has(message) && TYPE_META.includes(name))) continue
      gaps.push(`${message}.${name}`)
    }
  }
  assert.deepEqual(gaps, KNOWN_GAPS)
})

test('within a message a number is given once', () => {
  for (const [message, fields] of Object.entries(fieldNumbers)) {
    const numbers = Object.values(fields)
    assert.equal(new Set(numbers).size, numbers.length, message)
    for (const number of numbers) assert.ok(Number.isInteger(number) && number > 0, message)
  }
})

test('embedded messages are in the table', () => {
  for (const [message, fields] of Object.entries(fieldNumbers)) {
    for (const name of Object.keys(fields))
      if (name.startsWith('...')) assert.ok(fieldNumbers[name.slice(3)], `${message} ${name}`)
  }
})

/** A value for every field; structs that contain themselves stop at the second round. */
function sampleOf(schema: ObjectSchema, around: readonly string[]): Record<string, unknown> {
  const sample: Record<string, unknown> = {}
  const names = new Set(namesOf(schema.name))
  for (const [name, field] of schema.properties) {
    if (!names.has(name)) continue
    const value = sampleValue(field, [...around, schema.name])
    if (value !== undefined) sample[name] = value
  }
  return sample
}

function sampleValue(field: FieldSchema, around: readonly string[]): unknown {
  switch (field.type) {
    case 'object':
      return around.includes(field.schema!.name) ? undefined : sampleOf(field.schema!, around)
    case 'array': {
      const item = sampleValue(field.items!, around)
      return item === undefined ? undefined : [item, item]
    }
    case 'map': {
      const value = sampleValue(field.values!, around)
      return value === undefined ? undefined : { one: value, two: value }
    }
    case 'json-schema-or-array':
    case 'json-schema-or-boolean':
    case 'json-schema-or-string-array':
      return undefined
    default:
      return SAMPLES[field.type]
  }
}

const SAMPLES: Partial<Record<FieldSchema['type'], unknown>> = {
  string: 'text',
  int32: -7,
  int64: 2 ** 40,
  double: 0.5,
  boolean: true,
  bytes: 'AQID',
  quantity: '1500m',
  'int-or-string': '25%',
  time: '2024-01-02T03:04:05Z',
  microtime: '2024-01-02T03:04:05.000006Z',
  'fields-v1': { 'f:spec': {} },
  raw: {},
  json: [1],
}

for (const [key, schema] of kinds) {
  test(`${key} with all its fields comes back as it was`, () => {
    const sample = sampleOf(schema, [])
    assert.deepEqual(decodeMessage(encodeObject(schema, sample), planOf(schema)), sample)
  })
}
