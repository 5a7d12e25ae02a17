import type { Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '../../../schema/field-errors.ts'
import { invalidAll } from '../../../schema/validation/labels.ts'
import { validateIp } from '../../../schema/validation/ip.ts'
import { dnsSubdomain } from '../../../schema/validation/names.ts'
import { validateNonNegative } from '../../../schema/validation/numbers.ts'

export function validatePodStatusUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  const status: Stored = object.status ?? {}
  const before: Stored = stored.status ?? {}
  if (status.nominatedNodeName)
    invalidAll(
      errors,
      'status.nominatedNodeName',
      status.nominatedNodeName,
      dnsSubdomain(status.nominatedNodeName),
    )
  if ((before.qosClass ?? '') !== '' && status.qosClass !== before.qosClass) {
    errors.invalid('status.qosClass', status.qosClass ?? '', 'field is immutable')
  }
  validateTransitions(
    status.containerStatuses,
    before.containerStatuses,
    object.spec,
    errors,
    'status.containerStatuses',
  )
  validateNonNegative(status.observedGeneration, errors, 'status.observedGeneration')
  for (const [index, condition] of (status.conditions ?? []).entries()) {
    validateNonNegative(
      condition.observedGeneration,
      errors,
      `status.conditions[${index}].observedGeneration`,
    )
  }
  validateAddresses(status.podIPs, before.podIPs, errors, 'status.podIPs')
  validateAddresses(status.hostIPs, before.hostIPs, errors, 'status.hostIPs')
}

function validateAddresses(
  now: readonly Stored[] | undefined,
  before: readonly Stored[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (JSON.stringify(now) === JSON.stringify(before)) return
  for (const [index, { ip = '' }] of (now ?? []).entries())
    validateIp(ip, errors, `${field}[${index}]`)
  if ((now ?? []).length > 2)
    errors.invalid(field, now, 'may specify no more than one IP for each IP family')
}

/** A container that has ended for good stays ended. */
function validateTransitions(
  now: readonly Stored[] | undefined,
  before: readonly Stored[] | undefined,
  spec: Stored,
  errors: FieldErrors,
  field: string,
): void {
  if (spec.restartPolicy === 'Always') return
  const given = new Map<string, Stored>((now ?? []).map((status) => [status.name, status]))
  for (const [index, old] of (before ?? []).entries()) {
    const { terminated } = old.state ?? {}
    if (!terminated || (terminated.exitCode !== 0 && spec.restartPolicy === 'OnFailure')) continue
    const container = (spec.containers ?? []).find(({ name }: Stored) => name === old.name)
    if (container?.restartPolicy !== undefined) continue
    const status = given.get(old.name)
    if (status && !status.state?.terminated)
      errors.forbidden(
        `${field}[${index}].state`,
        'may not be transitioned to non-terminated state',
      )
  }
}
