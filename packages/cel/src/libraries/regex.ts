/** Parts of a text that match a pattern. */
import { PATTERN_MATCH } from '../costs/cost.ts'
import type { RegularExpression } from '../values/regular-expressions.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { ArrayList } from '../values/values.ts'
import type { CelList } from '../values/values.ts'
import { matchPattern } from './matching.ts'

function search<T>(pattern: string, match: (expression: RegularExpression) => T): T {
  return matchPattern(pattern, 'Illegal regex: ', match)
}

function findAll(text: string, pattern: string, limit = -1n): CelList {
  const most = limit < 0n ? Infinity : Number(limit)
  return new ArrayList(search(pattern, (expression) => expression.findAll(text, most)))
}

export const REGEX: Library = {
  overloads: [
    declare(
      'string.find(string): string',
      (text: string, pattern: string) =>
        search(pattern, (expression) => expression.find(text) ?? ''),
      PATTERN_MATCH,
    ),
    declare('string.findAll(string): list(string)', findAll, PATTERN_MATCH),
    declare('string.findAll(string, int): list(string)', findAll, PATTERN_MATCH),
  ],
}
