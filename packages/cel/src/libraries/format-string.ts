/**
 * `'%s has %d'.format([name, count])`. Numbers are grouped and powers of ten are written as in English text, as the version of
 * the library that Kubernetes uses does.
 */
import { isUtf8 } from 'node:buffer'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { Call, Expression } from '../syntax/ast.ts'
import type { Checked } from '../checking/checked.ts'
import type { Problem } from '../syntax/source.ts'
import { formatDuration, formatTimestamp } from '../values/time-text.ts'
import type { CelType } from '../checking/types.ts'
import {
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  EvaluationError,
  MAX_INT,
  TypeValue,
  typeNameOf,
} from '../values/values.ts'
import type { Value } from '../values/values.ts'
import { runtimeTypeName } from '../checking/types.ts'
import { doubleText } from './conversions.ts'

interface Clause {
  readonly verb: string
  readonly precision: number
}

const DEFAULT_PRECISION = 6

interface Verb {
  /** What is said of other values. */
  readonly refusal: string
  readonly accepts: readonly CelType['kind'][]
  readonly write: (value: Value, precision: number) => string | undefined
}

const VERBS: Readonly<Record<string, Verb>> = {
  s: {
    refusal:
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    accepts: [
      ...(['string', 'bool', 'bytes', 'int', 'uint', 'double', 'map', 'list'] as const),
      ...(['type', 'duration', 'timestamp', 'null'] as const),
    ],
    write: (value) => (typeof value === 'string' ? value : plainText(value)),
  },
  d: {
    refusal: 'decimal clause can only be used on integers',
    accepts: ['int', 'uint'],
    write: (value) => integerOf(value)?.toString(),
  },
  f: {
    refusal: 'fixed-point clause can only be used on doubles',
    // Also texts, of which only a run can tell that they are no numbers.
    accepts: ['double', 'string'],
    write: (value, precision) => {
      const number = doubleOf(value)
      return number === undefined ? undefined : fixed(number, precision)
    },
  },
  e: {
    refusal: 'scientific clause can only be used on doubles',
    accepts: ['double', 'string'],
    write: (value, precision) => {
      const number = doubleOf(value)
      return number === undefined ? undefined : scientific(number, precision)
    },
  },
  b: {
    refusal: 'only integers and bools can be formatted as binary',
    accepts: ['int', 'uint', 'bool'],
    write: (value) =>
      typeof value === 'boolean' ? String(Number(value)) : integerOf(value)?.toString(2),
  },
  o: {
    refusal: 'octal clause can only be used on integers',
    accepts: ['int', 'uint'],
    write: (value) => integerOf(value)?.toString(8),
  },
  x: {
    refusal: 'only integers, byte buffers, and strings can be formatted as hex',
    accepts: ['int', 'uint', 'string', 'bytes'],
    write: hexadecimal,
  },
  X: {
    refusal: 'only integers, byte buffers, and strings can be formatted as hex',
    accepts: ['int', 'uint', 'string', 'bytes'],
    write: (value) => hexadecimal(value)?.toUpperCase(),
  },
}

/** Texts and clauses in turn, with as many clauses as there are arguments. Throws EvaluationError. */
function* partsOf(text: string, args: number): Iterable<string | Clause> {
  let clauses = 0
  for (let at = 0; at < text.length;) {
    const percent = text.indexOf('%', at)
    yield text.slice(at, percent < 0 ? text.length : percent)
    if (percent < 0) return
    if (text[percent + 1] === '%') {
      yield '%'
      at = percent + 2
      continue
    }
    if (percent + 1 === text.length) throw new EvaluationError('unexpected end of string')
    if (clauses >= args) throw new EvaluationError(`index ${clauses} out of range`)
    clauses++
    const [whole, dot, digits = '', verb] = /^%(\.(\d*))?(\D)?/u.exec(text.slice(percent))!
    if (dot !== undefined) checkPrecision(digits, verb)
    const shown = verb ?? text[percent + 1]!
    if (VERBS[shown] === undefined)
      throw new EvaluationError(
        `${CLAUSE_PROBLEM}unrecognized formatting clause "${firstByteOf(shown)}"`,
      )
    yield { verb: shown, precision: dot === undefined ? DEFAULT_PRECISION : Number(digits) }
    at = percent + whole.length
  }
}

