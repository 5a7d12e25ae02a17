/**
 * `'%s has %d'.format([name, count])`. Numbers are grouped and powers of ten are written as in English text, as the version of
 * the library that Kubernetes uses does.
 */
import { isUtf8 } from 'node:buffer'
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
const MOST_DIGITS = 100

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
    write: (value, precision) => (typeof value === 'number' ? fixed(value, precision) : undefined),
  },
  e: {
    refusal: 'scientific clause can only be used on doubles',
    accepts: ['double', 'string'],
    write: (value, precision) =>
      typeof value === 'number' ? scientific(value, precision) : undefined,
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

/** Texts and clauses in turn. Throws EvaluationError. */
function partsOf(text: string): (string | Clause)[] {
  const parts: (string | Clause)[] = []
  for (let at = 0; at < text.length;) {
    const percent = text.indexOf('%', at)
    parts.push(text.slice(at, percent < 0 ? text.length : percent))
    if (percent < 0) break
    if (text[percent + 1] === '%') {
      parts.push('%')
      at = percent + 2
      continue
    }
    const [, dot, digits = '', verb] = /^%(\.(\d*))?(\D)?/.exec(text.slice(percent))!
    if (dot !== undefined) checkPrecision(digits, verb)
    const shown = verb ?? text[percent + 1]
    if (shown === undefined) throw new EvaluationError('unexpected end of string')
    if (VERBS[shown] === undefined)
      throw new EvaluationError(
        `could not parse formatting clause: unrecognized formatting clause "${shown}"`,
      )
    const precision = dot === undefined ? DEFAULT_PRECISION : Number(digits)
    parts.push({ verb: shown, precision: Math.min(precision, MOST_DIGITS) })
    at = percent + 2 + (dot?.length ?? 0)
  }
  return parts
}

function checkPrecision(digits: string, verb: string | undefined): void {
  const prefix = 'could not parse formatting clause: error while parsing precision: '
  if (verb === undefined)
    throw new EvaluationError(`${prefix}could not find end of precision specifier`)
  if (digits === '')
    throw new EvaluationError(
      `${prefix}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
    )
}

/** Throws EvaluationError when clauses and arguments do not fit. */
export function formatText(text: string, args: CelList): string {
  let next = 0
  const written = partsOf(text).map((part) => {
    if (typeof part === 'string') return part
    if (next >= args.length) throw new EvaluationError(`index ${next} out of range`)
    const value = args.at(next++)
    const { refusal, write } = VERBS[part.verb]!
    const clause = write(value, part.precision)
    if (clause === undefined) throw refused(refusal, typeNameOf(value))
    return clause
  })
  return written.join('')
}

/** What can be told of a format that is written out, before it is used. */
export function formatProblems(checked: Checked, call: Call): Problem[] {
  const { target, args, offset } = call
  const [list] = args
  if (target?.kind !== 'literal' || typeof target.value !== 'string') return []
  if (list?.kind !== 'list') return []
  let clauses: readonly Clause[]
  try {
    clauses = partsOf(target.value).filter((part) => typeof part !== 'string')
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error
    return [{ offset, message: error.message }]
  }
  const { elements } = list
  for (const [index, { verb }] of clauses.entries()) {
    const element = elements[index]
    if (element === undefined) return [{ offset, message: `index ${index} out of range` }]
    const misfit = misfitOf(checked, element, VERBS[verb]!)
    if (misfit !== undefined) return [misfit]
  }
  if (elements.length <= clauses.length) return []
  const counts = `expected ${clauses.length}, got ${elements.length}`
  return [{ offset, message: `too many arguments supplied to string.format (${counts})` }]
}

/** Of what is written out also the elements. */
function misfitOf(checked: Checked, element: Expression, verb: Verb): Problem | undefined {
  const type = checked.typeOf(element)
  const accepted: readonly CelType['kind'][] = ['dyn', 'error', 'parameter', ...verb.accepts]
  if (!accepted.includes(type.kind)) {
    const shown = runtimeTypeName(type)
    return { offset: element.offset, message: refused(verb.refusal, shown).message }
  }
  if (element.kind !== 'list') return undefined
  return element.elements.map((each) => misfitOf(checked, each, verb)).find(Boolean)
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
    if (typeof key === 'number')
      throw new EvaluationError(
        'error during formatting: no formatting function for map key of type double',
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
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return rounded(value, DEFAULT_PRECISION)
  const text = plainText(value)
  if (text === undefined) throw refused(VERBS['s']!.refusal, typeNameOf(value))
  if (value instanceof Uint8Array) return `b${JSON.stringify(text)}`
  if (value instanceof CelTimestamp) return `timestamp(${JSON.stringify(text)})`
  if (value instanceof CelDuration) return `duration(${JSON.stringify(text)})`
  return text
}

function specialText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞'
}

function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return specialText(value)
  return rounded(value, precision).replace(/\d(?=(\d{3})+(?!\d))(?<!\.\d*)/g, '$&,')
}

/** Ties go to the even digit, as in Go. */
function rounded(value: number, precision: number): string {
  const text = value.toFixed(precision)
  const exact = value.toFixed(MOST_DIGITS)
  const isTie = /^50*$/.test(exact.slice(exact.indexOf('.') + 1 + precision))
  if (!isTie || precision === MOST_DIGITS) return text
  const cut = exact.slice(0, exact.indexOf('.') + 1 + precision).replace(/\.$/, '')
  return Number(cut.at(-1)) % 2 === 0 ? cut : text
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function scientific(value: number, precision: number): string {
  if (!Number.isFinite(value)) return specialText(value)
  const [mantissa, exponent = ''] = value.toExponential(precision).split('e')
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0')
  const raised = [...digits].map((digit) => SUPERSCRIPTS[Number(digit)]).join('')
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`
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
