import assert from 'node:assert/strict'
import { test } from 'node:test'
import { servedContent } from './served-content.ts'
import type { ServedContent } from './served-content.ts'

const MODIFIED = 'Sat, 21 Nov 2026 00:00:00 GMT'
const DOCUMENT: ServedContent = {
  bytes: Buffer.from('0123456789'),
  contentType: 'application/json',
  etag: '"A"',
  modifiedMs: Date.parse(MODIFIED) + 999,
  headers: { vary: 'Accept', 'cache-control': 'public, immutable' },
}
const { etag: _etag, headers: _headers, ...UNTAGGED } = DOCUMENT

function asked(headers: Record<string, string>, content = DOCUMENT, method = 'GET') {
  return servedContent({ method, path: '/x', headers }, content)
}

const STATUSES: readonly (readonly [
  headers: Record<string, string>,
  tagged: number,
  not: number,
])[] = [
  [{}, 200, 200],
  [{ 'if-none-match': '"A"' }, 304, 200],
  [{ 'if-none-match': 'W/"A"' }, 304, 200],
  [{ 'if-none-match': '"B", "A"' }, 304, 200],
  [{ 'if-none-match': '"B"' }, 200, 200],
  [{ 'if-none-match': '*' }, 304, 304],
  [{ 'if-none-match': '"B"', 'if-modified-since': MODIFIED }, 200, 200],
  [{ 'if-modified-since': MODIFIED }, 304, 304],
  [{ 'if-modified-since': 'Fri, 20 Nov 2026 23:59:59 GMT' }, 200, 200],
  [{ 'if-modified-since': 'yesterday' }, 200, 200],
  [{ 'if-match': '"A"' }, 200, 412],
  [{ 'if-match': '"B"' }, 412, 412],
  [{ 'if-match': '*' }, 200, 200],
  [{ 'if-unmodified-since': MODIFIED }, 200, 200],
  [{ 'if-unmodified-since': 'Fri, 20 Nov 2026 23:59:59 GMT' }, 412, 412],
]

for (const [headers, tagged, untagged] of STATUSES) {
  test(`${JSON.stringify(headers)} is answered with ${tagged}, without a tag with ${untagged}`, () => {
    assert.equal(asked(headers).status, tagged)
    assert.equal(asked(headers, UNTAGGED).status, untagged)
  })
}

test('who has the document is told its tag, or else its time, and no type', () => {
  const tagged = asked({ 'if-none-match': '*' })
  assert.deepEqual(tagged.headers, { etag: '"A"', ...DOCUMENT.headers })
  assert.deepEqual(tagged.body, { kind: 'empty' })
  assert.deepEqual(asked({ 'if-none-match': '*' }, UNTAGGED).headers, { 'last-modified': MODIFIED })
})

test('methods that read nothing fail where a reader would have it already', () => {
  assert.equal(asked({ 'if-none-match': '"A"' }, DOCUMENT, 'POST').status, 412)
  assert.equal(asked({ 'if-modified-since': MODIFIED }, DOCUMENT, 'POST').status, 200)
})

const RANGES: readonly (readonly [range: string, text: string, contentRange: string])[] = [
  ['bytes=0-3', '0123', 'bytes 0-3/10'],
  ['bytes=8-', '89', 'bytes 8-9/10'],
  ['bytes=-2', '89', 'bytes 8-9/10'],
  ['bytes=-20', '0123456789', 'bytes 0-9/10'],
  ['bytes= 0 - 3 ', '0123', 'bytes 0-3/10'],
  ['bytes=5-99', '56789', 'bytes 5-9/10'],
]

for (const [range, text, contentRange] of RANGES) {
  test(`${range} of ten bytes is ${text}`, () => {
    const { status, headers, body } = asked({ range })
    assert.equal(status, 206)
    assert.equal(headers?.['content-range'], contentRange)
    assert.equal(body.kind === 'bytes' && Buffer.from(body.bytes).toString(), text)
  })
}

test('a range behind the end is refused, and one that cannot be read', () => {
  const { status, headers } = asked({ range: 'bytes=10-' })
  assert.deepEqual(
    [status, headers],
    [416, { vary: 'Accept', 'content-range': 'bytes */10', 'x-content-type-options': 'nosniff' }],
  )
  for (const range of ['lines=0-1', 'bytes=-', 'bytes=a-b', 'bytes=5-2']) {
    const unreadable = asked({ range })
    assert.equal(unreadable.status, 416)
    assert.equal(unreadable.headers?.['content-range'], undefined)
  }
  assert.equal(asked({ range: 'bytes=' }).status, 200)
})

test('several ranges are parts of one answer, unless they are more than the whole', () => {
  const { status, headers, body } = asked({ range: 'bytes=0-1,, 8-,99-' })
  assert.ok(body.kind === 'bytes')
  const [, boundary] = /^multipart\/byteranges; boundary=([0-9a-f]{60})$/.exec(body.contentType)!
  const { contentType } = asked({}).body as { readonly contentType: string }
  const part = (place: string, text: string): string =>
    `--${boundary}\r\nContent-Range: bytes ${place}/10\r\nContent-Type: ${contentType}\r\n\r\n${text}\r\n`
  assert.equal(
    Buffer.from(body.bytes).toString(),
    `${part('0-1', '01')}${part('8-9', '89')}--${boundary}--\r\n`,
  )
  assert.deepEqual([status, headers?.['content-range']], [206, undefined])
  assert.equal(asked({ range: 'bytes=0-,0-' }).status, 200)
  assert.equal(asked({ range: 'bytes=99-,98-' }).status, 416)
  assert.equal(asked({ range: 'bytes=0-1,x' }).status, 416)
})

test('a range is cut out of the document that the client has begun with', () => {
  const { etag } = asked({}).headers ?? {}
  const statusOf = (ifRange: string): number =>
    asked({ range: 'bytes=0-1', 'if-range': ifRange }).status
  assert.deepEqual(
    [etag, 'W/' + etag, '"x"', 'nonsense'].map((tag) => statusOf(String(tag))),
    [206, 200, 200, 200],
  )
})
