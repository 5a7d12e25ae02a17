/** Counts that may be given as a share. Contract: docs/behaviour/controllers/shared-controller-utils.md, Int-or-percent maths. */
import type { IntOrString } from '../generated/meta-v1.ts'

export class InvalidIntOrPercentError extends Error {
  override readonly name = 'InvalidIntOrPercentError'
}

/**
 * An integer as it is; `25%` as that share of `total`, rounded as asked. Undefined and text that is no percentage throw
 * InvalidIntOrPercentError. Negative values are not refused here.
 */
export function resolveIntOrPercent(
  value: IntOrString | null | undefined,
  total: number,
  rounding: 'up' | 'down',
): number {
  if (value === undefined || value === null) {
    throw new InvalidIntOrPercentError('nil value for IntOrString')
  }
  if (typeof value === 'number') return value
  const percent = percentOf(value)
  const share = (percent * total) / 100
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share)
}

/** The number before the `%`. */
export function percentOf(text: string): number {
  if (!text.endsWith('%')) throw refuse('invalid type: string is not a percentage')
  const digits = text.slice(0, -1)
  if (!/^[+-]?\d+$/.test(digits)) {
    const quoted = JSON.stringify(digits)
    throw refuse(
      `invalid value ${JSON.stringify(text)}: strconv.Atoi: parsing ${quoted}: invalid syntax`,
    )
  }
  return Number(digits)
}

function refuse(detail: string): InvalidIntOrPercentError {
  return new InvalidIntOrPercentError(`invalid value for IntOrString: ${detail}`)
}
