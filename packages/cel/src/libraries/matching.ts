/** Patterns in expressions: what cannot be compiled or takes too long is an error of the evaluation. */
import {
  compileRegularExpression,
  TooMuchToMatch,
  type RegularExpression,
} from '../values/regular-expressions.ts'
import { patternProblem } from '../syntax/pattern-parser.ts'
import { EvaluationError } from '../values/values.ts'

/** `refusal` stands in front of what is said of patterns that do not compile. */
export function matchPattern<T>(
  pattern: string,
  refusal: string,
  match: (expression: RegularExpression) => T,
): T {
  const expression = compileRegularExpression(pattern)
  if (expression === undefined) throw new EvaluationError(refusal + patternProblem(pattern))
  try {
    return match(expression)
  } catch (error) {
    if (error instanceof TooMuchToMatch)
      throw new EvaluationError(`matching takes too long: \`${pattern}\``)
    throw error
  }
}
