/** ConversionReview: what of a webhook's answer is good. Contract: docs/behaviour/api-server/custom-resources.md, Webhook. */
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { jsonKind } from '@gyropilot/schema/decode-scalars'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { validateAnnotations, validateLabels } from '@gyropilot/schema/validation/labels'
import { decodedReview } from '../admission/webhooks/review-header.ts'
import { cloneJson } from '../registry/equality.ts'
import type { Draft, Stored } from '../registry/kind-rules.ts'

const GROUP = 'apiextensions.k8s.io'
const KIND = 'ConversionReview'

/** What is wrong with an answer: its form, the review itself, how many objects there are, or one of them. */
type BadPart = 'undecodable' | 'review' | 'count' | 'object'

/** An answer that nothing is converted by. `bare`: told without the name of the webhook. */
export class BadConversion extends Error {
  readonly part: BadPart
  readonly bare: boolean

  constructor(part: BadPart, text: string, bare = false) {
    super(text)
    this.part = part
    this.bare = bare
  }
}

/** The field of the answer, its type in JSON and in Go, and what it stands in. */
const FIELDS = [
  ['ConversionResponse', 'uid', 'string', 'types.UID'],
  ['ConversionResponse', 'convertedObjects', 'array', '[]runtime.RawExtension'],
  ['ConversionResponse', 'result', 'object', 'v1.Status'],
] as const

const RESULT_FIELDS = [
  ['metadata', 'object', 'v1.ListMeta'],
  ['status', 'string', 'string'],
  ['message', 'string', 'string'],
  ['reason', 'string', 'v1.StatusReason'],
  ['details', 'object', 'v1.StatusDetails'],
  ['code', 'number', 'int32'],
] as const

/** A number that is none of Go's is told with its digits. */
function checkCode(code: unknown): void {
  if (typeof code !== 'number' || Number.isInteger(code)) return
  throw new BadConversion(
    'undecodable',
    `failed: json: cannot unmarshal number ${code} into Go struct field Status.response.result.code of type int32`,
  )
}

function checkType(
  value: unknown,
  isRight: boolean,
  holder: string,
  path: string,
  goType: string,
): void {
  if (isRight || value === undefined || value === null) return
  throw new BadConversion(
    'undecodable',
    `failed: json: cannot unmarshal ${jsonKind(value, false)} into Go struct field ${holder}.${path} of type ${goType}`,
  )
}

function isType(value: unknown, type: 'string' | 'number' | 'array' | 'object'): boolean {
  if (type === 'array') return Array.isArray(value)
  return typeof value === type && !Array.isArray(value)
}

/** As many objects as there were. Throws BadConversion and UndecodableResponse. */
export function objectsOf(
  answer: unknown,
  uid: string,
  version: string,
  count: number,
): readonly unknown[] {
  const review = decodedReview(answer, GROUP, version, KIND)
  const [apiVersion, kind]: [string, string] = [review['apiVersion'] ?? '', review['kind'] ?? '']
  const { response } = review
  checkType(response, isType(response, 'object'), KIND, 'response', `${version}.ConversionResponse`)
  for (const [holder, field, type, goType] of FIELDS) {
    const value: unknown = response?.[field]
    checkType(value, isType(value, type), holder, `response.${field}`, goType)
  }
  const result: Stored = response?.result ?? {}
  for (const [field, type, goType] of RESULT_FIELDS) {
    const value: unknown = result[field]
    checkType(value, isType(value, type), 'Status', `response.result.${field}`, goType)
  }
  checkCode(result['code'])
  const { request } = review
  checkType(request, isType(request, 'object'), KIND, 'request', `${version}.ConversionRequest`)
  if (apiVersion !== `${GROUP}/${version}` || kind !== KIND)
    throw new BadConversion(
      'review',
      `failed: expected webhook response of ${GROUP}/${version}, Kind=${KIND}, got ${groupVersionText(apiVersion)}, Kind=${kind}`,
    )
  if (response === undefined || response === null)
    throw new BadConversion('review', 'failed: no response provided')
  checkResult(response, result, uid)
  const objects: readonly unknown[] = response.convertedObjects ?? []
  if (objects.length !== count)
    throw new BadConversion('count', `returned ${objects.length} objects, expected ${count}`)
  return objects
}

