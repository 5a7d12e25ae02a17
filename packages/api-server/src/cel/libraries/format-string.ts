/** `'%s has %d'.format([name, count])`. */
import { equal } from '../equality.ts'
import { formatDuration, formatTimestamp } from '../time-text.ts'
import {
  CelDuration,
  CelList,
  CelMap,
  CelTimestamp,
  CelUint,
  EvaluationError,
  TypeValue,
  typeNameOf,
} from '../values.ts'
import type { Value } from '../values.ts'
import { runtimeTypeName } from '../types.ts'
import { doubleText } from './conversions.ts'

const CLAUSE = /%(?:%|(?:\.(\d+))?([a-zA-Z]))/g
const DEFAULT_PRECISION = 6

/** Throws EvaluationError when clauses and arguments do not fit. */
export function formatText(text: string, args: CelList): string {
  let next = 0
  const result = text.replaceAll(CLAUSE, (clause, precision: string | undefined, verb: string) => {
    if (clause === '%%') return '%'
    if (next >= args.length) throw new EvaluationError(`index ${next} out of range`)
    return clauseText(verb, args.at(next++), precision)
  })
  return result
}

function clauseText(verb: string, value: Value, precision: string | undefined): string {
  switch (verb) {
    case 's':
      return plainText(value)
    case 'd':
      return decimal(value)
    case 'f':
      return fixed(value, Number(precision ?? DEFAULT_PRECISION))
    case 'e':
      return exponential(value, Number(precision ?? DEFAULT_PRECISION))
    case 'b':
      return binary(value)
    case 'o':
      return integerOf(value, verb).toString(8)
    case 'x':
      return hexadecimal(value)
    case 'X':
      return hexadecimal(value).toUpperCase()
    default:
      throw new EvaluationError(
        `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
      )
  }
}

function refused(what: string, value: Value): EvaluationError {
  return new EvaluationError(`error during formatting: ${what}, was given ${typeNameOf(value)}`)
}

function plainText(value: Value): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return Number.isFinite(value) ? doubleText(value) : specialText(value)
  }
  if (value === null) return 'null'
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelTimestamp) return formatTimestamp(value.nanos)
  if (value instanceof CelDuration) return formatDuration(value.nanos)
  if (value instanceof TypeValue) return runtimeTypeName(value.type)
  if (value instanceof CelList) return `[${[...value].map(plainText).join(', ')}]`
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => [plainText(key), plainText(value.get(key)!)])
    const sorted = entries.toSorted(([a], [b]) => (a! < b! ? -1 : equal(a!, b!) ? 0 : 1))
    return `{${sorted.map(([key, text]) => `${key}: ${text}`).join(', ')}}`
  }
  throw refused(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  )
}

function specialText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
}

function decimal(value: Value): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof CelUint) return String(value.value)
  if (typeof value === 'number')
    return Number.isFinite(value) ? doubleText(value) : specialText(value)
  throw refused('decimal clause can only be used on numbers', value)
}

function numberOf(value: Value, what: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof CelUint) return Number(value.value)
  throw refused(`${what} clause can only be used on doubles`, value)
}

function fixed(value: Value, precision: number): string {
  const number = numberOf(value, 'fixed-point')
  return Number.isFinite(number) ? number.toFixed(Math.min(precision, 100)) : specialText(number)
}

function exponential(value: Value, precision: number): string {
  const number = numberOf(value, 'scientific')
  if (!Number.isFinite(number)) return specialText(number)
  const text = number.toExponential(Math.min(precision, 100))
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

function integerOf(value: Value, verb: string): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof CelUint) return value.value
  throw refused(`${verb === 'o' ? 'octal' : 'binary'} clause can only be used on integers`, value)
}

function binary(value: Value): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return integerOf(value, 'b').toString(2)
}

function hexadecimal(value: Value): string {
  if (typeof value === 'bigint') return value.toString(16)
  if (value instanceof CelUint) return value.value.toString(16)
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  throw refused('hex clause can only be used on integers, byte buffers, and strings', value)
}
