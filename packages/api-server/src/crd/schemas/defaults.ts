/** Fills in what a schema gives by default. Contract: docs/behaviour/api-server/custom-resources.md, Defaulting. */
import { cloneJson } from '../../registry/equality.ts'
import { additionalOf, isObject, itemsOf, propertiesOf, propertyOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

/** Edits the value in place. Nulls where the schema does not allow them go, or give way to the default. */
export function applyDefaults(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    for (const [index, item] of value.entries()) {
      if (item === null && items?.nullable !== true && items?.default !== undefined)
        value[index] = cloneJson(items.default)
      applyDefaults(value[index], items)
    }
    return
  }
  if (!isObject(value)) return
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const present = Object.hasOwn(value, name)
    if (present && (value[name] !== null || property.nullable === true)) continue
    if (property.default !== undefined) value[name] = cloneJson(property.default)
    else if (present) delete value[name]
  }
  const additional = additionalOf(schema)
  for (const name of Object.keys(value)) {
    const property = propertyOf(schema, name)
    if (property !== undefined) applyDefaults(value[name], property)
    else if (additional !== undefined && additional !== true) {
      if (value[name] === null && additional.nullable !== true) {
        if (additional.default === undefined) delete value[name]
        else value[name] = cloneJson(additional.default)
      }
      applyDefaults(value[name], additional)
    }
  }
}