const CLAUSE_PROBLEM = 'could not parse formatting clause: '
const PRECISION_PROBLEM = `${CLAUSE_PROBLEM}error while parsing precision: `

function checkPrecision(digits: string, verb: string | undefined): void {
  if (verb === undefined)
    throw new EvaluationError(`${PRECISION_PROBLEM}could not find end of precision specifier`)
  const refused = `${PRECISION_PROBLEM}error while converting precision to integer: strconv.Atoi: parsing ${goQuote(digits)}: `
  if (digits === '') throw new EvaluationError(`${refused}invalid syntax`)
  if (BigInt(digits) > MAX_INT) throw new EvaluationError(`${refused}value out of range`)
}

/** A clause is a byte, and shown as if it were a character. */
const firstByteOf = (character: string): string => String.fromCharCode(Buffer.from(character)[0]!)

/** Throws EvaluationError when clauses and arguments do not fit. */
export function formatText(text: string, args: CelList): string {
  let next = 0
  let written = ''
  for (const part of partsOf(text, args.length)) {
    if (typeof part === 'string') {
      written += part
      continue
    }
    const value = args.at(next++)
    const { refusal, write } = VERBS[part.verb]!
    const clause = write(value, part.precision)
    if (clause === undefined) throw refused(refusal, typeNameOf(value))
    written += clause
  }
  return written
}

/** What can be told of a format that is written out, before it is used. */
export function formatProblems(checked: Checked, call: Call): Problem[] {
  const { target, args, offset } = call
  const [list] = args
  if (target?.kind !== 'literal' || typeof target.value !== 'string') return []
  if (list?.kind !== 'list') return []
  const { elements } = list
  let clauses = 0
  try {
    for (const part of partsOf(target.value, elements.length)) {
      if (typeof part === 'string') continue
      const misfit = misfitOf(checked, elements[clauses++]!, VERBS[part.verb]!)
      if (misfit !== undefined) return [misfit]
    }
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error
    return [{ offset, message: error.message }]
  }
  if (elements.length <= clauses) return []
  const counts = `expected ${clauses}, got ${elements.length}`
  return [{ offset, message: `too many arguments supplied to string.format (${counts})` }]
}

/** Of what is written out also the elements, keys and values. */
function misfitOf(checked: Checked, element: Expression, verb: Verb): Problem | undefined {
  const type = checked.typeOf(element)
  const accepted: readonly CelType['kind'][] = ['dyn', 'error', 'parameter', ...verb.accepts]
  if (!accepted.includes(type.kind)) {
    const shown = runtimeTypeName(type)
    return { offset: element.offset, message: refused(verb.refusal, shown).message }
  }
  return partsWithin(element)
    .map((each) => misfitOf(checked, each, verb))
    .find(Boolean)
}

function partsWithin(expression: Expression): readonly Expression[] {
  if (expression.kind === 'list') return expression.elements
  if (expression.kind !== 'map') return []
  return expression.entries.flatMap(({ key, value }) => [key, value])
}

function refused(what: string, type: string): EvaluationError {
  return new EvaluationError(`error during formatting: ${what}, was given ${type}`)
}

