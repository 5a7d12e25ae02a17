/** Texts. Positions count code points. */
import { SHORTER_TEXT, actualSize, onePass, PATTERN_MATCH, traversal } from '../costs/cost.ts'
import {
  STRING_TRAVERSAL,
  exactly,
  product,
  scaled,
  sum,
  union,
  UNKNOWN_SIZE,
} from '../costs/cost-range.ts'
import { declare } from '../checking/signature.ts'
import type { Costs, EstimatedArgument, Library } from '../checking/signature.ts'
import { characterAt, textLength } from '../values/measures.ts'
import { ArrayList, EvaluationError } from '../values/values.ts'
import type { CelList } from '../values/values.ts'
import { formatText } from './format-string.ts'
import { matchPattern } from './matching.ts'

const TWICE = 2 * STRING_TRAVERSAL

function charAt(text: string, index: bigint): string {
  if (index < 0n || index > BigInt(textLength(text)))
    throw new EvaluationError(`index out of range: ${index}`)
  return characterAt(text, Number(index)) ?? ''
}

function indexOf(text: string, part: string, from = 0n): bigint {
  const characters = [...text]
  if (part === '') return from
  if (from < 0n) throw new EvaluationError(`index out of range: ${from}`)
  const offset = characters.slice(0, Number(from)).join('').length
  const found = text.indexOf(part, offset)
  return found < 0 ? -1n : BigInt(textLength(text.slice(0, found)))
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const characters = [...text]
  if (part === '') return from ?? BigInt(characters.length)
  if (from !== undefined && from < 0n) throw new EvaluationError(`index out of range: ${from}`)
  if (from !== undefined && from >= BigInt(characters.length)) return -1n
  const offset =
    from === undefined ? text.length : characters.slice(0, Number(from)).join('').length
  const found = text.lastIndexOf(part, offset)
  return found < 0 ? -1n : BigInt(textLength(text.slice(0, found)))
}

function substring(text: string, start: bigint, end?: bigint): string {
  const characters = [...text]
  const stop = end ?? BigInt(characters.length)
  const length = BigInt(characters.length)
  if (end !== undefined && start > end)
    throw new EvaluationError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > length) throw new EvaluationError(`index out of range: ${start}`)
  if (stop < 0n || stop > length) throw new EvaluationError(`index out of range: ${stop}`)
  return characters.slice(Number(start), Number(stop)).join('')
}

/** The first `limit` occurrences; negative: all. An empty part stands before every character and at the end. */
function replace(text: string, part: string, by: string, limit = -1n): string {
  if (limit === 0n) return text
  const pieces = part === '' ? ['', ...text] : text.split(part)
  const occurrences = part === '' ? pieces.length : pieces.length - 1
  const count = limit < 0n || limit > BigInt(occurrences) ? occurrences : Number(limit)
  let result = pieces[0]!
  if (part === '') {
    result = ''
    const characters = [...text]
    for (let index = 0; index <= characters.length; index++)
      result += (index < count ? by : '') + (characters[index] ?? '')
    return result
  }
  for (const [index, piece] of pieces.slice(1).entries())
    result += (index < count ? by : part) + piece
  return result
}

function split(text: string, separator: string, limit = -1n): CelList {
  if (limit === 0n) return new ArrayList([])
  if (limit === 1n) return new ArrayList([text])
  const parts = separator === '' ? [...text] : text.split(separator)
  if (limit < 0n || BigInt(parts.length) <= limit) return new ArrayList(parts)
  const head = parts.slice(0, Number(limit) - 1)
  return new ArrayList([...head, parts.slice(head.length).join(separator)])
}

/** Space as Unicode defines it. */
function trim(text: string): string {
  return text.replaceAll(/^[\p{White_Space}]+|[\p{White_Space}]+$/gu, '')
}

function join(list: CelList, separator = ''): string {
  return [...list].join(separator)
}

const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const upper = (text: string): string => text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quote(text: string): string {
  const escaped = [...text].map((character) => ESCAPES[character] ?? character).join('')
  return `"${escaped.replaceAll(/\p{Surrogate}/gu, '\ufffd')}"`
}

function matches(text: string, pattern: string): boolean {
  return matchPattern(pattern, '', (expression) => expression.test(text))
}

/** The whole text counts when it is run, and what is looked for when it is estimated. */
const TEXT_END: Costs = {
  cost: (args) => traversal(args[0]!),
  estimate: ([, part]) => ({ cost: scaled(part!.size, STRING_TRAVERSAL) }),
}

