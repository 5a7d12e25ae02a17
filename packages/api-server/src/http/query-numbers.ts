/** Numbers in query parameters. Contract: docs/behaviour/api-server/requests.md, "Query parameters". */
import { integerProblem } from '@gyropilot/schema/go-integer'
import { badRequest } from './errors.ts'

/** A 64-bit integer, base 10. Throws 400. */
export function parseInteger(text: string): number {
  const problem = integerProblem(text)
  if (problem !== undefined) throw badRequest(problem)
  return Number(text)
}
