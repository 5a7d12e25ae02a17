import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import { decodeObject } from './decode-object.ts'

const MANAGED = [
  {
    manager: 'kube-controller-manager',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } } },
  },
  { manager: 'kubelet', fieldsV1: { 'f:status': {} }, subresource: 'status' },
]
const METADATA = {
  name: 'a',
  uid: 'u',
  resourceVersion: '7',
  labels: { app: 'x' },
  annotations: { note: '{"metadata":{"a":"}]"}}', quoted: '\\"\\\\' },
  ownerReferences: [{ uid: 'o' }, { uid: 'p' }],
}
const SPEC = { containers: [{ name: 'c', env: [{ name: 'A' }] }] }

const pod = (managedFields?: unknown): Record<string, unknown> => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: managedFields === undefined ? METADATA : { ...METADATA, managedFields },
  spec: SPEC,
  status: { phase: 'Pending' },
})
const text = JSON.stringify

test('lean: an object, and that of a watch event, has all but its managedFields', () => {
  assert.deepEqual(decodeObject(text(pod(MANAGED)), 'lean'), pod())
  const event = (object: unknown): unknown => ({ type: 'ADDED', object })
  assert.deepEqual(decodeObject(text(event(pod(MANAGED))), 'lean', 2), event(pod()))
  assert.deepEqual(decodeObject(`${text(event(pod(MANAGED)))}\n`, 'metadata', 2), {
    type: 'ADDED',
    object: { kind: 'Pod', apiVersion: 'v1', metadata: METADATA },
  })
})

test('metadata: an object has its kind, apiVersion and metadata without managedFields', () => {
  assert.deepEqual(decodeObject(text(pod(MANAGED)), 'metadata'), {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: METADATA,
  })
})

test('whole: everything is there', () => {
  assert.deepEqual(decodeObject(text(pod(MANAGED)), 'whole'), pod(MANAGED))
})

test('custom objects have their keys in alphabetical order, and so more behind managedFields', () => {
  const { labels, name, resourceVersion, uid } = METADATA
  const metadata = { labels, managedFields: MANAGED, name, resourceVersion, uid }
  const custom = (each: object): unknown => ({ apiVersion: 'x/v1', kind: 'X', metadata: each })
  const { managedFields: _, ...rest } = metadata
  for (const decoding of ['lean', 'metadata'] as const)
    assert.deepEqual(decodeObject(text(custom(metadata)), decoding), custom(rest))
})

const PARTS: [string, Record<string, unknown>][] = [
  ['without any', pod()],
  ['with none in them', pod([])],
  [
    'of a template',
    { ...pod(), spec: { template: { metadata: { a: 1, managedFields: MANAGED } } } },
  ],
  ['in another field', { ...pod(), spec: { a: 1, managedFields: MANAGED } }],
  ['that come before the metadata', { data: { a: 1, managedFields: MANAGED }, ...pod() }],
  ['that come in metadata before the metadata', { data: pod(MANAGED), ...pod() }],
  ['of the items of a list', { kind: 'List', metadata: {}, items: [pod(MANAGED), pod(MANAGED)] }],
  ['without metadata', { kind: 'Status', status: 'Success', a: [{ managedFields: MANAGED }] }],
]
for (const [title, value] of PARTS) {
  test(`managedFields that are not the object's own are left alone: ${title}`, () => {
    for (const decoding of ['lean', 'metadata'] as const)
      assert.deepEqual(decodeObject(text(value), decoding), value)
  })
}

const KEYS = [
  'v:"}]"',
  'v:"a}],"',
  'k:{"name":"}]"}',
  'k:{"name":"a}]}},\\"b\\":{"}',
  'f:}]',
  'f:a}],',
  'f:a}]}',
  'f:a}]},',
  'f:a}]}}',
  'f:a}]}}}',
]
for (const key of KEYS) {
  test(`the end of managedFields is not taken for found within a key: ${key}`, () => {
    for (const fieldsV1 of [{ [key]: {} }, { [key]: {}, 'f:b': {} }, { 'f:b': { [key]: {} } }]) {
      const first = pod([{ manager: 'm', fieldsV1 }])
      const more = pod([{ manager: 'm', fieldsV1, subresource: 'status' }, ...MANAGED])
      assert.deepEqual(decodeObject(text(first), 'lean'), first)
      assert.deepEqual(decodeObject(text(more), 'lean'), more)
    }
  })
}

