/**
 * Documents that clients keep: answered with what they lack. As Go serves a file.
 * Contract: docs/behaviour/api-server/requests.md, "Documents that clients keep".
 */
import { createHash } from 'node:crypto'
import type { Answer } from './answer.ts'
import { headerOf, type ServerRequest } from './exchange.ts'

const BOUNDARY_LENGTH = 60

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
  const { bytes } = content
  const asked = isOfThis(request, etag, modifiedMs) ? headerOf(request.headers, 'range') : undefined
  const ranges = asked === undefined ? [] : rangesOf(asked, bytes.length)
  if (ranges === 'none' || ranges === 'unreadable')
    return unsatisfiable(ranges === 'none' ? bytes.length : undefined, content.headers)
  const [range, ...others] = ranges
  if (range === undefined || lengthOf(ranges) > bytes.length)
    return { status: 200, headers, body: { kind: 'bytes', bytes, contentType, compressible } }
  if (others.length > 0) return { status: 206, headers, body: inParts(content, ranges) }
  headers['content-range'] = placeOf(range, bytes.length)
  const part = bytes.subarray(range.start, range.end)
  return { status: 206, headers, body: { kind: 'bytes', bytes: part, contentType, compressible } }
}

function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0)
}

function placeOf({ start, end }: Range, length: number): string {
  return `bytes ${start}-${end - 1}/${length}`
}

/** Each range with its own header. What parts them follows from what is asked for: the same question has the same answer. */
function inParts({ bytes, contentType, etag }: ServedContent, ranges: readonly Range[]) {
  const of = JSON.stringify([etag, ranges])
  const boundary = createHash('sha256').update(of).digest('hex').slice(0, BOUNDARY_LENGTH)
  const parts = ranges.flatMap((range, index) => [
    Buffer.from(
      `${index === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Range: ${placeOf(range, bytes.length)}\r\nContent-Type: ${contentType}\r\n\r\n`,
    ),
    bytes.subarray(range.start, range.end),
  ])
  return {
    kind: 'bytes',
    bytes: Buffer.concat([...parts, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    contentType: `multipart/byteranges; boundary=${boundary}`,
    compressible: false,
  } as const
}

/** Whether the rest of what a client has of a document is that of this one. */
function isOfThis(
  { headers }: ServerRequest,
  etag: string | undefined,
  modifiedMs: number,
): boolean {
  const asked = headerOf(headers, 'if-range')
  if (asked === undefined) return true
  if (asked.startsWith('"')) return asked === etag
  return Date.parse(asked) === Math.floor(modifiedMs / 1000) * 1000
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

interface Range {
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

/** Those that overlap the document; without any it is asked for as a whole. */
function rangesOf(text: string, length: number): readonly Range[] | 'none' | 'unreadable' {
  const [, list] = /^bytes=(.*)$/.exec(text) ?? []
  if (list === undefined) return 'unreadable'
  const ranges: Range[] = []
  let missed = false
  for (const each of list.split(',')) {
    if (each.trim() === '') continue
    const range = rangeOf(each, length)
    if (range === 'unreadable') return range
    if (range === 'none') missed = true
    else ranges.push(range)
  }
  return missed && ranges.length === 0 ? 'none' : ranges
}

function rangeOf(text: string, length: number): Range | 'none' | 'unreadable' {
  const [, first, last] = /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(text) ?? []
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
