/** Who may make claims in a namespace with this label may look at everybody's devices. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type { DeviceClaim, ResourceClaim } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { RuleContext, StoredOf } from '../../registry/kind-rules.ts'

const ADMIN_LABEL = 'resource.kubernetes.io/admin-access'

/** Of what a claim asks for. The first that asks is told. */
export function validateAdminAccess(
  devices: StoredOf<DeviceClaim> | undefined,
  errors: FieldErrors,
  context: RuleContext,
): void {
  const requests = devices?.requests ?? []
  const first = requests.findIndex(({ exactly }) => exactly?.adminAccess === true)
  if (first >= 0) requireLabel(`spec.devices.requests[${first}]`, errors, context)
}

/** Of what a claim is given, unless it had such access before. */
export function validateAllocatedAdminAccess(
  object: StoredOf<ResourceClaim>,
  stored: StoredOf<ResourceClaim>,
  errors: FieldErrors,
  context: RuleContext,
): void {
  const first = firstAllocated(object)
  if (first >= 0 && firstAllocated(stored) < 0)
    requireLabel(`status.allocation.devices.results[${first}]`, errors, context)
}

function firstAllocated({ status }: StoredOf<ResourceClaim>): number {
  const results = status?.allocation?.devices?.results ?? []
  return results.findIndex(({ adminAccess }) => adminAccess === true)
}

function requireLabel(field: string, errors: FieldErrors, { namespaceLabels }: RuleContext): void {
  if (namespaceLabels?.()?.[ADMIN_LABEL] === 'true') return
  errors.forbidden(
    `${field}.adminAccess`,
    `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`,
  )
}
