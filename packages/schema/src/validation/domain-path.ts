import type { FieldErrors } from '../field-errors.ts'
import { invalidAll } from './labels.ts'
import { dnsSubdomain } from './names.ts'

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const WHOLE_PATH = new RegExp(`^${PATH}$`)

/** `acme.io/foo`: a name of who is meant. */
export function validateDomainPrefixedPath(
  value: string,
  errors: FieldErrors,
  field: string,
): void {
  if (value === '') return errors.required(field)
  const [domain = '', ...rest] = value.split('/')
  const path = rest.join('/')
  if (domain === '' || path === '')
    return errors.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
  invalidAll(errors, field, domain, dnsSubdomain(domain))
  if (!WHOLE_PATH.test(path))
    errors.invalid(field, path, `Invalid path (regex used for validation is '${PATH}')`)
}
