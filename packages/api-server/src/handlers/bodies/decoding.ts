/** From a JSON value to an object of the endpoint's kind. Contract: docs/behaviour/api-server/requests.md, "Decoding". */
import { GO_TYPE_META } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { badRequest, invalid } from '../../http/errors.ts'
import { excerpt, unrecognized } from '@gyropilot/schema/body-refusals'
import type { ParsedBody } from '../../http/request-body.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { copyGiven } from '@gyropilot/schema/given-value'
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.ts'
import type { DocumentNotes } from '@gyropilot/schema/json'
import { DecodeError, decodeObject, type DecodedObject } from '@gyropilot/schema'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { FieldValidation } from '../options.ts'
import { decoderOf, hasNoVersions, isKnownKind } from './known-kinds.ts'

/** The kind that a body must have: of the resource, or of a subresource. */
export interface ExpectedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** The scale of a custom resource, which the reference decodes where hardly another kind is known. */
  readonly customScale?: boolean
}

export interface Decoding {
  readonly registry: ResourceRegistry
  readonly expected: ExpectedKind
  /** Decodes custom resources and applies the kind's defaults, when the body is the resource itself. */
  readonly resource: ServedResource | undefined
  readonly validation: FieldValidation
  /** What server-side apply has merged is no body: its nulls stay. */
  readonly keepsNulls?: boolean
  warn(text: string): void
}

/** The decoded and defaulted object. Throws 400. */
export function decodeDraft(body: ParsedBody, decoding: Decoding): Draft {
  const { expected, resource } = decoding
  const value = checkHeader(body, decoding)
  const sent = (body.value ?? {}) as Partial<SentType>
  const [, sentVersion] = splitApiVersion(sent.apiVersion ?? '')
  const handled = handledAs(
    isStillTaken(sent.kind ?? '', sent.apiVersion ?? '', expected)
      ? { ...expected, version: sentVersion }
      : expected,
    resource?.custom === true ? (value as SentType).kind : expected.kind,
  )
  const decoded = readable(handled, () => decodeValue(value, body, decoding))
  tellProblems(handled, body, decoded.problems, decoding)
  rememberForeignKind(decoded.object, value, decoding)
  return decoded.object
}

