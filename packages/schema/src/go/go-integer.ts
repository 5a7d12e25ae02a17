import { goQuote } from './go-quote.ts'

/** What Go's strconv.ParseInt says of a text that is no 64-bit integer, base 10. Undefined: it is one. */
export function integerProblem(text: string): string | undefined {
  const told = (why: string): string => `strconv.ParseInt: parsing ${goQuote(text)}: ${why}`
  if (!/^[+-]?[0-9]+$/.test(text)) return told('invalid syntax')
  const value = BigInt(text)
  return value < -(2n ** 63n) || value >= 2n ** 63n ? told('value out of range') : undefined
}
