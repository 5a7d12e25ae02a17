/** Fills in what a schema gives by default. Contract: docs/behaviour/api-server/custom-resources.md, Defaulting. */
import { setOwn } from '@gyropilot/api'
import { cloneJson } from '../../registry/equality.ts'
import { additionalOf, isObject, itemsOf, propertiesOf, propertyOf } from './structural-schema.ts'
import type { Schema } from './structural-schema.ts'

/**
 * Edits the value in place. Nulls where the schema does not allow them give way to the default, and go where there is none; `keepsNulls`:
 * then they stay.
 */
export function applyDefaults(
  value: unknown,
  schema: Schema | undefined,
  keepsNulls = false,
): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    for (const [index, item] of value.entries()) {
      if (item === null && items?.nullable !== true && items?.default !== undefined)
        value[index] = cloneJson(items.default)
      applyDefaults(value[index], items, keepsNulls)
    }
    return
  }
  if (!isObject(value)) return
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const present = Object.hasOwn(value, name)
    if (present && (value[name] !== null || property.nullable === true)) continue
    if (property.default !== undefined) setOwn(value, name, cloneJson(property.default))
    else if (present && !keepsNulls) delete value[name]
  }
  const additional = additionalOf(schema)
  for (const name of Object.keys(value)) {
    const property = propertyOf(schema, name)
    if (property !== undefined) applyDefaults(value[name], property, keepsNulls)
    else if (additional !== undefined && additional !== true) {
      if (value[name] === null && additional.nullable !== true) {
        if (additional.default !== undefined) value[name] = cloneJson(additional.default)
        else if (!keepsNulls) delete value[name]
      }
      applyDefaults(value[name], additional, keepsNulls)
    }
  }
}