function readable<T>(handled: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${handled}: ${error.message}`)
    throw error
  }
}

/** What is wrong with the fields: told as a refusal or in warnings, if at all. */
function tellProblems(
  handled: string,
  body: ParsedBody,
  ofFields: readonly string[],
  { validation, warn }: Decoding,
): void {
  const problems = [...body.problems, ...ofFields]
  if (problems.length > 0 && validation === 'Strict') {
    // What the reader of YAML finds is one error of several lines.
    const yaml =
      body.problems.length > 0 ? [`yaml: unmarshal errors:\n  ${body.problems.join('\n  ')}`] : []
    throw badRequest(`${handled}: strict decoding error: ${[...yaml, ...ofFields].join(', ')}`)
  }
  if (validation === 'Warn') for (const problem of problems) warn(problem)
}

function handledAs({ group, version, kind }: ExpectedKind, sentKind = kind): string {
  const shownVersion = version === '' ? group : version
  return `${sentKind} in version ${JSON.stringify(shownVersion)} cannot be handled as a ${kind}`
}

/** Structure and defaults, without looking at kind and apiVersion. Throws DecodeError. */
export function decodeValue(
  value: unknown,
  notes: DocumentNotes,
  decoding: Pick<Decoding, 'expected' | 'resource' | 'keepsNulls'>,
): DecodedObject {
  const { expected, resource, keepsNulls } = decoding
  const decoded =
    resource?.decode?.(value, notes, keepsNulls) ?? decodeObject(expected, value, notes)
  if (decoded === undefined)
    throw new Error(`no schema for ${apiVersionOf(expected)} ${expected.kind}`)
  const defaults = resource?.rules.defaults
  if (resource === undefined || defaults === undefined) return decoded
  const { toStored, fromStored } = resource.storage
  if (toStored === undefined) {
    defaults(decoded.object)
    return decoded
  }
  // Rules of kinds that are kept in another version know only that one. Who sends an object owns its defaults, too.
  const stored = toStored(decoded.object)
  defaults(stored)
  return { ...decoded, object: copyGiven(fromStored?.(stored) ?? stored) as Draft }
}

/** What a body says it is. Throws what `refuse` makes of it. */
export function headerFields(
  body: ParsedBody,
  refuse: (why: string) => Error,
): { readonly kind: string | undefined; readonly apiVersion: string | undefined } {
  const value = body.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw refuse(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into Go value of type ${GO_TYPE_META}`,
    )
  }
  // Of several that are no texts the first is told.
  for (const [name, field] of Object.entries(value)) {
    if (name !== 'kind' && name !== 'apiVersion') continue
    // A document that was read for somebody may name what it does not have.
    if (field !== undefined && field !== null && typeof field !== 'string') {
      throw refuse(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(field)} into Go struct field .${name} of type string`,
      )
    }
  }
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown }
  return { kind: (kind ?? undefined) as string, apiVersion: (apiVersion ?? undefined) as string }
}

function checkHeader(body: ParsedBody, decoding: Decoding): unknown {
  const { expected, registry, resource, validation } = decoding
  const value = body.value ?? {}
  const handled = validation === 'Ignore' ? handledAs(expected) : undefined
  const refuse = (why: string) => unrecognized(expected.kind, why, excerpt(body.bytes))
  const { kind, apiVersion } = headerFields(body, refuse)
  const own = apiVersionOf(expected)
  if (resource?.custom === true) return checkCustomHeader(value as Draft, body, decoding, handled)
  const sentKind = kind || expected.kind
  const named = withoutEmptyGroup(apiVersion ?? '')
  // A group without a version is this one of its own.
  const sentVersion = named === '' || named === `${expected.group}/` ? own : named
  if (sentKind === expected.kind && sentVersion === own)
    return apiVersion && apiVersion !== own ? { ...(value as object), apiVersion: own } : value
  if (sentVersion.split('/').length > 2)
    throw refuse(`unexpected GroupVersion string: ${sentVersion}`)
  if (sentVersion.endsWith('/')) {
    const shown = Buffer.from(body.bytes).toString()
    throw badRequest(
      `${sentKind} in version "" cannot be handled as a ${expected.kind}: Object 'apiVersion' is missing in '${shown}'`,
    )
  }
  if (isStillTaken(sentKind, sentVersion, expected))
    return { ...(value as object), apiVersion: own }
  const why = foreignKind(sentKind, sentVersion, { expected, registry })
  if (why === undefined) {
    tellProblemsOfVersion(sentVersion, body, decoding)
    throw badRequest(
      `the API version in the data (${sentVersion}) does not match the expected API version (${own})`,
    )
  }
  const [, version] = splitApiVersion(sentVersion)
  throw badRequest(
    `${sentKind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${why}`,
  )
}

/** Read before it is refused for its version. Of versions that are not served the fields are not known. */
function tellProblemsOfVersion(sentVersion: string, body: ParsedBody, decoding: Decoding): void {
  const [group, version] = splitApiVersion(sentVersion)
  const sent = { group, version, kind: decoding.expected.kind }
  const handled = handledAs(sent)
  const decoded = readable(handled, () => decodeObject(sent, body.value ?? {}, body))
  if (decoded !== undefined) tellProblems(handled, body, decoded.problems, decoding)
}

/** Why an object of this kind and version cannot become one of the expected kind; undefined: another version of it. */
export function foreignKind(
  kind: string,
  apiVersion: string,
  { expected, registry }: Pick<Decoding, 'expected' | 'registry'>,
): string | undefined {
  if (expected.customScale === true)
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/client-go/scale/util.go:146"`
  const [group, sentVersion] = splitApiVersion(apiVersion)
  const version = hasNoVersions(kind) ? 'v1' : sentVersion
  if (!isKnownKind(registry, expected.group, kind, [group, sentVersion]))
    return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "${decoderOf(expected.group)}"`
  return kind === expected.kind
    ? undefined
    : `converting (${version}.${kind}) to (${internalPackage(expected.group)}.${expected.kind}): unknown conversion`
}

/** Bodies of kinds that are taken in a version that is not served any more. */
const STILL_TAKEN: ReadonlyMap<string, string> = new Map([['policy/Eviction', 'policy/v1beta1']])

function isStillTaken(kind: string, apiVersion: string, expected: ExpectedKind): boolean {
  return (
    kind === expected.kind && STILL_TAKEN.get(`${expected.group}/${expected.kind}`) === apiVersion
  )
}

/** What is told of a custom resource whose version is a null. */
export const NULL_VERSION =
  '.apiVersion accessor error: <nil> is of the type <nil>, expected string'

/** Custom resources must say what they are, and a wrong kind is an invalid field. `handled`: the frame of what is told when nobody asks about fields. */
function checkCustomHeader(
  value: Draft,
  body: ParsedBody,
  decoding: Decoding,
  handled: string | undefined,
): unknown {
  const { expected } = decoding
  const own = apiVersionOf(expected)
  const { kind } = value
  const apiVersion = withoutEmptyGroup(value['apiVersion'] ?? '')
  if (!kind) {
    const shown = Buffer.from(body.bytes).toString()
    const why = `Object 'Kind' is missing in '${shown}'`
    if (handled !== undefined) throw badRequest(`${handled}: ${why}`)
    throw unrecognized(expected.kind, why, excerpt(body.bytes))
  }
  if (value['apiVersion'] === null)
    throw badRequest(`${handledAs({ ...expected, group: '', version: '' })}: ${NULL_VERSION}`)
  if (apiVersion.split('/').length > 2)
    throw unrecognized(
      expected.kind,
      `unexpected GroupVersion string: ${apiVersion}`,
      excerpt(body.bytes),
    )
  if (apiVersion !== own) {
    tellUnknownFields(value, body, decoding)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${own})`,
    )
  }
  return value
}

