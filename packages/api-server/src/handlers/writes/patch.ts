/** The four patch types as functions from the current object to the wanted one. Contract: docs/behaviour/api-server/patch-and-apply.md. */
import {
  GO_TYPE_META,
  applyJsonPatch,
  applyMergePatch,
  mergeStrategically,
  goFormat,
  JsonPatchError,
  MergePatchError,
  StrategicMergeError,
} from '@gyropilot/api'
import { schemaOf } from '@gyropilot/api/schema'
import { byString } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import { badRequest, internalError, unclassified } from '../../http/errors.ts'
import { goJsonError } from '@gyropilot/schema/go-json-error'
import { goQuote } from '@gyropilot/schema/go-quote'
import { unsupportedMediaType } from '../../http/negotiation.ts'
import { checkNesting } from '@gyropilot/schema/body-refusals'
import { duplicateFields } from '@gyropilot/schema/duplicate-fields'
import { copyGiven } from '@gyropilot/schema/given-value'
import {
  oversizedNumber,
  parseJson,
  type DocumentNotes,
  type Occurrences,
} from '@gyropilot/schema/json'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { ConversionError, DecodeError } from '@gyropilot/schema'
import { dropUnreadable } from '../../field-management/applied-metadata.ts'
import { unconverted } from '../../field-management/unconverted.ts'
import {
  NULL_VERSION,
  apiVersionOf,
  decodeDraft,
  decodeValue,
  foreignKind,
  jsonType,
  problemsOfOtherVersion,
  rememberForeignKind,
  splitApiVersion,
  withoutEmptyGroup,
  type Decoding,
} from '../bodies/decoding.ts'
import { isInteger, stringifyExact } from '@gyropilot/foundation/exact-json'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { readWritten, stringifyWritten, withWritten } from '@gyropilot/schema/written-numbers'
import { operationsOf, oversizedValue } from './patch-operations.ts'
import { wrappedIntegers } from './wrapped-integers.ts'

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

const TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** 415 for other types and for none. `strategic`: kinds of the API itself, which are found by a route that knows its types. */
export function patchTypeOf(contentType: string | undefined, strategic: boolean): PatchType {
  const type = TYPES[(contentType ?? '').split(';', 1)[0]!.trim()]
  if (!strategic && (type === undefined || type === 'strategic')) {
    throw unsupportedMediaType([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ])
  }
  if (type === undefined)
    throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
  return type
}

export interface PatchBody {
  readonly value: unknown
  readonly occurrences: Occurrences | undefined
  /** Numbers that are written otherwise than they are printed are symbols: of patches that are followed as texts. */
  readonly isWritten?: boolean
}

/** A merge patch, where fields are not judged: what applies it says no more. */
const NO_PATCH = 'Invalid JSON Patch'

/** The patch as a JSON value; 400 when it is none. */
export function parsePatch(
  text: string,
  type: Exclude<PatchType, 'apply'>,
  validation: Decoding['validation'],
): PatchBody {
  checkNesting(text)
  try {
    const { value, ...notes } = parseJson(text)
    const oversized = type === 'json' ? oversizedValue(value, notes) : oversizedNumber(value, notes)
    // A list that is no patch is refused as such.
    const isRead = type === 'json' || !Array.isArray(value)
    if (oversized !== undefined && isRead) refuseOversized(oversized, type, validation)
    const isWritten = type !== 'strategic' && notes.spellings !== undefined
    return isWritten ? { ...withWritten(value, notes), isWritten } : { value, ...notes }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const detail = goJsonError(text)
    if (type === 'strategic') throw badRequest(detail)
    if (validation !== 'Ignore') throw badRequest(`error decoding patch: ${detail}`)
    throw badRequest(type === 'merge' ? NO_PATCH : detail)
  }
}

/** Where fields are not judged, JSON and merge patches are followed as texts: what they make is refused, if the number is still in it. */
function refuseOversized(
  number: string,
  type: Exclude<PatchType, 'apply'>,
  validation: Decoding['validation'],
): void {
  const into = type === 'json' ? 'struct field jsonPatchOp.value' : 'value'
  const why = `json: cannot unmarshal number ${number} into Go ${into} of type float64`
  if (type === 'strategic') throw badRequest(why)
  if (validation !== 'Ignore') throw badRequest(`error decoding patch: ${why}`)
}

