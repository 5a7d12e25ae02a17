/** Values of single fields: what they may be, and how they are written once decoded. */
import { canonicalQuantity } from '@gyropilot/api'
import type { FieldType } from '@gyropilot/api'
import { isInteger, stringifyExact } from './exact-json.ts'
import {
  formatGoTime,
  MICRO_TIME_LAYOUT,
  parseGoTime,
  TIME_LAYOUT,
  type GoTime,
} from './go-time.ts'

/** A body that is no object of its kind. The message is what follows `Pod in version "v1" cannot be handled as a Pod: `. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DecodeError'
  }
}

/** Made when a value has the wrong type: knows the path. */
export type Mismatch = (value: unknown, goType?: string) => DecodeError

export type ScalarDecoder = (value: unknown, mismatch: Mismatch) => unknown

/** What Go calls the JSON value: numbers that fit no integer are printed. */
export function jsonKind(value: unknown, integerWanted: boolean): string {
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return integerWanted ? `number ${value}` : 'number'
    default:
      return 'object'
  }
}

function integerDecoder(low: number | bigint, high: number | bigint): ScalarDecoder {
  return (value, mismatch) => {
    if (!isInteger(value) || value < low || value > high) throw mismatch(value)
    return value
  }
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Go's decoder names the first byte it cannot use; line ends are skipped. */
function base64ErrorOffset(text: string): number {
  for (let index = 0; index < text.length; index++) {
    const good = /[A-Za-z0-9+/]/.test(text[index]!)
    const padding = text[index] === '=' && index % 4 >= 2 && index >= text.length - 2
    if (!good && !padding) return index
  }
  return text.length - (text.length % 4)
}

/** The usual form of a time needs no reader: the day is checked by making it again. */
const USUAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
/** Go's zero time is no time. */
const ZERO_TIME = Date.parse('0001-01-01T00:00:00Z')

function decodeTime(value: unknown, mismatch: Mismatch): unknown {
  if (typeof value !== 'string') throw mismatch(value, 'string')
  if (USUAL_TIME.test(value) && isCanonical(value)) return value
  const time = parseGoTime(value, TIME_LAYOUT)
  if ('error' in time) throw new DecodeError(time.error)
  return isZero(time) ? undefined : `${formatGoTime(time.ms)}Z`
}

function isCanonical(text: string): boolean {
  const ms = Date.parse(text)
  return ms !== ZERO_TIME && !Number.isNaN(ms) && formatGoTime(ms) === text.slice(0, 19)
}

function decodeMicroTime(value: unknown, mismatch: Mismatch): unknown {
  if (typeof value !== 'string') throw mismatch(value, 'string')
  const time = parseGoTime(value, MICRO_TIME_LAYOUT)
  if ('error' in time) throw new DecodeError(time.error)
  return isZero(time) ? undefined : `${formatGoTime(time.ms)}.${time.fraction}Z`
}

function isZero({ ms, fraction }: GoTime): boolean {
  return ms === ZERO_TIME && /^0*$/.test(fraction)
}

const canonicalTexts = new Map<string, string>()

/** Small texts are remembered: the same few appear in every pod. */
function rememberedQuantity(text: string): string {
  const known = canonicalTexts.get(text)
  if (known !== undefined) return known
  const canonical = canonicalQuantity(text)
  if (text.length <= 16 && canonicalTexts.size < 4096) canonicalTexts.set(text, canonical)
  return canonical
}

/** Go trims the JSON between the quotes, where a tab or a line end is an escape. */
const QUOTED_SPACES =
  /^[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g

function decodeQuantity(value: unknown): unknown {
  const text = typeof value === 'string' ? value.replace(QUOTED_SPACES, '') : stringifyExact(value)
  try {
    return rememberedQuantity(text)
  } catch (error) {
    throw new DecodeError((error as Error).message)
  }
}

export const scalarDecoders: Partial<Record<FieldType, ScalarDecoder>> = {
  string: (value, mismatch) => {
    if (typeof value !== 'string') throw mismatch(value)
    return value
  },
  boolean: (value, mismatch) => {
    if (typeof value !== 'boolean') throw mismatch(value)
    return value
  },
  int32: integerDecoder(-2147483648, 2147483647),
  int64: integerDecoder(-(2n ** 63n), 2n ** 63n - 1n),
  double: (value, mismatch) => {
    if (typeof value === 'bigint') return Number(value)
    if (typeof value !== 'number') throw mismatch(value)
    return value
  },
  bytes: (value, mismatch) => {
    if (typeof value !== 'string') throw mismatch(value)
    const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value
    if (!BASE64.test(text))
      throw new DecodeError(`illegal base64 data at input byte ${base64ErrorOffset(text)}`)
    return text
  },
  quantity: decodeQuantity,
  'int-or-string': (value, mismatch) => {
    if (typeof value === 'string') return value
    if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > 2147483648)
      throw mismatch(value)
    return value
  },
  time: decodeTime,
  microtime: decodeMicroTime,
}

/** Types whose decoders want whole numbers: the number itself is part of the message. */
export function wantsInteger(type: FieldType): boolean {
  return type === 'int32' || type === 'int64' || type === 'int-or-string'
}
