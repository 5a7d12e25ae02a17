import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@gyropilot/schema/api-error'
import { decodeProtobufBody } from './envelope.ts'
import { ROUNDS, SEED, damagedBodies } from './testing/damaged-bodies.ts'
import { envelope, field, numberField } from './testing/messages.ts'

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' }
const header = { apiVersion: 'v1', kind: 'ConfigMap' }
/** metadata.name and data of a ConfigMap. */
const raw = Buffer.concat([field(1, field(1, 'x')), field(2, field(1, 'key'), field(2, 'value'))])
const value = { ...header, metadata: { name: 'x' }, data: { key: 'value' } }

function refusal(bytes: Uint8Array, expected = CONFIG_MAP): string {
  try {
    decodeProtobufBody(bytes, expected)
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(error.code, 400)
    return error.message
  }
  throw new Error('accepted')
}

test('the object with the kind and version of the envelope', () => {
  assert.deepEqual(decodeProtobufBody(envelope({ ...header, raw }), CONFIG_MAP), value)
})

test('an envelope without a kind is what the endpoint takes', () => {
  const { apiVersion: _, kind: __, ...rest } = value
  assert.deepEqual(decodeProtobufBody(envelope({ raw }), CONFIG_MAP), rest)
})

test('the object is a message whatever its content type is said to be', () => {
  for (const contentType of ['application/json', 'application/yaml', 'other'])
    assert.deepEqual(
      decodeProtobufBody(envelope({ ...header, raw, contentType }), CONFIG_MAP),
      value,
    )
  const json = Buffer.from('{"metadata":{"name":"x"}}')
  assert.equal(
    refusal(envelope({ ...header, raw: json, contentType: 'application/json' })),
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
  )
})

test('what names no version is of the version of the endpoint', () => {
  const { apiVersion: _, ...rest } = value
  for (const apiVersion of ['a/b/c', 'v1/', '/'])
    assert.deepEqual(decodeProtobufBody(envelope({ ...header, apiVersion, raw }), CONFIG_MAP), rest)
  const core = envelope({ ...header, apiVersion: '/v1', raw })
  assert.deepEqual(decodeProtobufBody(core, CONFIG_MAP), value)
})

test('a version of the kind that nobody knows is left to the check of the header', () => {
  const bytes = envelope({ apiVersion: 'v2', kind: 'ConfigMap', raw: Buffer.from('\xff') })
  assert.deepEqual(decodeProtobufBody(bytes, CONFIG_MAP), { ...header, apiVersion: 'v2' })
})

test('unknown fields of the envelope are skipped', () => {
  const bytes = Buffer.concat([envelope({ ...header, raw }), field(9, 'x'), numberField(10, 1)])
  assert.deepEqual(decodeProtobufBody(bytes, CONFIG_MAP), value)
})

test('DeleteOptions are the same message in every group', () => {
  const options = Buffer.concat([
    numberField(1, 0),
    field(2, field(1, 'uid')),
    field(4, 'Foreground'),
    field(5, 'All'),
  ])
  for (const apiVersion of ['v1', 'meta.k8s.io/v1', 'apps/v1', undefined]) {
    const bytes = envelope({ apiVersion, kind: 'DeleteOptions', raw: options })
    assert.deepEqual(
      decodeProtobufBody(bytes, { group: 'apps', version: 'v1', kind: 'DeleteOptions' }),
      {
        ...(apiVersion === undefined ? {} : { apiVersion }),
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'uid' },
        propagationPolicy: 'Foreground',
        dryRun: ['All'],
      },
    )
  }
})

test('an eviction of the version that is not served any more is the same message', () => {
  const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction' }
  const bytes = envelope({
    ...eviction,
    raw: Buffer.concat([field(1, field(1, 'x')), field(2, numberField(1, 5))]),
  })
  assert.deepEqual(
    decodeProtobufBody(bytes, { group: 'policy', version: 'v1', kind: 'Eviction' }),
    { ...eviction, metadata: { name: 'x' }, deleteOptions: { gracePeriodSeconds: 5 } },
  )
})

test('other things than options are left to the check of their kind, and broken ones are told of as they are', () => {
  const expected = { group: '', version: 'v1', kind: 'DeleteOptions' }
  const secret = { apiVersion: 'v1', kind: 'Secret' }
  const bytes = envelope({ ...secret, raw: Buffer.from('\xff') })
  assert.deepEqual(decodeProtobufBody(bytes, expected), secret)
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' }
  assert.equal(
    refusal(envelope({ ...options, raw: field(1, 'x') }), expected),
    'proto: wrong wireType = 2 for field GracePeriodSeconds',
  )
})

test('a kind that has no schema is left to the check of the header', () => {
  const bytes = envelope({ apiVersion: 'x.dev/v1', kind: 'Widget', raw: Buffer.from('\xff') })
  assert.deepEqual(decodeProtobufBody(bytes, CONFIG_MAP), {
    apiVersion: 'x.dev/v1',
    kind: 'Widget',
  })
})

test('custom resources have no messages', () => {
  const expected = { group: 'x.dev', version: 'v1', kind: 'Widget' }
  assert.equal(
    refusal(envelope({ apiVersion: 'x.dev/v1', kind: 'Widget', raw }), expected),
    'Widget in version "v1" cannot be handled as a Widget: object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message',
  )
})

test('a broken object is 400 with the words of the real decoder', () => {
  assert.equal(
    refusal(envelope({ ...header, raw: raw.subarray(0, -1) })),
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
  )
  assert.equal(
    refusal(envelope({ ...header, raw: numberField(1, 1) })),
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field ObjectMeta',
  )
})

test('a broken envelope is 400 and shows its first bytes', () => {
  assert.equal(
    refusal(Buffer.concat([Buffer.from('k8s\0'), numberField(2, 1)])),
    'the object provided is unrecognized (must be of type ConfigMap): proto: wrong wireType = 0 for field Raw (6b3873001001)',
  )
  assert.equal(
    refusal(Buffer.from('k8s\0')),
    'the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)',
  )
})

test('who reads the options of a deletion words broken envelopes alone', () => {
  const refuse = (why: string) => new Error(why)
  assert.throws(() => decodeProtobufBody(Buffer.from('k8s\0'), CONFIG_MAP, refuse), {
    message: 'empty body',
  })
})

test(`damaged bodies are decoded or refused, never anything else (seed: ${SEED})`, () => {
  let refused = 0
  for (const bytes of damagedBodies()) {
    try {
      decodeProtobufBody(bytes, CONFIG_MAP)
    } catch (error) {
      assert.ok(
        error instanceof ApiError && error.code === 400,
        `${error} ${bytes.toString('hex')}`,
      )
      refused++
    }
  }
  assert.ok(refused > ROUNDS / 4 && refused < ROUNDS, `${refused} of ${ROUNDS} refused`)
})
