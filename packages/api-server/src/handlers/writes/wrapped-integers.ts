/** What strategic merge and apply make of integers that are too large. */
import type { FieldSchema, ObjectSchema } from '@gyropilot/api'
import { exactInteger, isInteger } from '@gyropilot/foundation/exact-json'

const INT64_BITS = 64
const INT64_LEAST = -(2n ** 63n)

/** Go fills the fields of an object from a tree of 64-bit integers and floats, and keeps of each what its field has room for. */
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
  if (type === 'int32' || type === 'int64') return isInteger(value) ? cut(value, type) : value
  if (type === 'object' && schema !== undefined) return wrappedIntegers(value, schema)
  if (type === 'array' && items !== undefined && Array.isArray(value))
    return value.map((item) => wrapped(item, items))
  if (type !== 'map' || values === undefined) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, wrapped(member, values)]),
  )
}

/** A float beyond int64 becomes the least of all. */
function cut(value: number | bigint, type: 'int32' | 'int64'): number | bigint {
  const given = BigInt(value)
  const integer = BigInt.asIntN(INT64_BITS, given) === given ? given : INT64_LEAST
  return type === 'int32' ? Number(BigInt.asIntN(32, integer)) : exactInteger(integer)
}
