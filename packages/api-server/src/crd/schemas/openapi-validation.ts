/**
 * What each place of a schema may say, whether it is structural or not, branches included.
 * Contract: docs/behaviour/api-server/custom-resources.md, Structural schema.
 */
import { byString } from '@gyropilot/foundation'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Stored } from '@gyropilot/schema/objects'
import { checkListType } from './list-type-validation.ts'
import { RESOURCE_META, isEmbedded, isObject, itemsOf, propertiesOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Where in the schema, and how often a value may be there. */
export interface RulePlace {
  readonly path: string
  readonly isResource: boolean
  /** Undefined: nothing bounds it but the size of a request. */
  readonly cardinality: number | undefined
  /** The outermost place whose parts have no counterpart in the old object. */
  readonly uncorrelatable: string | undefined
}

/** Judges the rules of a place, when all else of it was looked at. */
export interface PlaceRules {
  at(schema: Schema, place: RulePlace): void
}

interface Place extends Omit<RulePlace, 'path' | 'isResource'> {
  readonly isRoot: boolean
  /** Below the metadata, the kind or the apiVersion of a resource. */
  readonly inResourceMeta: boolean
  /** Why a default is refused here. */
  readonly noDefaults: string | undefined
}

const ROOT: Place = {
  isRoot: true,
  inResourceMeta: false,
  noDefaults: undefined,
  cardinality: 1,
  uncorrelatable: undefined,
}

export function checkOpenApi(
  schema: Schema,
  path: string,
  errors: FieldErrors,
  rules: PlaceRules,
): void {
  new OpenApiCheck(errors, rules).place(schema, path, ROOT)
}

class OpenApiCheck {
  readonly #errors: FieldErrors
  readonly #rules: PlaceRules

  constructor(errors: FieldErrors, rules: PlaceRules) {
    this.#errors = errors
    this.#rules = rules
  }

  place(schema: Schema, path: string, place: Place): void {
    const errors = this.#errors
    const { type } = schema
    if (type && !TYPES.includes(type)) errors.notSupported(`${path}.type`, type, TYPES)
    if (place.noDefaults !== undefined && schema.default !== undefined)
      errors.forbidden(`${path}.default`, `must not be set ${place.noDefaults}`)
    checkUnsupported(schema, path, errors)
    if (place.inResourceMeta && isEmbedded(schema))
      errors.forbidden(
        `${path}.x-kubernetes-embedded-resource`,
        'must not be used inside of resource meta',
      )
    this.#additional(schema, path, place)
    const isResource = place.isRoot || isEmbedded(schema)
    this.#properties(schema, path, place, isResource)
    const below = { ...place, isRoot: false }
    if (schema.not !== undefined) this.place(schema.not, `${path}.not`, below)
    for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const)
      for (const [index, branch] of (schema[keyword] ?? []).entries())
        this.place(branch, `${path}.${keyword}[${index}]`, below)
    for (const [name, definition] of sortedParts(schema.definitions))
      this.place(definition, `${path}.definitions[${name}]`, below)
    this.#items(schema, path, below)
    for (const [name, dependency] of sortedParts(schema.dependencies))
      this.place(dependency, `${path}.dependencies[${name}]`, below)
    checkExtensions(schema, path, errors)
    const { cardinality, uncorrelatable } = place
    this.#rules.at(schema, { path, isResource, cardinality, uncorrelatable })
  }

  #properties(schema: Schema, path: string, place: Place, isResource: boolean): void {
    const uncorrelatable = place.uncorrelatable ?? (isKnownMap(schema) ? undefined : path)
    for (const [name, property] of sortedParts(propertiesOf(schema))) {
      const ofServer = isResource && RESOURCE_META.includes(name)
      this.place(property, `${path}.properties[${name}]`, {
        ...place,
        isRoot: false,
        inResourceMeta: place.inResourceMeta || ofServer,
        noDefaults: place.isRoot && ofServer ? `in top-level ${name}` : place.noDefaults,
        uncorrelatable,
      })
    }
  }

  #additional(schema: Schema, path: string, place: Place): void {
    const additional = schema.additionalProperties
    if (additional === undefined) return
    const at = `${path}.additionalProperties`
    if (additional !== true && Object.keys(propertiesOf(schema)).length > 0)
      this.#errors.forbidden(at, 'additionalProperties and properties are mutual exclusive')
    if (typeof additional !== 'object') return
    this.place(additional, at, {
      ...place,
      isRoot: false,
      noDefaults: place.inResourceMeta
        ? 'inside additionalProperties applying to object metadata'
        : place.noDefaults,
      cardinality: times(place.cardinality, schema.maxProperties),
    })
  }

  #items(schema: Schema, path: string, place: Place): void {
    const correlates = schema['x-kubernetes-list-type'] === 'map'
    const below: Place = {
      ...place,
      cardinality: times(place.cardinality, schema.maxItems),
      uncorrelatable: place.uncorrelatable ?? (correlates ? undefined : path),
    }
    const items = itemsOf(schema)
    if (items !== undefined) this.place(items, `${path}.items`, below)
    if (!Array.isArray(schema.items)) return
    for (const [index, item] of (schema.items as readonly Schema[]).entries())
      this.place(item, `${path}.items[${index}]`, below)
  }
}

function times(
  cardinality: number | undefined,
  bound: number | bigint | undefined,
): number | undefined {
  return cardinality === undefined || bound === undefined ? undefined : cardinality * Number(bound)
}

/** The schemas of a map, by name. */
function sortedParts(map: unknown): readonly (readonly [string, Schema])[] {
  if (!isObject(map)) return []
  const parts = Object.entries(map).filter((part): part is [string, Schema] => isObject(part[1]))
  return parts.toSorted(byString(([name]) => name))
}

const UNSUPPORTED: readonly (keyof Schema)[] = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
]
/** An empty map of the others is none. */
const COUNTED_WHEN_EMPTY: ReadonlySet<keyof Schema> = new Set(['additionalItems', 'dependencies'])

function checkUnsupported(schema: Schema, path: string, errors: FieldErrors): void {
  for (const keyword of UNSUPPORTED) {
    const isCounted = COUNTED_WHEN_EMPTY.has(keyword)
    const value = isCounted ? (givenValue(schema as Stored, keyword) ?? undefined) : schema[keyword]
    const isEmpty = isObject(value) && Object.keys(value).length === 0
    if (value !== undefined && (isCounted || !isEmpty))
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

const MAP_TYPES = ['atomic', 'granular']

/** Of what another type may mean nothing is known, as which old field is whose. */
function isKnownMap({ 'x-kubernetes-map-type': mapType }: Schema): boolean {
  return mapType === undefined || MAP_TYPES.includes(mapType)
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
    if (!isKnownMap(schema))
      errors.notSupported(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES)
  }
  checkListType(schema, path, errors)
}
