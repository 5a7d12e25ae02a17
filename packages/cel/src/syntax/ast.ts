/** Expressions after parsing. Macros are expanded already: what is left are names, calls, literals and folds. */
import type { Value } from '../values/values.ts'

interface Located {
  /** Where problems with this node are shown. */
  readonly offset: number
}

export interface Literal extends Located {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Identifier extends Located {
  readonly kind: 'identifier'
  readonly name: string
}

export interface Select extends Located {
  readonly kind: 'select'
  readonly operand: Expression
  readonly field: string
  /** `has(operand.field)`: whether, not what. */
  readonly presence: boolean
}

export interface Call extends Located {
  readonly kind: 'call'
  readonly function: string
  readonly target: Expression | undefined
  readonly args: readonly Expression[]
}

export interface ListLiteral extends Located {
  readonly kind: 'list'
  readonly elements: readonly Expression[]
  /** Indices of elements written `?e`: optionals that are left out when empty. */
  readonly optional: ReadonlySet<number>
}

export interface MapEntry {
  readonly key: Expression
  readonly value: Expression
  readonly optional: boolean
}

export interface MapLiteral extends Located {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface StructField extends Located {
  readonly name: string
  readonly value: Expression
  readonly optional: boolean
}

export interface StructLiteral extends Located {
  readonly kind: 'struct'
  readonly type: string
  readonly fields: readonly StructField[]
}

/**
 * What macros over lists and maps become: `accumulator` starts as `initial`, and for every element, while `condition`
 * holds, becomes `step`; the value is `result`. With `second`, `variable` is the index or key and `second` the element.
 */
export interface Fold extends Located {
  readonly kind: 'fold'
  readonly range: Expression
  readonly variable: string
  readonly second: string | undefined
  readonly accumulator: string
  readonly initial: Expression
  readonly condition: Expression
  readonly step: Expression
  readonly result: Expression
}

export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | StructLiteral
  | Fold

/** The name that folds give their result. No expression can write it. */
export const ACCUMULATOR = '@result'

/** The dotted name of a chain of plain selections (`a.b.c`), or undefined. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name
  if (expression.kind !== 'select' || expression.presence) return undefined
  const operand = qualifiedName(expression.operand)
  return operand === undefined ? undefined : `${operand}.${expression.field}`
}

/** What an expression consists of, in the order of evaluation. */
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

/** How many of the counted expressions stand within each other. */
export function depthOf(expression: Expression, counted: WeakSet<Expression>): number {
  let below = 0
  for (const child of childrenOf(expression)) below = Math.max(below, depthOf(child, counted))
  return counted.has(expression) ? below + 1 : below
}
