/**
 * Documents that clients keep: answered with what they lack. As Go serves a file.
 * Contract: docs/behaviour/api-server/requests.md, "Documents that clients keep".
 */
import type { Answer } from './answer.ts'
import { headerOf, type ServerRequest } from './exchange.ts'

export interface ServedContent {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** In quotes. */
  readonly etag?: string
  readonly modifiedMs: number
  /** Of an answer that shows it. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default false: it goes out as it is, however long. */
  readonly compressible?: boolean
}

export function servedContent(request: ServerRequest, content: ServedContent): Answer {
  const { etag, modifiedMs, contentType, compressible = false } = content
  const known: Record<string, string> = { ...(etag && { etag }), ...content.headers }
  const dated = { ...known, 'last-modified': new Date(modifiedMs).toUTCString() }
  const judged = judgedBy(request, etag, Math.floor(modifiedMs / 1000) * 1000)
  if (judged === 304) {
    // Whoever knows the tag needs no time.
    const headers = etag === undefined ? dated : known
    return { status: 304, headers, body: { kind: 'empty' } }
  }
  if (judged === 412) {
    const type = etag === undefined ? undefined : { 'content-type': contentType }
    return { status: 412, headers: { ...dated, ...type }, body: { kind: 'empty' } }
  }
  const headers: Record<string, string> = { ...dated, 'accept-ranges': 'bytes' }
  const asked = headerOf(request.headers, 'range')
  const length = content.bytes.length
  const range = asked === undefined ? 'all' : rangeOf(asked, length)
  if (range === 'none' || range === 'unreadable')
    return unsatisfiable(range === 'none' ? length : undefined, content.headers)
  let { bytes } = content
  let status = 200
  if (range !== 'all') {
    status = 206
    headers['content-range'] = `bytes ${range.start}-${range.end - 1}/${length}`
    bytes = bytes.subarray(range.start, range.end)
  }
  return { status, headers, body: { kind: 'bytes', bytes, contentType, compressible } }
}

/** Undefined: nothing stands against an answer. */
function judgedBy(
  { method, headers }: ServerRequest,
  etag: string | undefined,
  modifiedMs: number,
): 304 | 412 | undefined {
  const match = headerOf(headers, 'if-match')
  if (match !== undefined) {
    if (!tagsOf(match).some((tag) => tag === '*' || tag === etag)) return 412
  } else if (modifiedMs > Date.parse(headerOf(headers, 'if-unmodified-since') ?? '')) return 412
  const reads = method === 'GET' || method === 'HEAD'
  const noneMatch = headerOf(headers, 'if-none-match')
  if (noneMatch !== undefined) {
    const isKnown = tagsOf(noneMatch).some(
      (tag) => tag === '*' || (etag !== undefined && tag.replace(/^W\//, '') === etag),
    )
    return isKnown ? (reads ? 304 : 412) : undefined
  }
  const since = Date.parse(headerOf(headers, 'if-modified-since') ?? '')
  return reads && modifiedMs <= since ? 304 : undefined
}

function tagsOf(text: string): readonly string[] {
  return text.match(/\*|(?:W\/)?"[^"]*"/g) ?? []
}

type Range = { readonly start: number; readonly end: number } | 'all' | 'none' | 'unreadable'

/** Of several ranges none is cut out. */
function rangeOf(text: string, length: number): Range {
  const [, ranges] = /^bytes=(.*)$/.exec(text) ?? []
  if (ranges === undefined) return 'unreadable'
  if (ranges === '' || ranges.includes(',')) return 'all'
  const [, first, last] = /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(ranges) ?? []
  if (first === undefined || last === undefined || first + last === '') return 'unreadable'
  if (first === '') return { start: Math.max(0, length - Number(last)), end: length }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'unreadable'
  if (start >= length) return 'none'
  return { start, end: last === '' ? length : Math.min(length, Number(last) + 1) }
}

/** What is said of the document's age goes, the rest stays. `length`: where the range is behind it, not where it cannot be read. */
function unsatisfiable(length: number | undefined, shown: ServedContent['headers']): Answer {
  const { 'cache-control': _, ...headers } = shown ?? {}
  const message = length === undefined ? 'invalid range' : 'invalid range: failed to overlap'
  return {
    status: 416,
    headers: {
      ...headers,
      ...(length === undefined ? {} : { 'content-range': `bytes */${length}` }),
      'x-content-type-options': 'nosniff',
    },
    body: {
      kind: 'bytes',
      bytes: Buffer.from(`${message}\n`),
      contentType: 'text/plain; charset=utf-8',
    },
  }
}
