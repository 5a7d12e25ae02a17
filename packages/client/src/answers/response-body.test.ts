import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GO_TYPE_META } from '@gyropilot/api'
import { readBody } from './response-body.ts'
import type { TransportResponse } from '../transport.ts'

const UID = '5f1c-0b7e'

function answer(text: string, contentType = 'application/json'): TransportResponse {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    // Cut inside of the uid.
    const bytes = Buffer.from(text)
    const cut = Math.max(1, bytes.indexOf(UID) + 2)
    yield bytes.subarray(0, cut)
    if (cut < bytes.length) yield bytes.subarray(cut)
  }
  return {
    status: 200,
    headers: { 'content-type': contentType },
    body: { kind: 'bytes', chunks: chunks() },
  }
}

const list = (items: readonly unknown[], metadata: unknown = { resourceVersion: '7' }): string =>
  JSON.stringify({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    items,
  })
const owned = (uid: string): unknown => ({ metadata: { name: 'a', ownerReferences: [{ uid }] } })

test('a list in which the text stands nowhere has its metadata and no items', async () => {
  const metadata = { resourceVersion: '7', continue: 'more' }
  assert.deepEqual(
    await readBody(answer(list([owned('other')], metadata)), 'GET', { mentioning: [UID] }),
    {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: [],
      itemsLeftOut: true,
    },
  )
  const empty = list([], metadata)
  assert.deepEqual(
    await readBody(answer(empty), 'GET', { mentioning: [UID] }),
    JSON.parse(empty),
    'nothing was left out of it',
  )
})

test('of several texts one is enough', async () => {
  const mentioned = list([owned('other'), owned(UID)])
  for (const mentioning of [
    [UID, 'nobody'],
    ['nobody', UID],
  ])
    assert.deepEqual(
      await readBody(answer(mentioned), 'GET', { mentioning }),
      JSON.parse(mentioned),
    )
  const none = await readBody(answer(mentioned), 'GET', { mentioning: ['nobody', 'no-one'] })
  assert.deepEqual((none as { items: unknown }).items, [])
})

test('a list in which it stands anywhere is read in full, and so is every list without it', async () => {
  const mentioned = list([owned('other'), owned(UID)])
  assert.deepEqual(
    await readBody(answer(mentioned), 'GET', { mentioning: [UID] }),
    JSON.parse(mentioned),
  )
  const other = list([owned('other')])
  assert.deepEqual(await readBody(answer(other), 'GET'), JSON.parse(other))
})

test('what cannot be told from its bytes is read in full', async () => {
  const whole = async (text: string, mentioning = UID): Promise<void> =>
    assert.deepEqual(
      await readBody(answer(text), 'GET', { mentioning: [mentioning] }),
      JSON.parse(text),
    )
  await whole(JSON.stringify({ items: [owned('other')], metadata: { resourceVersion: '7' } }))
  await whole(JSON.stringify({ kind: 'Status', metadata: {}, status: 'Success' }))
  await whole(list([owned('other')], null))
  await whole(JSON.stringify(JSON.parse(list([owned('other')])), undefined, 2))
  // These may be written with escapes.
  await whole(list([owned('a/b')]), 'a/b')
  await whole(list([owned('other')]), '')
})

test('an answer that is not JSON is refused as ever', async () => {
  await assert.rejects(readBody(answer('<html>"items":['), 'GET /x', { mentioning: [UID] }), {
    code: 'ANSWER_UNDECODABLE',
  })
})

test('an answer that nobody reads is waited for and not decoded, but for one that refuses', async () => {
  assert.deepEqual(await readBody(answer('not JSON'), 'POST', { unread: true }), {})
  const refused = { ...answer('{"kind":"Status"}'), status: 409 }
  assert.deepEqual(await readBody(refused, 'POST', { unread: true }), { kind: 'Status' })
  const { body } = answer('cut off')
  const broken = new Error('EOF')
  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (body.kind === 'bytes') yield* body.chunks
    throw broken
  }
  const cutOff: TransportResponse = {
    status: 201,
    headers: {},
    body: { kind: 'bytes', chunks: chunks() },
  }
  await assert.rejects(readBody(cutOff, 'POST', { unread: true }), broken)
})