/** The patched object, decoded and defaulted. Throws ApiError. */
export function patchObject(
  type: Exclude<PatchType, 'apply'>,
  body: PatchBody,
  current: Stored,
  decoding: Decoding,
): Draft {
  const problems: string[] = []
  const made = applyOf(type, body, current, decoding, problems)
  const { shown } = made
  // Values of operations come into the object as they stand there, repeated members included.
  const occurrences = type === 'json' ? body.occurrences : undefined
  const { value: patched, ...notes } = readApplied(made, occurrences)
  if (type !== 'strategic') checkPatchedKind(patched as Draft, decoding, problems)
  let decoded
  try {
    decoded =
      type === 'strategic'
        ? decodeConverted(patched, decoding)
        : decodePatched(patched as Draft, notes, decoding)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (error instanceof ConversionError && type === 'strategic') throw unclassified(error.message)
    const told = type === 'merge' ? firstRefusal(made, decoding, error) : error
    throw invalidPatch(shown(), type === 'strategic' ? unconverted(error) : told.message)
  }
  // What was merged goes by the names of its fields, what operations made as it stands; of custom resources what is embedded comes last.
  const byPath = byString((problem: string) => problem.slice(problem.indexOf('"')))
  const told =
    problemsOfOtherVersion(patched as Draft, { occurrences: undefined }, decoding) ??
    decoded.problems
  const found = [...new Set(told)]
  const isInOrder = type === 'json' || decoding.resource?.custom === true
  problems.push(...(isInOrder ? found : found.toSorted(byPath)))
  if (problems.length > 0 && decoding.validation === 'Strict')
    throw invalidPatch(shown(), `strict decoding error: ${problems.join(', ')}`)
  if (decoding.validation === 'Warn') for (const problem of problems) decoding.warn(problem)
  rememberForeignKind(decoded.object, patched, decoding)
  return decoded.object
}

/** A patch may make the object one of another version that is served: it has the fields of that, then. */
function decodePatched(
  patched: Draft,
  notes: DocumentNotes,
  decoding: Decoding,
): ReturnType<typeof decodeValue> {
  const { expected, registry, resource } = decoding
  const [group, version] = splitApiVersion(patched['apiVersion'] ?? '')
  const plain = (): ReturnType<typeof decodeValue> => decodeValue(patched, notes, decoding)
  if (resource === undefined || resource.custom || version === expected.version) return plain()
  const other = registry.get(group, version, resource.info.resource)
  if (other === undefined || group !== expected.group || other.info.kind !== expected.kind)
    return plain()
  const sentAs = { ...decoding, expected: { ...expected, version }, resource: other }
  const decoded = decodeValue(patched, notes, sentAs)
  const stored = other.storage.toStored?.(decoded.object) ?? decoded.object
  const object = copyGiven(resource.storage.fromStored?.(stored) ?? stored) as Draft
  return { ...decoded, object }
}

/** What a patch made, with numbers only. */
function readApplied(
  { patched, isWritten }: Applied,
  occurrences?: Occurrences,
): ReturnType<typeof withWritten> & DocumentNotes {
  return isWritten ? readWritten(patched, occurrences) : { value: patched, occurrences }
}

/** What was merged is written with its keys in order before it is decoded: the first of several errors is the first in that. */
function firstRefusal(made: Applied, decoding: Decoding, error: DecodeError): DecodeError {
  const { value, ...notes } = readApplied({ ...made, patched: sortedJson(made.patched) })
  try {
    decodeValue(value, notes, decoding)
  } catch (first) {
    if (first instanceof DecodeError) return first
  }
  return error
}

/** Of values that Go converts and does not decode: integers that are too large for their fields are cut. */
function decodeConverted(value: unknown, decoding: Decoding): ReturnType<typeof decodeValue> {
  const notes = { occurrences: undefined }
  try {
    return decodeValue(value, notes, decoding)
  } catch (error) {
    const { group, version, kind } = decoding.expected
    const schema = schemaOf(group, version, kind)
    const { goType, given, readsItself } = (error instanceof DecodeError && error.mismatch) || {}
    const isCut = (goType === 'int32' || goType === 'int64') && isInteger(given)
    if (schema === undefined || !isCut || readsItself === true) throw error
    return decodeValue(wrappedIntegers(value, schema), notes, decoding)
  }
}

/** What server-side apply made, decoded and defaulted. Built-in kinds are filled in as by strategic merge. Throws 500. */
export function appliedDraft(merged: Draft, configuration: Stored, decoding: Decoding): Draft {
  if (decoding.resource?.custom === true) {
    dropUnreadable(merged['metadata'])
    const body = { value: merged, occurrences: undefined, problems: [], bytes: new Uint8Array(0) }
    return decodeDraft(body, { ...decoding, keepsNulls: true })
  }
  try {
    return decodeConverted(merged, decoding).object
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const { group, version, kind } = decoding.expected
    const type = `${group}/${version}, Kind=${kind}`
    // Of what was applied: a namespace that stands in the path alone is not told.
    const { namespace = '', name = '' } = configuration['metadata'] ?? {}
    if (error instanceof ConversionError)
      throw unclassified(
        `failed to convert to unversioned (${namespace}/${name}; ${type}): ${error.message}`,
      )
    throw unclassified(
      `failed to convert new object (${namespace}/${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${unconverted(error)}`,
    )
  }
}

