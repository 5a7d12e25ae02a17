import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaNamed, type ObjectSchema } from '@gyropilot/api/schema'
import { decodeMessage } from './decode-message.ts'
import { encodeObject, field, numberField, tag, varint } from './testing/messages.ts'
import { fieldNumbers, planOf } from './message-plan.ts'

function schema(name: string): ObjectSchema {
  return schemaNamed(name)!
}

function number(message: string, name: string): number {
  return fieldNumbers[message]![name]!
}

function decode(name: string, ...parts: Uint8Array[]): unknown {
  return decodeMessage(Buffer.concat(parts), planOf(schema(name)))
}

const ROUND_TRIPS: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ['maps of texts', 'meta-v1.ObjectMeta', { name: 'x', labels: { a: 'b', 'c/d': '' } }],
  ['maps of bytes', 'core-v1.Secret', { data: { a: 'AAEC/w==', empty: '' } }],
  [
    'maps of quantities',
    'core-v1.ResourceRequirements',
    { limits: { cpu: '1500m', memory: '1Gi' } },
  ],
  ['bytes', 'admissionregistration-v1.WebhookClientConfig', { caBundle: 'aGVsbG8=' }],
  ['times', 'meta-v1.ObjectMeta', { creationTimestamp: '2024-02-29T23:59:59Z' }],
  ['times before 1970', 'meta-v1.ObjectMeta', { creationTimestamp: '0001-01-02T00:00:00Z' }],
  [
    'times with microseconds',
    'coordination-v1.LeaseSpec',
    { acquireTime: '2024-01-02T03:04:05.000678Z', renewTime: '1969-12-31T23:59:59.999999Z' },
  ],
  ['numbers or texts', 'apps-v1.RollingUpdateDeployment', { maxSurge: '25%', maxUnavailable: 0 }],
  [
    'field sets',
    'meta-v1.ManagedFieldsEntry',
    { manager: 'm', apiVersion: 'v1', fieldsV1: { 'f:data': { 'f:a': {} } } },
  ],
  ['raw objects', 'apps-v1.ControllerRevision', { revision: 3, data: { spec: { a: [1, null] } } }],
  ['embedded structs', 'core-v1.Volume', { name: 'v', emptyDir: { medium: 'Memory' } }],
  [
    'embedded structs in embedded structs',
    'admissionregistration-v1.NamedRuleWithOperations',
    { resourceNames: ['x'], operations: ['*'], apiGroups: ['apps'], scope: '*' },
  ],
  ['lists of numbers', 'core-v1.PodSecurityContext', { supplementalGroups: [0, 1, 2 ** 40] }],
  [
    'maps of lists',
    'authentication-v1.UserInfo',
    { username: 'u', extra: { scopes: ['a', 'b'], none: [] } },
  ],
  ['absent and zero differ', 'core-v1.ContainerPort', { containerPort: 0, hostIP: '' }],
]

for (const [title, name, value] of ROUND_TRIPS) {
  test(title, () => {
    assert.deepEqual(decode(name, encodeObject(schema(name), value)), value)
  })
}

test('integers in raw objects keep their digits', () => {
  const data = field(
    number('apps-v1.ControllerRevision', 'data'),
    field(1, '{"n":9007199254740993,"f":1.5}'),
  )
  const expected = { data: { n: 9007199254740993n, f: 1.5 } }
  assert.deepEqual(decode('apps-v1.ControllerRevision', data), expected)
})

test('entries of maps are keys and values whatever their tags say, and no tag in them is illegal', () => {
  const data = number('core-v1.ConfigMap', 'data')
  const entries: readonly (readonly [string, Buffer])[] = [
    [
      'a key with the tag of a number',
      Buffer.concat([tag(1, 0), varint(1), Buffer.from('a'), field(2, 'b')]),
    ],
    [
      'a value with a wire type that there is not',
      Buffer.concat([field(1, 'a'), tag(2, 7), varint(1), Buffer.from('b')]),
    ],
    ['field number zero', Buffer.concat([field(1, 'a'), field(0, ''), field(2, 'b')])],
  ]
  for (const [title, entry] of entries)
    assert.deepEqual(decode('core-v1.ConfigMap', field(data, entry)), { data: { a: 'b' } }, title)
})

