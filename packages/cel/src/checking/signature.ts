/**
 * Declarations of functions, written as signatures: `list(A).indexOf(A): int`, `url(string): kubernetes.URL`. Single capital
 * letters are parameters.
 */
import type { CostRange } from '../costs/cost-range.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
  listType,
  mapType,
  opaqueType,
  optionalType,
  parameter,
  typeOf,
} from './types.ts'
import type { CelType } from './types.ts'
import type { Value } from '../values/values.ts'

/** What an estimate knows of the arguments of a call, the receiver first. */
export interface EstimatedArgument {
  readonly type: CelType
  readonly size: CostRange
  /** Of lists: the size of one element. */
  readonly element: { readonly type: CelType; readonly size: CostRange } | undefined
  /** The value, when it is written out. */
  readonly literal: Value | undefined
}

export interface CallEstimate {
  readonly cost: CostRange
  readonly size?: CostRange
}

export interface Overload {
  readonly function: string
  readonly member: boolean
  /** The receiver first. */
  readonly parameters: readonly CelType[]
  readonly result: CelType
  /** Throws EvaluationError. Arguments are of the types that are declared. */
  readonly evaluate: (...args: readonly never[]) => Value
  /** What a call has cost; default 1. */
  readonly cost?: (args: readonly Value[], result: Value) => number
  /** What a call may cost, without its arguments; default 1. */
  readonly estimate?: (args: readonly EstimatedArgument[]) => CallEstimate
}

export interface Library {
  readonly overloads: readonly Overload[]
  /** Names that stand for a value: types. */
  readonly constants?: readonly { readonly name: string; readonly type: CelType }[]
}

export type Costs = Pick<Overload, 'cost' | 'estimate'>

// oxlint-disable-next-line no-explicit-any -- implementations take the value classes that their signature names
type Implementation = (...args: any[]) => Value

/** Declares one overload. */
export function declare(signature: string, evaluate: Implementation, costs: Costs = {}): Overload {
  const match = /^(.*)\(([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\): (.+)$/.exec(signature)
  if (match === null) throw new Error(`not a signature: ${signature}`)
  const [, head = '', list = '', result = ''] = match
  const receiverEnd = receiverLength(head)
  const member = receiverEnd > 0
  const parameters = splitList(list).map(readType)
  if (member) parameters.unshift(readType(head.slice(0, receiverEnd)))
  return {
    function: member ? head.slice(receiverEnd + 1) : head,
    member,
    parameters,
    result: readType(result),
    evaluate: evaluate as Overload['evaluate'],
    ...costs,
  }
}

/** One overload for each type that `T` may be. */
export function declareFor(
  types: readonly string[],
  signature: string,
  evaluate: Implementation,
  costs: Costs = {},
): Overload[] {
  return types.map((type) => declare(signature.replaceAll(/\bT\b/g, type), evaluate, costs))
}

const SIMPLE: Readonly<Record<string, CelType>> = {
  dyn: DYN,
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  timestamp: TIMESTAMP,
  duration: DURATION,
  type: typeOf(),
}

function readType(text: string): CelType {
  const trimmed = text.trim()
  if (SIMPLE[trimmed] !== undefined) return SIMPLE[trimmed]
  if (/^[A-Z]$/.test(trimmed)) return parameter(trimmed)
  const match = /^([\w.]+)\((.*)\)$/.exec(trimmed)
  if (match === null) return opaqueType(trimmed)
  const parts = splitList(match[2]!).map(readType)
  switch (match[1]) {
    case 'list':
      return listType(parts[0]!)
    case 'map':
      return mapType(parts[0]!, parts[1]!)
    case 'optional':
      return optionalType(parts[0]!)
    case 'type':
      return typeOf(parts[0])
    default:
      return opaqueType(match[1]!, parts)
  }
}

/** Where the receiver ends in `list(A).indexOf`, `string.trim` or `kubernetes.URL.getHost`; 0 for global functions. */
function receiverLength(head: string): number {
  const dot = head.lastIndexOf('.')
  if (dot < 0) return 0
  const receiver = head.slice(0, dot)
  const known =
    SIMPLE[receiver] !== undefined || receiver.endsWith(')') || /(^|\.)[A-Z]/.test(receiver)
  return known || OPAQUE_NAMES.has(receiver) ? dot : 0
}

/** Opaque types that are not written with a capital. */
const OPAQUE_NAMES = new Set(['net.IP', 'net.CIDR'])

function splitList(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(') depth++
    else if (text[index] === ')') depth--
    else if (text[index] === ',' && depth === 0) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
  }
  if (text.trim() !== '') parts.push(text.slice(start))
  return parts
}
