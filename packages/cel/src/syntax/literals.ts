/** What literals stand for. */
import { CelUint, MAX_INT, MAX_UINT } from '../values/values.ts'
import type { Value } from '../values/values.ts'
import type { Token } from './lexer.ts'
import type { TokenStream } from './token-stream.ts'

/** Bytes are written as they are: a code point is none. */
export const BYTES_WITH_RUNES = /^b["'](?:\\[^uU]|[^\\])*\\[uU]/is

/** Numbers that are too large are told. */
export function numberOf(tokens: TokenStream, token: Token, negative: boolean): Value {
  const { kind, text } = token
  const sign = negative ? '-' : ''
  if (kind === 'double') {
    const value = Number(sign + text)
    if (!Number.isFinite(value)) tokens.problem(token, 'invalid double literal')
    return value
  }
  if (kind === 'uint') {
    const value = BigInt(text.slice(0, -1))
    if (value > MAX_UINT) tokens.problem(token, 'invalid uint literal')
    return new CelUint(value)
  }
  const value = negative ? -BigInt(text) : BigInt(text)
  if (BigInt.asIntN(64, value) !== value || value > MAX_INT)
    tokens.problem(token, 'invalid int literal')
  return value
}