const THING = { kind: 'Thing', apiVersion: 'v1', metadata: { name: 'a' } }
const IN_YAML = 'kind: Thing\napiVersion: v1\nmetadata:\n  name: a\n'

const READ: readonly (readonly [string, string])[] = [
  ['application/json', JSON.stringify(THING)],
  ['application/json; charset=utf-8', JSON.stringify(THING)],
  ['Application/JSON', JSON.stringify(THING)],
  ['', JSON.stringify(THING)],
  ['application/yaml', IN_YAML],
  ['application/yaml; charset=utf-8', IN_YAML],
  ['application/yaml', JSON.stringify(THING)],
]
for (const [contentType, text] of READ)
  test(`an object is read from ${JSON.stringify(contentType)}: ${text.slice(0, 12)}`, async () =>
    assert.deepEqual(await readBody(answer(text, contentType), 'GET', { object: true }), THING))

const REFUSED: readonly (readonly [string, string])[] = [
  ['text/json', JSON.stringify(THING)],
  ['application/foo+json', JSON.stringify(THING)],
  ['text/yaml', IN_YAML],
  ['application/x-yaml', IN_YAML],
  ['application/json', IN_YAML],
  ['', IN_YAML],
  ['application/yaml', 'a: ['],
  ['application/yaml', 'hello'],
  ['application/yaml', '- a'],
]
for (const [contentType, text] of REFUSED)
  test(`no object is read from ${JSON.stringify(contentType)}: ${text.slice(0, 12)}`, () =>
    assert.rejects(readBody(answer(text, contentType), 'GET /x', { object: true }), {
      code: 'ANSWER_UNDECODABLE',
    }))

test('the page of a refusal is its text, whatever was asked for', async () => {
  for (const status of [300, 403, 502]) {
    const page = { ...answer('<html>', 'text/html'), status }
    assert.equal(await readBody(page, 'GET /x', { object: true }), '<html>')
  }
})

const TOLD: readonly (readonly [string, string, string])[] = [
  ['text/html; charset=utf-8', '<html>', "serializer for text/html; charset=utf-8 doesn't exist"],
  ['Text/HTML', '', "serializer for Text/HTML doesn't exist"],
  [
    'application/json; charset=utf-8',
    '',
    '0-length response with status code: 200 and content type: application/json; charset=utf-8',
  ],
  ['', '', '0-length response with status code: 200 and content type: application/json'],
  [
    'application/json',
    '[]',
    `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${GO_TYPE_META}`,
  ],
  [
    'application/json',
    'hello',
    'GET /x: the answer (200, application/json, 5 bytes) is not JSON; is this an API server?',
  ],
]
for (const [contentType, text, message] of TOLD)
  test(`what is no object is told: ${message.slice(0, 60)}`, () =>
    assert.rejects(readBody(answer(text, contentType), 'GET /x', { object: true }), {
      code: 'ANSWER_UNDECODABLE',
      message,
    }))

test('a refusal in YAML is read, one that is no YAML is not', async () => {
  const refusal = { ...answer('kind: Status\nmessage: in yaml\n', 'application/yaml'), status: 500 }
  assert.deepEqual(await readBody(refusal, 'GET'), { kind: 'Status', message: 'in yaml' })
  const broken = { ...answer('a: [', 'application/yaml'), status: 500 }
  assert.equal(await readBody(broken, 'GET'), undefined)
})

test('a list in YAML is read in full, whatever it should mention', async () => {
  const found = await readBody(answer('kind: List\nitems: []\n', 'application/yaml'), 'GET', {
    object: true,
    mentioning: [UID],
  })
  assert.deepEqual(found, { kind: 'List', items: [] })
})
