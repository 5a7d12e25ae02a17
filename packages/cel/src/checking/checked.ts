import type { Call, Expression } from '../syntax/ast.ts'
import type { Overload } from './signature.ts'
import type { CelType } from './types.ts'

/** What a name means: a variable of the environment, one of a fold, or a type. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'type'; readonly type: CelType }

/** An expression whose parts all have a type: what evaluation and estimates work on. */
export interface Checked {
  readonly text: string
  readonly expression: Expression
  readonly type: CelType
  typeOf(expression: Expression): CelType
  overloadsOf(call: Call): readonly Overload[]
  /** Of names and dotted names that are no names of folds. */
  referenceOf(expression: Expression): Reference | undefined
  /** True when the receiver of the call is only part of the function's name: `sets.contains(a, b)`. */
  isNamespaced(call: Call): boolean
  /** Whether a variable of the environment is named anywhere. */
  usesVariable(name: string): boolean
}
