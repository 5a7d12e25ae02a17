/** What a claim's status may say of sizes, as its writers are held to it. */
import { quantitySign, quantityToInteger } from '@gyropilot/api'
import type { PersistentVolumeClaim, Quantity } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateQualifiedName } from '@gyropilot/schema/validation/labels'
import type { StoredOf } from '../../registry/kind-rules.ts'

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

export function validateClaimStatus(
  { status }: StoredOf<PersistentVolumeClaim>,
  errors: FieldErrors,
): void {
  validateAmounts(status?.capacity, errors, 'status.capacity')
  const statuses = status?.allocatedResourceStatuses ?? {}
  for (const [name, state] of sorted(statuses)) {
    validateName(name, errors, 'status.allocatedResourceStatuses')
    // The name is shown, not the state.
    if (!RESIZE_STATUSES.includes(state))
      errors.notSupported('status.allocatedResourceStatuses', name, RESIZE_STATUSES)
  }
  const { allocatedResources } = status ?? {}
  for (const [name, amount] of sorted(allocatedResources ?? {})) {
    if (validateName(name, errors, 'status.allocatedResources'))
      validateAmount(amount, errors, `status.allocatedResources[${name}]`)
  }
}

function validateAmounts(
  amounts: Readonly<Record<string, Quantity>> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [name, amount] of sorted(amounts ?? {}))
    validateAmount(amount, errors, `${field}[${name}]`)
}

function validateAmount(amount: Quantity, errors: FieldErrors, field: string): void {
  if (quantitySign(amount) < 0)
    errors.invalid(field, quantityToInteger(amount), 'must be a valid resource quantity')
}

/** Storage, or a name with a domain that is not Kubernetes' own. */
function validateName(name: string, errors: FieldErrors, field: string): boolean {
  const before = errors.list.length
  validateQualifiedName(name, errors, field)
  if (errors.list.length > before) return false
  if (name === 'storage') return true
  if (!name.includes('/') || name.includes('kubernetes.io/'))
    errors.notSupported(field, name, ['storage'])
  return errors.list.length === before
}

const sorted = <T>(map: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1))
