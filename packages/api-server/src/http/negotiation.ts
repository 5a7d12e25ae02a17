/** Which form an answer takes. Contract: docs/behaviour/api-server/requests.md, "Content negotiation". */
import { parseAccept } from '@gyropilot/foundation'
import type { AcceptClause } from '@gyropilot/foundation'
import { ApiError } from '../contracts.ts'

export type MediaType =
  | 'application/json'
  | 'application/yaml'
  | 'application/vnd.kubernetes.protobuf'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const MEDIA_TYPES: readonly MediaType[] = ['application/json', 'application/yaml', PROTOBUF]
const STREAM_TYPES =
  'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'

/** What the answer is turned into; absent: the object itself. */
interface Transformation {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface NegotiatedType {
  readonly mediaType: MediaType
  readonly transformation: Transformation | undefined
  /** `;pretty=1` was wished for. */
  readonly pretty: boolean
}

interface NegotiationOptions {
  /** The endpoint streams. */
  readonly watch: boolean
  readonly transformable: boolean
  /** The answer has columns. Default true. */
  readonly tables?: boolean
  /** What of the answer has a form in protobuf. */
  readonly messages: 'all' | 'metadata'
  /** Clauses may name a version of the server (`sv`). Default true. */
  readonly serverVersions?: boolean
}

/** The type of the answer: the first that is accepted and fits. Or 406. */
export function negotiate(accept: string | undefined, options: NegotiationOptions): NegotiatedType {
  if (accept === undefined || accept === '') return PLAIN_JSON
  for (const clause of parseAccept(accept)) {
    for (const mediaType of MEDIA_TYPES) {
      if (!covers(clause.type, mediaType)) continue
      const found = formOf(mediaType, clause, options)
      if (found === undefined) continue
      // What fits first counts, and only then it is seen that it cannot be streamed.
      if (options.watch && mediaType === 'application/yaml') throw notAcceptable(true)
      return found
    }
  }
  throw notAcceptable(false)
}

const PLAIN_JSON: NegotiatedType = {
  mediaType: 'application/json',
  transformation: undefined,
  pretty: false,
}

/** As routes are found: parameters and qualities do not count, and of the wildcards only the full one. `collection`: lists can be streamed. Throws 406. */
export function requireRoutedType(
  accept: string | undefined,
  { collection = false, log = false }: { readonly collection?: boolean; readonly log?: boolean },
): void {
  const known = [...(log ? ['text/plain'] : []), ...MEDIA_TYPES]
  const types = (accept || '*/*').split(',').map((clause) => clause.split(';', 1)[0]!.trim())
  if (types.some((type) => type === '*/*' || known.includes(type))) return
  throw unavailable(known.join(', ') + (collection ? `, ${STREAM_TYPES}` : ''))
}

function covers(range: string, mediaType: MediaType): boolean {
  return range === mediaType || range === 'application/*' || range === '*/*'
}

/** The type of a discovery document in the aggregated form; undefined when the plain one, or nothing, is accepted first. */
export function aggregatedType(accept: string | undefined): MediaType | undefined {
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    const mediaType = MEDIA_TYPES.find((known) => covers(type, known))
    if (mediaType === undefined) continue
    const { as, g: group, v: version } = parameters
    if (as === undefined && group === undefined && version === undefined) return undefined
    if (as === 'APIGroupDiscoveryList' && group === 'apidiscovery.k8s.io' && version === 'v2')
      return mediaType
  }
  return undefined
}

/** Undefined: the type does not come with these parameters. */
function formOf(
  mediaType: MediaType,
  { parameters }: AcceptClause,
  { transformable, tables, messages, serverVersions }: NegotiationOptions,
): NegotiatedType | undefined {
  const { stream, sv } = parameters
  if (sv !== undefined && serverVersions === false) return undefined
  if (stream !== undefined && (stream !== 'watch' || mediaType === 'application/yaml'))
    return undefined
  const transformation = transformationOf(parameters)
  if (transformation === 'unknown') return undefined
  if (transformation !== undefined && !transformable) return undefined
  if (transformation?.as === 'Table' && tables === false) return undefined
  if (mediaType === PROTOBUF && !hasMessages(messages, transformation)) return undefined
  return { mediaType, transformation, pretty: parameters['pretty'] === '1' }
}

/** Metadata has a message whatever it is the metadata of; a Table has none. */
function hasMessages(
  messages: 'all' | 'metadata',
  transformation: Transformation | undefined,
): boolean {
  if (transformation === undefined) return messages === 'all'
  return transformation.as !== 'Table'
}

/** Whoever names one of kind, group and version has to name all. */
function transformationOf(
  parameters: Readonly<Record<string, string>>,
): Transformation | undefined | 'unknown' {
  const { as, g: group, v: version } = parameters
  if (as === undefined && group === undefined && version === undefined) return undefined
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return 'unknown'
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList')
    return 'unknown'
  return { as, version }
}

/** Pages that come in one type and are found by it: a range is accepted only when it is all. Throws 406. */
export function requireType(accept: string | undefined, mediaType: string): void {
  const types = (accept || '*/*').split(',').map((clause) => clause.split(';', 1)[0]!.trim())
  if (!types.some((type) => type === '*/*' || type === mediaType)) throw unavailable(mediaType)
}

function unavailable(types: string): ApiError {
  return new ApiError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${types}`,
    { details: {} },
  )
}

/** The type is known, but not with these parameters or for this answer; `streamed`: it would do, but for the stream. */
function notAcceptable(streamed: boolean): ApiError {
  const types = streamed ? STREAM_TYPES : MEDIA_TYPES.join(', ')
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`)
}

/** Refusals are never turned into anything. */
const REFUSALS: NegotiationOptions = {
  watch: false,
  transformable: false,
  messages: 'all',
  serverVersions: false,
}

/** The form of a refusal; undefined when nothing that is accepted fits. */
export function errorType(accept: string | undefined): NegotiatedType | undefined {
  try {
    return negotiate(accept, REFUSALS)
  } catch {
    return undefined
  }
}

export type InputType = MediaType

const TOKEN = "[-!#$%&'*+.^_`|~0-9A-Za-z]+"
const PARAMETER = `;\\s*(${TOKEN})\\s*=\\s*(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")\\s*`
const PARAMETERS = new RegExp(`^(?:${PARAMETER})*;?$`)

/** From the first semicolon on. Each name stands for one value, however often. */
function areParameters(text: string): boolean {
  if (!PARAMETERS.test(text)) return false
  const values = new Map<string, string>()
  for (const [, name, token, quoted = ''] of text.matchAll(new RegExp(PARAMETER, 'g'))) {
    const key = name!.toLowerCase()
    const value = token ?? quoted.replaceAll(/\\(.)/g, '$1')
    if ((values.get(key) ?? value) !== value) return false
    values.set(key, value)
  }
  return true
}

/** The type of a request body: well formed parameters are ignored, absent is JSON, all else is refused with 415. */
export function inputType(contentType: string | undefined): InputType {
  const given = (contentType ?? '').trim()
  if (given === '') return 'application/json'
  const semicolon = given.indexOf(';')
  const type = (semicolon < 0 ? given : given.slice(0, semicolon)).trim().toLowerCase()
  const known = MEDIA_TYPES.find((supported) => supported === type)
  if (known !== undefined && (semicolon < 0 || areParameters(given.slice(semicolon)))) return known
  throw unsupportedMediaType(MEDIA_TYPES)
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}
