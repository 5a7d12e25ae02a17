/**
 * JSON with sorted keys and no spaces, and with `<`, `>`, `&`, U+2028 and U+2029 escaped, as Go writes it. Equal values give
 * equal text. Undefined properties are left out.
 */
import { compareStrings } from '@gyropilot/foundation'

export function canonicalJson(value: unknown): string {
  return write(value).replace(/[<>&\u2028\u2029]/g, escape)
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  // Integers beyond what numbers hold are bigints.
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = value as Readonly<Record<string, unknown>>
  const parts: string[] = []
  for (const key of Object.keys(fields).toSorted(compareStrings)) {
    if (fields[key] !== undefined) parts.push(`${JSON.stringify(key)}:${write(fields[key])}`)
  }
  return `{${parts.join(',')}}`
}