/** Undefined for what has no text. */
function plainText(value: Value): string | undefined {
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return doubleText(value)
  }
  if (value === null) return 'null'
  if (value instanceof Uint8Array) return bytesText(value)
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelTimestamp) return formatTimestamp(value.nanos, value.offsetMinutes)
  if (value instanceof CelDuration) return formatDuration(value.nanos)
  if (value instanceof TypeValue) return runtimeTypeName(value.type)
  if (value instanceof CelOptional) return undefined
  if (value instanceof CelList) return `[${[...value].map(nestedText).join(', ')}]`
  if (!(value instanceof CelMap)) return undefined
  const entries = [...value.keys()].map((key) => {
    if (typeof key === 'number' || key === null)
      throw new EvaluationError(
        `error during formatting: no formatting function for map key of type ${typeNameOf(key)}`,
      )
    return [nestedText(key), nestedText(value.get(key)!)]
  })
  const sorted = entries.toSorted(([a], [b]) => (a! < b! ? -1 : 1))
  return `{${sorted.map(([key, text]) => `${key}:${text}`).join(', ')}}`
}

function bytesText(bytes: Uint8Array): string {
  if (!isUtf8(bytes))
    throw new EvaluationError(
      'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    )
  return Buffer.from(bytes).toString()
}

/** Within lists and maps values look as they are written in expressions. */
function nestedText(value: Value): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number')
    return Number.isFinite(value) ? rounded(value, DEFAULT_PRECISION) : `"${doubleText(value)}"`
  const text = plainText(value)
  if (text === undefined)
    throw new EvaluationError(
      `error during formatting: no formatting function for ${typeNameOf(value)}`,
    )
  if (value instanceof Uint8Array) return `b${goQuote(text)}`
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(text)})`
  if (value instanceof CelDuration) return `duration(${goQuote(text)})`
  return text
}

/** What is no finite number may also be given as text. */
function doubleOf(value: Value): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && ['NaN', 'Infinity', '-Infinity'].includes(value)
    ? Number(value)
    : undefined
}

function specialText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞'
}

function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return specialText(value)
  // Where these are written for people, nothing has no sign.
  return rounded(value === 0 ? 0 : value, precision).replace(/^-?\d+/, (whole) =>
    whole.replaceAll(/\d(?=(\d{3})+$)/g, '$&,'),
  )
}

/** No double has more digits behind the point. */
const MOST_DIGITS = 1074
/** Only so many zeros are written at the end: the number of digits is kept in a byte. */
const DIGITS_LIMIT = 256

/** Ties go to the even digit, as in Go. */
function rounded(value: number, precision: number): string {
  const digits = Math.min(precision, MOST_DIGITS)
  const { numerator, denominator } = fractionOf(Math.abs(value))
  const scaled = numerator * 10n ** BigInt(digits)
  const rest = (scaled % denominator) * 2n
  let count = scaled / denominator
  if (rest > denominator || (rest === denominator && count % 2n === 1n)) count++
  const text = count.toString().padStart(digits + 1, '0')
  const point = text.length - digits
  const least = precision % DIGITS_LIMIT
  let decimals = text.slice(point)
  if (precision >= DIGITS_LIMIT) decimals = decimals.replace(/0+$/, '').padEnd(least, '0')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return `${sign}${text.slice(0, point)}${decimals === '' ? '' : `.${decimals}`}`
}

/** A double is a whole number of halves of halves. */
function fractionOf(value: number): { numerator: bigint; denominator: bigint } {
  let [whole, denominator] = [value, 1n]
  while (!Number.isInteger(whole)) {
    whole *= 2
    denominator *= 2n
  }
  return { numerator: BigInt(whole), denominator }
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** Always with six digits: the precision is how wide it is at least. */
function scientific(value: number, width: number): string {
  if (!Number.isFinite(value)) return specialText(value).padStart(width)
  const [mantissa, exponent = ''] = value.toExponential(DEFAULT_PRECISION).split('e')
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0')
  const raised = [...digits].map((digit) => SUPERSCRIPTS[Number(digit)]).join('')
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`.padStart(width)
}

function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value
  return value instanceof CelUint ? value.value : undefined
}

function hexadecimal(value: Value): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return integerOf(value)?.toString(16)
}
