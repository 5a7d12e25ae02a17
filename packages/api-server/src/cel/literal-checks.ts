/** Arguments that are written out are checked with the expression: durations, timestamps and patterns. */
import type { Call, Expression } from './ast.ts'
import type { Checked } from './checked.ts'
import { compileRegularExpression } from './regular-expressions.ts'
import type { Problem } from './source.ts'
import { parseDuration, parseTimestamp } from './time-text.ts'

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
    const check = CHECKS[call.function]
    if (check === undefined) return
    const all = call.target === undefined ? call.args : [call.target, ...call.args]
    const argument = all[check.index]
    if (argument?.kind !== 'literal' || typeof argument.value !== 'string') return
    if (!check.holds(argument.value))
      problems.push({ offset: argument.offset, message: `invalid ${call.function} argument` })
  })
  return problems
}

/** Calls `see` for every call within the expression. */
export function visit(expression: Expression, see: (call: Call) => void): void {
  const children = childrenOf(expression)
  if (expression.kind === 'call') see(expression)
  for (const child of children) visit(child, see)
}

export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [expression.operand]
    case 'call':
      return expression.target === undefined
        ? expression.args
        : [expression.target, ...expression.args]
    case 'list':
      return expression.elements
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expression.fields.map(({ value }) => value)
    case 'fold': {
      const { range, initial, condition, step, result } = expression
      return [range, initial, condition, step, result]
    }
  }
}
