/**
 * Which schemas a definition may carry: structural ones, so that pruning and defaults have one meaning.
 * Contract: docs/behaviour/api-server/custom-resources.md, Structural schema.
 */
import { deepEqual } from '@gyropilot/api'
import { cloneJson } from '../../registry/equality.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { applyDefaults } from './defaults.ts'
import { checkListType } from './list-type-validation.ts'
import { compileRegularExpression, patternProblem } from '@gyropilot/cel/regular-expressions'
import { prune } from './prune.ts'
import {
  additionalOf,
  isEmbedded,
  isIntOrString,
  isObject,
  itemsOf,
  preservesUnknown,
  propertiesOf,
  propertyOf,
} from './structural-schema.ts'
import type { JsonObject, Schema } from './structural-schema.ts'
import { validateListTypes, validateValue } from './value-validation.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Where a node stands in the schema. */
type Place = 'root' | 'field' | 'item'

interface Context {
  /** Defaults are refused here: below metadata of resources. */
  readonly metadata: boolean
  readonly judged: Judged
}

/** Defaults are judged only of schemas that are structural. */
interface Judged {
  isStructural: boolean
  readonly ofDefaults: Set<FieldErrors['list'][number]>
}

/** Checks the schema of one version; `path` ends in `openAPIV3Schema`. */
export function validateSchema(
  schema: Schema,
  path: string,
  statusEnabled: boolean,
  errors: FieldErrors,
): void {
  if (schema.nullable === true)
    errors.forbidden(`${path}.nullable`, 'nullable cannot be true at the root')
  if (statusEnabled) checkRootForStatus(schema, path, errors)
  const judged: Judged = { isStructural: true, ofDefaults: new Set() }
  const first = errors.list.length
  checkNode(schema, path, 'root', { metadata: false, judged }, errors)
  if (judged.isStructural || judged.ofDefaults.size === 0) return
  const own = errors.list.splice(first)
  errors.list.push(...own.filter((error) => !judged.ofDefaults.has(error)))
}

const STATUS_ROOT_KEYWORDS = [
  'type',
  'properties',
  'required',
  'description',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
  'title',
  'example',
  'default',
  'externalDocs',
  'additionalProperties',
]

/** With a status subresource the root only describes an object, because spec and status are written apart. */
function checkRootForStatus(schema: Schema, path: string, errors: FieldErrors): void {
  if (schema.type !== undefined && schema.type !== 'object') {
    errors.invalid(
      `${path}.type`,
      schema.type,
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    )
    return
  }
  for (const keyword of Object.keys(schema)) {
    if (
      STATUS_ROOT_KEYWORDS.includes(keyword) ||
      keyword.startsWith('x-kubernetes-') ||
      keyword === 'nullable'
    )
      continue
    errors.invalid(
      path,
      schema,
      `only ${JSON.stringify(['Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum', 'MaxLength', 'MinLength', 'Pattern', 'MaxItems', 'MinItems', 'UniqueItems', 'MultipleOf', 'Required', 'Items', 'Properties', 'ExternalDocs', 'Example', 'XPreserveUnknownFields', 'XValidations'])} fields are allowed at the root of the schema if the status subresource is enabled`,
    )
    return
  }
}

