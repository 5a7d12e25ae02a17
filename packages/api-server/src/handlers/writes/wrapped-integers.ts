/** What strategic merge and apply make of integers that are too large. */
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'
import { isInteger } from '@gyropilot/schema/exact-json'

/** Go fills the fields of an object from a tree of 64-bit integers, and keeps of each what its field has room for. */
export function wrappedIntegers(value: unknown, { properties }: ObjectSchema): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const field = properties.get(name)
      return [name, field === undefined ? member : wrapped(member, field)]
    }),
  )
}

function wrapped(value: unknown, field: FieldSchema): unknown {
  const { type, schema, items, values } = field
  if (type === 'int32') return isInteger(value) ? Number(BigInt.asIntN(32, BigInt(value))) : value
  if (type === 'object' && schema !== undefined) return wrappedIntegers(value, schema)
  if (type === 'array' && items !== undefined && Array.isArray(value))
    return value.map((item) => wrapped(item, items))
  if (type !== 'map' || values === undefined) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, wrapped(member, values)]),
  )
}