const SCHEMAS = 'apiextensions-v1.JSONSchemaProps'
const AT = (name: string) => number(SCHEMAS, name)

test('schemas of custom resources: alternatives, JSON and recursion', () => {
  const text = field(AT('type'), 'string')
  const value = decode(
    SCHEMAS,
    field(AT('properties'), field(1, 'name'), field(2, text)),
    field(AT('items'), field(1, text)),
    field(AT('additionalProperties'), numberField(1, 1)),
    field(AT('additionalItems'), numberField(1, 0), field(2, text)),
    field(AT('dependencies'), field(1, 'a'), field(2, field(2, 'b'), field(2, 'c'))),
    field(AT('dependencies'), field(1, 'd'), field(2, field(1, text))),
    field(AT('default'), field(1, '{"a":[1]}')),
    field(AT('enum'), field(1, '"x"')),
    field(AT('enum'), field(1, 'null')),
    encodeObject(schema(SCHEMAS), {
      maximum: 1.5,
      $ref: '#/x',
      'x-kubernetes-int-or-string': true,
    }),
  )
  assert.deepEqual(value, {
    properties: { name: { type: 'string' } },
    items: { type: 'string' },
    additionalProperties: true,
    additionalItems: { type: 'string' },
    dependencies: { a: ['b', 'c'], d: { type: 'string' } },
    default: { a: [1] },
    enum: ['x', null],
    maximum: 1.5,
    $ref: '#/x',
    'x-kubernetes-int-or-string': true,
  })
})

test('schemas of custom resources: a list of schemas, and false', () => {
  const value = decode(
    SCHEMAS,
    field(AT('items'), field(2, field(AT('type'), 'a')), field(2, field(AT('type'), 'b'))),
    field(AT('additionalProperties')),
  )
  assert.deepEqual(value, { items: [{ type: 'a' }, { type: 'b' }], additionalProperties: false })
})

test('the status subresource of a custom resource is an empty message', () => {
  const name = 'apiextensions-v1.CustomResourceSubresources'
  assert.deepEqual(decode(name, field(number(name, 'status'))), { status: {} })
})

test('absent fields are absent, empty messages are empty objects', () => {
  assert.deepEqual(decode('core-v1.Pod'), {})
  assert.deepEqual(decode('core-v1.Pod', field(number('core-v1.Pod', 'spec'))), { spec: {} })
})

test('an empty time is no time', () => {
  const name = 'meta-v1.ObjectMeta'
  const at = number(name, 'creationTimestamp')
  assert.deepEqual(decode(name, field(at)), { creationTimestamp: null })
  assert.deepEqual(decode(name, field(at, numberField(1, 0))), {
    creationTimestamp: '1970-01-01T00:00:00Z',
  })
})

test('fractions of a second that are negative or more than one', () => {
  const name = 'coordination-v1.LeaseSpec'
  const renewTime = (nanos: number) =>
    decode(name, field(number(name, 'renewTime'), numberField(1, 10), numberField(2, nanos)))
  assert.deepEqual(renewTime(1_500_000_000), { renewTime: '1970-01-01T00:00:11.500000Z' })
  assert.deepEqual(renewTime(-1000), { renewTime: '1970-01-01T00:00:09.999999Z' })
})

test('whole numbers may be packed', () => {
  const name = 'core-v1.PodSecurityContext'
  const at = number(name, 'supplementalGroups')
  const packed = field(at, varint(1), varint(300))
  assert.deepEqual(decode(name, packed, numberField(at, 2)), { supplementalGroups: [1, 300, 2] })
})

test('of scalars that come twice the last counts, messages are merged', () => {
  const name = 'core-v1.ServiceSpec'
  const selector = (key: string) => field(number(name, 'selector'), field(1, key), field(2, key))
  const type = number(name, 'type')
  assert.deepEqual(decode(name, selector('a'), field(type, 'x'), selector('b'), field(type, 'y')), {
    selector: { a: 'a', b: 'b' },
    type: 'y',
  })
  const spec = number('core-v1.Service', 'spec')
  const clusterIP = field(number(name, 'clusterIP'), 'None')
  assert.deepEqual(
    decode('core-v1.Service', field(spec, field(type, 'x')), field(spec, clusterIP)),
    {
      spec: { type: 'x', clusterIP: 'None' },
    },
  )
})