function checkNode(
  schema: Schema,
  path: string,
  place: Place,
  context: Context,
  errors: FieldErrors,
): void {
  const { judged } = context
  const added = (check: () => void): FieldErrors['list'] => {
    const before = errors.list.length
    check()
    return errors.list.slice(before)
  }
  const structure = (check: () => void): void => {
    if (added(check).length > 0) judged.isStructural = false
  }
  checkForbiddenKeywords(schema, path, errors)
  const typed = added(() => checkNodeType(schema, path, place, errors))
  if (typed.some(({ type }) => type === 'FieldValueRequired')) judged.isStructural = false
  checkExtensions(schema, path, errors)
  structure(() => checkRegularExpression(schema, path, errors))
  for (const error of added(() => checkDefault(schema, path, context, errors)))
    judged.ofDefaults.add(error)
  structure(() => checkBranches(schema, path, errors))
  structure(() => checkMetadataNode(schema, path, place, errors))
  for (const [name, property] of Object.entries(propertiesOf(schema)).toSorted(byName)) {
    const metadata = name === 'metadata' && (place === 'root' || isEmbedded(schema))
    checkNode(
      property,
      `${path}.properties[${name}]`,
      'field',
      { metadata: context.metadata || metadata, judged },
      errors,
    )
  }
  const additional = additionalOf(schema)
  if (additional !== undefined && additional !== true)
    checkNode(additional, `${path}.additionalProperties`, 'field', context, errors)
  if (Array.isArray(schema.items))
    errors.forbidden(`${path}.items`, 'items must be a schema object and not an array')
  const items = itemsOf(schema)
  if (items !== undefined) checkNode(items, `${path}.items`, 'item', context, errors)
  else if (schema.type === 'array' && schema.items === undefined)
    structure(() => errors.required(`${path}.items`, 'must be specified'))
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const FORBIDDEN: readonly (keyof Schema)[] = [
  '$ref',
  'id',
  'definitions',
  'dependencies',
  'patternProperties',
  'additionalItems',
]

function checkForbiddenKeywords(schema: Schema, path: string, errors: FieldErrors): void {
  if (schema.uniqueItems === true) {
    errors.forbidden(
      `${path}.uniqueItems`,
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    )
  }
  if (schema.additionalProperties === false) {
    errors.forbidden(`${path}.additionalProperties`, 'additionalProperties cannot be set to false')
  }
  if (additionalOf(schema) !== undefined && Object.keys(propertiesOf(schema)).length > 0) {
    errors.forbidden(
      `${path}.additionalProperties`,
      'additionalProperties and properties are mutual exclusive',
    )
  }
  for (const keyword of FORBIDDEN) {
    const value = schema[keyword]
    if (value !== undefined && !(isObject(value) && Object.keys(value).length === 0)) {
      errors.forbidden(`${path}.${keyword}`, `${keyword} is not supported`)
    }
  }
}

function checkNodeType(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  const { type } = schema
  if (type === 'null')
    errors.forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')
  else if (type !== undefined && type !== '' && !TYPES.includes(type))
    errors.notSupported(`${path}.type`, type, TYPES)
  if (isIntOrString(schema)) {
    if (type)
      errors.invalid(`${path}.type`, type, 'must be empty if x-kubernetes-int-or-string is true')
    return
  }
  if (place === 'root') {
    if (type !== 'object') errors.invalid(`${path}.type`, type ?? '', 'must be object at the root')
    return
  }
  if (type || preservesUnknown(schema)) return
  const what = place === 'item' ? 'array items' : 'object fields'
  errors.required(`${path}.type`, `must not be empty for specified ${what}`)
}

function checkExtensions(schema: Schema, path: string, errors: FieldErrors): void {
  const listType = schema['x-kubernetes-list-type']
  const mapType = schema['x-kubernetes-map-type']
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.invalid(
      `${path}.x-kubernetes-preserve-unknown-fields`,
      false,
      'must be true or undefined',
    )
  }
  if (preservesUnknown(schema) && schema.type && schema.type !== 'object') {
    errors.invalid(
      `${path}.type`,
      schema.type,
      'must be object if x-kubernetes-preserve-unknown-fields is true',
    )
  }
  if (mapType !== undefined) {
    if (mapType !== 'granular' && mapType !== 'atomic') {
      errors.notSupported(`${path}.x-kubernetes-map-type`, mapType, ['granular', 'atomic'])
    }
    if (schema.type !== 'object')
      errors.invalid(
        `${path}.type`,
        schema.type ?? '',
        'must be object if x-kubernetes-map-type is specified',
      )
  }
  if (isEmbedded(schema)) {
    if (schema.type !== 'object')
      errors.invalid(
        `${path}.type`,
        schema.type ?? '',
        'must be object if x-kubernetes-embedded-resource is true',
      )
    if (!preservesUnknown(schema) && Object.keys(propertiesOf(schema)).length === 0) {
      errors.required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      )
    }
  }
  if (listType !== undefined) checkListType(schema, listType, path, errors)
  if (listType !== 'map' && (schema['x-kubernetes-list-map-keys']?.length ?? 0) > 0) {
    errors.invalid(
      `${path}.x-kubernetes-list-type`,
      listType ?? null,
      'must be map if x-kubernetes-list-map-keys is non-empty',
    )
  }
}

function checkRegularExpression(schema: Schema, path: string, errors: FieldErrors): void {
  const { pattern } = schema
  if (pattern !== undefined && pattern !== '' && compileRegularExpression(pattern) === undefined) {
    const problem = patternProblem(pattern)
    errors.invalid(
      `${path}.pattern`,
      pattern,
      `must be a valid regular expression, but isn't: ${problem}`,
    )
  }
}

