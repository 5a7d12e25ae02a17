/**
 * What each place of a schema may say, whether it is structural or not, branches included.
 * Contract: docs/behaviour/api-server/custom-resources.md, Structural schema.
 */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { checkListType } from './list-type-validation.ts'
import { isEmbedded, isObject, itemsOf, propertiesOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

interface Place {
  readonly isRoot: boolean
  /** Below the metadata of a resource. */
  readonly inMetadata: boolean
  /** Why a default is refused here. */
  readonly noDefaults: string | undefined
}

export function checkOpenApi(schema: Schema, path: string, errors: FieldErrors): void {
  checkPlace(schema, path, { isRoot: true, inMetadata: false, noDefaults: undefined }, errors)
}

function checkPlace(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  const { type } = schema
  if (type && !TYPES.includes(type)) errors.notSupported(`${path}.type`, type, TYPES)
  if (place.noDefaults !== undefined && schema.default !== undefined)
    errors.forbidden(`${path}.default`, `must not be set ${place.noDefaults}`)
  checkUnsupported(schema, path, errors)
  const below = { ...place, isRoot: false }
  checkAdditional(schema, path, below, errors)
  const isResource = place.isRoot || isEmbedded(schema)
  for (const [name, property] of Object.entries(propertiesOf(schema)).toSorted(byName)) {
    const isMetadata = isResource && name === 'metadata'
    const inside: Place = {
      isRoot: false,
      inMetadata: place.inMetadata || isMetadata,
      noDefaults: place.isRoot && isMetadata ? 'in top-level metadata' : place.noDefaults,
    }
    checkPlace(property, `${path}.properties[${name}]`, inside, errors)
  }
  for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const)
    for (const [index, branch] of (schema[keyword] ?? []).entries())
      checkPlace(branch, `${path}.${keyword}[${index}]`, below, errors)
  if (schema.not !== undefined) checkPlace(schema.not, `${path}.not`, below, errors)
  const items = itemsOf(schema)
  if (items !== undefined) checkPlace(items, `${path}.items`, below, errors)
  checkExtensions(schema, path, errors)
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const UNSUPPORTED: readonly (keyof Schema)[] = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
]

function checkUnsupported(schema: Schema, path: string, errors: FieldErrors): void {
  for (const keyword of UNSUPPORTED) {
    const value = schema[keyword]
    if (value !== undefined && !(isObject(value) && Object.keys(value).length === 0))
      errors.forbidden(`${path}.${keyword}`, `${keyword} is not supported`)
  }
  if (schema.type === 'null')
    errors.forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(schema.items))
    errors.forbidden(`${path}.items`, 'items must be a schema object and not an array')
  if (schema.uniqueItems === true)
    errors.forbidden(
      `${path}.uniqueItems`,
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    )
}

function checkAdditional(schema: Schema, path: string, place: Place, errors: FieldErrors): void {
  const additional = schema.additionalProperties
  if (additional === undefined) return
  const at = `${path}.additionalProperties`
  if (additional !== true && Object.keys(propertiesOf(schema)).length > 0)
    errors.forbidden(at, 'additionalProperties and properties are mutual exclusive')
  if (typeof additional !== 'object') return
  const noDefaults = place.inMetadata
    ? 'inside additionalProperties applying to object metadata'
    : place.noDefaults
  checkPlace(additional, at, { ...place, noDefaults }, errors)
}

function checkExtensions(schema: Schema, path: string, errors: FieldErrors): void {
  const { type } = schema
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.invalid(
      `${path}.x-kubernetes-preserve-unknown-fields`,
      false,
      'must be true or undefined',
    )
  const mapType = schema['x-kubernetes-map-type']
  if (mapType !== undefined) {
    if (type !== 'object') {
      const message = 'must be object if x-kubernetes-map-type is specified'
      if (type) errors.invalid(`${path}.type`, type, message)
      else errors.required(`${path}.type`, message)
    }
    if (mapType !== 'atomic' && mapType !== 'granular')
      errors.notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular'])
  }
  checkListType(schema, path, errors)
}
