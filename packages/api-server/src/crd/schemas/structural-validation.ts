/**
 * Structural schemas: each place says its type once, outside of allOf, anyOf, oneOf and not, so that pruning and defaults
 * have one meaning. Contract: docs/behaviour/api-server/custom-resources.md, Structural schema.
 */
import { deepEqual } from '@gyropilot/api'
import { compileRegularExpression, patternProblem } from '@gyropilot/cel/regular-expressions'
import { byString } from '@gyropilot/foundation'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  isEmbedded,
  isIntOrString,
  itemsOf,
  preservesUnknown,
  propertiesOf,
  propertyOf,
} from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

type Place = 'root' | 'field' | 'item'

/** What is wrong, by the text of the problem as the reference server sorts it. */
export function structuralProblems(schema: Schema, path: string): FieldErrors['list'] {
  const errors = new FieldErrors()
  checkNode(schema, path, 'root', errors)
  checkComplete(schema, path, schema, path, errors)
  return errors.list.toSorted(byString(({ field, message }) => `${field}: ${message}`))
}

function checkNode(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  const items = itemsOf(schema)
  if (schema.type === 'array' && items === undefined)
    errors.required(`${path}.items`, 'must be specified')
  if (items !== undefined) checkNode(items, `${path}.items`, 'item', errors)
  for (const [name, property] of Object.entries(propertiesOf(schema)))
    checkNode(property, `${path}.properties[${name}]`, 'field', errors)
  const additional = schema.additionalProperties
  if (additional !== undefined && place === 'root')
    errors.forbidden(`${path}.additionalProperties`, 'must not be used at the root')
  if (typeof additional === 'object')
    checkNode(additional, `${path}.additionalProperties`, 'field', errors)
  checkExclusions(schema, path, errors)
  checkBranches(
    schema,
    path,
    isTypePair(schema.anyOf),
    isTypePair(schema.allOf?.[0]?.anyOf),
    errors,
  )
  checkType(schema, path, place, errors)
  if (place === 'root' || isEmbedded(schema)) checkTypeMeta(schema, path, errors)
  if (place === 'root') checkRootMetadata(schema, path, errors)
}

function checkExclusions(schema: Schema, path: string, errors: FieldErrors): void {
  if (isIntOrString(schema)) {
    const message = 'must be false if x-kubernetes-int-or-string is true'
    for (const name of ['preserve-unknown-fields', 'embedded-resource'] as const)
      if (schema[`x-kubernetes-${name}`] === true)
        errors.invalid(`${path}.x-kubernetes-${name}`, true, message)
  }
  if (!isEmbedded(schema)) return
  if (schema.additionalProperties !== undefined)
    errors.forbidden(
      `${path}.additionalProperties`,
      'must not be used if x-kubernetes-embedded-resource is set',
    )
  if (!preservesUnknown(schema) && Object.keys(propertiesOf(schema)).length === 0)
    errors.required(
      `${path}.properties`,
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    )
}

const NO_TYPE: Readonly<Record<Place, string>> = {
  root: 'must not be empty at the root',
  field: 'must not be empty for specified object fields',
  item: 'must not be empty for specified array items',
}

function checkType(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  const { type } = schema
  const at = `${path}.type`
  if (isEmbedded(schema) && type !== 'object') {
    const message = 'must be object if x-kubernetes-embedded-resource is true'
    if (type) errors.invalid(at, type, message)
    else errors.required(at, message)
  } else if (!type && !isIntOrString(schema) && !preservesUnknown(schema))
    errors.required(at, NO_TYPE[place])
  if (place === 'root' && type && type !== 'object')
    errors.invalid(at, type, 'must be object at the root')
}

/** Of resources: the server knows their kind, apiVersion and metadata already. */
function checkTypeMeta(schema: Schema, path: string, errors: FieldErrors): void {
  for (const name of ['apiVersion', 'kind']) {
    const property = propertyOf(schema, name)
    if (property !== undefined && property.type !== 'string')
      errors.invalid(`${path}.properties[${name}].type`, property.type ?? '', 'must be string')
  }
  const metadata = propertyOf(schema, 'metadata')
  if (metadata !== undefined && metadata.type !== 'object')
    errors.invalid(`${path}.properties[metadata].type`, metadata.type ?? '', 'must be object')
}

/** What says nothing about values, or is judged elsewhere. */
const METADATA_KEYWORDS = ['type', 'default']

