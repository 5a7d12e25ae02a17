import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'

/** The Service that a webhook is behind. */
export function validateWebhookService(service: Stored, errors: FieldErrors, field: string): void {
  if (!service.name) errors.required(`${field}.name`, 'service name is required')
  if (!service.namespace) errors.required(`${field}.namespace`, 'service namespace is required')
  if (service.port === undefined || service.port < 1 || service.port > 65535) {
    errors.invalid(
      `${field}.port`,
      service.port ?? 0,
      'port is not valid: must be between 1 and 65535, inclusive',
    )
  }
  if (service.path && !service.path.startsWith('/'))
    errors.invalid(`${field}.path`, service.path, "must start with a '/'")
}
