import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceTable } from '@gyropilot/api'
import { schemaOf } from '@gyropilot/api/schema'
import { encodeAnswer, encodeEventFrame, hasMessage } from './answers.ts'
import { decodeMessage } from './decode-message.ts'
import { encodeMessage } from './encode-message.ts'
import { decodeProtobufBody } from './envelope.ts'
import { planOf } from './message-plan.ts'
import { recordedAnswers } from './testing/recorded-answers.ts'
import { WireReader } from './wire.ts'

/** A time that is not set is an empty message in Go's bytes, and nothing in ours: both are read as no time. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => member ?? undefined))
}

for (const [index, answer] of recordedAnswers.entries()) {
  test(`${answer.kind} ${index}: what Go's bytes say is written so that the same is read`, () => {
    const plan = planOf(schemaOf(answer.group, answer.version, answer.kind)!)
    const said = decodeMessage(Buffer.from(answer.body, 'base64'), plan)
    assert.deepEqual(decodeMessage(encodeMessage(said, plan), plan), withoutNulls(said))
  })
}

test('members stand in the order of their numbers, and kind and apiVersion in the envelope alone', () => {
  const configMap = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a' },
    data: { b: '2', a: '1' },
    immutable: true,
  }
  const envelope = '0a0f0a0276311209436f6e6669674d6170'
  const object = ['0a030a0161', '12060a0161120131', '12060a0162120132', '2001'].join('')
  const length = (object.length / 2).toString(16).padStart(2, '0')
  assert.equal(
    Buffer.from(encodeAnswer(configMap)).toString('hex'),
    `6b387300${envelope}12${length}${object}1a002200`,
  )
})

test('lists, metadata alone and refusals have envelopes of their own kind', () => {
  const list = {
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7' },
    items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
  }
  const expected = { group: '', version: 'v1', kind: 'ConfigMapList' }
  assert.deepEqual(decodeProtobufBody(encodeAnswer(list), expected), list)
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 404 }
  const read = decodeProtobufBody(encodeAnswer(status), { ...expected, kind: 'Status' })
  assert.deepEqual(read, status)
  assert.ok(hasMessage('meta.k8s.io/v1', 'PartialObjectMetadata'))
  const partial = {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    items: [{ metadata: { name: 'a' } }],
  }
  const bytes = Buffer.from(encodeAnswer(partial))
  assert.ok(bytes.includes('PartialObjectMetadataList'))
  // {2: {1: {1: "a"}}}
  assert.ok(bytes.includes(Buffer.from('12050a030a0161', 'hex')))
  // {1: {1: {1: "a"}}, 2: {2: "7"}}
  const older = {
    ...partial,
    apiVersion: 'meta.k8s.io/v1beta1',
    metadata: { resourceVersion: '7' },
  }
  const olderBytes = Buffer.from(encodeAnswer(older))
  assert.ok(olderBytes.includes(Buffer.from('0a050a030a016112031201371a002200', 'hex')))
})

test('members of a struct that is embedded in an embedded one are written without any others', () => {
  const policy = {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion: 'admissionregistration.k8s.io/v1',
    spec: { matchConstraints: { resourceRules: [{ scope: 'Cluster' }, { resourceNames: ['a'] }] } },
  }
  const expected = { group: 'admissionregistration.k8s.io', version: 'v1', kind: policy.kind }
  assert.deepEqual(decodeProtobufBody(encodeAnswer(policy), expected), policy)
})

test('custom resources and tables have no message', () => {
  assert.equal(hasMessage('example.com/v1', 'Thing'), false)
  assert.equal(hasMessage('meta.k8s.io/v1', 'Table'), false)
  assert.throws(
    () => encodeAnswer({ apiVersion: 'example.com/v1', kind: 'Thing' }),
    /no message for/,
  )
})

test('every kind that is served has a message, and every list that is', () => {
  const without = resourceTable
    .map(
      ({ group, version, kind }) => [group === '' ? version : `${group}/${version}`, kind] as const,
    )
    .flatMap(
      ([version, kind]) =>
        [
          [version, kind],
          [version, `${kind}List`],
        ] as const,
    )
    // Reviews and bindings are only created.
    .filter(([, kind]) => !/(?:Review|Binding)List$/.test(kind) || /Role|Policy/.test(kind))
    .filter(([version, kind]) => !hasMessage(version, kind))
  assert.deepEqual(without, [])
})

test('an event is a frame: its length in four bytes, the type, the object in its envelope', () => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } }
  const frame = Buffer.from(encodeEventFrame('ADDED', object))
  assert.equal(frame.readUInt32BE(0), frame.length - 4)
  const reader = new WireReader(frame, 4)
  reader.readTag('WatchEvent')
  assert.equal(reader.string(), 'ADDED')
  reader.readTag('WatchEvent')
  const raw = reader.message()
  raw.readTag('RawExtension')
  const expected = { group: '', version: 'v1', kind: 'ConfigMap' }
  assert.deepEqual(decodeProtobufBody(raw.bytes(), expected), object)
})