/**
 * What has been patched is decoded by the kind it says it is of; a strategic merge goes on as the kind it was. Without a
 * version nothing else of it is known. Custom resources are told apart by their own check.
 */
function checkPatchedKind(patched: Draft, decoding: Decoding, problems: string[]): void {
  const { expected, resource } = decoding
  if (typeof patched !== 'object' || patched === null) return
  for (const name of ['apiVersion', 'kind']) {
    const value: unknown = patched[name]
    if (typeof value !== 'string' && value !== undefined && value !== null)
      throw invalidPatch(stringifyExact(patched), unreadableType(name, value))
  }
  const apiVersion = withoutEmptyGroup(patched['apiVersion'] ?? '')
  if (apiVersion.split('/').length > 2)
    throw invalidPatch(stringifyExact(patched), `unexpected GroupVersion string: ${apiVersion}`)
  const { kind } = patched
  if (resource?.custom === true) {
    checkPatchedCustomKind(patched, apiVersion)
    problems.push(...unknownInVersion(patched, decoding))
    return
  }
  if (apiVersion === '') {
    if (expected.customScale === true) return
    for (const field of Object.keys(patched).toSorted()) {
      if (field === 'kind' || field === 'apiVersion') continue
      problems.push(`unknown field ${goQuote(field)}`)
      delete patched[field]
    }
    return
  }
  const sentKind = kind || expected.kind
  if (sentKind === expected.kind && apiVersion === apiVersionOf(expected)) return
  const why = foreignKind(sentKind, apiVersion, decoding)
  if (why !== undefined) throw invalidPatch(stringifyExact(patched), why)
}

function unreadableType(field: string, value: unknown): string {
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into Go struct field .${field} of type string`
}

/** Custom resources have to say what they are; whether it is the right thing is asked later. */
function checkPatchedCustomKind(patched: Draft, apiVersion: string): void {
  if (!patched['kind']) {
    const shown = stringifyExact(patched)
    throw invalidPatch(shown, `Object 'Kind' is missing in '${shown}'`)
  }
  if (patched['apiVersion'] === null) throw invalidPatch(stringifyExact(patched), NULL_VERSION)
  // A group alone is no version.
  if (apiVersion === '' || apiVersion.endsWith('/'))
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
}

/** Of a version that is not defined only what all objects have is known. */
function unknownInVersion(patched: Draft, { expected, registry }: Decoding): readonly string[] {
  const [group, version] = splitApiVersion(String(patched['apiVersion']))
  if (group !== expected.group || registry.version(group, version) !== undefined) return []
  return Object.keys(patched)
    .filter((field) => field !== 'kind' && field !== 'apiVersion' && field !== 'metadata')
    .toSorted()
    .map((field) => `unknown field ${JSON.stringify(field)}`)
}

const NO_OBJECT = `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${GO_TYPE_META}`

interface Applied {
  readonly patched: unknown
  /** Its numbers may be symbols. */
  readonly isWritten: boolean
  /** What is shown of it when it is refused. */
  shown(): string
}

function applyOf(
  type: Exclude<PatchType, 'apply'>,
  { value: patch, occurrences, isWritten = false }: PatchBody,
  current: Stored,
  { expected, validation }: Decoding,
  problems: string[],
): Applied {
  const written = isWritten ? stringifyWritten : stringifyExact
  const asItIs = (patched: unknown): Applied => ({
    patched,
    isWritten,
    shown: () => written(patched),
  })
  try {
    if (type !== 'json') problems.push(...duplicateFields(patch, occurrences))
    if (type === 'merge') {
      if (validation === 'Ignore') {
        // A list is no patch, and takes the place of what it is for.
        if (Array.isArray(patch)) throw invalidPatch(written(patch), NO_OBJECT)
        if (typeof patch !== 'object') throw badRequest(NO_PATCH)
      }
      return asItIs(applyMergePatch(current, patch))
    }
    if (type === 'strategic') {
      const schema = schemaOf(expected.group, expected.version, expected.kind)!
      const { merged, left } = mergeStrategically(current, patch, schema)
      return { patched: merged, isWritten: false, shown: () => goFormat(left) }
    }
    return asItIs(applyJsonPatch(current, operationsOf(patch, occurrences, validation, problems)))
  } catch (error) {
    if (error instanceof MergePatchError) throw badRequest(error.message)
    if (error instanceof StrategicMergeError)
      throw error.badRequest ? badRequest(error.message) : unclassified(error.message)
    if (error instanceof JsonPatchError) {
      throw new ApiError(
        422,
        'Invalid',
        'the server rejected our request due to an error in our request',
        { details: {} },
      )
    }
    throw error
  }
}

/** The result of a patch is blamed on the patch: no kind and no name. */
function invalidPatch(shown: string, why: string): ApiError {
  const message = `Invalid value: ${stringifyExact(shown)}: ${why}`
  return new ApiError(422, 'Invalid', ` "" is invalid: patch: ${message}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
  })
}