test('what is no JSON is refused', () => {
  const cut = text(pod(MANAGED)).slice(0, -1)
  for (const decoding of ['whole', 'lean'] as const)
    for (const wrong of ['', '{', cut])
      assert.throws(() => decodeObject(wrong, decoding), SyntaxError)
})

test('somebody may know what follows the metadata by its text', () => {
  const told: [unknown, string][] = []
  const decoding = (answer: () => boolean) => ({
    complete(object: KubernetesObject, rest: string) {
      told.push([structuredClone(object), rest])
      return answer()
    },
  })
  const known = decoding(() => true)
  const event = { type: 'ADDED', object: pod(MANAGED) }
  const bare = { kind: 'Pod', apiVersion: 'v1', metadata: METADATA }
  const rest = `"spec":${text(SPEC)},"status":{"phase":"Pending"}`
  assert.deepEqual(decodeObject(`${text(event)}\n`, known, 2), { type: 'ADDED', object: bare })
  assert.deepEqual(decodeObject(text(pod(MANAGED)), known), bare)
  assert.deepEqual(told, [
    [bare, rest],
    [bare, rest],
  ])
  for (const unknown of [
    decoding(() => false),
    decoding(() => {
      throw new Error('no')
    }),
  ])
    assert.deepEqual(decodeObject(text(pod(MANAGED)), unknown), pod())
})

test('nobody is asked where nothing follows the metadata, or where managedFields are not the last of it', () => {
  const asked = {
    complete(): boolean {
      throw new Error('asked')
    },
  }
  const bare = { metadata: { ...METADATA, managedFields: MANAGED } }
  assert.deepEqual(decodeObject(text(bare), asked), { metadata: METADATA })
  const custom = { metadata: { managedFields: MANAGED, name: 'a' }, spec: SPEC }
  assert.deepEqual(
    decodeObject(text({ ...custom, metadata: { labels: {}, ...custom.metadata } }), asked),
    {
      metadata: { labels: {}, name: 'a' },
      spec: SPEC,
    },
  )
})

test('a field called __proto__ is a field', () => {
  const written = text(pod(MANAGED)).replace('"status":', '"__proto__":')
  const decoded = decodeObject(written, 'lean') as object
  assert.deepEqual(Object.keys(decoded), ['kind', 'apiVersion', 'metadata', 'spec', '__proto__'])
  assert.equal(Object.getPrototypeOf(decoded), Object.prototype)
})

for (const broken of [
  `${text(pod(MANAGED))}}`,
  text(pod(MANAGED)).slice(0, -1),
  `${text(pod(MANAGED)).slice(0, -2)},}}`,
]) {
  test(`braces that do not close what they should are refused: ${broken.slice(-30)}`, () => {
    assert.throws(() => decodeObject(broken, 'lean'), SyntaxError)
    assert.throws(() => decodeObject(broken, 'lean', 2), SyntaxError)
  })
}

test('what is behind the object is nothing that somebody could know', () => {
  const known = { complete: () => true }
  assert.throws(() => decodeObject(`${text(pod(MANAGED))}x`, known), SyntaxError)
  assert.throws(() => decodeObject(`${text({ object: pod(MANAGED) }).slice(0, -1)}]`, known, 2))
})

test('integers beyond 2^53 are exact, before managedFields and behind them', () => {
  const written = text(pod(MANAGED))
    .replace('"name":"a"', '"name":"a","deletionGracePeriodSeconds":9007199254740993')
    .replace('"spec":{', '"spec":{"activeDeadlineSeconds":9223372036854775807,')
  const metadata = { ...METADATA, deletionGracePeriodSeconds: 9007199254740993n }
  const spec = { ...SPEC, activeDeadlineSeconds: 9223372036854775807n }
  for (const decoding of ['lean', { complete: () => false }] as const)
    assert.deepEqual(decodeObject(written, decoding), { ...pod(), metadata, spec })
  const whole = decodeObject(written, 'whole') as { readonly spec: unknown }
  assert.deepEqual(whole.spec, spec)
  assert.deepEqual(decodeObject(written, 'metadata'), { kind: 'Pod', apiVersion: 'v1', metadata })
})
