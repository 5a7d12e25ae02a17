/** Values of single fields: what they may be, and how they are written once decoded. */
import { storedQuantity } from '@gyropilot/api'
import type { FieldType } from '@gyropilot/api'
import { isInteger, stringifyExact } from '@gyropilot/foundation/exact-json'
import {
  formatGoTime,
  MICRO_TIME_LAYOUT,
  parseGoTime,
  TIME_LAYOUT,
  type GoTime,
} from '@gyropilot/foundation'

/** A body that is no object of its kind. The message is what follows `Pod in version "v1" cannot be handled as a Pod: `. */
export class DecodeError extends Error {
  readonly #mismatch: TypeMismatch | undefined

  constructor(message: string, mismatch?: TypeMismatch) {
    super(message)
    this.name = 'DecodeError'
    this.#mismatch = mismatch
  }

  /** What was found instead, when the type is wrong. */
  get mismatch(): TypeMismatch | undefined {
    return this.#mismatch
  }
}

/** An object whose types are right, and which still has no form inside the server: something in it cannot be read. */
export class ConversionError extends DecodeError {}

export interface TypeMismatch {
  readonly given: unknown
  readonly goType: string
  readonly isStruct: boolean
  /** The type reads its JSON itself: it does so wherever its value comes from. */
  readonly readsItself?: boolean
}

/** A value of the wrong type: Go reads on, and tells the first of them unless it meets what ends it at once. */
export class TypeMismatchError extends DecodeError {}

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

const decodeInt32 = integerDecoder(-2147483648, 2147483647)

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Go's decoder names the first byte it cannot use, or where the last group begins that is not whole; line ends are skipped. */
function base64ErrorOffset(text: string): number {
  let inGroup = 0
  for (let at = 0; at < text.length; at++) {
    if (LINE_END.test(text[at]!)) continue
    if (text[at] === '=') return paddingErrorOffset(text, at, inGroup)
    if (!/[A-Za-z0-9+/]/.test(text[at]!)) return at
    inGroup = (inGroup + 1) % 4
  }
  return text.length - inGroup
}

const LINE_END = /[\r\n]/

function paddingErrorOffset(text: string, first: number, inGroup: number): number {
  if (inGroup < 2) return first
  const nextAfter = (at: number): number => {
    let next = at + 1
    while (next < text.length && LINE_END.test(text[next]!)) next++
    return next
  }
  let next = nextAfter(first)
  if (inGroup === 2) {
    if (next === text.length) return next
    if (text[next] !== '=') return next - 1
    next = nextAfter(next)
  }
  return next
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

const storedTexts = new Map<string, string>()

/** Small texts are remembered: the same few appear in every pod. */
function rememberedQuantity(text: string): string {
  const known = storedTexts.get(text)
  if (known !== undefined) return known
  const stored = storedQuantity(text)
  if (text.length <= 16 && storedTexts.size < 4096) storedTexts.set(text, stored)
  return stored
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

/** Go takes a list of numbers, too. */
function listedBytes(list: readonly unknown[], mismatch: Mismatch): string {
  const wrong = list.find(
    (byte) => byte !== null && !(Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) < 256),
  )
  if (wrong !== undefined) throw mismatch(wrong, 'uint8')
  return Buffer.from(list.map(Number)).toString('base64')
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
  int32: decodeInt32,
  int64: integerDecoder(-(2n ** 63n), 2n ** 63n - 1n),
  double: (value, mismatch) => {
    if (typeof value === 'bigint') return Number(value)
    if (typeof value !== 'number') throw mismatch(value)
    return value
  },
  bytes: (value, mismatch) => {
    if (Array.isArray(value)) return listedBytes(value, mismatch)
    if (typeof value !== 'string') throw mismatch(value)
    const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value
    if (!BASE64.test(text))
      throw new TypeMismatchError(`illegal base64 data at input byte ${base64ErrorOffset(value)}`)
    // The last character before the padding may have bits that nobody reads.
    return text.endsWith('=') ? Buffer.from(text, 'base64').toString('base64') : text
  },
  quantity: decodeQuantity,
  'int-or-string': (value, mismatch) =>
    typeof value === 'string' ? value : decodeInt32(value, mismatch),
  time: decodeTime,
  microtime: decodeMicroTime,
}

/** Types whose decoders want whole numbers: the number itself is part of the message. */
export function wantsInteger(type: FieldType): boolean {
  return type === 'int32' || type === 'int64' || type === 'int-or-string'
}