test('half a map entry: the empty key, the zero value', () => {
  const name = 'core-v1.ResourceRequirements'
  const at = number(name, 'limits')
  assert.deepEqual(decode(name, field(at, field(1, 'cpu'))), { limits: { cpu: '0' } })
  assert.deepEqual(decode(name, field(at, field(2, field(1, '2')))), { limits: { '': '2' } })
  const labels = number('meta-v1.ObjectMeta', 'labels')
  assert.deepEqual(decode('meta-v1.ObjectMeta', field(labels)), { labels: { '': '' } })
})

test('a key called __proto__ is a key', () => {
  const labels = number('meta-v1.ObjectMeta', 'labels')
  const value = decode(
    'meta-v1.ObjectMeta',
    field(labels, field(1, '__proto__'), field(2, 'x')),
  ) as { labels: Record<string, string> }
  assert.deepEqual(Object.entries(value.labels), [['__proto__', 'x']])
  assert.equal(Object.getPrototypeOf(value.labels), Object.prototype)
})

test('unknown field numbers are skipped', () => {
  const name = number('meta-v1.ObjectMeta', 'name')
  assert.deepEqual(
    decode('meta-v1.ObjectMeta', field(1999, 'x'), field(name, 'n'), numberField(2000, 1)),
    { name: 'n' },
  )
})

const name = number('meta-v1.ObjectMeta', 'name')
const stamp = number('meta-v1.ObjectMeta', 'creationTimestamp')
const labels = number('meta-v1.ObjectMeta', 'labels')
const managed = number('meta-v1.ObjectMeta', 'managedFields')

const BROKEN: readonly (readonly [string, Buffer, string])[] = [
  ['a number for a text', numberField(name, 1), 'proto: wrong wireType = 0 for field Name'],
  [
    'a number for a message',
    numberField(stamp, 1),
    'proto: wrong wireType = 0 for field CreationTimestamp',
  ],
  ['a number for a map', numberField(labels, 1), 'proto: wrong wireType = 0 for field Labels'],
  [
    'a text within a time',
    field(stamp, field(1, 'x')),
    'proto: wrong wireType = 2 for field Seconds',
  ],
  // Read as the length of the key, whatever its tag says.
  ['a number as key', field(labels, numberField(1, 1)), 'unexpected EOF'],
  ['a cut message', field(stamp, tag(1, 0)), 'unexpected EOF'],
  [
    'the year 10000',
    field(stamp, numberField(1, 253402300800)),
    'Time.MarshalJSON: year outside of range [0,9999]',
  ],
  [
    'the largest time',
    field(stamp, numberField(1, 2n ** 63n - 1n), numberField(2, -1)),
    'Time.MarshalJSON: year outside of range [0,9999]',
  ],
  [
    'raw text that is no JSON',
    field(managed, field(7, field(1, '{'))),
    'json parse error: unexpected end of JSON input',
  ],
]

for (const [title, bytes, message] of BROKEN) {
  test(`refused: ${title}`, () => {
    assert.throws(() => decode('meta-v1.ObjectMeta', bytes), { name: 'ProtobufError', message })
  })
}

test('a quantity has no spaces around it', () => {
  const limits = number('core-v1.ResourceRequirements', 'limits')
  const of = (text: string) => field(limits, field(1, 'cpu'), field(2, field(1, text)))
  assert.deepEqual(decode('core-v1.ResourceRequirements', of('1')), { limits: { cpu: '1' } })
  for (const text of [' 1', '1\t'])
    assert.throws(() => decode('core-v1.ResourceRequirements', of(text)), {
      name: 'ProtobufError',
      message:
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    })
})

test('messages may be nested as deep as JSON, not deeper', () => {
  const nested = (depth: number) => {
    let bytes: Buffer = Buffer.alloc(0)
    for (let level = 0; level < depth; level++) bytes = field(AT('not'), bytes)
    return bytes
  }
  assert.ok(decode(SCHEMAS, nested(1000)))
  assert.throws(() => decode(SCHEMAS, nested(1001)), { message: 'exceeded max depth' })
  const raw = '['.repeat(1001) + ']'.repeat(1001)
  assert.throws(() => decode(SCHEMAS, field(AT('default'), field(1, raw))), {
    message: /exceeded max depth/,
  })
})
