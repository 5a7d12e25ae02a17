import type { ConfigMap } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { givenValue } from '@gyropilot/schema/decode'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, sortedKeys } from '@gyropilot/schema/validation/labels'
import { configMapKey } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'

const LIMIT_BYTES = 1024 * 1024
const FROZEN = 'field is immutable when `immutable` is set'

/** Of base64 text. */
export function decodedLength(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}

/**
 * Once `immutable` is true it stays so, and with it the named fields. An empty map is another value than none, as stored objects have
 * it, but that the text data of a ConfigMap may be given empty.
 */
export function validateImmutableData<T extends { readonly immutable?: boolean }>(
  object: T,
  stored: T,
  fields: readonly (string & keyof T)[],
  errors: FieldErrors,
  emptyIsNone?: string,
): void {
  if (stored.immutable !== true) return
  if (object.immutable !== true) errors.forbidden('immutable', FROZEN)
  const given = (holder: T, field: string & keyof T): unknown =>
    field === emptyIsNone ? (holder[field] ?? null) : givenValue(holder, field)
  for (const field of fields)
    if (!deepEqual(given(object, field), stored[field] ?? null)) errors.forbidden(field, FROZEN)
}

export const configMap: KindRules<ConfigMap> = {
  group: '',
  kind: 'ConfigMap',
  generationOf: null,
  updateOrder: 'update-first',
  validate(object, errors) {
    let total = 0
    for (const key of sortedKeys(object.data)) {
      invalidAll(errors, `data[${key}]`, key, configMapKey(key))
      if (object.binaryData && Object.hasOwn(object.binaryData, key))
        errors.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')
      total += Buffer.byteLength(object.data![key]!)
    }
    for (const key of sortedKeys(object.binaryData)) {
      invalidAll(errors, `binaryData[${key}]`, key, configMapKey(key))
      total += decodedLength(object.binaryData![key]!)
    }
    if (total > LIMIT_BYTES) errors.tooLong('[]', LIMIT_BYTES)
  },
  validateUpdate: (object, stored, errors) =>
    validateImmutableData(object, stored, ['data', 'binaryData'], errors, 'data'),
  columns: tableColumns('configmaps', {
    Data: (object) =>
      Object.keys(object.data ?? {}).length + Object.keys(object.binaryData ?? {}).length,
  }),
}
