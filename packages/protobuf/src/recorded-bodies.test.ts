import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeObject } from '@gyropilot/schema'
import { decodeProtobufBody, type ExpectedMessage } from './envelope.ts'
/** What kubectl 1.32 sent for its commands; `value` is what it prints for `--dry-run=client -o json`. */
import recorded from './testing/recorded-bodies.json' with { type: 'json' }

interface Recorded {
  readonly command: string
  readonly body: string
  readonly value?: { readonly apiVersion: string; readonly kind: string }
}

const bodies: readonly Recorded[] = recorded
/** The envelope says what the body is; a wrong answer would not decode. */
const NOTHING: ExpectedMessage = { group: 'none', version: 'v0', kind: 'None' }

function decoded(body: string): Record<string, unknown> {
  return decodeProtobufBody(Buffer.from(body, 'hex'), NOTHING) as Record<string, unknown>
}

/** As the server would store it: zeros that are not written are gone. */
function canonical(value: unknown): unknown {
  const { apiVersion, kind } = value as { apiVersion: string; kind: string }
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const { object, problems } = decodeObject({ group: group!, version: version!, kind }, value)!
  assert.deepEqual(problems, [])
  return object
}

for (const { command, body, value } of bodies) {
  if (value === undefined) continue
  test(`${command}: the bytes say what the JSON says`, () => {
    assert.deepEqual(canonical(decoded(body)), canonical(value))
  })
}

function recordedBody(command: string): Record<string, unknown> {
  return decoded(bodies.find((one) => one.command === command)!.body)
}

test('kubectl create token', () => {
  const { apiVersion, kind, spec } = recordedBody(
    'kubectl create token sa1 --duration=1h --audience=foo',
  )
  assert.deepEqual([apiVersion, kind], ['authentication.k8s.io/v1', 'TokenRequest'])
  assert.deepEqual(spec, { audiences: ['foo'], expirationSeconds: 3600 })
})

test('kubectl auth can-i', () => {
  const { apiVersion, kind, spec } = recordedBody('kubectl auth can-i create pods')
  assert.deepEqual([apiVersion, kind], ['authorization.k8s.io/v1', 'SelfSubjectAccessReview'])
  assert.deepEqual((spec as { resourceAttributes: unknown }).resourceAttributes, {
    namespace: 'default',
    verb: 'create',
    group: '',
    version: '',
    resource: 'pods',
    subresource: '',
    name: '',
  })
  assert.deepEqual(recordedBody('kubectl auth can-i get /healthz')['spec'], {
    nonResourceAttributes: { path: '/healthz', verb: 'get' },
  })
})
