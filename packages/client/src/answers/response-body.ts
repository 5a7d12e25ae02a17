import { GO_TYPE_META, jsonTypeName } from '@gyropilot/api'
import { decodeObject } from './decode-object.ts'
import type { Decoding } from './decode-object.ts'
import { markDecoded } from './decoded-values.ts'
import { clientErrors } from '../errors.ts'
import type { BodyChunks, TransportResponse } from '../transport.ts'

/** V8's strings end at 512 MiB; what is longer must be parsed in pieces. */
const LONGEST_TEXT_BYTES = 400 << 20

/** The header's first value, or undefined. */
export function headerOf(
  response: Pick<TransportResponse, 'headers'>,
  name: string,
): string | undefined {
  const value = response.headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** `Retry-After` where it is a number of seconds; a date is not one. */
export function retryAfterSecondsOf(
  response: Pick<TransportResponse, 'headers'>,
): number | undefined {
  const text = headerOf(response, 'retry-after')
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined
}

/**
 * The whole body: a JSON value, or text where it is text or says no type, or undefined where there is none. Of an answer of success to who
 * asked for `object` it is an object, or ANSWER_UNDECODABLE is thrown. With `mentioning`, a list in which none of these stands has no
 * items (and `itemsLeftOut` if it had some); an answer of success that is `unread` is only waited for. `decode`: see RequestOptions.
 */
export async function readBody(
  response: TransportResponse,
  what: string,
  asked: {
    readonly mentioning?: readonly string[]
    readonly unread?: boolean
    readonly decode?: Decoding
    readonly object?: boolean
  } = {},
): Promise<unknown> {
  const { mentioning } = asked
  const { body } = response
  if (body.kind === 'value') return body.value
  if (body.kind === 'events') {
    await discardBody(response)
    return undefined
  }
  const bytes = await allOf(body.chunks)
  const contentType = headerOf(response, 'content-type') ?? ''
  const undecodable = (cause?: unknown): Error =>
    clientErrors.make(
      'ANSWER_UNDECODABLE',
      `${what}: the answer (${response.status}, ${contentType}, ${bytes.length} bytes) is not JSON; is this an API server?`,
      { cause },
    )
  const mustBeObject = asked.object === true && response.status < 300
  const form = formOf(contentType)
  // A page of a proxy or of a login: nothing of what was asked for has been done.
  if (mustBeObject && form === undefined) throw unknownForm(contentType)
  if (mustBeObject && bytes.length === 0) throw emptyAnswer(response.status, contentType)
  if (asked.unread === true && response.status < 300) return {}
  if (bytes.length === 0) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!mustBeObject && form !== 'yaml' && !contentType.includes('json'))
    return contentType === '' || contentType.startsWith('text/')
      ? buffer.toString('utf8')
      : { undecoded: contentType }
  let value: unknown
  try {
    if (form === 'yaml') {
      value = (await import('@gyropilot/foundation/yaml')).yamlValue(buffer)
    } else {
      const withoutItems = mentioning === undefined ? undefined : listWithout(mentioning, buffer)
      if (withoutItems !== undefined) return withoutItems
      value =
        buffer.length > LONGEST_TEXT_BYTES
          ? (await import('./large-list.ts')).parseLargeList(buffer)
          : decodeObject(buffer.toString('utf8'), asked.decode ?? 'whole')
    }
  } catch (error) {
    if (response.status >= 400) return undefined
    throw undecodable(error)
  }
  if (mustBeObject && (typeof value !== 'object' || value === null || Array.isArray(value)))
    throw noObject(value)
  return isList(value) ? markDecoded(value) : value
}

function isList(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'items' in value
}

/** Throws ANSWER_UNDECODABLE for the answer to a watch that is no stream of events in JSON: the only form that they are read in. */
export async function refuseOtherThanEvents(response: TransportResponse): Promise<void> {
  if (response.body.kind !== 'bytes') return
  const contentType = headerOf(response, 'content-type') ?? ''
  const form = formOf(contentType)
  if (form === 'json') return
  await discardBody(response)
  if (form === undefined) throw unknownForm(contentType)
  throw clientErrors.make(
    'ANSWER_UNDECODABLE',
    'only the following media types are accepted: application/json;stream=watch',
  )
}

/** What objects can be read from: these two media types, as Go's client knows them. Who says none has written what was asked for. */
function formOf(contentType: string): 'json' | 'yaml' | undefined {
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (mediaType === 'application/json' || contentType === '') return 'json'
  return mediaType === 'application/yaml' ? 'yaml' : undefined
}

/** In the words of Go's client, since conditions and events tell them. */
function unknownForm(contentType: string): Error {
  return clientErrors.make('ANSWER_UNDECODABLE', `serializer for ${contentType} doesn't exist`)
}

function emptyAnswer(status: number, contentType: string): Error {
  return clientErrors.make(
    'ANSWER_UNDECODABLE',
    `0-length response with status code: ${status} and content type: ${contentType || 'application/json'}`,
  )
}

function noObject(value: unknown): Error {
  return clientErrors.make(
    'ANSWER_UNDECODABLE',
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${GO_TYPE_META}`,
  )
}

function allOf(chunks: BodyChunks): Promise<Uint8Array> {
  return chunks.whole?.() ?? gathered(chunks)
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const chunk of chunks) pieces.push(chunk)
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** JSON has but one way to write these. */
const WRITTEN_ONE_WAY = /^[\w.-]+$/
const ITEMS = '"items":['
const CLOSE_ARRAY = 0x5d

/** What comes before the items of a list in which none of the texts stands; undefined: it must be read in full. */
function listWithout(texts: readonly string[], bytes: Buffer): unknown {
  if (texts.some((text) => !WRITTEN_ONE_WAY.test(text) || bytes.includes(text))) return undefined
  const itemsAt = bytes.indexOf(ITEMS)
  if (itemsAt === -1) return undefined
  try {
    const list = JSON.parse(`${bytes.toString('utf8', 0, itemsAt)}${ITEMS}]}`)
    if (typeof list.metadata !== 'object' || list.metadata === null) return undefined
    return bytes[itemsAt + ITEMS.length] === CLOSE_ARRAY ? list : { ...list, itemsLeftOut: true }
  } catch {
    return undefined
  }
}

/** Lets go of a body that nobody will read, so that its stream can close. */
export async function discardBody(response: TransportResponse): Promise<void> {
  const { body } = response
  if (body.kind === 'value') return
  const iterator = (body.kind === 'bytes' ? body.chunks : body.events)[Symbol.asyncIterator]()
  await iterator.return?.()
}