/** A default must be complete, known and valid under its own schema. */
function checkDefault(schema: Schema, path: string, context: Context, errors: FieldErrors): void {
  if (schema.default === undefined) return
  const at = `${path}.default`
  if (context.metadata) {
    errors.forbidden(at, 'must not be set in metadata')
    return
  }
  const pruned = cloneJson(schema.default) as unknown
  if (isObject(pruned)) {
    const dropped = isEmbedded(schema) ? prune(pruned, schema) : pruneDefault(pruned, schema)
    if (dropped.length > 0) {
      errors.invalid(at, schema.default, 'must not have unknown fields')
      return
    }
  }
  const completed = cloneJson(pruned)
  applyDefaults(completed, schema)
  if (!deepEqual(completed, pruned)) errors.invalid(at, schema.default, 'must be fully defaulted')
  const own = new FieldErrors()
  validateValue(completed, undefined, schema, '', own)
  validateListTypes(completed, undefined, schema, '', own)
  for (const error of own.list) {
    const field =
      error.field === '' || error.field === '<nil>'
        ? at
        : error.field.startsWith('[')
          ? at + error.field
          : `${at}.${error.field}`
    errors.list.push({ ...error, field })
  }
}

/** A default is no resource, so its apiVersion, kind and metadata are like any other field. */
function pruneDefault(value: JsonObject, schema: Schema): readonly string[] {
  const wrapper = { value }
  return prune(wrapper, { properties: { value: schema } })
}

const VALUE_ONLY: readonly (keyof Schema)[] = [
  'type',
  'default',
  'description',
  'title',
  'nullable',
  'additionalProperties',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
]

/** allOf, anyOf, oneOf and not constrain what the node itself specifies, and specify nothing. */
function checkBranches(schema: Schema, path: string, errors: FieldErrors): void {
  for (const [branch, branchPath] of branchesOf(schema, path)) {
    checkBranch(branch, branchPath, schema, path, isIntOrString(schema), errors)
  }
}

function branchesOf(schema: Schema, path: string): (readonly [Schema, string])[] {
  const branches: (readonly [Schema, string])[] = []
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, branch] of (schema[keyword] ?? []).entries())
      branches.push([branch, `${path}.${keyword}[${index}]`])
  }
  if (schema.not !== undefined) branches.push([schema.not, `${path}.not`])
  return branches
}

function checkBranch(
  branch: Schema,
  path: string,
  outer: Schema,
  outerPath: string,
  intOrString: boolean,
  errors: FieldErrors,
): void {
  for (const keyword of VALUE_ONLY) {
    if (branch[keyword] === undefined || branch[keyword] === false) continue
    if (
      keyword === 'type' &&
      intOrString &&
      (branch.type === 'integer' || branch.type === 'string')
    )
      continue
    errors.forbidden(
      `${path}.${keyword}`,
      keyword === 'type' ? 'must be empty to be structural' : 'must be undefined to be structural',
    )
  }
  checkForbiddenKeywords(branch, path, errors)
  checkRegularExpression(branch, path, errors)
  for (const [name, property] of Object.entries(propertiesOf(branch)).toSorted(byName)) {
    const specified = propertyOf(outer, name)
    const at = `${outerPath}.properties[${name}]`
    if (specified === undefined)
      errors.required(at, `because it is defined in ${path}.properties[${name}]`)
    else
      checkBranch(
        property,
        `${path}.properties[${name}]`,
        specified,
        at,
        isIntOrString(specified),
        errors,
      )
  }
  const items = itemsOf(branch)
  if (items !== undefined) {
    const specified = itemsOf(outer)
    if (specified === undefined)
      errors.required(`${outerPath}.items`, `because it is defined in ${path}.items`)
    else
      checkBranch(
        items,
        `${path}.items`,
        specified,
        `${outerPath}.items`,
        isIntOrString(specified),
        errors,
      )
  }
  for (const [inner, innerPath] of branchesOf(branch, path))
    checkBranch(inner, innerPath, outer, outerPath, intOrString, errors)
}

function checkMetadataNode(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  if (place !== 'root' && !isEmbedded(schema)) return
  const metadata = propertyOf(schema, 'metadata')
  if (metadata === undefined) return
  if (metadata.type !== 'object')
    errors.invalid(`${path}.properties[metadata].type`, metadata.type ?? '', 'must be object')
  const names = Object.keys(propertiesOf(metadata))
  const others = Object.keys(metadata).filter(
    (keyword) => !['type', 'properties', 'description'].includes(keyword),
  )
  if (names.some((name) => name !== 'name' && name !== 'generateName') || others.length > 0) {
    errors.forbidden(
      `${path}.properties[metadata]`,
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    )
  }
}