/** Go prints a group and a version, though neither is there. */
function groupVersionText(apiVersion: string): string {
  return apiVersion === '' ? '/' : apiVersion
}

function checkResult(response: Stored, { status = '', message = '' }: Stored, uid: string): void {
  const own: string = response['uid'] ?? ''
  if (own !== uid)
    throw new BadConversion(
      'review',
      `failed: expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(own)}`,
    )
  if (status === 'Success') return
  throw new BadConversion(
    'review',
    message === ''
      ? `failed: response.result.status was '${status}', not 'Success'`
      : `failed: ${message}`,
  )
}

/** The converted object with what of its metadata is not the webhook's to change. Throws BadConversion. */
export function acceptedObject(given: unknown, original: Stored, wantedVersion: string): Draft {
  const object = objectIn(given)
  const at = 'returned invalid object at index 0: '
  const version: unknown = object['apiVersion']
  if (version !== wantedVersion)
    throw new BadConversion(
      'object',
      `${at}invalid groupVersion (expected ${wantedVersion}, received ${typeof version === 'string' ? version : ''})`,
    )
  if (object['kind'] !== original['kind'])
    throw new BadConversion(
      'object',
      `${at}invalid kind (expected ${original['kind']}, received ${object['kind']})`,
    )
  return restoreMetadata(object, original)
}

function objectIn(given: unknown): Stored {
  if (given === null) throw new BadConversion('object', 'unexpected end of JSON input', true)
  if (!isType(given, 'object'))
    throw new BadConversion(
      'object',
      `json: cannot unmarshal ${jsonKind(given, false)} into Go value of type map[string]interface {}`,
      true,
    )
  const object = given as Stored
  const { kind, apiVersion } = object
  const parts = typeof apiVersion === 'string' ? apiVersion.split('/').length : 0
  if (typeof kind !== 'string' || kind === '' || parts > 2)
    throw new BadConversion(
      'object',
      `Object 'Kind' is missing in '${stringifyExact(given)}'`,
      true,
    )
  return object
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

/** Of the metadata only labels and annotations are the webhook's to change. */
function restoreMetadata(object: Stored, original: Stored): Draft {
  const given: Stored = object['metadata'] ?? {}
  const kept: Stored = original['metadata'] ?? {}
  for (const [field, shown] of IDENTITY) {
    const named: unknown = given[field]
    const [before, after] = [kept[field] ?? '', typeof named === 'string' ? named : '']
    if (before !== after)
      throw new BadConversion(
        'object',
        `returned invalid object: must have the same ${shown}: ${before} != ${after}`,
      )
  }
  const { labels: _labels, annotations: _annotations, ...rest } = kept
  const metadata: Draft = { ...rest }
  for (const field of ['labels', 'annotations'] as const) {
    const texts: unknown = given[field]
    if (texts === undefined || texts === null) continue
    const own = textsIn(texts, field)
    if (Object.keys(own).length > 0) metadata[field] = own
  }
  const errors = new FieldErrors()
  validateLabels(metadata['labels'], errors, 'metadata.labels')
  validateAnnotations(metadata['annotations'], errors, 'metadata.annotation')
  if (errors.list.length > 0) {
    const told = errors.list.map(({ field, message }) => `${field}: ${message}`)
    throw new BadConversion(
      'object',
      `returned invalid metadata: ${told.length === 1 ? told[0] : `[${told.join(', ')}]`}`,
    )
  }
  return cloneJson({ ...object, metadata }) as Draft
}

function textsIn(given: unknown, field: string): Readonly<Record<string, string>> {
  const refuse = (text: string): BadConversion =>
    new BadConversion('object', `returned invalid metadata: ${text} in converted object`)
  if (!isType(given, 'object')) throw refuse(`invalid metadata.${field} of type ${goTypeOf(given)}`)
  for (const [key, value] of Object.entries(given as object))
    if (typeof value !== 'string')
      throw refuse(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)}`)
  return given as Readonly<Record<string, string>>
}

/** As Go's `%T` prints what was decoded without a type. */
function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}'
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    default:
      return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64'
  }
}