/**
 * Another version of the resource knows its own fields, and one of the group that nobody has defined knows none. Throws 400
 * when that is asked for.
 */
function tellUnknownFields(
  value: Draft,
  notes: DocumentNotes,
  { expected, registry, resource, validation, warn }: Decoding,
): void {
  const [group, version] = splitApiVersion(value['apiVersion'] ?? '')
  if (group !== expected.group) return
  const known = problemsOfOtherVersion(value, notes, { expected, registry, resource })
  if (known === undefined && isKnownKind(registry, group, expected.kind, [group, version])) return
  const problems =
    known ??
    Object.keys(value)
      .filter((name) => !OF_EVERY_OBJECT.has(name))
      .toSorted(compareStrings)
      .map((name) => `unknown field ${JSON.stringify(name)}`)
  if (problems.length > 0 && validation === 'Strict')
    throw badRequest(
      `${handledAs({ ...expected, version }, value['kind'])}: strict decoding error: ${problems.join(', ')}`,
    )
  if (validation === 'Warn') for (const problem of problems) warn(problem)
}

/** What is wrong with the fields of a custom object in the version that it says it is of; undefined: it is no other one. */
export function problemsOfOtherVersion(
  value: Draft,
  notes: DocumentNotes,
  { expected, registry, resource }: Pick<Decoding, 'expected' | 'registry' | 'resource'>,
): readonly string[] | undefined {
  const [group, version] = splitApiVersion(value['apiVersion'] ?? '')
  if (resource?.custom !== true || group !== expected.group || version === expected.version)
    return undefined
  return registry.get(group, version, resource.info.resource)?.decode?.(value, notes).problems
}

const OF_EVERY_OBJECT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** Told after everything that is wrong with the object itself and its place. Throws 422. */
export function refuseForeignKind(draft: Draft): void {
  const { sent, expected } = foreignKinds.get(draft) ?? {}
  if (sent === undefined || expected === undefined) return
  const errors = new FieldErrors()
  const own = apiVersionOf(expected)
  if (sent.kind !== expected.kind) errors.invalid('kind', sent.kind, `must be ${expected.kind}`)
  if (sent.apiVersion !== own) errors.invalid('apiVersion', sent.apiVersion, `must be ${own}`)
  const [group] = splitApiVersion(sent.apiVersion)
  throw invalid(group, sent.kind, draft['metadata']?.name ?? '', errors.list)
}

/** Custom resources that said of themselves what they are not. */
const foreignKinds = new WeakMap<
  Draft,
  { readonly sent: SentType; readonly expected: ExpectedKind }
>()

interface SentType {
  readonly kind: string
  readonly apiVersion: string
}

/** Remembers what the draft of a custom resource said of itself, when that was something else. */
export function rememberForeignKind(
  draft: Draft,
  value: unknown,
  { expected, resource }: Decoding,
): void {
  if (resource?.custom !== true) return
  const { kind, apiVersion } = value as SentType
  const sent = { kind, apiVersion: withoutEmptyGroup(apiVersion) }
  if (sent.kind === expected.kind && sent.apiVersion === apiVersionOf(expected)) return
  foreignKinds.set(draft, { sent, expected })
}

/** The Go package of the internal type: the first part of the group. */
export function internalPackage(group: string): string {
  return group === '' ? 'core' : group.split('.')[0]!
}

export function apiVersionOf({ group, version }: Pick<ExpectedKind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

/** `/v1` is `v1`, what programs make of a group without a name, and `/` is none. */
export function withoutEmptyGroup(apiVersion: string): string {
  return /^\/[^/]*$/.test(apiVersion) ? apiVersion.slice(1) : apiVersion
}

export function splitApiVersion(text: string): [group: string, version: string] {
  const slash = text.indexOf('/')
  return slash < 0 ? ['', text] : [text.slice(0, slash), text.slice(slash + 1)]
}

/** What Go calls the type of the value. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  // What a double cannot hold is read as another type here.
  return typeof value === 'bigint' ? 'number' : typeof value
}
