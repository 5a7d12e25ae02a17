/** Documents of discovery that kube-apiserver 1.36 answered, as bytes and as JSON. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAnswer } from './answers.ts'
import { decodeMessage } from './decode-message.ts'
import { discoveryPlan } from './messages-without-schema.ts'
import recorded from './testing/recorded-discovery.json' with { type: 'json' }
import { WireReader } from './wire.ts'

interface Document {
  readonly kind: string
  readonly apiVersion?: string
}

/** `k8s` and a zero, {1: {1: apiVersion, 2: kind}, 2: the message}. */
function opened(bytes: Uint8Array): { readonly head: Uint8Array; readonly message: Uint8Array } {
  const reader = new WireReader(Uint8Array.from(bytes).subarray(4))
  const parts: Uint8Array[] = []
  while (parts.length < 2) {
    reader.readTag('Unknown')
    parts.push(reader.bytes())
  }
  return { head: parts[0]!, message: parts[1]! }
}

/** Without texts, numbers and objects that say nothing: Go writes them in its bytes. */
function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .map(([name, member]) => [name, said(member)] as const)
    .filter(([, member]) => Boolean(member) && JSON.stringify(member) !== '{}')
  return Object.fromEntries(members)
}

for (const { path, body, value } of recorded) {
  const document = value as Document
  const plan = discoveryPlan(document.kind)!
  const { kind: _kind, apiVersion: _apiVersion, ...members } = document

  test(`${path} as ${document.kind}: the bytes that Go makes say what its JSON says`, () => {
    const bytes = Buffer.from(body, 'base64')
    assert.deepEqual(said(decodeMessage(opened(bytes).message, plan)), said(members))
  })

  test(`${path} as ${document.kind}: what is written says it too, under the same name`, () => {
    const bytes = encodeAnswer(value as unknown as Readonly<Record<string, unknown>>)
    assert.deepEqual(said(decodeMessage(opened(bytes).message, plan)), said(members))
    assert.deepEqual(opened(bytes).head, opened(Buffer.from(body, 'base64')).head)
  })
}
