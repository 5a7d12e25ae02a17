/** Values of single fields: what they may be, and how they are written once decoded. */
import { canonicalQuantity } from '@gyropilot/api'
import type { FieldType } from '@gyropilot/api'
import { isInteger, stringifyExact } from './exact-json.ts'

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

const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/
const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00'
const MICRO_TIME_LAYOUT = '2006-01-02T15:04:05.000000Z07:00'

/** The step of Go's layout at which a text stops being a time. */
function timeError(text: string, layout: string, micro: boolean): DecodeError {
  const steps: readonly (readonly [RegExp, string])[] = [
    [/^\d{4}/, '2006'],
    [/^-/, '-'],
    [/^\d\d/, '01'],
    [/^-/, '-'],
    [/^\d\d/, '02'],
    [/^T/, 'T'],
    [/^\d\d/, '15'],
    [/^:/, ':'],
    [/^\d\d/, '04'],
    [/^:/, ':'],
    [/^\d\d/, '05'],
    micro ? [/^\.\d{6}(?!\d)/, '.000000'] : [/^(\.\d+)?/, ''],
    [/^(Z|[+-]\d\d:\d\d)/, 'Z07:00'],
  ]
  let rest = text
  for (const [pattern, name] of steps) {
    const match = pattern.exec(rest)
    if (match === null) {
      return new DecodeError(
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(name)}`,
      )
    }
    rest = rest.slice(match[0].length)
  }
  if (rest !== '')
    return new DecodeError(
      `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`,
    )
  const part =
    Number(text.slice(5, 7)) > 12
      ? 'month'
      : Number(text.slice(11, 13)) > 23
        ? 'hour'
        : Number(text.slice(14, 16)) > 59
          ? 'minute'
          : Number(text.slice(17, 19)) > 59
            ? 'second'
            : 'day'
  return new DecodeError(`parsing time ${JSON.stringify(text)}: ${part} out of range`)
}

function decodeTime(value: unknown, mismatch: Mismatch): unknown {
  if (typeof value !== 'string') throw mismatch(value, 'string')
  const match = TIME.exec(value)
  const ms = match === null ? Number.NaN : Date.parse(value)
  if (Number.isNaN(ms)) throw timeError(value, TIME_LAYOUT, false)
  if (value.length === 20 && value.endsWith('Z')) return value
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`
}

function decodeMicroTime(value: unknown, mismatch: Mismatch): unknown {
  if (typeof value !== 'string') throw mismatch(value, 'string')
  const match = TIME.exec(value)
  const ms = match === null || match[7]?.length !== 6 ? Number.NaN : Date.parse(value)
  if (Number.isNaN(ms)) throw timeError(value, MICRO_TIME_LAYOUT, true)
  if (match![8] === 'Z') return value
  return `${new Date(ms).toISOString().slice(0, 19)}.${match![7]}Z`
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

function decodeQuantity(value: unknown): unknown {
  const text = typeof value === 'string' ? value : stringifyExact(value)
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
