import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { dnsLabel, dnsSubdomain } from '@gyropilot/schema/validation/names'

const DOMAIN_LIMIT_BYTES = 253
/** Domain, slash, and a path that holds a label, a dot and a subdomain. */
const SIGNER_NAME_LIMIT_BYTES = 253 + 1 + 63 + 1 + 253

/** `spec.signerName`, when it is there: `example.com/signer`. Of each half only the first bad label is reported. */
export function validateSignerName(name: string, errors: FieldErrors): void {
  const at = 'spec.signerName'
  const halves = name.split('/')
  if (halves.length !== 2) {
    errors.invalid(
      at,
      name,
      "must be a fully qualified domain and path of the form 'example.com/signer-name'",
    )
    return
  }
  const [domain, path] = halves as [string, string]
  if (domain.length > DOMAIN_LIMIT_BYTES) errors.tooLong(at, DOMAIN_LIMIT_BYTES)
  validateFirstBadLabel(domain, dnsLabel, errors, at)
  if (!domain.includes('.'))
    errors.invalid(at, domain, 'should be a domain with at least two segments separated by dots')
  validateFirstBadLabel(path, dnsSubdomain, errors, at)
  if (name.length > SIGNER_NAME_LIMIT_BYTES) errors.tooLong(at, SIGNER_NAME_LIMIT_BYTES)
}

function validateFirstBadLabel(
  text: string,
  check: (label: string) => readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  const bad = text.split('.').find((label) => check(label).length > 0)
  if (bad === undefined) return
  for (const message of check(bad))
    errors.invalid(field, text, `validating label ${JSON.stringify(bad)}: ${message}`)
}