const CONTAINS: Costs = {
  cost: (args) => traversal(args[0]!) * traversal(args[1]!),
  estimate: ([text, part]) => ({
    cost: product(scaled(text!.size, STRING_TRAVERSAL), scaled(part!.size, STRING_TRAVERSAL)),
  }),
}

const SPLIT: Costs = {
  cost: (args) => traversal(args[0]!, TWICE),
  estimate: ([text, , limit]) => {
    const most = typeof limit?.literal === 'bigint' ? Number(limit.literal) : text!.size.max
    return {
      cost: scaled(text!.size, TWICE),
      size: { min: 0, max: most < 0 ? text!.size.max : most },
    }
  },
}

const JOIN: Costs = {
  cost: (_args, result) => Math.ceil(actualSize(result) * TWICE),
  estimate: ([list, separator]) => {
    const { size, element } = list!
    const gaps = { min: Math.max(size.min - 1, 0), max: Math.max(size.max - 1, 0) }
    const items = product(size, element?.size ?? UNKNOWN_SIZE)
    const result = separator === undefined ? items : sum(items, product(separator.size, gaps))
    return { cost: scaled(result, STRING_TRAVERSAL), size: result }
  },
}

const REPLACE: Costs = {
  cost: (args) => traversal(args[0]!, TWICE),
  estimate: ([text, part, by]) => ({
    cost: scaled(text!.size, TWICE),
    size: replacedSize(text!, part!, by!),
  }),
}

/** Between as many of the longest and as many of the shortest replacements as there may be. */
function replacedSize(
  { size }: EstimatedArgument,
  { size: part }: EstimatedArgument,
  { size: by }: EstimatedArgument,
): { min: number; max: number } {
  const longest =
    part.min === 0
      ? (size.max + 1) * by.max + size.max
      : by.max <= part.min
        ? size.max
        : Math.ceil(size.max / part.min) * by.max
  const shortest =
    part.max === 0
      ? (size.min + 1) * by.min + size.min
      : part.max <= by.min
        ? size.min
        : Math.ceil(size.min / part.max) * by.min
  return { min: shortest || 0, max: Number.isNaN(longest) ? Infinity : longest }
}

const FORMAT: Costs = {
  ...onePass(),
  estimate: ([text]) => ({ cost: scaled(text!.size, STRING_TRAVERSAL), size: UNKNOWN_SIZE }),
}

const QUOTE: Costs = {
  cost: (args) => traversal(args[0]!),
  estimate: ([text]) => ({
    cost: scaled(text!.size, STRING_TRAVERSAL),
    size: sum(union(text!.size, product(text!.size, exactly(2))), exactly(2)),
  }),
}

export const STRINGS: Library = {
  overloads: [
    declare(
      'string.contains(string): bool',
      (text: string, part: string) => text.includes(part),
      CONTAINS,
    ),
    declare(
      'string.startsWith(string): bool',
      (text: string, part: string) => text.startsWith(part),
      TEXT_END,
    ),
    declare(
      'string.endsWith(string): bool',
      (text: string, part: string) => text.endsWith(part),
      TEXT_END,
    ),
    declare('string.matches(string): bool', matches, PATTERN_MATCH),
    declare('matches(string, string): bool', matches, PATTERN_MATCH),
    // kube-apiserver does not know that it is one character: it is estimated as any text.
    declare('string.charAt(int): string', charAt),
    declare('string.indexOf(string): int', indexOf, onePass()),
    declare('string.indexOf(string, int): int', indexOf, onePass()),
    declare('string.lastIndexOf(string): int', lastIndexOf, onePass()),
    declare('string.lastIndexOf(string, int): int', lastIndexOf, onePass()),
    declare('string.lowerAscii(): string', lower, SHORTER_TEXT),
    declare('string.upperAscii(): string', upper, SHORTER_TEXT),
    declare('string.replace(string, string): string', replace, REPLACE),
    declare('string.replace(string, string, int): string', replace, REPLACE),
    declare('string.split(string): list(string)', split, SPLIT),
    declare('string.split(string, int): list(string)', split, SPLIT),
    declare('list(string).join(): string', join, JOIN),
    declare('list(string).join(string): string', join, JOIN),
    declare('string.substring(int): string', substring, SHORTER_TEXT),
    declare('string.substring(int, int): string', substring, SHORTER_TEXT),
    declare('string.trim(): string', trim, SHORTER_TEXT),
    declare('string.format(list(dyn)): string', formatText, FORMAT),
    declare('strings.quote(string): string', quote, QUOTE),
  ],
}
