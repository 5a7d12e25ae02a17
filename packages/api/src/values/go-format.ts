import { byString, goFloat } from '@gyropilot/foundation'

/** A JSON value as Go prints it with `%v`: `map[a:1 b:[x y]]`. Patch errors quote values in this form. */
export function goFormat(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`
  if (typeof value === 'object') {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .toSorted(byString(([key]) => key))
      .map(([key, field]) => `${key}:${goFormat(field)}`)
    return `map[${fields.join(' ')}]`
  }
  return isFloat(value) ? goFloat(Number(value)) : String(value)
}

const INT64_LIMIT = 2n ** 63n

/** Integers that do not fit are floats to Go. */
function isFloat(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= INT64_LIMIT || value < -INT64_LIMIT
  return typeof value === 'number' && !Number.isSafeInteger(value)
}

/** The Go type of a decoded JSON value: `map[string]interface {}`, `[]interface {}`, `string`, `int64`, ... */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int64'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    default:
      return 'string'
  }
}

/** A JSON value as Go prints it with `%s`, which is for texts: others are marked as no such thing. */
export function goString(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return `[${value.map(goString).join(' ')}]`
  if (typeof value !== 'object') return `%!s(${goTypeName(value)}=${goFormat(value)})`
  const fields = Object.entries(value).toSorted(byString(([key]) => key))
  return `map[${fields.map(([key, field]) => `${key}:${goString(field)}`).join(' ')}]`
}
