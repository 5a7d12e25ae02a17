/** Parts of a text that match a pattern. */
import { PATTERN_MATCH } from '../cost.ts'
import { compileRegularExpression } from '../regular-expressions.ts'
import type { RegularExpression } from '../regular-expressions.ts'
import { declare } from '../signature.ts'
import type { Library } from '../signature.ts'
import { ArrayList, EvaluationError } from '../values.ts'
import type { CelList } from '../values.ts'

function compiled(pattern: string): RegularExpression {
  const expression = compileRegularExpression(pattern)
  if (expression === undefined) throw new EvaluationError(`Illegal regex: ${pattern}`)
  return expression
}

function findAll(text: string, pattern: string, limit = -1n): CelList {
  const most = limit < 0n ? Infinity : Number(limit)
  return new ArrayList(compiled(pattern).findAll(text, most))
}

export const REGEX: Library = {
  overloads: [
    declare(
      'string.find(string): string',
      (text: string, pattern: string) => compiled(pattern).find(text) ?? '',
      PATTERN_MATCH,
    ),
    declare('string.findAll(string): list(string)', findAll, PATTERN_MATCH),
    declare('string.findAll(string, int): list(string)', findAll, PATTERN_MATCH),
  ],
}
