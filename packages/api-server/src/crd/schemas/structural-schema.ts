/**
 * Schemas of custom resources, walked as they are stored. Contract: docs/behaviour/api-server/custom-resources.md.
 */
import { own, setOwn } from '@gyropilot/api'
import type { JSONSchemaProps } from '@gyropilot/api'
import type { Draft } from '../../registry/kind-rules.ts'

export type Schema = JSONSchemaProps
export type JsonObject = Record<string, unknown>

/** What the server knows of every resource. */
export const RESOURCE_META: readonly string[] = ['apiVersion', 'kind', 'metadata']

const NO_PROPERTIES: Readonly<Record<string, Schema>> = {}

export function propertiesOf(schema: Schema | undefined): Readonly<Record<string, Schema>> {
  return schema?.properties ?? NO_PROPERTIES
}

export function propertyOf(schema: Schema | undefined, name: string): Schema | undefined {
  const properties = propertiesOf(schema)
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The schema of the values of other keys; `true` when they may be anything. */
export function additionalOf(schema: Schema | undefined): Schema | true | undefined {
  const additional = schema?.additionalProperties
  return additional === undefined || additional === false ? undefined : additional
}

export function itemsOf(schema: Schema | undefined): Schema | undefined {
  const items = schema?.items
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema)
}

export function preservesUnknown(schema: Schema | undefined): boolean {
  return schema?.['x-kubernetes-preserve-unknown-fields'] === true
}

export function isEmbedded(schema: Schema | undefined): boolean {
  return schema?.['x-kubernetes-embedded-resource'] === true
}

export function isIntOrString(schema: Schema | undefined): boolean {
  return schema?.['x-kubernetes-int-or-string'] === true
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `spec.list[1].name`; a key of a map reads like a field. */
export function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** Whether any node carries rules in CEL. */
export function hasRules(schema: Schema | undefined): boolean {
  if (schema === undefined) return false
  if ((schema['x-kubernetes-validations']?.length ?? 0) > 0) return true
  const additional = additionalOf(schema)
  if (additional !== undefined && additional !== true && hasRules(additional)) return true
  if (hasRules(itemsOf(schema))) return true
  return Object.values(propertiesOf(schema)).some(hasRules)
}

/** A value at a dotted path as `.spec.replicas`, or undefined. */
export function valueAt(object: unknown, path: string): unknown {
  let value: unknown = object
  for (const name of simplePath(path)) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Sets a value, making the objects on the way. */
export function setAt(object: Draft, path: string, value: unknown): void {
  const names = simplePath(path)
  let parent: JsonObject = object
  for (const name of names.slice(0, -1)) {
    const next = own(parent, name)
    const holder: JsonObject = isObject(next) ? next : {}
    if (holder !== next) setOwn(parent, name, holder)
    parent = holder
  }
  setOwn(parent, names.at(-1)!, value)
}

/** The names of a path without arrays: `.spec.replicas`, also `['a.b']` and escaped dots. */
export function simplePath(path: string): readonly string[] {
  const names: string[] = []
  for (const [, bracketed, plain] of path.matchAll(
    /\['((?:[^'\\]|\\.)*)'\]|\.?((?:[^.[\\]|\\.)+)/g,
  )) {
    names.push((bracketed ?? plain ?? '').replaceAll(/\\(.)/g, '$1'))
  }
  return names
}

/** The schemas right below this one, those of its branches included. */
export function partsOf(schema: Schema): readonly Schema[] {
  const { items, additionalProperties, not, properties, allOf, anyOf, oneOf } = schema
  return [items, additionalProperties, not, ...Object.values(properties ?? {})]
    .concat(allOf ?? [], anyOf ?? [], oneOf ?? [])
    .filter((part) => isObject(part)) as Schema[]
}
