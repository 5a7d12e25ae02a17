/** Numbers in query parameters. Contract: docs/behaviour/api-server/requests.md, "Query parameters". */
import { goQuote } from '@gyropilot/schema/go-quote'
import { badRequest } from './errors.ts'

/** Go's strconv.ParseInt, base 10. */
export function parseInteger(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`)
  const value = Number(text)
  if (Math.abs(value) > 2 ** 63)
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`)
  return value
}
