/**
 * Names and defaults of the type checks of policies.
 * Contract: docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md, Flags and configuration.
 */
export const QUEUE_NAME = 'validatingadmissionpolicy-status'
export const SERVICE_ACCOUNT = 'validatingadmissionpolicy-status-controller'
/** Owner of the fields of the status in managedFields. */
export const FIELD_MANAGER = 'validatingadmissionpolicy-status'
/** No more kinds are looked at once one rule has brought so many. */
export const MOST_KINDS = 10

export interface ValidatingAdmissionPolicyStatusConfiguration {
  /** --concurrent-validating-admission-policy-status-syncs */
  readonly concurrentPolicySyncs: number
}

export const defaultValidatingAdmissionPolicyStatusConfiguration: ValidatingAdmissionPolicyStatusConfiguration =
  { concurrentPolicySyncs: 5 }
