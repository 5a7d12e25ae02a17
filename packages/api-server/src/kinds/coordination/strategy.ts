import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { qualifiedName } from '@gyropilot/schema/validation/names'

/** The only strategy the server itself elects by. Others carry a domain, and somebody else elects. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion'

/** How a leader is chosen, in Lease and LeaseCandidate. The path ends twice in the name of the field. */
export function validateStrategy(strategy: string, errors: FieldErrors): void {
  const field = 'spec.strategy.strategy'
  if (strategy.includes('/')) invalidAll(errors, field, strategy, qualifiedName(strategy))
  else if (strategy !== OLDEST_EMULATION_VERSION)
    errors.notSupported(field, strategy, [OLDEST_EMULATION_VERSION])
}