function checkRootMetadata(schema: Schema, path: string, errors: FieldErrors): void {
  const metadata = propertyOf(schema, 'metadata')
  if (metadata === undefined) return
  const names = Object.keys(propertiesOf(metadata))
  const others = Object.keys(metadata).filter(
    (keyword) => keyword !== 'properties' && !METADATA_KEYWORDS.includes(keyword),
  )
  if (others.length > 0 || names.some((name) => name !== 'name' && name !== 'generateName'))
    errors.forbidden(
      `${path}.properties[metadata]`,
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    )
}

const TYPE_PAIR: readonly Schema[] = [{ type: 'integer' }, { type: 'string' }]

/** The one way to name types in a branch, customary with x-kubernetes-int-or-string. */
function isTypePair(anyOf: readonly Schema[] | undefined): boolean {
  return deepEqual(anyOf, TYPE_PAIR)
}

/** allOf, anyOf, oneOf and not constrain what the node itself specifies, and specify nothing. */
function checkBranches(
  schema: Schema,
  path: string,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  errors: FieldErrors,
): void {
  for (const [branch, branchPath, keyword, index] of branchesOf(schema, path)) {
    if (keyword === 'anyOf' && skipAnyOf) continue
    const skipInside = keyword === 'allOf' && index === 0 && skipFirstAllOf
    checkBranch(branch, branchPath, skipInside, errors)
  }
  const { pattern } = schema
  if (pattern && compileRegularExpression(pattern) === undefined)
    errors.invalid(
      `${path}.pattern`,
      pattern,
      `must be a valid regular expression, but isn't: ${patternProblem(pattern)}`,
    )
}

type Branch = readonly [branch: Schema, path: string, keyword: string, index: number]

function branchesOf(schema: Schema, path: string): readonly Branch[] {
  const branches: Branch[] = []
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const)
    for (const [index, branch] of (schema[keyword] ?? []).entries())
      branches.push([branch, `${path}.${keyword}[${index}]`, keyword, index])
  if (schema.not !== undefined) branches.push([schema.not, `${path}.not`, 'not', 0])
  return branches
}

const EMPTY = 'must be empty to be structural'
const FALSE = 'must be false to be structural'
const UNDEFINED = 'must be undefined to be structural'
const SPECIFYING: readonly (readonly [keyof Schema, string])[] = [
  ['type', EMPTY],
  ['additionalProperties', UNDEFINED],
  ['default', UNDEFINED],
  ['title', EMPTY],
  ['description', EMPTY],
  ['nullable', FALSE],
  ['x-kubernetes-preserve-unknown-fields', FALSE],
  ['x-kubernetes-embedded-resource', FALSE],
  ['x-kubernetes-int-or-string', FALSE],
  ['x-kubernetes-list-map-keys', EMPTY],
  ['x-kubernetes-list-type', UNDEFINED],
  ['x-kubernetes-map-type', UNDEFINED],
  ['x-kubernetes-validations', EMPTY],
]

function checkBranch(branch: Schema, path: string, skipAnyOf: boolean, errors: FieldErrors): void {
  checkBranches(branch, path, skipAnyOf, false, errors)
  const items = itemsOf(branch)
  if (items !== undefined) checkBranch(items, `${path}.items`, false, errors)
  for (const [name, property] of Object.entries(propertiesOf(branch)))
    checkBranch(property, `${path}.properties[${name}]`, false, errors)
  for (const [keyword, message] of SPECIFYING) {
    const value = branch[keyword]
    if (value !== undefined && value !== false && value !== '' && !isEmptyList(value))
      errors.forbidden(`${path}.${keyword}`, message)
  }
  if (propertyOf(branch, 'metadata') !== undefined)
    errors.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context')
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** What branches of the root speak of must be specified outside of them. Branches further down are not held to it. */
function checkComplete(
  branch: Schema,
  branchPath: string,
  specified: Schema,
  path: string,
  errors: FieldErrors,
): void {
  for (const [inner, innerPath] of branchesOf(branch, branchPath)) {
    checkParts(inner, innerPath, specified, path, errors)
    checkComplete(inner, innerPath, specified, path, errors)
  }
}

function checkParts(
  branch: Schema,
  branchPath: string,
  specified: Schema,
  path: string,
  errors: FieldErrors,
): void {
  const check = (part: Schema, step: string, own: Schema | undefined): void => {
    const partPath = `${branchPath}.${step}`
    const at = `${path}.${step}`
    if (own === undefined) {
      errors.required(at, `because it is defined in ${partPath}`)
      return
    }
    checkParts(part, partPath, own, at, errors)
    checkComplete(part, partPath, own, at, errors)
  }
  const items = itemsOf(branch)
  if (items !== undefined) check(items, 'items', itemsOf(specified))
  for (const [name, property] of Object.entries(propertiesOf(branch)))
    check(property, `properties[${name}]`, propertyOf(specified, name))
}
