/** Contract: docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { ValidatingAdmissionPolicy } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'

export const policyWatch: Watch<ValidatingAdmissionPolicy> = {
  type: resources.validatingadmissionpolicies,
  onAdd: (policy) => [keyOf(policy)],
  onUpdate: (_previous, policy) => [keyOf(policy)],
}
