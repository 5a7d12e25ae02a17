import type { ServiceReference } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { dnsSubdomain } from '@gyropilot/schema/validation/names'

/** The Service that a webhook is behind: the reference server names the one field when the other is missing. */
export function validateWebhookService(
  service: StoredOf<ServiceReference>,
  errors: FieldErrors,
  field: string,
): void {
  if (!service.namespace) errors.required(`${field}.name`)
  if (!service.name) errors.required(`${field}.namespace`)
  validateServicePort(service, errors, field)
}

function validateServicePort(
  service: StoredOf<ServiceReference>,
  errors: FieldErrors,
  field: string,
): void {
  if (service.port === undefined || service.port < 1 || service.port > 65535) {
    errors.invalid(
      `${field}.port`,
      service.port ?? 0,
      'port is not valid: must be between 1 and 65535, inclusive',
    )
  }
  if (service.path) validatePath(service.path, errors, `${field}.path`)
}

/** Segments are DNS subdomains; one slash may stand at the end. */
function validatePath(path: string, errors: FieldErrors, field: string): void {
  if (path === '/') return
  if (!path.startsWith('/')) errors.invalid(field, path, "must start with a '/'")
  // The first byte is taken for the slash: of a longer character the rest stays, and is no name.
  const rest = path.startsWith('/') ? path.slice(1) : Buffer.from(path).toString('latin1').slice(1)
  const segments = rest.replace(/\/$/, '').split('/')
  for (const [index, segment] of segments.entries()) {
    const messages = segment === '' ? [' may not be empty'] : subdomainMessages(segment)
    for (const message of messages) errors.invalid(field, path, `segment[${index}]${message}`)
  }
}

const subdomainMessages = (segment: string): string[] =>
  dnsSubdomain(segment).map((message) => `: ${message}`)
