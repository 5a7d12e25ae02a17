/** Which form an answer takes. Contract: docs/behaviour/api-server/requests.md, "Content negotiation". */
import { ApiError } from '../contracts.ts'

export type MediaType =
  | 'application/json'
  | 'application/yaml'
  | 'application/vnd.kubernetes.protobuf'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

export const MEDIA_TYPES: readonly MediaType[] = ['application/json', 'application/yaml', PROTOBUF]
const STREAM_TYPES =
  'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'

/** What the answer is turned into; absent: the object itself. */
export interface Transformation {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface NegotiatedType {
  readonly mediaType: MediaType
  readonly transformation: Transformation | undefined
}

interface AcceptClause {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

const parsedAccepts = new Map<string, readonly AcceptClause[]>()

/** Clauses by falling quality, then in their order. */
export function parseAccept(accept: string): readonly AcceptClause[] {
  const known = parsedAccepts.get(accept)
  if (known !== undefined) return known
  const clauses = accept
    .split(',')
    .map(parseClause)
    .filter((clause) => clause.type !== '')
    .sort((a, b) => b.quality - a.quality)
  // Clients send the same few headers again and again; strangers may not fill the memory.
  if (parsedAccepts.size < 256 && accept.length < 1024) parsedAccepts.set(accept, clauses)
  return clauses
}

function parseClause(text: string): AcceptClause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters: Record<string, string> = Object.create(null)
  let quality = 1
  for (const part of rest) {
    const equals = part.indexOf('=')
    if (equals < 0) continue
    const name = part.slice(0, equals).trim().toLowerCase()
    const value = part
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1')
    if (name === 'q') quality = Number.parseFloat(value) || 0
    else parameters[name] = value
  }
  return { type: type.toLowerCase(), parameters, quality }
}

/**
 * The type of the answer, or 406. `watch` says whether the endpoint streams, `messages` what of it has a form in protobuf, `tables` (default true) whether it has columns. Who
 * takes JSON too is given JSON: it costs the server less.
 */
export function negotiate(
  accept: string | undefined,
  options: {
    readonly watch: boolean
    readonly watchable: boolean
    readonly transformable: boolean
    readonly tables?: boolean
    readonly messages: 'all' | 'metadata' | 'none'
  },
): NegotiatedType {
  if (accept === undefined || accept === '')
    return { mediaType: 'application/json', transformation: undefined }
  let known = false
  let fitsNoStream = false
  let inProtobuf: NegotiatedType | undefined
  for (const { type, parameters } of parseAccept(accept)) {
    const mediaType =
      type === '*/*' ? 'application/json' : MEDIA_TYPES.find((supported) => supported === type)
    if (mediaType === undefined) continue
    known = true
    if (options.watch && mediaType === 'application/yaml') {
      fitsNoStream = true
      continue
    }
    const transformation = transformationOf(parameters)
    if (transformation === 'unknown') continue
    if (transformation !== undefined && !options.transformable) continue
    if (transformation?.as === 'Table' && options.tables === false) continue
    if (mediaType !== PROTOBUF) return { mediaType, transformation }
    if (hasMessages(options.messages, transformation)) inProtobuf ??= { mediaType, transformation }
  }
  if (inProtobuf !== undefined) return inProtobuf
  throw known ? notAcceptable(fitsNoStream) : noneAvailable(options.watchable)
}

/** Metadata has a message whatever it is the metadata of; a Table has none. */
function hasMessages(
  messages: 'all' | 'metadata' | 'none',
  transformation: Transformation | undefined,
): boolean {
  if (transformation === undefined) return messages === 'all'
  return messages !== 'none' && transformation.as !== 'Table'
}

function transformationOf(
  parameters: Readonly<Record<string, string>>,
): Transformation | undefined | 'unknown' {
  const as = parameters['as']
  if (as === undefined || as === '') return undefined
  const version = parameters['v']
  if (parameters['g'] !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1'))
    return 'unknown'
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList')
    return 'unknown'
  return { as, version }
}

function noneAvailable(watchable: boolean): ApiError {
  const types = MEDIA_TYPES.join(', ') + (watchable ? `, ${STREAM_TYPES}` : '')
  return new ApiError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${types}`,
    { details: {} },
  )
}

/** The type is known, but not with these parameters or for this answer; `streamed`: it would do, but for the stream. */
export function notAcceptable(streamed: boolean): ApiError {
  const types = streamed ? STREAM_TYPES : MEDIA_TYPES.join(', ')
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`)
}

/** The form of an error: what was asked for as far as it can be given. One in protobuf, too, as long as no form of objects was wished for. */
export function errorMediaType(accept: string | undefined): MediaType {
  if (accept === undefined) return 'application/json'
  let inProtobuf = false
  for (const { type, parameters } of parseAccept(accept)) {
    if (type === 'application/yaml') return 'application/yaml'
    if (type === 'application/json' || type === '*/*') return 'application/json'
    if (type === PROTOBUF) inProtobuf ||= parameters['as'] === undefined
  }
  return inProtobuf ? PROTOBUF : 'application/json'
}

export type InputType = MediaType

/** The type of a request body: parameters are ignored, absent is JSON, others are refused with 415. */
export function inputType(contentType: string | undefined): InputType {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === '') return 'application/json'
  const known = MEDIA_TYPES.find((supported) => supported === type)
  if (known !== undefined) return known
  throw unsupportedMediaType(MEDIA_TYPES)
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}
