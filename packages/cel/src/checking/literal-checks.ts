/**
 * What is written out is checked with the expression: durations, timestamps and patterns, and that all elements of a list or
 * map are of one type (but for what is formatted).
 */
import { childrenOf } from '../syntax/ast.ts'
import type { Call, Expression } from '../syntax/ast.ts'
import type { Checked } from './checked.ts'
import { formatProblems } from '../libraries/format-string.ts'
import { compileRegularExpression } from '../values/regular-expressions.ts'
import type { Problem } from '../syntax/source.ts'
import {
  NANOS_PER_SECOND,
  isTimestamp,
  parseDuration,
  parseTimestamp,
} from '../values/time-text.ts'
import { typeText } from './types.ts'

type LiteralCheck = (text: string) => boolean

/** By function: which argument, counted from the receiver, and what it has to be. */
const CHECKS: Readonly<Record<string, { readonly index: number; readonly holds: LiteralCheck }>> = {
  duration: { index: 0, holds: (text) => parseDuration(text) !== undefined },
  timestamp: { index: 0, holds: (text) => parseTimestamp(text) !== undefined },
  matches: { index: 1, holds: (text) => compileRegularExpression(text) !== undefined },
}

export function checkLiterals(checked: Checked): Problem[] {
  const problems: Problem[] = []
  visit(checked.expression, (call) => {
    if (call.function === 'format') problems.push(...formatProblems(checked, call))
    const check = CHECKS[call.function]
    if (check === undefined) return
    const all = call.target === undefined ? call.args : [call.target, ...call.args]
    const argument = all[check.index]
    const value = argument === undefined ? undefined : literalOf(argument)
    const holds =
      typeof value === 'bigint'
        ? call.function === 'timestamp' && isTimestamp(value * NANOS_PER_SECOND)
        : typeof value !== 'string' || check.holds(value)
    if (argument !== undefined && !holds)
      problems.push({ offset: argument.offset, message: `invalid ${call.function} argument` })
  })
  problems.push(...mixedLiterals(checked, checked.expression))
  return problems
}

function literalOf(expression: Expression): unknown {
  return expression.kind === 'literal' ? expression.value : undefined
}

function mixedLiterals(checked: Checked, expression: Expression): Problem[] {
  // What is formatted may be of any types.
  if (expression.kind === 'call' && expression.function === 'format') return []
  const below = childrenOf(expression).flatMap((child) => mixedLiterals(checked, child))
  if (expression.kind === 'list')
    return [
      ...below,
      // Of a list the first that differs is named, of a map each.
      ...mixed(checked, expression.elements, (index) => expression.optional.has(index)).slice(0, 1),
    ]
  if (expression.kind !== 'map') return below
  const { entries } = expression
  const keys = entries.map(({ key }) => key)
  const values = entries.map(({ value }) => value)
  return [
    ...below,
    ...mixed(checked, keys, () => false),
    ...mixed(checked, values, (index) => entries[index]!.optional),
  ]
}

/** All have to be of the type of the first. */
function mixed(
  checked: Checked,
  parts: readonly Expression[],
  isOptional: (index: number) => boolean,
): Problem[] {
  const types = parts.map((part, index) => {
    const type = checked.typeOf(part)
    return type.kind === 'opaque' && isOptional(index) ? type.parameters[0]! : type
  })
  const expected = types[0] && typeText(types[0])
  return parts.flatMap(({ offset }, index) => {
    const found = typeText(types[index]!)
    const message = `expected type '${expected}' but found '${found}'`
    return found === expected ? [] : [{ offset, message }]
  })
}

/** Calls `see` for every call within the expression. */
function visit(expression: Expression, see: (call: Call) => void): void {
  const children = childrenOf(expression)
  if (expression.kind === 'call') see(expression)
  for (const child of children) visit(child, see)
}
